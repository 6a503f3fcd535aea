/** Balances that begin while something freezes them or ends their freeze: each one waits exactly as long as an entry lists it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed, type Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, failure, type LateRun, lose, refuse } from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'
import {
  busy,
  by,
  chargeback,
  named,
  startToldMeanwhile,
  waitsForOthers,
} from '../../rig/told-meanwhile.ts'

describe('balances that begin meanwhile', () => {
  let run: LateRun
  let line: Line
  let other: Awaited<ReturnType<LateRun['another']>>
  let close: () => Promise<void>
  before(async () => {
    ;({ run, line, close } = await startToldMeanwhile())
    other = await run.another({ role: 'api', plugins: [run.acquirer.plugin] })
  })
  after(() => close())

  const authorise = async () => (await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })).id
  const declinedCapture = async (id: string) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur('20.00'), { capture: refuse })).id
  async function replace(id: string, script: Script = {}) {
    const wanted = {
      ...eur('92.00'),
      standingInstruction: { industryPractice: 'REAUTHORIZATION' },
    }
    return (await run.follow(id, 'PA', `again-${newId()}`, wanted as never, script)).id
  }
  async function openReplacement(id: string, enquire: typeof busy | typeof approvedAs) {
    const fresh = await replace(id, { authorize: lose, enquire })
    await run.dueLater(fresh)
    return fresh
  }
  const capture = async (id: string, amount: string) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur(amount))).id
  const refund = (id: string) => run.follow(id, 'RF', `refund-${newId()}`, eur('40.00'))
  const reverse = (id: string) => run.follow(id, 'RV', `reversal-${newId()}`)

  /** Both begin, in this order, while somebody else holds the sums of the authorisation. */
  async function bothAt(
    id: string,
    first: () => Promise<unknown>,
    second: () => Promise<unknown>,
  ): Promise<void> {
    const holder = new pg.Client(run.database.url)
    await holder.connect()
    await holder.query('begin')
    await holder.query('select from tollgate.payment_balance where payment_id = $1 for update', [
      id,
    ])
    const waiting = (count: number) =>
      until(async () => {
        const rows = await run.sql(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return rows.length >= count || undefined
      })
    const told = [first()]
    await waiting(1)
    told.push(second())
    await waiting(2)
    await holder.query('commit')
    await holder.end()
    await Promise.all(told)
  }

  test('a replacement that was open when a chargeback of a declined capture was recorded is held', async () => {
    const id = await authorise()
    const declined = await declinedCapture(id)
    const fresh = await openReplacement(id, busy)
    assert.equal(await run.tell(declined, chargeback('2000')), 'recorded')
    await run.tell(fresh, { outcome: approval })
    await assert.rejects(reverse(fresh), waitsForOthers)
  })

  test('a replacement between the read and the record of a chargeback of a declined capture is held', async () => {
    const id = await authorise()
    const declined = await declinedCapture(id)
    await run.tell((await run.debit(`order-${newId()}`)).id, chargeback('100'))
    const held = line.hold(named(run, /max\(place\).*where family/s))
    const eventId = await run.bring(declined, chargeback('2000'))
    const letGo = await held
    const fresh = await replace(id)
    letGo()
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(reverse(fresh), waitsForOthers)
  })

  for (const isReplaced of [false, true]) {
    test(`a capture between the read and the list of a known reference is held${isReplaced ? ', also of a replacement' : ''}`, async () => {
      const id = await authorise()
      await capture(id, '30.00')
      const told = chargeback('3000')
      assert.equal(await run.tell(id, told), 'recorded')
      await run.tell((await run.debit(`order-${newId()}`)).id, told)
      const held = line.hold(named(run, /freeze_below\(entry\.id, array\[/))
      const eventId = await run.bring(id, { ...told, minor: '4000' })
      const letGo = await held
      const second = await capture(isReplaced ? await replace(id) : id, '40.00')
      letGo()
      assert.equal(await processed(run, eventId), 'conflict')
      await assert.rejects(refund(second), waitsForOthers)
    })
  }

  test('a capture between the read and the record of a return of its authorisation is held', async () => {
    await run.tell(await authorise(), { outcome: { is: 'reversed', refs: {} } })
    const id = await authorise()
    const held = line.hold(named(run, /freeze_below\(entry\.id, entry\.freezes/))
    const eventId = await run.bring(id, { outcome: { is: 'reversed', refs: {} } })
    const letGo = await held
    const wanted = { paymentType: 'CP' as const, ...eur('40.00') }
    const { id: paid } = await other.payments.followUp(id, wanted)
    letGo()
    await processed(run, eventId)
    assert.deepEqual(await run.kinds(id), ['return'])
    await assert.rejects(refund(paid), waitsForOthers)
    const [entry] = await run.listed(id)
    await run.gateway.operator.resolve(entry!.id, by)
    await refund(paid)
  })

  for (const isFirst of [true, false]) {
    test(`the same if both wait for the sums of the authorisation, the ${isFirst ? 'replacement' : 'chargeback'} first`, async () => {
      const id = await authorise()
      const declined = await declinedCapture(id)
      const fresh = await openReplacement(id, approvedAs)
      const settle = () => other.operator.enquire(fresh, by)
      const told = () => run.tell(declined, chargeback('2000'))
      await bothAt(id, isFirst ? settle : told, isFirst ? told : settle)
      assert.equal(await run.stateOf(fresh), 'approved')
      await assert.rejects(reverse(fresh), waitsForOthers)
    })
  }

  for (const isFirst of [true, false]) {
    test(`a capture is free if its entry is ended while it settles, the ${isFirst ? 'capture' : 'operator'} first`, async () => {
      const id = await authorise()
      const script = { capture: lose, enquire: approvedAs }
      const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('40.00'), script)
      await run.dueLater(paid.id)
      await run.tell(id, { outcome: failure })
      const [entry] = await run.listed(id)
      const settle = () => other.operator.enquire(paid.id, by)
      const resolve = () => run.gateway.operator.resolve(entry!.id, by)
      await bothAt(id, isFirst ? settle : resolve, isFirst ? resolve : settle)
      assert.equal(await run.stateOf(paid.id), 'approved')
      await refund(paid.id)
    })
  }

  test('a return under a known event id holds refunds until its retry is carried out', async () => {
    const { id } = await run.debit(`order-${newId()}`)
    const eventId = `event-${newId()}`
    await run.tell(id, { outcome: approval, eventId })
    await run.bring(id, { outcome: { is: 'reversed', refs: {} }, eventId })
    const entry = await until(async () => (await run.listed(id))[0])
    const held = line.hold(named(run, /attempt\.state as attempt_state.*where attempt\.key/s))
    await run.gateway.operator.retry(entry.id, by)
    const letGo = await held
    await assert.rejects(refund(id), waitsForOthers)
    letGo()
    await until(async () => ((await run.kinds(id)).includes('(event)') ? true : undefined))
    assert.deepEqual(await run.kinds(id), ['(event)', 'return'])
    await assert.rejects(refund(id), waitsForOthers)
  })
})
