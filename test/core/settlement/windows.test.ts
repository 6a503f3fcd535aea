/**
 * Files of several windows. Between any two steps the process, its lease or the memory of the database server can
 * be gone, and readers of the event feed see what was written meanwhile.
 */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { FaultPoint } from '../../../core/fault-point.ts'
import { onFaultPoint } from '../../../core/index.ts'
import { workOnScope } from '../../../core/settlement/work.ts'
import { inScope, isLong, sampled } from '../../rig/scope.ts'
import {
  batchLine,
  type Cells,
  type SettlingRun,
  settled,
  settlementFile,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'
import { takeSmallSteps } from '../../rig/small-steps.ts'
import { type OpenEngine, openEngine } from './engines.ts'

/** Lines of a window, and of everything else that is done in parts. */
const windowLines = 2

/** After steps of the work; the others are tested with files of one window. */
const steps: readonly FaultPoint[] = [
  'settlement-copied',
  'settlement-read',
  'settlement-staged',
  'settlement-window',
  'settlement-page',
  'settlement-matched',
  'settlement-recorded',
  'settlement-decided',
]

describe('a settlement file of several windows', () => {
  let run: SettlingRun
  let one: OpenEngine
  let two: OpenEngine
  let restore: () => void
  before(async () => {
    run = await startSettling({ role: 'api' })
    one = await openEngine(run)
    two = await openEngine(run)
    restore = takeSmallSteps(windowLines)
  })
  after(async () => {
    restore()
    await one.close()
    await two.close()
    await run.close()
  })
  afterEach(() => onFaultPoint(undefined))

  /** Of settlement: the institute's day may be over already. */
  const date = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  let last = 0

  /** Lines of every kind: named by id and by reference, guessed, unknown, without an id and equal, and changed. */
  async function everyKind(): Promise<{ lines: Cells[]; payments: string[] }> {
    last += 1
    const pay = async (name: string, amount: string) => {
      const merchantTransactionId = `window-${last}-${name}`
      return (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId, amount })).id
    }
    const payments = [await pay('a', '11.00'), await pay('b', '12.00'), await pay('c', '13.00')]
    const cents = String(10 + last).padStart(2, '0')
    payments.push(await pay('d', `14.${cents}`))
    const line = (name: string, more: Cells): Cells =>
      settled({ id: `W-${last}-${name}`, date, ...more })
    const card = { amount: `14.${cents}`, brand: 'VISA', last4: '0000' }
    const { id: _id, ...twin } = settled({ date, amount: `15.${cents}`, mtid: 'nobody' })
    const lines = [
      line('guess', card),
      line('id', { paymentId: payments[0]!, amount: '11.00' }),
      twin,
      line('order', { mtid: `window-${last}-b`, amount: '12.00' }),
      line('unknown', { mtid: `window-${last}-unknown`, amount: '1.00' }),
      line('twice', { paymentId: payments[2]!, amount: '13.00' }),
      twin,
      line('twice', { paymentId: payments[2]!, amount: '13.00', holder: 'Another' }),
      line('again', { paymentId: payments[0]!, amount: '11.00' }),
    ]
    return { lines, payments }
  }

  async function imported(lines: readonly Cells[]): Promise<{ fileId: string; scopeId: string }> {
    const bytes = settlementFile(lines)
    const { id: fileId } = await run.gateway.settlement.import(streamed(bytes), {
      accountId: run.account,
    })
    const [row] = await run.sql<{ scope_id: string }>(
      'select scope_id from tollgate.settlement_file where id = $1',
      [fileId],
    )
    return { fileId, scopeId: row!.scope_id }
  }

  /** Everything that a file led to, without ids and times. */
  async function traces(fileId: string) {
    const records = await run.sql(
      `select regexp_replace(coalesce(settlement_id, ''), '^W-[0-9]+', '') as id, match_status, tier, amount_minor / 100 as amount,
         candidate_count, discrepancies, effect, retry_until is not null as is_undecided,
         (select count(*)::integer from tollgate.settlement_match where record_id = record.id) as matches
       from tollgate.settlement_record as record where file_id = $1 order by id`,
      [fileId],
    )
    const [file] = await run.sql(
      `select state, records, exceptions, tries,
         (select count(*)::integer from tollgate.settlement_stage where file_id = file.id) as staged,
         (select count(*)::integer from tollgate.settlement_work where run_id = file.id) as work,
         (select count(*)::integer from tollgate.settlement_candidate where run_id = file.id) as candidates,
         (select count(*)::integer from tollgate.settlement_decision where run_id = file.id) as decisions,
         (select count(*)::integer from tollgate.settlement_asked where run_id = file.id) as asked,
         (select count(*)::integer from tollgate.settlement_found where run_id = file.id) as found,
         (select count(*)::integer from tollgate.settlement_exception where file_id = file.id) as lines_listed,
         (select array_agg(split_part(reference, ' ', 1) order by reference)
           from tollgate.attention where kind = 'settlement' and detail ->> 'file' = replace(file.id::text, '-', ''))
           as entries
       from tollgate.settlement_file as file where file.id = $1`,
      [fileId],
    )
    return { records, file }
  }

  /** What a file leads to in one go. */
  async function undisturbed() {
    const { fileId, scopeId } = await imported((await everyKind()).lines)
    await workOnScope(one.engine, scopeId)
    return traces(fileId)
  }

  const makeDue = () =>
    run.sql('update tollgate.settlement_file set due_at = now(), tries = 0 where done_at is null')
  const expireLeases = () =>
    run.sql(`update tollgate.settlement_scope set lease_until = now() - interval '1 second'`)
  const isIn = async (fileId: string, ...states: readonly string[]) => {
    const [row] = await run.sql(
      'select from tollgate.settlement_file where id = $1 and state = any($2)',
      [fileId, states],
    )
    return row !== undefined
  }
  const isDone = (fileId: string) => isIn(fileId, 'done')
  /** On a slow machine, the time of one job ends before the effects. */
  const wasDecided = (fileId: string) => isIn(fileId, 'decided', 'done')
  /** Recovery empties unlogged tables. */
  const crash = () =>
    run.sql(`truncate tollgate.settlement_stage, tollgate.settlement_work, tollgate.settlement_candidate,
      tollgate.settlement_decision, tollgate.settlement_asked, tollgate.settlement_found`)

  test('has each line once, whatever its window', async () => {
    const { records, file } = await undisturbed()
    const rows = records as { id: string; match_status: string; discrepancies: string[] }[]
    const statuses = new Map(rows.map(({ id, match_status: status }) => [id, status]))
    assert.equal(rows.length, 8)
    assert.equal(rows.filter(({ id }) => id === '').length, 2, 'equal lines are two records')
    for (const name of ['guess', 'id', 'order', 'twice', 'again']) {
      assert.equal(statuses.get(`-${name}`), 'MATCHED', name)
    }
    assert.equal(statuses.get('-unknown'), 'NOT_MATCHED')
    const found = (name: string) => rows.find(({ id }) => id === `-${name}`)!.discrepancies
    assert.ok(found('twice').includes('CHANGED'))
    assert.deepEqual(
      [found('id'), found('again')],
      [['DUPLICATE_SETTLEMENT'], ['DUPLICATE_SETTLEMENT']],
    )
    const { state, staged, work, candidates, decisions, asked, found: left } = file!
    assert.deepEqual(
      [state, staged, work, candidates, decisions, asked, left],
      ['done', 0, 0, 0, 0, 0, 0],
    )
  })

  describe('leads to the same when each of its steps is the last one of a process', () => {
    for (const [name, lose] of [
      ['that fails', async () => {}],
      ['and of the database server', crash],
    ] as const) {
      test(name, async () => {
        const whole = await undisturbed()
        const { fileId, scopeId } = await imported((await everyKind()).lines)
        const deaths = new Set<FaultPoint>()
        // In a long run, each try gets one step further than the one before.
        for (let survived = 0; !(await isDone(fileId)); survived += inScope(6, 1)) {
          assert.ok(survived < 300, 'the file ends')
          let reached = 0
          onFaultPoint(async (point) => {
            if (!steps.includes(point)) return
            reached += 1
            if (reached <= survived) return
            deaths.add(point)
            await lose()
            throw new Error('interrupted')
          })
          await workOnScope(one.engine, scopeId)
          await makeDue()
        }
        assert.deepEqual(await traces(fileId), whole)
        // The last record of the file is stored before it is decided: no step of its windows is left then.
        const expected = isLong ? steps.filter((point) => point !== 'settlement-decided') : []
        assert.ok(deaths.size > 1)
        assert.deepEqual(
          expected.filter((point) => !deaths.has(point)),
          [],
        )
      })
    }
  })

  test('leads to the same when another process takes it over after each step', async () => {
    const whole = await undisturbed()
    for (const point of sampled(steps, 3)) {
      const { fileId, scopeId } = await imported((await everyKind()).lines)
      const asleep = Promise.withResolvers<void>()
      const wake = Promise.withResolvers<void>()
      let times = 0
      onFaultPoint(async (reached) => {
        // In the middle of its windows, where a step has several.
        if (reached !== point || ++times !== (hasSeveral.has(point) ? 2 : 1)) return
        asleep.resolve()
        await wake.promise
      })
      const sleeper = workOnScope(one.engine, scopeId)
      await asleep.promise
      await expireLeases()
      await workOnScope(two.engine, scopeId)
      const afterwards = await traces(fileId)
      wake.resolve()
      await sleeper
      assert.deepEqual(afterwards, whole, point)
      assert.deepEqual(await traces(fileId), whole, point)
    }
  })

  const hasSeveral: ReadonlySet<FaultPoint> = new Set([
    'settlement-copied',
    'settlement-window',
    'settlement-page',
    'settlement-recorded',
  ])

  test('keeps equal lines apart when it is staged again, and that is interrupted', async () => {
    const whole = await undisturbed()
    const { fileId, scopeId } = await imported((await everyKind()).lines)
    const dieAt = (at: FaultPoint) =>
      onFaultPoint((point) => {
        if (point === at) throw new Error('interrupted')
      })
    dieAt('settlement-staged')
    await workOnScope(one.engine, scopeId)
    await crash()
    await makeDue()
    // All lines are there, and equal ones have one key.
    dieAt('settlement-read')
    await workOnScope(one.engine, scopeId)
    onFaultPoint(undefined)
    await makeDue()
    await workOnScope(one.engine, scopeId)
    assert.deepEqual(await traces(fileId), whole)
  })

  test('balances its payouts also when the database server crashed after their records were stored', async () => {
    const batch = (no: number) => `crash-${no}`
    const payout = { batch: batch(1), date, cashflow: 'POS' }
    const balanced = await imported([
      settled({ id: 'C-0', batch: batch(1), date }),
      batchLine('payout', '92.00', payout),
    ])
    await workOnScope(one.engine, balanced.scopeId)
    // One more line of the first payout, which is no longer balanced, and those of others.
    const numbers = [1, 2, 3, 4, 5, 6]
    const { fileId, scopeId } = await imported(
      numbers.map((no) => settled({ id: `C-${no}`, batch: batch(no), date })),
    )
    onFaultPoint(async (point) => {
      if (point !== 'settlement-recorded') return
      await crash()
      throw new Error('interrupted')
    })
    await workOnScope(one.engine, scopeId)
    onFaultPoint(undefined)
    await makeDue()
    await workOnScope(one.engine, scopeId)
    assert.ok(await wasDecided(fileId))
    const payouts = await run.sql<{ name: string; is_balanced: boolean | null }>(
      `select name, is_balanced from tollgate.settlement_batch where name like 'crash-%' order by name`,
    )
    assert.deepEqual(
      payouts.map(({ name }) => name),
      numbers.map(batch),
    )
    assert.equal(payouts[0]!.is_balanced, false)
  })

  test('lets readers of the event feed see what happens while it is worked on', async () => {
    const { lines } = await everyKind()
    const { fileId, scopeId } = await imported(lines)
    let cursor = (await run.gateway.events.list({ since: 'NOW' })).nextCursor
    /** Waits for the short transactions that any payment has; the work waits here meanwhile. */
    const isSeen = async (id: string): Promise<boolean> => {
      // Transactions of tests beside this one hold the feed up for a while.
      for (let empty = 0; empty < 6; ) {
        const page = await run.gateway.events.list({ cursor, limit: '100', wait: '10' })
        cursor = page.nextCursor
        if (page.events.some(({ payload }) => 'id' in payload && payload.id === id)) return true
        if (page.events.length === 0) empty += 1
      }
      return false
    }
    const seen = new Map<FaultPoint, number>()
    onFaultPoint(async (point) => {
      const times = seen.get(point) ?? 0
      // Between two windows, and behind every other step.
      if (!steps.includes(point) || times >= (hasSeveral.has(point) ? 2 : 1)) return
      const { id } = await run.pay({ testMode: 'EXTERNAL' })
      assert.ok(await isSeen(id), `the feed shows payments at ${point}`)
      seen.set(point, times + 1)
    })
    await workOnScope(one.engine, scopeId)
    assert.ok(await wasDecided(fileId))
    assert.deepEqual([...seen.keys()].sort(), [...steps].sort())
    assert.equal(seen.get('settlement-window'), 2)
  })

  test('that comes again in other bytes is not matched again', async () => {
    const { lines } = await everyKind()
    // A line without an id, or with other content, is looked at again.
    const named = lines.filter(({ id, holder }) => id !== undefined && holder === undefined)
    const { scopeId, fileId } = await imported(named)
    await workOnScope(one.engine, scopeId)
    const before = await traces(fileId)
    const again = await imported([...named, batchLine('fee', '1.00')])
    const points: FaultPoint[] = []
    onFaultPoint((point) => void points.push(point))
    await workOnScope(one.engine, again.scopeId)
    const { records, file } = await traces(again.fileId)
    assert.deepEqual([records, file!.state], [[], 'done'])
    assert.deepEqual(
      steps.filter((point) => points.includes(point)),
      ['settlement-read', 'settlement-staged', 'settlement-matched', 'settlement-decided'],
      'no line is staged, and none is matched',
    )
    assert.deepEqual((await traces(fileId)).records, before.records)
  })
})
