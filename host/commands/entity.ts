import type { Gateway, NewEntity } from '@tollgate/core'
import type { Shell } from '../shell.ts'
import { commandLineActor } from './actor.ts'
import {
  type Command,
  type Given,
  jsonOption,
  needed,
  print,
  printList,
  UsageError,
} from './command.ts'
import { proposalOption } from './decide.ts'
import { entityRuleCommands } from './entity-rule.ts'
import { shownJson } from './shown-text.ts'
import { withInstallation } from './with-installation.ts'

type Row = Awaited<ReturnType<Gateway['entities']['list']>>[number]

const kinds = ['psp', 'division', 'merchant', 'channel'] as const

const entityListCommand: Command = {
  name: 'entity list',
  summary: 'List PSPs, divisions, merchants and channels.',
  options: jsonOption,
  async run(given, shell) {
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      printList(given, shell, below(null, await gateway.entities.list()), {
        none: 'no entities yet: tollgate entity create --kind psp --name …',
        cells: ({ depth, id, kind, name, closed }) => [
          id,
          `${'  '.repeat(depth)}${kind}`,
          name + (closed ? ' (closed)' : ''),
        ],
      })
      return 0
    })
  },
}

/** The tree below one node, in its order. */
function below(
  parentId: string | null,
  all: readonly Row[],
  depth = 0,
): (Row & { readonly depth: number })[] {
  return all
    .filter((row) => row.parent_id === parentId)
    .flatMap((row) => [{ ...row, depth }, ...below(row.id, all, depth + 1)])
}

const entityCreateCommand: Command = {
  name: 'entity create',
  summary: 'Create a PSP, division, merchant or channel, and print its id.',
  options: {
    kind: {
      type: 'string',
      value: 'kind',
      meaning: `Kind of entity: ${kinds.join(', ')}.`,
      isRequired: true,
    },
    name: { type: 'string', value: 'text', meaning: 'Display name.', isRequired: true },
    parent: { type: 'string', value: 'id', meaning: 'Id of the parent entity. A psp has none.' },
    id: {
      type: 'string',
      value: 'id',
      meaning: 'Id of the new entity, 32 hex characters. Default: a generated id.',
    },
    settings: {
      type: 'string',
      value: 'json',
      meaning: 'Settings as JSON: {"partialApproval":true}.',
    },
    ...proposalOption,
  },
  async run(given, shell) {
    const kind = kinds.find((one) => one === needed(given, 'kind'))
    if (kind === undefined) throw new UsageError(`--kind must be one of ${kinds.join(', ')}`)
    const name = needed(given, 'name')
    const { id } = given.options
    const parent = kind === 'psp' ? given.options.parent : needed(given, 'parent')
    const entity: NewEntity = {
      kind,
      name,
      ...(parent === undefined ? {} : { parentId: parent }),
      ...(id === undefined ? {} : { id }),
      ...settingsOf(given),
    }
    return withInstallation(given, shell, { isFounder: true }, async ({ gateway }) => {
      print(shell, await gateway.entities.create(entity, by(given)))
      return 0
    })
  },
}

const entitySetCommand: Command = {
  name: 'entity set',
  summary:
    'Change settings of an entity, and print all that it has. Other settings keep their values; null takes one away.',
  words: ['<id>'],
  options: {
    settings: {
      type: 'string',
      value: 'json',
      meaning: 'Settings as JSON: {"partialApproval":true}. null takes a setting away.',
      isRequired: true,
    },
    ...proposalOption,
  },
  notes: 'With fourEyes, a change that protects shoppers or the merchant less needs two people.',
  async run(given, shell) {
    needed(given, 'settings')
    const { settings = {} } = settingsOf(given)
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const [id = ''] = given.words
      await gateway.entities.configure(id, settings, by(given))
      const changed = await gateway.entities.get(id)
      print(shell, shownJson(changed?.settings ?? {}))
      return 0
    })
  },
}

const entityCloseCommand: Command = {
  name: 'entity close',
  summary: 'Stop new payments of an entity and all entities below it.',
  words: ['<id>'],
  notes:
    'Captures, refunds, reversals and reads still work. Every process follows within five seconds.',
  run: (given, shell) => setClosed(given, shell, 'close'),
}

const entityOpenCommand: Command = {
  name: 'entity open',
  summary: 'Allow new payments of a closed entity again.',
  words: ['<id>'],
  options: proposalOption,
  run: (given, shell) => setClosed(given, shell, 'open'),
}

function setClosed(given: Given, shell: Shell, change: 'close' | 'open'): Promise<number> {
  const [id = ''] = given.words
  return withInstallation(given, shell, {}, async ({ gateway }) => {
    await gateway.entities[change](id, commandLineActor(), given.options.proposal)
    print(shell, change === 'close' ? `${id} is closed` : `${id} is open`)
    return 0
  })
}

const by = ({ options: { proposal } }: Given) => ({ by: commandLineActor(), proposal })

/** @throws UsageError when the option is no JSON object. */
function settingsOf(given: Given): { settings?: Record<string, unknown> } {
  const text = given.options.settings
  if (text === undefined) return {}
  try {
    const settings: unknown = JSON.parse(text)
    if (typeof settings === 'object' && settings !== null && !Array.isArray(settings)) {
      return { settings: settings as Record<string, unknown> }
    }
  } catch {
    // The same sentence tells what would be right.
  }
  throw new UsageError('--settings must be a JSON object: {"partialApproval":true}')
}

export const commands: readonly Command[] = [
  entityListCommand,
  entityCreateCommand,
  entitySetCommand,
  entityCloseCommand,
  entityOpenCommand,
  ...entityRuleCommands,
]
