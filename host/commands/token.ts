import { commandLineActor } from './actor.ts'
import { type Command, columns, needed, print, withInstallation } from './command.ts'
import { said } from './entity.ts'

export const tokenCreateCommand: Command = {
  name: 'token create',
  summary: 'Make an access token; it is shown this once.',
  options: {
    entity: {
      type: 'string',
      value: 'id',
      meaning: 'Node that the token acts for, with everything below it.',
    },
    name: { type: 'string', value: 'text', meaning: 'What it is for.' },
  },
  async run(given) {
    const entityId = needed(given, 'entity')
    const name = needed(given, 'name')
    return withInstallation(given, {}, async ({ gateway }) => {
      const { id, token } = await said(() =>
        gateway.entities.createToken(entityId, name, { by: commandLineActor() }),
      )
      for (const line of columns([
        ['id', id],
        ['token', token],
      ])) {
        print(line)
      }
      return 0
    })
  },
}

export const tokenListCommand: Command = {
  name: 'token list',
  summary: 'Show access tokens; the tokens themselves are not kept.',
  options: { entity: { type: 'string', value: 'id', meaning: 'Only those of this node.' } },
  async run(given) {
    const only = given.options.entity
    return withInstallation(given, {}, async ({ gateway }) => {
      const entities = await gateway.entities.list()
      const rows: string[][] = []
      for (const entity of entities) {
        if (only !== undefined && only !== entity.id) continue
        for (const token of await gateway.entities.tokens(entity.id)) {
          const state =
            token.revoked_at === null ? 'valid' : `revoked ${token.revoked_at.toISOString()}`
          const made = token.created_at.toISOString()
          rows.push([token.id, `${entity.kind} ${entity.id}`, token.name, made, state])
        }
      }
      if (rows.length === 0) print('no tokens: tollgate token create --entity … --name …')
      for (const line of columns(rows)) print(line)
      return 0
    })
  },
}

export const tokenRevokeCommand: Command = {
  name: 'token revoke',
  summary: 'End an access token: every process refuses it within five seconds.',
  words: ['<id>'],
  async run(given) {
    const [id = ''] = given.words
    return withInstallation(given, {}, async ({ gateway }) => {
      await said(() => gateway.entities.revokeToken(id, { by: commandLineActor() }))
      print(`${id} is revoked`)
      return 0
    })
  },
}
