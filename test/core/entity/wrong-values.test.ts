/** Whatever a program gives to the methods of entities and accounts, no error of the database gets out. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { callMethod, everyMethod } from '../../rig/every-method.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'

/** Errors of Postgres have a severity. */
function isOfDatabase(error: unknown): boolean {
  const { severity, cause } = Object(error) as { severity?: unknown; cause?: unknown }
  return severity !== undefined || (cause !== undefined && isOfDatabase(cause))
}

describe('wrong values', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  test('of entities, tokens and accounts are refused before the database sees them', async () => {
    const { gateway, channel, merchant } = run
    const values = [
      ...['zz', '', 'a\0b', '\ud800', 'VISA', 'f'.repeat(32), channel, merchant],
      ...[5, -1, 1.5, 2 ** 60, Number.NaN, true, null, undefined],
      ...[{}, [], ['zz'], ['a\0'], { name: 'a\0', kind: 'psp' }, new Date(Number.NaN)],
    ]
    const methods = everyMethod(gateway).filter((path) => /^(entities|accounts)\./.test(path))
    const out: string[] = []
    for (const path of methods) {
      // Who closes and opens an entity is no value of it.
      const most = path === 'entities.close' || path === 'entities.open' ? 1 : 3
      for (const one of values) {
        const shapes = [
          [one],
          [channel, one],
          [merchant, one],
          [channel, one, one],
          [channel, 'x', one],
        ]
        for (const given of shapes) {
          if (given.length > most) continue
          try {
            await callMethod(gateway, path, given)
          } catch (error) {
            if (isOfDatabase(error)) out.push(`${path} ${JSON.stringify(given)}: ${error}`)
          }
        }
      }
    }
    assert.deepEqual(out, [])
  })

  test('are named: an unknown entity, a name without whole characters, limits that are no list', async () => {
    const { entities } = run.gateway
    const token = (id: unknown, name: unknown, limits?: unknown) =>
      entities.createToken(id as string, name as string, limits as never)
    for (const id of ['zz', 'f'.repeat(32), undefined]) {
      await assert.rejects(token(id, 'shop'), new RegExp(`there is no entity ${id}`))
    }
    for (const name of ['a\0b', '\ud800']) {
      await assert.rejects(token(run.channel, name), /token must have whole characters/)
      const psp = { kind: 'psp', name } as const
      await assert.rejects(entities.create(psp), /psp must have whole characters/)
    }
    await assert.rejects(token(run.channel, undefined), /a token needs a name/)
    for (const name of ['rights', 'networks']) {
      await assert.rejects(token(run.channel, 'x', { [name]: null }), /must be a list of texts/)
      await assert.rejects(token(run.channel, 'x', { [name]: 'read' }), /must be a list of texts/)
    }
    await assert.rejects(entities.configure(run.channel, undefined as never), /must be an object/)
    await assert.rejects(entities.create(undefined as never), /kind must be psp/)
    assert.deepEqual(await entities.tokens('zz'), [])
    await assert.rejects(entities.create({ kind: 'psp', name: 'P', setings: {} } as never), {
      parameterErrors: [
        { name: 'setings', message: 'is no option of this call; did you mean settings?' },
      ],
    })
  })
})
