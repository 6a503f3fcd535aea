import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, declined, notSent, type Operation, unknown } from '@tollgate/plugin-kit'
import {
  type AcquirerRun,
  approvedAs,
  enquire,
  type Script,
  startWithAcquirer,
} from '../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'

const charged = '000.100.112'
const undecided = '000.200.001'
const noMoney = '800.100.155'

const refuse = (_: Operation, context: Context) => {
  context.sending()
  return declined(noMoney)
}
const lose = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}

describe('PA.CP, two steps in one request', { concurrency: true }, () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const pay = (reference: string, script: Script) =>
    run.debit(reference, script, { paymentType: 'PA.CP', descriptor: 'Demo Store' })
  const records = async (reference: string) => {
    const rows = await run.sql<{ id: string; payment_type: string; state: string }>(
      `select id, payment_type, state from tollgate.payment
        where merchant_transaction_id = $1 or referenced_id in
          (select id from tollgate.payment where merchant_transaction_id = $1)
        order by id`,
      [reference],
    )
    return rows
  }
  const states = async (reference: string) =>
    (await records(reference)).map(({ payment_type, state }) => `${payment_type} ${state}`)
  /** Makes the remaining work due now. */
  const goOn = (authorisation: string) =>
    run.sql(`update tollgate.timer set due_at = now() where kind = 'continue' and ref = $1`, [
      authorisation,
    ])

  test("the answer is that of the capture, with the merchant's data of the sale", async () => {
    const answer = await pay('steps-approved', {})
    assert.equal(answer.result.code, charged)
    assert.equal(answer.paymentType, 'CP')
    assert.equal(answer.descriptor, 'Demo Store')
    assert.equal(answer.merchantTransactionId, 'steps-approved')
    assert.deepEqual(await states('steps-approved'), ['PA approved', 'CP approved'])
  })

  test('a failed capture answers with its decline, and the authorisation is reversed', async () => {
    const answer = await pay('steps-capture-fails', { capture: refuse })
    assert.equal(answer.result.code, noMoney)
    assert.equal(answer.paymentType, 'CP')
    assert.deepEqual(await states('steps-capture-fails'), [
      'PA approved',
      'CP declined',
      'RV approved',
    ])
    const { authorised, reversed, captured } = await balanceOf(run, answer.referencedId as string)
    assert.deepEqual([authorised, reversed, captured], [9200n, 9200n, 0n])
  })

  test('a capture that was not sent fails the sale in the same way', async () => {
    const answer = await pay('steps-not-sent', { capture: () => notSent('circuit open') })
    assert.equal(answer.result.code, '900.100.600')
    assert.equal(answer.retrySafe, true)
    assert.deepEqual(await states('steps-not-sent'), ['PA approved', 'CP declined', 'RV approved'])
  })

  test('a reversal that fails as well is left to operators', async () => {
    const answer = await pay('steps-nothing-works', { capture: refuse, reverse: refuse })
    assert.equal(answer.result.code, noMoney)
    const listed = (await run.gateway.attention()).filter(
      (row) => row.payment_id === answer.referencedId,
    )
    assert.deepEqual(
      listed.map(({ kind }) => kind),
      ['unreversed'],
    )
  })

  test('an authorisation that was not sent is safe to retry, and nothing is captured', async () => {
    const answer = await pay('steps-unsent', { authorize: () => notSent('circuit open') })
    assert.equal(answer.result.code, '900.100.600')
    assert.equal(answer.retrySafe, true)
    assert.deepEqual(await states('steps-unsent'), ['PA declined'])
    assert.equal((await run.gateway.payments.get(answer.id)).result.code, '900.100.600')
    assert.deepEqual(
      await run.sql('select 1 from tollgate.timer where ref = $1', [answer.referencedId]),
      [],
    )
  })

  test('a lost authorisation leaves the sale open for the client, and its capture follows once it is found', async () => {
    const answer = await pay('steps-first-lost', { authorize: lose, enquire: approvedAs })
    assert.equal(answer.result.code, undecided)
    assert.equal((await run.gateway.payments.get(answer.id)).result.code, undecided)
    const authorisation = answer.referencedId as string
    await enquire(run, authorisation)
    await goOn(authorisation)
    await until(async () =>
      (await states('steps-first-lost')).includes('CP approved') ? true : undefined,
    )
    assert.equal((await balanceOf(run, authorisation)).captured, 9200n)
    assert.equal((await run.gateway.payments.get(answer.id)).result.code, charged)
  })

  test('a lost capture that failed reverses its authorisation once it is found', async () => {
    const answer = await pay('steps-second-lost', {
      capture: lose,
      enquire: () => declined(noMoney),
    })
    assert.equal(answer.result.code, undecided)
    const [authorisation, capture] = await records('steps-second-lost')
    assert.equal((await enquire(run, capture!.id)).result.code, noMoney)
    await goOn(authorisation!.id)
    await until(async () =>
      (await states('steps-second-lost')).includes('RV approved') ? true : undefined,
    )
    assert.equal((await balanceOf(run, authorisation!.id)).reversed, 9200n)
  })
})
