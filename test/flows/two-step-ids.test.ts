/** The single id of a PA.CP tells the truth about the sale in every later state. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../core/index.ts'
import { approvedAs, enquire, type Script } from '../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  heldCall,
  type LateRun,
  lose,
  noMoney,
  refuse,
  startLate,
  undecided,
} from '../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const underWay = { code: '700.400.570' }

describe('the id of a two-step payment', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  /** Id of the sale, and of its authorisation. */
  const pay = async (reference: string, script: Script) => {
    const answer = await run.debit(reference, script, { paymentType: 'PA.CP' })
    return { answer, id: answer.id, authorisation: answer.referencedId as string }
  }
  const tells = async (id: string, code: string) => {
    const read = await run.gateway.payments.get(id)
    assert.deepEqual([read.id, read.paymentType, read.result.code], [id, 'CP', code])
    assert.equal((await run.gateway.query.get(id)).result.code, code)
    assert.equal((await run.gateway.payments.steps(id)).id, id)
  }
  const settles = (id: string, code: string) =>
    until(async () => ((await run.code(id)) === code ? true : undefined))
  const followUps = async (authorisation: string) =>
    (
      await run.sql<{ payment_type: string; state: string }>(
        'select payment_type, state from tollgate.payment where referenced_id = $1 order by id',
        [authorisation],
      )
    ).map(({ payment_type, state }) => `${payment_type} ${state}`)
  const isAtRest = (authorisation: string) =>
    until(async () => {
      await run.dueNow(authorisation)
      return (await run.timers(authorisation)).length === 0 ? true : undefined
    })

  test('a lost authorisation that is found is opened, captured and refunded under one id', async () => {
    const { answer, id, authorisation } = await pay('steps-found', { authorize: lose })
    assert.equal(answer.result.code, undecided)
    await tells(id, undecided)
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), underWay)
    run.acquirer.tell('steps-found', { enquire: approvedAs })
    await run.age(authorisation)
    await enquire(run, authorisation)
    await settles(id, charged)
    await tells(id, charged)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
    await isAtRest(authorisation)
  })

  test("a refund by the sale's id takes the missing steps first", async () => {
    const { id } = await pay('steps-refund', { authorize: lose, enquire: approvedAs })
    await run.age((await run.gateway.payments.get(id)).referencedId as string)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
    assert.deepEqual(run.acquirer.of('steps-refund'), ['authorize', 'enquire', 'capture'])
  })

  test("a lost authorisation that was declined shows the decline under the sale's id, without a capture", async () => {
    const { id, authorisation } = await pay('steps-declined', { authorize: lose })
    await run.tell(authorisation, { outcome: failure })
    await tells(id, failure.reason)
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.400.520' })
    assert.deepEqual(await followUps(authorisation), [])
    await isAtRest(authorisation)
  })

  test("a lost capture is found under the sale's id", async () => {
    const { answer, id, authorisation } = await pay('steps-lost-cp', { capture: lose })
    assert.equal(answer.result.code, undecided)
    await tells(id, undecided)
    await assert.rejects(run.gateway.payments.reverse(authorisation), underWay)
    await assert.rejects(run.gateway.payments.capture(authorisation, eur('1.00')), underWay)
    await run.tell(id, { outcome: approval })
    await tells(id, charged)
    assert.equal((await balanceOf(run, authorisation)).captured, 9200n)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
    await isAtRest(authorisation)
  })

  test("a lost capture that failed shows the decline under the sale's id and reverses the authorisation", async () => {
    const { id, authorisation } = await pay('steps-failed-cp', { capture: lose })
    await run.tell(id, { outcome: failure })
    await tells(id, failure.reason)
    await until(async () =>
      (await followUps(authorisation)).includes('RV approved') ? true : undefined,
    )
    await tells(id, failure.reason)
    await isAtRest(authorisation)
  })

  test('an authorisation cannot be reversed by its own id while its capture is under way', async () => {
    const call = heldCall()
    const sale = pay('steps-on-the-way', { capture: call.handler })
    const operation = await call.begun
    const authorisation = operation.original!.paymentId
    await assert.rejects(run.gateway.payments.reverse(authorisation), underWay)
    call.answer(approvedAs(operation))
    const { id, answer } = await sale
    assert.equal(answer.result.code, charged)
    assert.equal(id, operation.paymentId)
    await assert.rejects(run.gateway.payments.reverse(authorisation), { code: '700.400.300' })
  })

  test('an accepted capture that fails later declines the sale and reverses its authorisation', async () => {
    const { id, authorisation } = await pay('steps-accepted-cp', { capture: accept })
    await tells(id, charged)
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    await tells(id, failure.reason)
    await until(async () =>
      (await followUps(authorisation)).includes('RV approved') ? true : undefined,
    )
    assert.deepEqual(await followUps(authorisation), ['CP declined', 'RV approved'])
    const { captured, reversed } = await balanceOf(run, authorisation)
    assert.deepEqual([captured, reversed], [0n, 9200n])
    await isAtRest(authorisation)
  })

  test('an authorisation kept by an operator is captured', async () => {
    const { id, authorisation } = await pay('steps-kept', {
      authorize: refuse,
      reverseByKey: () => ({ is: 'refused', why: 'too late' }),
      reverse: refuse,
    })
    await tells(id, noMoney)
    await run.tell(authorisation, { outcome: approval })
    await until(async () =>
      (await run.audited(authorisation)).includes('late-success-stands') ? true : undefined,
    )
    await tells(id, noMoney)
    await run.operator.settle(id, 'approved', by)
    await settles(id, charged)
    assert.equal((await balanceOf(run, authorisation)).captured, 9200n)
    await isAtRest(authorisation)
  })
})

describe('authorisations that fail before their capture', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(async () => {
    onFaultPoint(undefined)
    await closeChecked(run)
  })

  test('the capture is declined on record, and nothing is sent, retried or left open', async () => {
    const approvedFirst = Promise.withResolvers<string>()
    const goOn = Promise.withResolvers<void>()
    onFaultPoint((point, ref) => {
      if (point !== 'after-T2') return
      onFaultPoint(undefined)
      approvedFirst.resolve(ref)
      return goOn.promise
    })
    const sale = run.debit('steps-closed', { authorize: accept }, { paymentType: 'PA.CP' })
    const authorisation = await approvedFirst.promise
    assert.equal(await run.tell(authorisation, { outcome: failure }), 'settled')
    goOn.resolve()
    const { id, result } = await sale
    assert.equal(result.code, '700.400.100')
    assert.deepEqual(run.acquirer.of('steps-closed'), ['authorize'])
    await until(async () => {
      await run.dueNow(authorisation)
      return (await run.timers(authorisation)).length === 0 ? true : undefined
    })
    assert.deepEqual(run.acquirer.of('steps-closed'), ['authorize'])
    assert.deepEqual(
      [await run.stateOf(authorisation), await run.stateOf(id)],
      ['declined', 'declined'],
    )
    assert.equal(await run.code(id), '700.400.100')
    assert.deepEqual(await run.kinds(authorisation), [])
  })
})
