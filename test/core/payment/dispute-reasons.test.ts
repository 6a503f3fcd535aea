/**
 * Acquirers give free reasons for chargebacks: a result code is used, other text is kept for
 * people.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { type LateRun, startLate } from '../../rig/late-words.ts'
import { startReceiver } from '../../rig/notification-receiver.ts'

describe('chargeback reasons', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const chargedBack = async (name: string, reason: unknown) => {
    const { id } = await run.debit(name)
    const outcome = { is: 'chargeback', reason, refs: {} }
    assert.equal(await run.tell(id, { outcome, reference: name, minor: '9200' }), 'recorded')
    const [row] = await run.sql<{ id: string }>(
      `select id from tollgate.payment where referenced_id = $1 and payment_type = 'CB'`,
      [id],
    )
    const view = await run.gateway.payments.get(row!.id)
    const details = view.resultDetails as Record<string, string> | undefined
    return { sale: id, id: row!.id, code: view.result.code, kept: details?.AcquirerReason }
  }

  for (const [name, reason, code, kept] of [
    ['a chargeback code', '000.100.221', '000.100.221', undefined],
    ['the code of a scheme', '4853', '000.100.200', '4853'],
    ['a success', '000.000.000', '000.100.200', '000.000.000'],
    ['a decline', '800.100.203', '000.100.200', '800.100.203'],
    ['a code that the catalogue has not', '000.100.207', '000.100.200', '000.100.207'],
    ['a text with a card number', 'card 4200000000000000', '000.100.200', 'card ************0000'],
    ['a long text', 'x'.repeat(500), '000.100.200', 'x'.repeat(64)],
    ['nothing', undefined, '000.100.200', undefined],
    ['no text', 7, '000.100.200', undefined],
  ] as const) {
    test(`a chargeback reason given as ${name} becomes ${code}`, async () => {
      const found = await chargedBack(`reason: ${name}`, reason)
      assert.deepEqual([found.code, found.kept], [code, kept])
    })
  }

  test('readers of a record take the reason code of a scheme', async () => {
    const shop = await startReceiver()
    try {
      const { signingSecret } = await run.gateway.webhooks.create({
        entityId: run.channel,
        url: shop.url,
        wrapper: 'NONE',
      } as never)
      shop.trust({ secrets: [signingSecret!] })
      const { sale, id } = await chargedBack('scheme code', '13.1')
      const { query } = run.gateway
      assert.equal((await query.get(id)).result.code, '000.100.200')
      assert.ok((await query.linked(sale)).some((view) => view.id === id))
      const date = { from: '2000-01-01 00:00:00', to: '2090-01-01 00:00:00' }
      const { records } = await query.search({ date, paymentTypes: 'CB' } as never)
      assert.ok(records.some((view) => view.id === id))
      await shop.first(({ notification }) => notification?.payload.id === id)
    } finally {
      await shop.close()
    }
  })

  test("a merchant's reason outside the catalogue is kept for people to read", async () => {
    const sale = await run.gateway.payments.create({
      ...card('4200000000000000'),
      testMode: 'INTERNAL',
      entityId: run.channel,
    } as never)
    const view = await run.gateway.payments.followUp(sale.id, {
      paymentType: 'CB',
      chargebackResultCode: '000.100.207',
    })
    assert.equal(view.result.code, '000.100.200')
    const details = view.resultDetails as Record<string, string>
    assert.equal(details.AcquirerReason, '000.100.207')
  })
})
