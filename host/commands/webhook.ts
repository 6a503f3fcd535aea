import type { WebhookView } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import { type Command, columns, needed, print, withInstallation } from './command.ts'
import { said } from './entity.ts'

const webhookCreateCommand: Command = {
  name: 'webhook create',
  summary: 'Have notifications sent to a URL; its secrets are shown this once.',
  options: {
    entity: { type: 'string', value: 'id', meaning: 'Whose notifications, with all below it.' },
    url: { type: 'string', value: 'url', meaning: 'Where they go.' },
    types: { type: 'string', value: 'list', meaning: 'PAYMENT,REGISTRATION unless given.' },
    wrapper: { type: 'string', value: 'kind', meaning: 'TEXT unless given, JSON or NONE.' },
  },
  async run(given) {
    const entityId = needed(given, 'entity')
    const url = needed(given, 'url')
    const { types, wrapper } = given.options
    const request = {
      entityId,
      url,
      ...(types === undefined ? {} : { types }),
      ...(wrapper === undefined ? {} : { wrapper }),
    }
    return withInstallation(given, {}, async ({ gateway }) => {
      const made = await said(() =>
        gateway.webhooks.create(request as never, { by: commandLineActor() }),
      )
      for (const line of columns([
        ['id', made.id],
        ['encryptionKey', made.encryptionKey ?? ''],
        ['signingSecret', made.signingSecret ?? ''],
      ])) {
        print(line)
      }
      return 0
    })
  },
}

const webhookListCommand: Command = {
  name: 'webhook list',
  summary: 'Show webhook endpoints and how they do.',
  options: {
    entity: { type: 'string', value: 'id', meaning: 'Only those of this node and below.' },
    removed: { type: 'boolean', meaning: 'Those that were removed, too.' },
  },
  async run(given) {
    const { entity } = given.options
    const request = {
      ...(entity === undefined ? {} : { entityId: entity }),
      ...(given.flags.has('removed') ? { removed: 'true' } : {}),
    }
    return withInstallation(given, {}, async ({ gateway }) => {
      const { webhooks } = await said(() => gateway.webhooks.list(request as never))
      if (webhooks.length === 0) print('no endpoints: tollgate webhook create --entity … --url …')
      const rows = webhooks.map((one) => [one.id, one.url, one.types, stateOf(one)])
      for (const line of columns(rows)) print(line)
      return 0
    })
  },
}

function stateOf(one: WebhookView): string {
  if (one.removedAt !== undefined) return `removed ${one.removedAt}`
  if (one.disabledReason !== undefined) return `disabled: ${one.disabledReason}`
  if (one.active === 'false') return 'off'
  return one.failingSince === undefined ? 'on' : `failing since ${one.failingSince}`
}

const webhookTestCommand: Command = {
  name: 'webhook test',
  summary: 'Send a test notification now; fails when it is not taken.',
  words: ['<id>'],
  async run(given) {
    return withInstallation(given, {}, async ({ gateway }) => {
      const { delivered, httpStatus, error, durationMs } = await said(() =>
        gateway.webhooks.test(given.words[0] ?? ''),
      )
      print(`${delivered ? 'taken' : 'not taken'}: ${httpStatus ?? error} after ${durationMs} ms`)
      return delivered === true ? 0 : 1
    })
  },
}

const webhookRotateCommand: Command = {
  name: 'webhook rotate',
  summary: 'Make a new signing secret, shown this once; the one before is good for another day.',
  words: ['<id>'],
  options: {
    encryption: { type: 'boolean', meaning: 'The encryption key in the place of the secret.' },
  },
  async run(given) {
    const key = given.flags.has('encryption') ? 'ENCRYPTION' : 'SIGNING'
    return withInstallation(given, {}, async ({ gateway }) => {
      const made = await said(() => gateway.webhooks.rotate(given.words[0] ?? '', {}, { key }))
      const rows =
        key === 'SIGNING'
          ? [['signingSecret', made.signingSecret ?? '']]
          : [['encryptionKey', made.encryptionKey ?? '']]
      const until = key === 'SIGNING' ? made.previousSecretUntil : made.previousKeyUntil
      for (const line of columns([...rows, ['before it until', until ?? '']])) print(line)
      return 0
    })
  },
}

const webhookRemoveCommand: Command = {
  name: 'webhook remove',
  summary: 'Send nothing more to an endpoint.',
  words: ['<id>'],
  async run(given) {
    const [id = ''] = given.words
    return withInstallation(given, {}, async ({ gateway }) => {
      await said(() => gateway.webhooks.remove(id, { by: commandLineActor() }))
      print(`${id} is removed: it gets nothing more; its log stays`)
      return 0
    })
  },
}

export const webhookCommands: readonly Command[] = [
  webhookListCommand,
  webhookCreateCommand,
  webhookTestCommand,
  webhookRotateCommand,
  webhookRemoveCommand,
]
