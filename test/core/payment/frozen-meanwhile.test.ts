/** Balances that begin while something freezes them or ends their freeze: each one waits exactly as long as an entry lists it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { newId } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, type LateRun, lose, refuse } from '../../rig/late-words.ts'
import {
  busy,
  by,
  chargeback,
  startToldMeanwhile,
  waitsForOthers,
} from '../../rig/told-meanwhile.ts'

describe('balances that begin meanwhile', () => {
  let run: LateRun
  let other: Awaited<ReturnType<LateRun['another']>>
  let close: () => Promise<void>
  before(async () => {
    ;({ run, close } = await startToldMeanwhile())
    other = await run.another({ role: 'api', plugins: [run.acquirer.plugin] })
  })
  after(() => close())

  const authorise = async () => (await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })).id
  const declinedCapture = async (id: string) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur('20.00'), { capture: refuse })).id
  async function openReplacement(id: string, enquire: typeof busy | typeof approvedAs) {
    const wanted = {
      ...eur('92.00'),
      standingInstruction: { industryPractice: 'REAUTHORIZATION' },
    }
    const script = { authorize: lose, enquire }
    const fresh = await run.follow(id, 'PA', `again-${newId()}`, wanted as never, script)
    await run.dueLater(fresh.id)
    return fresh.id
  }
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
        return rows.length >= count
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
})
