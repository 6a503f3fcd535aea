/** A failover loses a payment with a token, and the token is sent again: no approval is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { heldCall } from '../../rig/late-words.ts'
import { startWithWallets, tokenOf, type WalletRun } from '../../rig/wallets.ts'

/** Tables of a first payment, and their columns with its id. */
const rows = {
  attempt: 'payment_id',
  payment_request: 'id',
  instrument: 'id',
  wallet_replay: 'payment_id',
  idempotency: 'payment_id',
  payment_balance: 'payment_id',
  payment: 'id',
}

describe('payments with a token that a failover lost', () => {
  let run: WalletRun
  before(async () => {
    run = await startWithWallets()
  })
  after(() => closeChecked(run))

  const pay = (token: string, reference: string, idempotencyKey?: string) =>
    run.gateway.payments.create(
      {
        entityId: run.channel,
        ...{ amount: '92.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' },
        paymentBrand: 'GOOGLEPAY',
        merchantTransactionId: reference,
        googlePay: { paymentToken: token },
      } as never,
      idempotencyKey === undefined ? {} : { idempotencyKey },
    )
  const lose = async (id: string, but?: keyof typeof rows) => {
    for (const [table, column] of Object.entries(rows)) {
      if (table !== but) await run.sql(`delete from tollgate.${table} where ${column} = $1`, [id])
    }
  }
  const listed = (id: string) =>
    run.sql<{ kind: string; detail: Record<string, unknown> }>(
      'select kind, detail from tollgate.attention where payment_id = $1',
      [id],
    )
  /** A payment whose rows are lost while the acquirer has it. */
  const lost = async (token: string, reference: string) => {
    const call = heldCall()
    run.acquirer.tell(reference, { debit: call.handler })
    const answer = pay(token, reference, `key of ${reference}`.replaceAll(' ', '-'))
    const operation = await call.begun
    await lose(operation.paymentId)
    return { answer, operation, end: () => call.answer(approvedAs(operation)) }
  }

  test('is written again and listed, although the token made another payment meanwhile', async () => {
    const token = tokenOf(run.devices.googlePay)
    const { answer, operation, end } = await lost(token, 'lost-and-sent-again')
    const second = await pay(token, 'sent-again')
    assert.match(second.result.code, /^000\./)
    end()
    const first = await answer
    assert.equal(first.id, operation.paymentId)
    assert.match(first.result.code, /^000\./)
    assert.equal((await run.gateway.payments.get(first.id)).result.code, first.result.code)
    assert.deepEqual(
      (await listed(first.id)).map(({ kind }) => kind),
      ['recovered'],
    )
    const replays = await run.sql(
      'select payment_id from tollgate.wallet_replay where payment_id = any($1)',
      [[first.id, second.id]],
    )
    assert.equal(replays.length, 1, 'the token stays used')
  })

  test('without another payment it has its token again', async () => {
    const token = tokenOf(run.devices.googlePay)
    const { answer, end } = await lost(token, 'lost-alone')
    end()
    const { id } = await answer
    await assert.rejects(pay(token, 'lost-alone-again'))
    const replays = await run.sql('select from tollgate.wallet_replay where payment_id = $1', [id])
    assert.equal(replays.length, 1)
  })

  test('is listed when its rows cannot be written again', async () => {
    const { answer, operation, end } = await lost(tokenOf(run.devices.googlePay), 'key-is-taken')
    // The key has a payment whose rows were lost as well.
    const other = await pay(tokenOf(run.devices.googlePay), 'key-is-taken-2', 'key-of-key-is-taken')
    const { id } = await run.gateway.payments.get(other.id)
    await lose(id, 'idempotency')
    end()
    await answer
    const [entry] = await listed(operation.paymentId)
    assert.equal(entry?.kind, 'recovered')
    assert.deepEqual(
      [entry.detail.outcome, entry.detail.minor, entry.detail.currency],
      ['approved', '9200', 'EUR'],
    )
  })
})
