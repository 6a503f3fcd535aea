import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedName,
  sentAgain,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

const eur = (amount: string) => ({ amount, currency: 'EUR' as const })
const approved = '000.100.110'

describe('chargebacks', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const chargeBack = (id: string, more: Record<string, string> = {}) =>
    run.gateway.payments.followUp(id, { paymentType: 'CB', ...more })
  const takeBack = (id: string, more: Record<string, string> = {}) =>
    run.gateway.payments.followUp(id, { paymentType: 'CR', ...more })
  const refund = (id: string) => run.gateway.payments.refund(id, eur('1.00'))

  test('a chargeback without an amount covers the whole payment and answers with a chargeback reason', async () => {
    const { id } = await run.pay()
    const answer = await chargeBack(id)
    assert.equal(answer.paymentType, 'CB')
    assert.equal(answer.amount, '92.00')
    assert.match(answer.result.code, /^000\.100\.2/)
    assert.deepEqual(answer.nextActions, ['CR'])
  })

  test('chargebackResultCode becomes the reason of the record', async () => {
    const { id } = await run.pay()
    const { status, body } = await run.send(
      { paymentType: 'CB', chargebackResultCode: '000.100.221' },
      { id },
    )
    assert.equal(status, 200)
    assert.equal(body.result.code, '000.100.221')
  })

  test('refunds and reversals of a charged-back payment wait with 700.300.600 until a CR', async () => {
    const { id } = await run.pay()
    const { id: chargeback } = await chargeBack(id, eur('92.00'))
    await assert.rejects(refund(id), { code: '700.300.600', status: 400 })
    await assert.rejects(run.gateway.payments.reverse(id), { code: '700.300.600' })
    await assert.rejects(run.gateway.payments.rebill(id, eur('1.00')), { code: '700.300.600' })
    assert.deepEqual((await run.gateway.payments.get(id)).nextActions ?? [], [])
    assert.equal((await takeBack(chargeback)).result.code, approved)
    assert.equal((await refund(id)).result.code, approved)
  })

  test('a second chargeback is 700.300.500 while the first one stands', async () => {
    const { id } = await run.pay()
    await chargeBack(id)
    await assert.rejects(chargeBack(id), { code: '700.300.500', status: 400 })
  })

  test('a chargeback is reversed once: the second CR is refused', async () => {
    const { id } = await run.pay()
    const chargeback = await chargeBack(id)
    const reversal = await takeBack(chargeback.id)
    assert.equal(reversal.amount, '92.00')
    assert.equal(reversal.referencedId, chargeback.id)
    await assert.rejects(takeBack(chargeback.id), { code: '700.400.410' })
    assert.deepEqual((await run.gateway.payments.get(chargeback.id)).nextActions ?? [], [])
  })

  test('a payment can be charged back again after a CR, and the old CR does not count for it', async () => {
    const { id } = await run.pay()
    const first = await chargeBack(id)
    await takeBack(first.id)
    const second = await chargeBack(id)
    await assert.rejects(takeBack(first.id), { code: '700.400.410' })
    await assert.rejects(refund(id), { code: '700.300.600' })
    await takeBack(second.id)
    assert.equal((await refund(id)).result.code, approved)
  })

  test('a chargeback of a capture stops its refunds; the rest of the authorisation can be captured', async () => {
    const authorisation = await run.pay({ paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(authorisation.id, eur('50.00'))
    await chargeBack(capture.id)
    await assert.rejects(refund(capture.id), { code: '700.300.600' })
    const other = await run.gateway.payments.capture(authorisation.id, eur('42.00'))
    assert.equal(other.result.code, approved)
  })

  test('merchants cannot post chargebacks of payments at an acquirer', async () => {
    const { id } = await run.debit('by-merchant')
    await assert.rejects(chargeBack(id), { status: 400 })
  })

  const report = async (id: string, what: string, eventId: string, minor = '9200') =>
    run.gateway.inbound(
      scriptedName,
      run.account,
      message({
        eventId,
        key: await run.keyOf(id),
        minor,
        outcome: { is: what, reason: '000.100.220', refs: { dispute: eventId } },
      }),
    )
  const records = (id: string, type: string) =>
    run.sql<{ id: string; amount_minor: bigint; result_code: string }>(
      `select id, amount_minor, result_code from tollgate.payment
        where referenced_id = $1 and payment_type = $2 and state = 'approved'`,
      [id, type],
    )
  const reported = async (...about: Parameters<typeof report>) => {
    await report(...about)
    return processed(run, about[2])
  }

  test('a chargeback reported by the acquirer is recorded with its reason, once however often it is reported', async () => {
    const { id } = await run.debit('reported-1')
    await reported(id, 'chargeback', 'dispute-1')
    await reported(id, 'chargeback', 'dispute-1')
    const rows = await records(id, 'CB')
    assert.deepEqual(
      rows.map(({ amount_minor, result_code }) => [amount_minor, result_code]),
      [[9200n, '000.100.220']],
    )
    await assert.rejects(refund(id), { code: '700.300.600' })
    await reported(id, 'chargebackReversal', 'dispute-1-back')
    assert.equal((await records(rows[0]!.id, 'CR')).length, 1)
    assert.equal((await refund(id)).result.code, '000.100.112')
  })

  test('an unproven chargeback is not recorded, and the acquirer sends it again', async () => {
    const { id } = await run.debit('reported-2')
    const outcome = { is: 'chargeback', reason: '000.100.220', refs: {} }
    const forged = message({ eventId: 'forged-1', key: await run.keyOf(id), outcome }, {})
    await sentAgain(run.gateway.inbound(scriptedName, run.account, forged))
    assert.equal(await processed(run, 'forged-1'), 'enquired')
    assert.deepEqual(await records(id, 'CB'), [])
    assert.equal((await refund(id)).result.code, '000.100.112')
  })

  test('a chargeback above the remaining amount is recorded, and operators are told', async () => {
    const { id } = await run.debit('reported-3')
    await run.gateway.payments.refund(id, eur('92.00'))
    await reported(id, 'chargeback', 'dispute-3')
    assert.equal((await records(id, 'CB')).length, 1)
    const listed = await run.gateway.attention()
    assert.deepEqual(
      listed.filter((row) => row.payment_id === id).map((row) => row.kind),
      ['beyond-sums'],
    )
  })

  test('a second chargeback of the whole amount is recorded and listed as beyond the sums', async () => {
    const { id } = await run.debit('reported-4')
    await reported(id, 'chargeback', 'dispute-4')
    await reported(id, 'chargeback', 'dispute-4-again')
    assert.equal((await records(id, 'CB')).length, 2)
    const listed = await run.gateway.attention()
    assert.deepEqual(
      listed.filter((row) => row.payment_id === id).map((row) => row.kind),
      ['beyond-sums'],
    )
  })
})
