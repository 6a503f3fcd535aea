import type { Gateway, TokenLimits } from '@tollgate/core'
import { limits, tokenRights } from '@tollgate/schemas'
import type { Shell } from '../shell.ts'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  type Given,
  jsonOption,
  needed,
  print,
  printList,
  UsageError,
} from './command.ts'
import { proposalOption } from './decide.ts'
import { shownTime } from './shown-text.ts'
import { lengthOf, momentAhead } from './time-ahead.ts'
import { withInstallation } from './with-installation.ts'

const expiresOption = {
  type: 'string',
  value: 'moment',
  meaning:
    'When the token expires: 90d, 12h or 30m from now, "2027-03-14" or "2027-03-14 09:30:00" in UTC.',
} as const

const dayMs = 86_400_000

const tokenCreateCommand: Command = {
  name: 'token create',
  summary: 'Create an access token, which is shown only once.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Entity that the token acts for, together with all entities below it.',
      isRequired: true,
    },
    name: { type: 'string', value: 'text', meaning: 'Purpose of the token.', isRequired: true },
    rights: {
      type: 'string',
      value: 'names',
      meaning: `Rights of the token, separated by commas: ${tokenRights.join(', ')}. Default: all.`,
    },
    expires: expiresOption,
    from: {
      type: 'string',
      value: 'networks',
      meaning:
        'Networks from which clients may use the token: 203.0.113.7,10.1.0.0/16,2001:db8::/32. Default: any.',
    },
    ...proposalOption,
  },
  async run(given, shell) {
    const entityId = needed(given, 'entity')
    const name = needed(given, 'name')
    const narrower = limitsOf(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { id, token } = await gateway.entities.createToken(entityId, name, {
        ...narrower,
        by: commandLineActor(),
        proposal: given.options.proposal,
      })
      shown(shell, [
        ['id', id],
        ['token', token],
      ])
      return 0
    })
  },
}

function limitsOf(given: Given): TokenLimits {
  const { rights, expires, from } = given.options
  return {
    ...(rights === undefined ? {} : { rights: listed(rights) }),
    ...(expires === undefined ? {} : { expiresAt: momentAhead('expires', expires) }),
    ...(from === undefined ? {} : { networks: listed(from) }),
  }
}

const listed = (text: string): string[] =>
  text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

const tokenListCommand: Command = {
  name: 'token list',
  summary: 'List access tokens, without the tokens themselves.',
  options: {
    entity: { type: 'string', value: 'id', meaning: 'Only tokens of this entity.' },
    ...jsonOption,
  },
  notes: 'The time of last use lags up to two minutes.',
  async run(given, shell) {
    const only = given.options.entity
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const found: (Token & { readonly kind: string })[] = []
      const entities = await gateway.entities.list()
      if (only !== undefined && !entities.some(({ id }) => id === only)) {
        throw new UsageError(`--entity ${only} is no entity: tollgate entity list`)
      }
      for (const entity of entities) {
        if (only !== undefined && only !== entity.id) continue
        const { kind } = entity
        for (const token of await gateway.entities.tokens(entity.id)) found.push({ ...token, kind })
      }
      printList(given, shell, found, {
        none: 'no tokens: tollgate token create --entity … --name …',
        head: headings,
        cells: (token) => [token.id, `${token.kind} ${token.entity_id}`, ...cellsOf(token)],
      })
      return 0
    })
  },
}

const headings = ['id', 'acts for', 'name', 'rights', 'from', 'created', 'last used', 'state']

type Token = Awaited<ReturnType<Gateway['entities']['tokens']>>[number]

function cellsOf(token: Token): string[] {
  return [
    token.name,
    token.rights?.join(',') ?? 'all',
    token.networks?.join(',') ?? 'anywhere',
    shownTime(token.created_at),
    token.last_used_at === null ? 'never' : shownTime(token.last_used_at),
    stateOf(token),
  ]
}

function stateOf(token: Token): string {
  if (token.revoked_at !== null) return `revoked ${shownTime(token.revoked_at)}`
  if (token.expires_at === null) return 'valid'
  const isOver = token.expires_at.getTime() <= Date.now()
  const end = `${isOver ? 'expired' : 'valid until'} ${shownTime(token.expires_at)}`
  return token.successor_id === null ? end : `${end}, then ${token.successor_id}`
}

const tokenRotateCommand: Command = {
  name: 'token rotate',
  summary: 'Create the successor of an access token. The old token expires after an overlap.',
  words: ['<id>'],
  options: {
    overlap: {
      type: 'string',
      value: 'time',
      meaning: `How long both tokens are valid: 12h, 7d. 0 ends the old one at once. Default: ${limits.tokenOverlapMs.usual / dayMs}d.`,
    },
    expires: {
      ...expiresOption,
      meaning: `${expiresOption.meaning} Default: the lifetime of the old token, from now.`,
    },
    ...proposalOption,
  },
  notes: 'The new token has the entity, rights and networks of the old one.',
  async run(given, shell) {
    const [id = ''] = given.words
    const { overlap, expires } = given.options
    const options = {
      ...(overlap === undefined ? {} : { overlapMs: lengthOf('overlap', overlap) }),
      ...(expires === undefined ? {} : { expiresAt: momentAhead('expires', expires) }),
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const made = await gateway.entities.rotateToken(id, {
        ...options,
        by: commandLineActor(),
        proposal: given.options.proposal,
      })
      shown(shell, [
        ['id', made.id],
        ['token', made.token],
        ...(made.expiresAt === null ? [] : [['expires', shownTime(made.expiresAt)]]),
        ['old token expires', shownTime(made.oldExpiresAt)],
      ])
      return 0
    })
  },
}

const tokenRevokeCommand: Command = {
  name: 'token revoke',
  summary: 'Revoke an access token. Every process refuses it within five seconds.',
  words: ['<id>'],
  async run(given, shell) {
    const [id = ''] = given.words
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.entities.revokeToken(id, { by: commandLineActor() })
      print(shell, `${id} is revoked`)
      return 0
    })
  },
}

function shown(shell: Shell, rows: readonly (readonly string[])[]): void {
  for (const line of columns(rows)) print(shell, line)
}

export const commands: readonly Command[] = [
  tokenCreateCommand,
  tokenListCommand,
  tokenRotateCommand,
  tokenRevokeCommand,
]
