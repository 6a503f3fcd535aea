/** Operators, from the machine itself: what it shows once goes to standard output and nowhere else. */
import { text as textOf } from 'node:stream/consumers'
import type { Enrolled, Gateway, Invited } from '@tollgate/core'
import { limits, roles } from '@tollgate/schemas'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  columns,
  type Given,
  needed,
  type Option,
  print,
  UsageError,
  withInstallation,
} from './command.ts'
import { proposalOption } from './decide.ts'
import { said } from './entity.ts'
import { told } from './inspect.ts'
import { secretIn } from './secret-file.ts'

const { min: fewest } = limits.passwordCharacters

const passwordOption: Readonly<Record<string, Option>> = {
  'password-file': {
    type: 'string',
    value: 'file',
    meaning: `File with the password, of ${fewest} characters or more, that only you may read. Default: a line of standard input.`,
  },
}

const place = {
  role: { type: 'string', value: 'role', meaning: `${roles.map(({ name }) => name).join(', ')}.` },
  entity: {
    type: 'string',
    value: 'id',
    meaning: 'They see this node and all below it; "all" is everything.',
  },
} as const

const create: Command = {
  name: 'operator create',
  summary: 'Make an operator; the authenticator and the recovery codes are shown this once.',
  words: ['<name>'],
  options: { ...place, ...passwordOption, ...proposalOption },
  notes: `Roles: ${roles.map(({ name, rights }) => `${name} (${rights.join(', ')})`).join('; ')}.`,
  async run(given) {
    const [name = ''] = given.words
    const role = needed(given, 'role')
    const entityId = entityIn(needed(given, 'entity'))
    const password = await passwordFor(given)
    return withInstallation(given, {}, async ({ gateway }) => {
      showOnce(
        await decided(() => gateway.people.create({ name, password, role, entityId }, by(given))),
      )
      return 0
    })
  },
}

const reset: Command = {
  name: 'operator reset',
  summary: 'New password, authenticator and recovery codes; all sessions of the operator end.',
  words: ['<name>'],
  options: {
    ...passwordOption,
    'only-unlock': {
      type: 'boolean',
      meaning: 'Change nothing: end the pause after too many failed logins.',
    },
    ...proposalOption,
  },
  async run(given) {
    const isUnlock = given.flags.has('only-unlock')
    const password = isUnlock ? '' : await passwordFor(given)
    return withPerson(given, async (gateway, id) => {
      if (isUnlock) {
        await gateway.people.unlock(id, by(given))
        print('the pause is over')
      } else showOnce(await gateway.people.reset(id, password, by(given)))
    })
  },
}

const change: Command = {
  name: 'operator change',
  summary: 'Give an operator another role or another part of the installation.',
  words: ['<name>'],
  options: { ...place, ...proposalOption },
  async run(given) {
    const { role, entity } = given.options
    if (role === undefined && entity === undefined) {
      throw new UsageError('nothing was changed: give --role or --entity')
    }
    return withPerson(given, async (gateway, id) => {
      await gateway.people.change(
        id,
        {
          ...(role === undefined ? {} : { role }),
          ...(entity === undefined ? {} : { entityId: entityIn(entity) }),
        },
        by(given),
      )
      print(`${given.words[0]} is changed`)
    })
  },
}

const disable: Command = {
  name: 'operator disable',
  summary: 'Let an operator in no more; all sessions end at once.',
  words: ['<name>'],
  run: (given) =>
    withPerson(given, async (gateway, id) => {
      await gateway.people.disable(id, by(given))
      print(`${given.words[0]} is disabled`)
    }),
}

const enable: Command = {
  name: 'operator enable',
  summary: 'Let an operator in again who was disabled.',
  words: ['<name>'],
  options: proposalOption,
  run: (given) =>
    withPerson(given, async (gateway, id) => {
      await gateway.people.enable(id, by(given))
      print(`${given.words[0]} is enabled`)
    }),
}

const list: Command = {
  name: 'operator list',
  summary: 'Show operators, their roles, and when they were last here.',
  async run(given) {
    return withInstallation(given, {}, async ({ gateway }) => {
      const people = await gateway.people.list()
      const rows = people.map(({ id, name, role, entityId, lastLoginAt, disabledAt }) => [
        id,
        name,
        role,
        entityId ?? 'all',
        lastLoginAt?.toISOString() ?? 'never',
        disabledAt === null ? '' : `disabled ${disabledAt.toISOString()}`,
      ])
      if (rows.length === 0)
        print('no operators: tollgate operator create <name> --role … --entity …')
      else {
        const head = ['id', 'name', 'role', 'entity', 'last login', '']
        for (const line of columns([head, ...rows])) print(line)
      }
      return 0
    })
  },
}

const confirm: Command = {
  name: 'operator confirm',
  summary: 'Agree with what an operator proposed and two people are needed for.',
  words: ['[<proposal>]'],
  notes: 'Without a proposal: those that wait. One made on the command line needs an operator.',
  async run(given) {
    const [proposal] = given.words
    return withInstallation(given, {}, async ({ gateway: { people } }) => {
      if (proposal !== undefined) {
        const { invitation } = await decided(() =>
          people.confirm(proposal, { by: commandLineActor() }),
        )
        print(`${proposal} is confirmed; whoever proposed it can have it done now`)
        if (invitation !== undefined) {
          print(`invitation ${invitation}`)
          print('This is shown once. Give it to the new person yourself, and to nobody else.')
        }
        return 0
      }
      const rows = (await people.proposals()).map((row) => [
        row.id,
        row.kind,
        `by ${row.proposer}`,
        row.confirmer === null ? 'waits' : `confirmed by ${row.confirmer}`,
        JSON.stringify(row.facts),
      ])
      for (const line of columns(rows)) print(line)
      if (rows.length === 0) print('nothing waits for a second person')
      return 0
    })
  },
}

export const operatorCommands: readonly Command[] = [
  create,
  reset,
  change,
  disable,
  enable,
  list,
  confirm,
]

const by = ({ options: { proposal } }: Given) => ({
  by: commandLineActor(),
  ...(proposal === undefined ? {} : { proposal }),
})

const entityIn = (text: string) => (text === 'all' ? null : text)

/** What the engine refuses was asked for wrongly: its sentence is for the user. */
const decided = <T>(work: () => Promise<T>): Promise<T> => said(() => told(work))

function withPerson(
  given: Given,
  work: (gateway: Gateway, id: string) => Promise<void>,
): Promise<number> {
  const [name = ''] = given.words
  return withInstallation(given, {}, async ({ gateway }) => {
    await decided(async () => work(gateway, (await gateway.people.named(name)).id))
    return 0
  })
}

/** Never a word of the command line, which everybody on the machine sees. @throws UsageError */
async function passwordFor(given: Given): Promise<string> {
  const inFile = await secretIn(given, 'password-file')
  if (inFile !== undefined) return inFile
  if (process.stdin.isTTY === true) {
    throw new UsageError(
      'the password is read from standard input or --password-file; a terminal would show what is typed: read -rs password; printf %s "$password" | tollgate operator …',
    )
  }
  const text = (await textOf(process.stdin)).split(/\r?\n/, 1)[0] ?? ''
  if (text === '') throw new UsageError('there is no password on standard input')
  return text
}

function showOnce(made: Enrolled | Invited): void {
  if ('invited' in made) {
    print(`id ${made.id}`)
    print('The person joins with this password and the invitation of whoever confirmed it.')
    return
  }
  const { id, otpauthUri, recoveryCodes } = made
  const secret = new URL(otpauthUri).searchParams.get('secret') ?? ''
  const rows = [
    ['id', id],
    ['authenticator', otpauthUri],
    ['or type in', secret],
    ...recoveryCodes.map((code, at) => [at === 0 ? 'recovery codes' : '', code]),
  ]
  for (const line of columns(rows)) print(line)
  print()
  print('This is shown once. Each recovery code can be used once, in the place of a code.')
}
