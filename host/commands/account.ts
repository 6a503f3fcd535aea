/** Connects channels to acquirers. Secrets come from a prompt, a file or standard input, never from arguments. */
import type { AccountView, ConnectorView, Gateway, ShownAccount } from '@tollgate/core'
import type { Shell } from '../shell.ts'
import {
  secretsFor,
  secretsOption,
  settingsOf,
  settingsOfConnector,
  settingsOption,
} from './account-settings.ts'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  type Given,
  jsonOption,
  needed,
  print,
  printList,
  tell,
  UsageError,
} from './command.ts'
import { proposalOption } from './decide.ts'
import { oneLine, shownJson, shownTime } from './shown-text.ts'
import { withInstallation } from './with-installation.ts'

const brandsOption = {
  type: 'string',
  value: 'list',
  meaning: 'Brands of the account: VISA,MASTER; "all" for every brand of the connector.',
} as const

const connectors: Command = {
  name: 'account connectors',
  summary: 'List the installed connectors and the settings of their accounts.',
  options: jsonOption,
  notes: 'Accounts of an authenticator switch 3-D Secure on for the brands of their acquirer.',
  async run(given, shell) {
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const found = gateway.accounts.connectors()
      if (given.flags.has('json')) print(shell, shownJson(found, 2))
      else for (const line of found.flatMap(linesOf)) print(shell, line)
      return 0
    })
  },
}

function linesOf({ name, title, settings, hasCheck }: ConnectorView): string[] {
  const rows = settings.map((one) => [
    `  ${one.name}`,
    one.isSecret ? 'secret' : '',
    one.isRequired ? 'required' : 'optional',
    oneLine(one.meaning),
  ])
  const note = hasCheck ? '' : ', cannot check credentials'
  return [`${name}: ${oneLine(title)}${note}`, ...columns(rows)]
}

const add: Command = {
  name: 'account add',
  summary: 'Connect a channel to an acquirer, and print the id of the account.',
  options: {
    channel: {
      type: 'string',
      value: 'id',
      meaning: 'Channel whose payments go to the acquirer.',
      isRequired: true,
    },
    connector: {
      type: 'string',
      value: 'name',
      meaning: 'Connector of the acquirer: tollgate account connectors.',
      isRequired: true,
    },
    mode: {
      type: 'string',
      value: 'mode',
      meaning:
        "EXTERNAL for the acquirer's test system, LIVE for its live one. Default: the mode of this installation.",
    },
    brands: brandsOption,
    settings: settingsOption,
    ...secretsOption,
    ...proposalOption,
  },
  notes: 'tollgate account check proves the credentials afterwards.',
  async run(given, shell) {
    const channelId = needed(given, 'channel')
    const connector = needed(given, 'connector')
    const open = settingsOf(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const secrets = await secretsFor(given, shell, settingsOfConnector(gateway, connector), open)
      const id = await gateway.accounts.add(
        {
          channelId,
          connector,
          mode: modeOf(given, gateway),
          settings: { ...open, ...secrets },
          ...(given.options.brands === undefined ? {} : { brands: brandsOf(given) }),
        },
        by(given),
      )
      print(shell, id)
      const all = await everyAccount(gateway, channelId)
      const { mode } = all.find((one) => one.id === id) ?? {}
      const before = all.find(
        (one) => one.connector === connector && one.mode === mode && one.id !== id && one.active,
      )
      if (before !== undefined) {
        tell(
          shell,
          `the channel has account ${before.id} of ${connector} as well; where both accept a brand, the lower position takes its payments, then the older account`,
        )
      }
      return 0
    })
  },
}

const list: Command = {
  name: 'account list',
  summary: 'List acquirer accounts, without their secrets.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Only accounts of this entity and the entities below it.',
    },
    ...jsonOption,
  },
  async run(given, shell) {
    const { entity } = given.options
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const found = await everyAccount(gateway, entity ?? null)
      printList(given, shell, found, {
        none: 'no accounts: tollgate account add --channel … --connector …',
        head: ['id', 'channel', 'connector', 'mode', 'position', 'brands', 'state'],
        cells: (one) => [
          one.id,
          one.channelId,
          one.connector,
          one.mode,
          String(one.position),
          one.brands?.join(',') ?? 'all',
          one.active ? 'enabled' : 'disabled',
        ],
      })
      return 0
    })
  },
}

async function everyAccount(gateway: Gateway, entityId: string | null): Promise<AccountView[]> {
  const all: AccountView[] = []
  for (;;) {
    const page = await gateway.accounts.list({ entityId, after: all.at(-1)?.id ?? null })
    if (page.length === 0) return all
    all.push(...page)
  }
}

const show: Command = {
  name: 'account show',
  summary: 'Show an acquirer account, the names of its secrets, and the URL for its events.',
  words: ['<id>'],
  options: jsonOption,
  run: (given, shell) =>
    withAccount(given, shell, async ({ accounts }, id) => {
      const account = await accounts.show(id)
      if (given.flags.has('json')) print(shell, shownJson(account, 2))
      else for (const line of columns(rowsOf(account))) print(shell, line)
      return 0
    }),
}

function rowsOf(account: ShownAccount): string[][] {
  const { settings, secrets, brands, active, createdAt, eventsUrl, ...facts } = account
  return [
    ...Object.entries(facts).map(([name, value]) => [name, String(value)]),
    ['brands', brands?.join(',') ?? 'all'],
    ['state', active ? 'enabled' : 'disabled'],
    ['created', shownTime(createdAt)],
    ...Object.entries(settings).map(([name, value]) => [`setting ${name}`, oneLine(String(value))]),
    ...secrets.map((name) => [`secret ${name}`, 'is set']),
    ...(eventsUrl === undefined
      ? []
      : [['events to', eventsUrl ?? 'unknown: set TOLLGATE_PUBLIC_URL (publicUrl) first']]),
  ]
}

const set: Command = {
  name: 'account set',
  summary: 'Change brands, position or settings of an acquirer account. The rest keeps its values.',
  words: ['<id>'],
  options: {
    brands: brandsOption,
    position: {
      type: 'string',
      value: 'number',
      meaning:
        'Place among the accounts of the channel, 0 to 1000. The lowest that takes a payment gets it.',
    },
    settings: { ...settingsOption, meaning: `${settingsOption.meaning} "" removes a setting.` },
    ...proposalOption,
  },
  async run(given, shell) {
    const { brands, position, settings } = given.options
    if (brands === undefined && position === undefined && settings === undefined) {
      throw new UsageError('nothing was changed: give --brands, --position or --settings')
    }
    const edit = {
      ...(brands === undefined ? {} : { brands: brandsOf(given) }),
      ...(position === undefined ? {} : { position: positionOf(position) }),
      ...(settings === undefined ? {} : { settings: settingsOf(given) }),
    }
    return withAccount(given, shell, async ({ accounts }, id) => {
      await accounts.set(id, edit, by(given))
      print(shell, `changed ${id}`)
      return 0
    })
  },
}

const rotate: Command = {
  name: 'account rotate',
  summary:
    'Replace secrets of an acquirer account. Secrets that are left out keep their values. null removes one that is not required: {"previousSecret":null}.',
  words: ['<id>'],
  options: { ...secretsOption, ...proposalOption },
  notes:
    'Every process uses the new secrets within five seconds. Prove them: tollgate account check.',
  run: (given, shell) =>
    withAccount(given, shell, async (gateway, id) => {
      const { connector } = await gateway.accounts.show(id)
      const secrets = await secretsFor(given, shell, settingsOfConnector(gateway, connector))
      await gateway.accounts.rotate(id, secrets, by(given))
      const isGone = ([, value]: [string, unknown]) => value === null || value === ''
      const all = Object.entries(secrets)
      const tell = (what: string, some: typeof all) =>
        some.length > 0 && print(shell, `${what} ${some.map(([name]) => name).join(', ')} of ${id}`)
      tell(
        'replaced',
        all.filter((one) => !isGone(one)),
      )
      tell('removed', all.filter(isGone))
      return 0
    }),
}

const check: Command = {
  name: 'account check',
  summary:
    'Prove the credentials of an account at its acquirer, without moving money. Exits with 1 unless the acquirer takes them.',
  words: ['<id>'],
  notes: 'The request goes out from this machine, with the settings found here.',
  run: (given, shell) =>
    withAccount(given, shell, async ({ accounts }, id) => {
      const found = await accounts.check(id, { by: commandLineActor() })
      print(
        shell,
        found.is === 'accepted' ? 'the acquirer accepts the credentials' : sentenceOf(found),
      )
      return found.is === 'accepted' ? 0 : 1
    }),
}

const sentenceOf = ({ is, why }: { is: 'refused' | 'unknown'; why: string }) =>
  is === 'refused'
    ? `the acquirer refuses the credentials: ${oneLine(why)}`
    : `not proven: ${oneLine(why)}`

const disable: Command = {
  name: 'account disable',
  summary: 'Stop new payments of an acquirer account.',
  words: ['<id>'],
  options: proposalOption,
  notes:
    'Captures, refunds, reversals, events and settlement files of its payments still work, and a payment that waits at a challenge is still sent. Every process follows within five seconds. An account at an authenticator needs two people where fourEyes is on; without it, payments are declined or go on as the entity setting threeDSecureUnavailable says.',
  run: (given, shell) =>
    withAccount(given, shell, async ({ accounts }, id) => {
      await accounts.disable(id, by(given))
      print(shell, `${id} is disabled`)
      return 0
    }),
}

const enable: Command = {
  name: 'account enable',
  summary: 'Allow new payments of an acquirer account again.',
  words: ['<id>'],
  options: proposalOption,
  run: (given, shell) =>
    withAccount(given, shell, async ({ accounts }, id) => {
      await accounts.enable(id, by(given))
      print(shell, `${id} is enabled`)
      return 0
    }),
}

export const commands: readonly Command[] = [
  connectors,
  add,
  list,
  show,
  set,
  rotate,
  check,
  disable,
  enable,
]

const by = ({ options: { proposal } }: Given) => ({
  by: commandLineActor(),
  ...(proposal === undefined ? {} : { proposal }),
})

const withAccount = (
  given: Given,
  shell: Shell,
  work: (gateway: Gateway, id: string) => Promise<number>,
): Promise<number> =>
  withInstallation(given, shell, {}, ({ gateway }) => work(gateway, given.words[0] ?? ''))

function modeOf({ options: { mode } }: Given, { environment }: Gateway): 'EXTERNAL' | 'LIVE' {
  if (mode === undefined) return environment === 'live' ? 'LIVE' : 'EXTERNAL'
  if (mode === 'EXTERNAL' || mode === 'LIVE') return mode
  throw new UsageError('--mode must be EXTERNAL or LIVE')
}

function brandsOf({ options: { brands = 'all' } }: Given): string[] {
  if (brands === 'all') return []
  const names = brands.split(',').map((brand) => brand.trim())
  if (!names.includes('')) return names
  throw new UsageError('--brands must be a list such as VISA,MASTER, or all')
}

/** The engine names the range. */
function positionOf(position: string): number {
  if (/^[0-9]+$/.test(position)) return Number(position)
  throw new UsageError('--position must be a whole number from 0 to 1000')
}
