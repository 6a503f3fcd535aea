/** Lists print JSON on request, and help says which options are required. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { allCommands } from '../../../host/cli.ts'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

describe('the command line: lists', () => {
  let run: TestGateway
  let project: Awaited<ReturnType<typeof projectFolder>>

  before(async () => {
    run = await startGateway({ role: 'api' })
    project = await projectFolder()
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  const tollgate = (...words: string[]) =>
    runTollgate(words, {
      folder: project.path,
      env: { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey },
    })

  async function json(...words: string[]): Promise<Record<string, unknown>[]> {
    const { code, out, err } = await tollgate(...words, '--json')
    assert.equal(code, 0, err)
    return JSON.parse(out)
  }

  test('every list takes --json', async () => {
    const lists = (await allCommands()).filter(
      ({ name }) => / list$/.test(name) || ['attention', 'settlement exceptions'].includes(name),
    )
    assert.ok(lists.length >= 10)
    for (const { name, options } of lists) assert.ok(options?.json !== undefined, name)
  })

  test('payments are listed newest first, by time, order and type', async () => {
    const first = await run.pay({ merchantTransactionId: 'order-LIST-1' })
    const second = await run.pay({ paymentType: 'PA', merchantTransactionId: 'order-LIST-2' })
    const listed = async (...words: string[]) =>
      (await json('payment', 'list', ...words)).map(({ id }) => id)
    assert.deepEqual(await listed(), [second.id, first.id])
    assert.deepEqual(await listed('--order', 'order-LIST-1'), [first.id])
    assert.deepEqual(await listed('--types', 'pa', '--entity', run.merchant), [second.id])
    assert.match(
      (await tollgate('payment', 'list', '--order', 'order-LIST-2')).out,
      new RegExp(`^20\\S+ \\S+ +${second.id} +PA +92\\.00 EUR +000\\.100\\.110 +order-LIST-2\n$`),
    )
    assert.match((await tollgate('payment', 'list', '--order', 'none')).out, /^no payments of/)
    const both = await tollgate('payment', 'list', '--order', 'x', '--since', '1h')
    assert.match(both.err, /--order and --since exclude each other/)
  })

  test('lists in JSON have the fields of their entries, and empty ones are empty lists', async () => {
    await run.gateway.entities.createToken(run.channel, 'till')
    const entities = await json('entity', 'list')
    assert.deepEqual(
      entities.map(({ kind, depth }) => [kind, depth]),
      [
        ['psp', 0],
        ['division', 1],
        ['merchant', 2],
        ['channel', 3],
      ],
    )
    const [token] = await json('token', 'list')
    assert.deepEqual([token!.name, token!.entity_id, token!.kind], ['till', run.channel, 'channel'])
    for (const words of [
      ['operator', 'list'],
      ['operator', 'confirm'],
      ['webhook', 'list'],
      ['account', 'list'],
      ['entity', 'rule', 'list', run.merchant],
      ['settlement', 'list'],
      ['settlement', 'exceptions'],
      ['attention'],
    ]) {
      assert.deepEqual(await json(...words), [], words.join(' '))
    }
  })

  test('usage shows required options without brackets, and a missing one is named first', async () => {
    const { out } = await tollgate('token', 'create', '--help')
    assert.match(out, /^tollgate token create --entity <id> --name <text> \[--rights <names>\]/)
    const { code, err } = await tollgate('token', 'create', '--name', 'x')
    assert.equal(code, 1)
    assert.equal(err.trim(), '--entity is missing')
    const words = await tollgate('attention', 'resolve')
    assert.match(words.err, /usage: tollgate attention resolve <entry> --reason <text>/)
  })
})
