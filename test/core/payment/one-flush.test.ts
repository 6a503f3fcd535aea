/** Two outcomes of one attempt in one flush: one moves it, and the other learns that it did not. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outcome } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  charged,
  heldCall,
  type LateRun,
  noMoney,
  startLate,
  undecided,
} from '../../rig/late-words.ts'

describe('two outcomes of one attempt in one flush', () => {
  let run: LateRun
  const announced = new Map<string, string[]>()
  before(async () => {
    run = await startLate({}, { connectorTimeoutMs: 500, pool: {} })
    run.gateway.on(({ resource, sequence, type }) => {
      announced.set(resource, [...(announced.get(resource) ?? []), `${sequence} ${type}`])
    })
  })
  after(async () => {
    onFaultPoint(undefined)
    await closeChecked(run)
  })

  const events = async (id: string) =>
    (
      await run.sql<{ type: string; seq: number }>(
        'select type, seq from tollgate.event where resource = $1 order by seq',
        [id],
      )
    ).map(({ type, seq }) => `${seq} ${type}`)

  /**
   * The deadline's outcome cannot be written at first and is kept; then the late answer arrives.
   * Both wait until each flush of the lane has a payment that is blocked in the database, so that
   * the next flush takes both.
   */
  const bothAtOnce = async (reference: string, late: (key: string) => Outcome) => {
    const call = heldCall()
    const others = [heldCall(), heldCall()]
    const settling = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const both = Promise.withResolvers<void>()
    let words = 0
    let id = ''
    const sale = run.debit(reference, { debit: call.handler })
    id = (await call.begun).paymentId
    onFaultPoint((point, ref) => {
      if (point !== 'before-T2' || ref !== id) return
      words += 1
      // Like a broken connection: the outcome of the write is unknown.
      if (words === 1) throw new Error('the line went dead')
      settling[words - 2]?.resolve()
      return both.promise
    })
    assert.equal((await sale).result.code, undecided)
    const beside = others.map((other, no) =>
      run.debit(`${reference}-${no}`, { debit: other.handler }),
    )
    await settling[0]!.promise
    call.answer(late((await call.begun).key))
    await settling[1]!.promise
    onFaultPoint(undefined)
    await run.sql('begin')
    await run.sql('lock table tollgate.event in share mode')
    for (const other of others) other.answer(approvedAs(await other.begun))
    await until(async () => {
      const rows = await run.sql(
        `select 1 from pg_locks where not granted and relation = 'tollgate.event'::regclass`,
      )
      return rows.length === 2 ? true : undefined
    })
    both.resolve()
    await run.sql('commit')
    for (const view of await Promise.all(beside)) assert.equal(view.result.code, charged)
    const isOneFlush = run.gateway
      .statements()
      .some(
        ({ text }) =>
          text.includes('json_to_recordset') && text.includes('update tollgate.attempt'),
      )
    assert.ok(isOneFlush, 'one statement wrote both')
    return id
  }
  const isSettled = (id: string, code: string) =>
    until(async () => {
      // When "unknown" came first, an enquiry finds the outcome.
      if ((await run.stateOf(id)) === 'unknown') {
        await run.age(id)
        await run.dueNow(id)
      }
      return (await run.code(id)) === code ? true : undefined
    })

  for (const [name, code, late] of [
    ['approved', charged, (key: string) => approvedAs({ key } as never)],
    ['declined', noMoney, () => ({ is: 'declined', reason: noMoney }) as const],
  ] as const) {
    test(`"unknown" at the deadline and a late "${name}" each cause one event`, async () => {
      const reference = `one-flush-${name}`
      const id = await bothAtOnce(reference, late)
      run.acquirer.tell(reference, {
        enquire: ({ key }) => late(key),
      })
      await isSettled(id, code)
      const told = await events(id)
      const last = `payment.${name}`
      assert.ok(
        [`1 ${last}`, `1 payment.unknown,2 ${last}`].includes(told.join()),
        `the events are ${told.join()}`,
      )
      await until(async () => (announced.get(id)?.length === told.length ? true : undefined))
      assert.deepEqual(announced.get(id), told, 'the announced events are the committed ones')
      assert.equal(await run.stateOf(id), name)
      assert.deepEqual(
        (await run.kinds(id)).filter((kind) => kind !== '(undecided)'),
        [],
        'nothing contradicts',
      )
      const [row] = await run.sql<{ seq: number }>(
        'select seq from tollgate.payment where id = $1',
        [id],
      )
      assert.equal(row?.seq, told.length)
    })
  }
})
