/** The simulator's settlement file behind a real engine: the engine takes it, and its lines name the payments. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import plugin, { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { type RunningSimulator, startSimulator } from '../../../connectors/simulator/server.ts'
import { card, startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { streamed } from '../../rig/settlement.ts'
import { account, collected } from './support.ts'

describe('a settlement file of the simulator', () => {
  let simulator: RunningSimulator
  let run: TestGateway
  let accountId: string

  before(async () => {
    simulator = await startSimulator()
    const config = { url: simulator.url }
    run = await startGateway({
      plugins: [plugin],
      connectors: { 'simulator-http': config, 'simulator-http-3ds': config },
    })
    accountId = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'simulator-http',
      mode: 'EXTERNAL',
      settings: account,
    })
  })
  after(async () => {
    await run.close()
    await simulator.close()
  })

  const pay = (amount: string, more: Record<string, unknown> = {}) =>
    run.pay({ ...card('4200000000000000'), testMode: 'EXTERNAL', ...more, amount, currency: 'EUR' })

  /** The files two days from now. */
  async function filesOf(): Promise<{ readonly day: string }[]> {
    const at = Date.now() + 2 * 24 * 60 * 60_000
    const answer = await ask(`/settlements?at=${at}`)
    const { files } = (await answer.json()) as { files: { day: string }[] }
    return files
  }

  const ask = (path: string) =>
    fetch(`${simulator.url}${path}`, {
      headers: { authorization: `Bearer ${account.secret}`, 'x-merchant-id': account.merchantId },
    })

  test('the engine takes a file of the simulator, and its lines name the payments', async () => {
    const sale = await pay('92.00', { merchantTransactionId: 'order; number 7' })
    const failed = await pay('92.94')
    const foreign = await pay('92.93')
    const refund = await run.gateway.payments.followUp(sale.id, {
      paymentType: 'RF',
      amount: '10.00',
      currency: 'EUR',
    })
    for (const { result } of [sale, failed, foreign, refund]) {
      assert.match(result.code, /^000\.(000|100)\.1/)
    }
    const bytes: Buffer[] = []
    for (const { day } of await filesOf()) {
      bytes.push(Buffer.from(await (await ask(`/settlements/${day}`)).arrayBuffer()))
    }
    // The payments of a test around midnight are in two files.
    for (const file of bytes) {
      const { id } = await run.gateway.settlement.import(streamed(file), { accountId })
      const read = await until(async () => {
        const view = await run.gateway.settlement.file(id)
        return view.state === 'arrived' ? undefined : view
      })
      assert.equal(read.refused, undefined)
      assert.deepEqual(read.exceptions, [])
      assert.ok(read.records > 0 && read.batchLines >= 3)
      assert.equal(read.merchantNumber, '0shop')
      assert.equal(read.format, 'SIMULATOR-CSV')
    }
    const items = await Promise.all(
      bytes.map((file) => collected(simulatorHttp.settlement!.parse(streamed(file, 100)))),
    )
    const records = items.flat().filter((item) => item.is === 'record')
    const keys = await run.sql<{ id: string; attempt_key: string }>(
      'select id, attempt_key from tollgate.payment',
    )
    const paymentOf = new Map(keys.map((row) => [row.attempt_key, row.id.replaceAll('-', '')]))
    assert.deepEqual(
      records.map(({ key, transactionType, status, merchantTransactionId }) => [
        paymentOf.get(key!),
        transactionType,
        status,
        merchantTransactionId,
      ]),
      [
        [sale.id, 'DEBIT', 'SUCCESS', 'order; number 7'],
        [failed.id, 'DEBIT', 'FAILED', undefined],
        [foreign.id, 'DEBIT', 'SUCCESS', undefined],
        [refund.id, 'REFUND', 'SUCCESS', undefined],
      ],
    )
  })
})
