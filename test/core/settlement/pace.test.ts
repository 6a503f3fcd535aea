/** Work on settlement files leaves the machine to payments, and holds nothing else up. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import type pg from 'pg'
import type { Engine } from '../../../core/engine.ts'
import { highestIdAt, lowestIdAt } from '../../../core/ids.ts'
import { InFlight } from '../../../core/process/in-flight.ts'
import { ScopeLost } from '../../../core/settlement/leases.ts'
import { Pace } from '../../../core/settlement/pace.ts'
import { newPayments } from '../../../core/settlement/store-pace.ts'
import { explainGeneric } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { type OpenEngine, openEngine } from './engines.ts'

const hourMs = 3_600_000

describe('work on settlement files', () => {
  let run: TestGateway
  let opened: OpenEngine
  let inFlight: InFlight
  let elapsedMs: number
  const usual = { ...limits.settlementRest }
  before(async () => {
    run = await startGateway({ role: 'api' })
    opened = await openEngine(run)
    // A rest that nothing ends would end no test.
    Object.assign(limits.settlementRest, { longestMs: hourMs, recentMs: hourMs })
  })
  after(async () => {
    Object.assign(limits.settlementRest, usual)
    await opened.close()
    await run.close()
  })
  beforeEach(() => {
    inFlight = new InFlight()
    elapsedMs = 0
  })

  const paceOf = (isHurried = false) => {
    const { lanes, clock } = opened.engine
    const stepped = { ...clock, elapsedMs: () => elapsedMs }
    return new Pace(
      { lanes, inFlight, clock: stepped } as Pick<Engine, 'lanes' | 'clock' | 'inFlight'>,
      isHurried,
    )
  }

  test('looks at the newest payments alone', async () => {
    const { id } = await run.pay()
    await run.sql(
      `insert into tollgate.payment
       select (jsonb_populate_record(payment, jsonb_build_object('id', gen_random_uuid(), 'short_no', short_no + number))).*
       from tollgate.payment, generate_series(1, 3000) as number
       where id = $1`,
      [id],
    )
    await run.sql('analyze tollgate.payment')
    const plan = await opened.engine.lanes.bulk((client) =>
      explainGeneric(
        client as pg.Client,
        newPayments(highestIdAt(opened.engine.clock.realMs()), highestIdAt(Date.now() + hourMs)),
      ),
    )
    assert.doesNotMatch(JSON.stringify(plan), /Seq Scan/)
  })

  test('does not rest while no payment comes in', async () => {
    await run.sql('delete from tollgate.payment')
    const pace = paceOf()
    elapsedMs += hourMs
    await pace.rest()
  })

  test('does not rest for payments of a clock that is ahead', async () => {
    await run.sql('delete from tollgate.payment')
    const { id } = await run.pay()
    await run.sql('update tollgate.payment set id = $2 where id = $1', [
      id,
      lowestIdAt(Date.now() + 2 * hourMs),
    ])
    const pace = paceOf()
    elapsedMs += hourMs
    await pace.rest()
    await run.sql('delete from tollgate.payment')
  })

  describe('while payments come in', () => {
    before(() => run.pay())

    test('rests as long as the bound allows, and stops at once when the process closes', async () => {
      const pace = paceOf()
      elapsedMs += hourMs
      let isOver = false
      const resting = pace.rest().finally(() => {
        isOver = true
      })
      resting.catch(() => {})
      // Longer than the look whether payments come in.
      for (let round = 0; round < 20; round += 1)
        await opened.engine.lanes.read({ strings: ['select 1'], values: [] })
      assert.equal(isOver, false)
      await inFlight.close(0)
      await assert.rejects(resting, ScopeLost)
    })

    test('does not rest after a step of a moment', async () => {
      const pace = paceOf()
      elapsedMs += limits.settlementRest.shortestMs - 1
      await pace.rest()
    })

    test('neither rests nor stops when a test clock waits for it', async () => {
      const pace = paceOf(true)
      elapsedMs += hourMs
      await inFlight.close(0)
      await pace.rest()
    })
  })
})
