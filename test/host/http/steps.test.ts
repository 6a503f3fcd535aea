/** The three step logs over HTTP with an acquirer over HTTP: the answers fit their documents. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Ajv2020 } from 'ajv/dist/2020.js'
import plugin from '../../../connectors/acquirer-json/index.ts'
import { cards } from '../../../connectors/acquirer-json/sandbox/order.ts'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import type { StepView } from '../../../core/index.ts'
import { createHost } from '../../../host/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { scheduling } from '../../rig/schedules.ts'
import { root } from '../../rig/sources.ts'
import { ask, debit } from './hosted.ts'

describe('step logs over HTTP', () => {
  const settings = { merchantId: 'shop-1', apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
  const json = (file: string) =>
    JSON.parse(readFileSync(path.join(root, 'schemas/generated/answers', file), 'utf8'))

  let bank: RunningBank
  let run: TestGateway
  let host: { url: string; close(): Promise<void> }
  let token: string

  before(async () => {
    bank = await startBank(settings)
    run = await startGateway({
      plugins: [plugin],
      connectors: { 'acquirer-json': { url: bank.url } },
      role: 'api',
    })
    await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'acquirer-json',
      mode: 'EXTERNAL',
      settings,
    })
    token = (await run.gateway.entities.createToken(run.channel, 'test')).token
    const log = { debug() {}, info() {}, warn() {} }
    host = await createHost(run.gateway, { port: 0, log }).listen()
  })
  after(async () => {
    await host.close()
    await closeChecked(run)
    await bank.close()
  })

  test('the steps fit their document and include the exchange with the acquirer', async () => {
    // Other digits than those of the bank's port, which would be hidden, too.
    const cvv = bank.url.includes('123') ? '987' : '123'
    const form = {
      ...debit,
      'card.number': cards.approved,
      'card.cvv': cvv,
      testMode: 'EXTERNAL',
    }
    const paid = await ask(host.url, '/v1/payments', { form, token })
    assert.equal(paid.body.result.code, '000.100.112')
    const registration = await scheduling(run).store()
    const schedule = await scheduling(run).schedule(registration)
    const ajv = new Ajv2020({ strict: true, formats: { uri: true } })
    ajv.addSchema(json('definitions.json'))
    const read = async (operation: string, where: string) => {
      const { status, body } = await ask(host.url, `${where}/steps?entityId=${run.channel}`, {
        token,
      })
      assert.equal(status, 200, JSON.stringify(body))
      const fits = ajv.compile(json(`${operation}.json`))
      assert.ok(fits(body), JSON.stringify(fits.errors))
      return body.steps as StepView[]
    }
    const steps = await read('payments.steps', `/v1/payments/${paid.body.id}`)
    const [request] = steps.find(({ name }) => name === 'debit')?.requests ?? []
    assert.deepEqual(
      [request?.method, request?.url, request?.status, request?.moves, request?.wroteBytes],
      ['POST', `${bank.url}/payments`, 200, true, true],
    )
    assert.match(request?.sentBody ?? '', /"value":"9200"/)
    assert.match(request?.answeredBody ?? '', /"status":"approved"/)
    for (const hidden of [cards.approved, 'Jane Jones', settings.apiKey, `"${cvv}"`]) {
      assert.ok(!JSON.stringify(steps).includes(hidden), hidden)
    }
    assert.equal((await read('registrations.steps', `/v1/registrations/${registration}`)).length, 4)
    assert.equal(
      (await read('schedules.steps', `/scheduling/v1/schedules/${schedule.id}`)).length,
      2,
    )
  })

  test('steps without a token, for another entity or of an unknown id are refused like any read', async () => {
    const { id } = await run.pay()
    const where = `/v1/payments/${id}/steps`
    assert.equal((await ask(host.url, where)).status, 401)
    const foreign = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const other = (await run.gateway.entities.createToken(foreign, 'other')).token
    assert.equal((await ask(host.url, where, { token: other })).status, 404)
    const named = await ask(host.url, `${where}?entityId=${run.channel}`, { token: other })
    assert.equal(named.status, 403)
    assert.equal(
      (await ask(host.url, `/v1/payments/${'0'.repeat(32)}/steps`, { token })).status,
      404,
    )
    const unknown = await ask(host.url, `${where}?limit=5`, { token })
    assert.equal(unknown.body.result.code, '200.300.404')
  })
})
