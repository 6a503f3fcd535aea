import type { WebhookView } from '@tollgate/core'
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
import { withInstallation } from './with-installation.ts'

const settingOptions = {
  types: {
    type: 'string',
    value: 'list',
    meaning: 'Types of notifications, separated by commas. Default: PAYMENT,REGISTRATION.',
  },
  wrapper: {
    type: 'string',
    value: 'kind',
    meaning:
      'TEXT or JSON encrypt the body, NONE sends plain JSON and needs two people with fourEyes. Default: TEXT.',
  },
  ...proposalOption,
} as const

/** The named options that were given. */
const givenOf = ({ options }: Given, ...names: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )

const by = ({ options: { proposal } }: Given) => ({ by: commandLineActor(), proposal })

const webhookCreateCommand: Command = {
  name: 'webhook create',
  summary: 'Create a webhook endpoint. Its secrets are shown only once.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Entity whose notifications the endpoint gets, together with all entities below it.',
      isRequired: true,
    },
    url: { type: 'string', value: 'url', meaning: 'URL of the endpoint.', isRequired: true },
    ...settingOptions,
  },
  async run(given, shell) {
    const entityId = needed(given, 'entity')
    needed(given, 'url')
    const request = { entityId, ...givenOf(given, 'url', 'types', 'wrapper') }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const made = await gateway.webhooks.create(request as never, by(given))
      for (const line of columns([
        ['id', made.id],
        ['encryptionKey', made.encryptionKey ?? ''],
        ['signingSecret', made.signingSecret ?? ''],
      ])) {
        print(shell, line)
      }
      return 0
    })
  },
}

const webhookSetCommand: Command = {
  name: 'webhook set',
  summary: 'Change a webhook endpoint. The rest keeps its values.',
  words: ['<id>'],
  options: {
    url: { type: 'string', value: 'url', meaning: 'URL of the endpoint.' },
    ...settingOptions,
    active: {
      type: 'string',
      value: 'flag',
      meaning: 'false pauses the endpoint, true resumes it.',
    },
  },
  async run(given, shell) {
    const [id = ''] = given.words
    const request = givenOf(given, 'url', 'types', 'wrapper', 'active')
    if (Object.keys(request).length === 0) {
      throw new UsageError('nothing was changed: give --url, --types, --wrapper or --active')
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { url, wrapper } = await gateway.webhooks.update(id, request as never, by(given))
      print(shell, `changed ${id}: ${url}, wrapper ${wrapper}`)
      return 0
    })
  },
}

const webhookListCommand: Command = {
  name: 'webhook list',
  summary: 'List webhook endpoints with their state.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Only endpoints of this entity and the entities below it.',
    },
    removed: { type: 'boolean', meaning: 'Include removed endpoints.' },
    ...jsonOption,
  },
  async run(given, shell) {
    const { entity } = given.options
    const request = {
      ...(entity === undefined ? {} : { entityId: entity }),
      ...(given.flags.has('removed') ? { removed: 'true' } : {}),
    }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { webhooks } = await gateway.webhooks.list(request as never)
      printList(given, shell, webhooks, {
        none: 'no endpoints: tollgate webhook create --entity … --url …',
        cells: (one) => [one.id, one.url, one.types, stateOf(one)],
      })
      return 0
    })
  },
}

function stateOf(one: WebhookView): string {
  if (one.removedAt !== undefined) return `removed ${shownTime(one.removedAt)}`
  if (one.disabledReason !== undefined) return `disabled: ${one.disabledReason}`
  if (one.active === 'false') return 'off'
  return one.failingSince === undefined ? 'on' : `failing since ${shownTime(one.failingSince)}`
}

const webhookTestCommand: Command = {
  name: 'webhook test',
  summary: 'Send a test notification now. Exits with 1 if the endpoint does not accept it.',
  words: ['<id>'],
  async run(given, shell) {
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { delivered, httpStatus, error, durationMs } = await gateway.webhooks.test(
        given.words[0] ?? '',
        { by: commandLineActor() },
      )
      print(
        shell,
        `${delivered ? 'accepted' : 'not accepted'}: ${httpStatus ?? error} after ${durationMs} ms`,
      )
      return delivered === true ? 0 : 1
    })
  },
}

const webhookRotateCommand: Command = {
  name: 'webhook rotate',
  summary: 'Replace the signing secret, and show it once. The old secret stays valid for a day.',
  words: ['<id>'],
  options: {
    encryption: {
      type: 'boolean',
      meaning: 'Replace the encryption key instead of the signing secret.',
    },
  },
  async run(given, shell) {
    const key = given.flags.has('encryption') ? 'ENCRYPTION' : 'SIGNING'
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const made = await gateway.webhooks.rotate(
        given.words[0] ?? '',
        { by: commandLineActor() },
        { key },
      )
      const rows =
        key === 'SIGNING'
          ? [['signingSecret', made.signingSecret ?? '']]
          : [['encryptionKey', made.encryptionKey ?? '']]
      const until = key === 'SIGNING' ? made.previousSecretUntil : made.previousKeyUntil
      for (const line of columns([
        ...rows,
        ['old one valid until', until === undefined ? '' : shownTime(until)],
      ]))
        print(shell, line)
      return 0
    })
  },
}

const webhookRemoveCommand: Command = {
  name: 'webhook remove',
  summary: 'Remove a webhook endpoint.',
  words: ['<id>'],
  async run(given, shell) {
    const [id = ''] = given.words
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      await gateway.webhooks.remove(id, { by: commandLineActor() })
      print(shell, `removed ${id}; its delivery log remains`)
      return 0
    })
  },
}

const webhookDeliveriesCommand: Command = {
  name: 'webhook deliveries',
  summary: 'List the latest notifications of a webhook endpoint, and how the endpoint answered.',
  words: ['<id>'],
  options: {
    state: {
      type: 'string',
      value: 'state',
      meaning:
        'Only notifications in this state: pending, delivered, or dead, which were given up.',
    },
    ...jsonOption,
  },
  notes:
    'Newest first, at most 100. tollgate inspect <notification> shows each try; tollgate events replay sends again.',
  async run(given, shell) {
    const state = given.options.state?.toUpperCase()
    const request = { ...(state === undefined ? {} : { state }), limit: '100' }
    return withInstallation(given, shell, {}, async ({ gateway }) => {
      const { deliveries } = await gateway.webhooks.deliveries(
        given.words[0] ?? '',
        request as never,
      )
      printList(given, shell, deliveries, {
        none: 'no notifications',
        cells: ({ createdAt, id, type, resource, state: is, reason, attempts }) => {
          const last = attempts.at(-1)
          const tries = `${attempts.length} ${attempts.length === 1 ? 'try' : 'tries'}`
          const answer = last === undefined ? '' : `${last.httpStatus ?? last.error ?? ''}`
          return [
            ...[shownTime(createdAt), id, type, resource, is.toLowerCase(), tries, answer],
            reason ?? '',
          ]
        },
      })
      return 0
    })
  },
}

export const commands: readonly Command[] = [
  webhookListCommand,
  webhookDeliveriesCommand,
  webhookCreateCommand,
  webhookSetCommand,
  webhookTestCommand,
  webhookRotateCommand,
  webhookRemoveCommand,
]
