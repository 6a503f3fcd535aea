/**
 * Administers operators from the machine itself. Secrets go to standard output and nowhere else.
 */
import { text as textOf } from 'node:stream/consumers'
import type { Enrolled, Gateway, Invited } from '@tollgate/core'
import { limits, roles } from '@tollgate/schemas'
import type { Shell } from '../shell.ts'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  type Given,
  jsonOption,
  needed,
  type Option,
  print,
  printList,
  UsageError,
} from './command.ts'
import { proposalOption } from './decide.ts'
import { secretIn } from './secret-file.ts'
import { shownJson, shownTime } from './shown-text.ts'
import { found, withInstallation } from './with-installation.ts'

const { min: fewest } = limits.passwordCharacters

const passwordOption: Readonly<Record<string, Option>> = {
  'password-file': {
    type: 'string',
    value: 'file',
    meaning: `File with the password, which only you may read. Passwords have at least ${fewest} characters. Default: one line of standard input.`,
  },
}

const place = {
  role: {
    type: 'string',
    value: 'role',
    meaning: `Role: ${roles.map(({ name }) => name).join(', ')}.`,
  },
  entity: {
    type: 'string',
    value: 'id',
    meaning:
      'Entity that the operator sees, together with all entities below it; "all" for the whole installation.',
  },
} as const

const create: Command = {
  name: 'operator create',
  summary: 'Create an operator. The authenticator and the recovery codes are shown only once.',
  words: ['<name>'],
  options: {
    role: { ...place.role, isRequired: true },
    entity: { ...place.entity, isRequired: true },
    ...passwordOption,
    ...proposalOption,
  },
  notes: `Roles: ${roles.map(({ name, rights }) => `${name} (${rights.join(', ')})`).join('; ')}.`,
  async run(given, shell) {
    const [name = ''] = given.words
    const role = needed(given, 'role')
    const entityId = entityIn(needed(given, 'entity'))
    const password = await passwordFor(given, shell)
    return withInstallation(given, shell, { isFounder: true }, async ({ gateway }) => {
      await showOnce(
        shell,
        await gateway.people.create({ name, password, role, entityId }, by(given)),
      )
      return 0
    })
  },
}

const reset: Command = {
  name: 'operator reset',
  summary:
    'Replace password, authenticator and recovery codes of an operator, and end all sessions.',
  words: ['<name>'],
  options: {
    ...passwordOption,
    'only-unlock': {
      type: 'boolean',
      meaning: 'Only end the lockout after too many failed logins.',
    },
    ...proposalOption,
  },
  async run(given, shell) {
    const isUnlock = given.flags.has('only-unlock')
    const password = isUnlock ? '' : await passwordFor(given, shell)
    return withPerson(given, shell, async (gateway, id) => {
      if (isUnlock) {
        await gateway.people.unlock(id, by(given))
        print(shell, 'the lockout is over')
      } else await showOnce(shell, await gateway.people.reset(id, password, by(given)))
    })
  },
}

const change: Command = {
  name: 'operator change',
  summary: 'Change the role or the entity of an operator.',
  words: ['<name>'],
  options: { ...place, ...proposalOption },
  async run(given, shell) {
    const { role, entity } = given.options
    if (role === undefined && entity === undefined) {
      throw new UsageError('nothing was changed: give --role or --entity')
    }
    return withPerson(given, shell, async (gateway, id) => {
      await gateway.people.change(
        id,
        {
          ...(role === undefined ? {} : { role }),
          ...(entity === undefined ? {} : { entityId: entityIn(entity) }),
        },
        by(given),
      )
      print(shell, `changed ${given.words[0]}`)
    })
  },
}

const disable: Command = {
  name: 'operator disable',
  summary: 'Disable an operator, and end all sessions.',
  words: ['<name>'],
  run: (given, shell) =>
    withPerson(given, shell, async (gateway, id) => {
      await gateway.people.disable(id, by(given))
      print(shell, `${given.words[0]} is disabled`)
    }),
}

const enable: Command = {
  name: 'operator enable',
  summary: 'Enable a disabled operator again.',
  words: ['<name>'],
  options: proposalOption,
  run: (given, shell) =>
    withPerson(given, shell, async (gateway, id) => {
      await gateway.people.enable(id, by(given))
      print(shell, `${given.words[0]} is enabled`)
    }),
}

const list: Command = {
  name: 'operator list',
  summary: 'List operators with role, entity and last login.',
  options: jsonOption,
  async run(given, shell) {
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const people = await gateway.people.list()
      printList(given, shell, people, {
        none: 'no operators: tollgate operator create <name> --role … --entity …',
        head: ['id', 'name', 'role', 'entity', 'last login', ''],
        cells: ({ id, name, role, entityId, lastLoginAt, disabledAt }) => [
          id,
          name,
          role,
          entityId ?? 'all',
          lastLoginAt === null ? 'never' : shownTime(lastLoginAt),
          disabledAt === null ? '' : `disabled ${shownTime(disabledAt)}`,
        ],
      })
      return 0
    })
  },
}

const confirm: Command = {
  name: 'operator confirm',
  summary: 'Confirm a proposal of an operator as the second person.',
  words: ['[<proposal>]'],
  options: jsonOption,
  notes:
    'Without an id, the command lists open proposals. Only an operator can confirm a proposal from the command line.',
  async run(given, shell) {
    const [proposal] = given.words
    return withInstallation(given, shell, {}, async ({ gateway: { people } }) => {
      if (proposal !== undefined) {
        const { invitation } = await found(
          `there is no proposal ${proposal}: tollgate operator confirm lists the open ones`,
          people.confirm(proposal, { by: commandLineActor() }),
        )
        print(shell, `confirmed ${proposal}; the proposer can now carry it out`)
        if (invitation !== undefined) {
          print(shell, `invitation ${invitation}`)
          print(
            shell,
            'This is shown once. Give it to the new person yourself, and to no other person.',
          )
        }
        return 0
      }
      printList(given, shell, await people.proposals(), {
        none: 'no open proposals',
        cells: (row) => [
          row.id,
          row.kind,
          `by ${row.proposer}`,
          row.confirmer === null ? 'waits' : `confirmed by ${row.confirmer}`,
          shownJson(row.facts),
        ],
      })
      return 0
    })
  },
}

export const commands: readonly Command[] = [create, reset, change, disable, enable, list, confirm]

const by = ({ options: { proposal } }: Given) => ({
  by: commandLineActor(),
  ...(proposal === undefined ? {} : { proposal }),
})

const entityIn = (text: string) => (text === 'all' ? null : text)

function withPerson(
  given: Given,
  shell: Shell,
  work: (gateway: Gateway, id: string) => Promise<void>,
): Promise<number> {
  const [name = ''] = given.words
  return withInstallation(given, shell, {}, async ({ gateway }) => {
    const absent = `no operator has the name ${name}: tollgate operator list`
    await work(gateway, (await found(absent, gateway.people.named(name))).id)
    return 0
  })
}

/** Never a word of the command line, which everybody on the machine sees. @throws UsageError */
async function passwordFor(given: Given, shell: Shell): Promise<string> {
  const inFile = await secretIn(given, shell, 'password-file')
  if (inFile !== undefined) return inFile
  if (shell.stdin.isTTY === true) {
    throw new UsageError(
      'the password cannot be typed here, because the terminal would show it; use --password-file, or: read -rs password; printf %s "$password" | tollgate operator …',
    )
  }
  const text = (await textOf(shell.stdin)).split(/\r?\n/, 1)[0] ?? ''
  if (text === '') throw new UsageError('no password on standard input')
  return text
}

async function showOnce(shell: Shell, made: Enrolled | Invited): Promise<void> {
  if ('invited' in made) {
    print(shell, `id ${made.id}`)
    print(shell, 'The person joins with this password and the invitation from the second operator.')
    return
  }
  const { id, otpauthUri, recoveryCodes } = made
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? ''
  const rows = [
    ['id', id],
    ['authenticator', otpauthUri],
    ['secret to type in', secret],
    ...recoveryCodes.map((code, at) => [at === 0 ? 'recovery codes' : '', code]),
  ]
  for (const line of columns(rows)) print(shell, line)
  // A phone reads it from the screen; a file or a pipe keeps no second copy of the secret.
  if (shell.stdout.isTTY === true) {
    const { renderUnicodeCompact } = await import('uqr')
    print(shell, `\n${renderUnicodeCompact(otpauthUri, { border: 2 })}`)
  }
  print(shell)
  print(shell, 'Shown only once. Each recovery code replaces one code of the authenticator.')
}
