/** Report files: each record version in one file, whatever happens to the process. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import pg from 'pg'
import { type FaultPoint, onFaultPoint } from '../../../core/fault-point.ts'
import { cut } from '../../../core/report/cut.ts'
import { purgeDrafts } from '../../../core/report/store-cut.ts'
import { assign } from '../../../core/settlement/assign.ts'
import { decideFile } from '../../../core/settlement/decide-file.ts'
import { decideAgain } from '../../../core/settlement/retry.ts'
import { fileById } from '../../../core/settlement/store-file.ts'
import { takeLeases } from '../../../core/settlement/store-scope.ts'
import { advance } from '../../../core/test-clock/advance.ts'
import { limits } from '../../../schemas/index.ts'
import { until } from '../../rig/gateway.ts'
import { openEngine } from '../settlement/engines.ts'
import { type ReportRun, startReports } from './report-run.ts'

describe('report files', () => {
  let run: ReportRun
  before(async () => {
    run = await startReports()
  })
  beforeEach(() => run.forget())
  afterEach(() => onFaultPoint(undefined))
  after(() => run.close())

  const pay = async (reference: string, more: object = {}) =>
    (await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: reference, ...more })).id

  const lines = (count: number, from = 0) =>
    Array.from({ length: count }, (_, at) => ({ settlementId: `S-${from + at}` }))
  const named = (count: number) => lines(count).map(({ settlementId }) => settlementId)

  /** Settlement ids of all files of the merchant, sorted. */
  const reported = async (entityId?: string, clockId?: string) => {
    const files = await run.files(entityId, clockId)
    const rows = await Promise.all(files.map((id) => run.rowsOf(id)))
    return rows
      .flat()
      .map(({ SettlementTxId }) => SettlementTxId!)
      .sort()
  }
  const timers = () =>
    run.sql<{ ref: string; step: number; clock_id: string | null; due_at: Date; ms: number }>(
      `select ref, step, clock_id, due_at, (extract(epoch from due_at - now()) * 1000)::float8 as ms
       from tollgate.timer where kind = 'report-cut' order by ref`,
    )
  const drafts = () => run.sql('select file_id from tollgate.report_draft')
  const strayParts = () =>
    run.sql(`select file_id from tollgate.report_part as part
      where not exists (select from tollgate.report_file where id = part.file_id)`)
  const cutAtOnce = (engine = run.engine) => cut(engine, { entityId: run.merchant, clockId: null })
  const cutNow = async (engine = run.engine) => {
    await run.olderTransactionsEnd()
    return cutAtOnce(engine)
  }

  test('hold the records since the file before, and nothing without new records', async () => {
    await run.file(lines(3))
    const [first] = await run.cut()
    assert.deepEqual(await run.cut(), [])
    await run.file(lines(2, 3))
    const [second] = await run.cut()
    assert.deepEqual(await run.files(), [first, second])
    const ids = async (file: string) =>
      (await run.rowsOf(file)).map((row) => row.SettlementTxId).sort()
    assert.deepEqual(await ids(first!), named(3))
    assert.deepEqual(await ids(second!), ['S-3', 'S-4'])
  })

  test('show a correction as a whole row, and leave the file before as it was', async () => {
    const paid = await pay('order-corrected')
    await run.file([{ settlementId: 'S-0', merchantTransactionId: 'order-unknown' }])
    const [first] = await run.cut()
    const was = await run.bytesOf(first!)
    const [record] = await run.sql<{ id: string }>('select id from tollgate.settlement_record')
    await assign(run.engine, record!.id, [paid], { by: 'alice', reason: 'agreed with the bank' })
    const [second] = await run.cut()
    const [before] = await run.rowsOf(first!)
    const [now] = await run.rowsOf(second!)
    assert.deepEqual(now, {
      ...before,
      MatchingStatus: 'MATCHED',
      MatchedTransactions: paid,
      UniqueID: paid,
      ShortId: (await run.gateway.payments.get(paid)).shortId,
      Brand: 'VISA',
    })
    assert.deepEqual([before!.MatchingStatus, before!.MatchedTransactions], ['NOT_MATCHED', ''])
    assert.deepEqual(await run.bytesOf(first!), was)
  })

  test('let a sum count twins without a number of the institute once, also after a correction', async () => {
    const twin = { merchantTransactionId: 'order-of-twins', fee: 100n }
    await run.file([twin, twin])
    const [first] = await run.cut()
    const paid = [await pay('order-of-twin-1'), await pay('order-of-twin-2')]
    const records = await run.sql<{ id: string }>('select id from tollgate.settlement_record')
    for (const [at, { id }] of records.entries()) {
      await assign(run.engine, id, [paid[at]!], { by: 'alice', reason: 'agreed with the bank' })
    }
    const [second] = await run.cut()
    const rows = [...(await run.rowsOf(first!)), ...(await run.rowsOf(second!))]
    assert.equal(rows.length, 4)
    // As docs/reconciliation.md says it: the last row of a record is the valid one.
    const names = [
      ...['ClearingInsitituteName', 'ClearingInstituteMerchantId', 'SettlementTxId'],
      ...['ReconciliationType', 'PaymentType', 'Cashflow', 'SettlementStatus'],
    ]
    const valid = new Map(rows.map((row) => [names.map((name) => row[name]).join(), row]))
    const settled = [...valid.values()].filter((row) => row.SettlementStatus === 'SUCCESS')
    const sum = settled.reduce((sum, row) => {
      return sum + Number(row.SettlementAmount) - Number(row.SettlementFee)
    }, 0)
    assert.equal(sum, 2 * (92 - 1))
    assert.deepEqual(settled.map((row) => row.UniqueID).sort(), paid.map((id) => id).sort())
    assert.deepEqual(
      settled.map((row) => row.SettlementTxId).sort(),
      records.map(({ id }) => id).sort(),
    )
  })

  test('show the result of a later try, and only that', async () => {
    await run.file([
      { settlementId: 'S-0', merchantTransactionId: 'order-later' },
      { settlementId: 'S-1', merchantTransactionId: 'order-never' },
    ])
    await run.cut()
    const paid = await pay('order-later')
    await run.again()
    const [second] = await run.cut()
    const rows = await run.rowsOf(second!)
    assert.deepEqual(
      rows.map((row) => [row.SettlementTxId, row.MatchedTransactions]),
      [['S-0', paid]],
    )
  })

  test('come a minute after the first new record; further records do not put them off', async () => {
    await run.file(lines(1))
    const [timer, ...others] = await timers()
    assert.deepEqual(others, [])
    assert.equal(timer!.ref, run.merchant)
    assert.ok(timer!.ms > 0 && timer!.ms <= limits.reportCutMs, String(timer!.ms))
    await run.file(lines(1, 1))
    assert.deepEqual((await timers())[0]!.due_at, timer!.due_at)
    assert.deepEqual(await cutNow(), { fileId: (await run.files())[0], isDone: true })
    assert.deepEqual(await timers(), [])
  })

  test('come again for records that are stored while one is written', async () => {
    await run.file(lines(1))
    const stop = once('report-written', () => run.file(lines(1, 1)))
    const { isDone } = await cutNow()
    stop()
    assert.equal(isDone, false)
    assert.deepEqual(await reported(), ['S-0'])
    assert.equal((await timers()).length, 1)
    assert.equal((await cutNow()).isDone, true)
    assert.deepEqual(await reported(), named(2))
    assert.deepEqual(await timers(), [])
  })

  test('are made by workers when their timer is due, once', async () => {
    await run.file(lines(3))
    const workers = await Promise.all([1, 2].map(() => run.another({ role: 'worker' })))
    await run.sql("update tollgate.timer set due_at = now() where kind = 'report-cut'")
    await until(async () => ((await timers()).length === 0 ? true : undefined))
    for (const worker of workers) await worker.close()
    assert.equal((await run.files()).length, 1)
    assert.deepEqual(await reported(), named(3))
  })

  test('wait for an older transaction, whose records could come between', async () => {
    const client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    await client.query('begin')
    await client.query('select pg_current_xact_id()')
    await run.file(lines(2))
    assert.deepEqual(await cutAtOnce(), { fileId: undefined, isDone: false })
    const [timer] = await timers()
    assert.ok(timer!.ms <= limits.reportWaitMs, String(timer!.ms))
    await client.query('commit')
    await client.end()
    assert.equal((await cutNow()).isDone, true)
    assert.deepEqual(await reported(), named(2))
  })

  for (const point of [
    'report-drafted',
    'report-part',
    'report-written',
    'report-published',
  ] as const) {
    test(`hold each record once after a death at ${point}`, async () => {
      await run.file(lines(3))
      const stop = once(point, () => {
        throw new Error('the process died')
      })
      await assert.rejects(cutNow(), /the process died/)
      stop()
      // A timer that fired comes back.
      assert.equal((await timers()).length, 1)
      await run.file(lines(2, 3))
      assert.equal((await cutNow()).isDone, true)
      assert.deepEqual(await reported(), named(5))
      assert.deepEqual(await timers(), [])
      const [left] = await drafts()
      assert.equal(left === undefined, point === 'report-published')
      await run.sql("update tollgate.report_draft set made_at = now() - interval '25 hours'")
      for (const limit of [1, 1]) await run.engine.lanes.upkeep(purgeDrafts(1, limit))
      assert.deepEqual([await drafts(), await strayParts()], [[], []])
      assert.deepEqual(await reported(), named(5))
    })
  }

  test('keep a draft that is younger than a day', async () => {
    await run.file(lines(1))
    const stop = once('report-written', async () => {
      await run.engine.lanes.upkeep(purgeDrafts(1, 1))
    })
    await cutNow()
    stop()
    assert.deepEqual(await reported(), named(1))
  })

  test('are not published once their draft was deleted', async () => {
    await run.file(lines(1))
    const stop = once('report-written', async () => {
      await run.engine.lanes.upkeep(purgeDrafts(0, 1))
    })
    const { fileId } = await cutNow()
    stop()
    assert.equal(fileId, undefined)
    assert.deepEqual(await strayParts(), [])
    await cutNow()
    assert.deepEqual(await reported(), named(1))
  })

  test('hold each record once when two processes write at once', async () => {
    const other = run.anotherEngine()
    try {
      await run.file(lines(3))
      let overtaking: Awaited<ReturnType<typeof cutNow>> | undefined
      const stop = once('report-written', async () => {
        await run.file(lines(2, 3))
        overtaking = await cutNow(other.engine)
      })
      const { fileId } = await cutNow()
      stop()
      assert.equal(fileId, undefined)
      assert.ok(overtaking?.fileId !== undefined)
      assert.deepEqual(await reported(), named(5))
      assert.deepEqual([await drafts(), await strayParts()], [[], []])
    } finally {
      await other.close()
    }
  })

  test('hold each record once while files come and two processes race', async () => {
    const other = run.anotherEngine()
    try {
      for (let round = 0; round < 6; round += 1) {
        await Promise.all([
          run.file(lines(5, round * 5)),
          ...Array.from({ length: 4 }, (_, at) => cutNow(at % 2 === 0 ? run.engine : other.engine)),
        ])
      }
      await cutNow()
      assert.deepEqual(await reported(), named(30).sort())
      assert.deepEqual([await drafts(), await strayParts()], [[], []])
    } finally {
      await other.close()
    }
  })

  test('have several parts when they are large, each of whole rows', async () => {
    const count = 6_000
    await run.file(lines(count))
    const { fileId } = await cutNow()
    const parts = await run.sql<{ text: string; raw: Buffer | null }>(
      `select convert_from(bytes, 'UTF8') as text, raw from tollgate.report_part where file_id = $1 order by no`,
      [fileId],
    )
    assert.equal(parts.length, 2)
    for (const { text, raw } of parts) {
      assert.ok(text.endsWith('\r\n'))
      assert.equal(raw, null, 'both forms are equal')
    }
    assert.deepEqual(await reported(), named(count).sort())
  })

  test('are of one merchant each', async () => {
    const { merchant } = await run.merchantWith('number-2')
    await run.file([
      { settlementId: 'S-0' },
      { settlementId: 'S-1', merchantNumber: 'NUMBER-2' },
      { settlementId: 'S-2', merchantNumber: 'NUMBER-2' },
    ])
    assert.equal((await run.cut()).length, 2)
    assert.deepEqual(await reported(), ['S-0'])
    assert.deepEqual(await reported(merchant), ['S-1', 'S-2'])
    const [file] = await run.files(merchant)
    const [row] = await run.rowsOf(file!)
    assert.deepEqual(
      [row!.PspId, row!.DivisionId, row!.MerchantId],
      [run.psp, run.division, merchant],
    )
  })

  test('of records above merchants belong to the entity above, until a payment is known', async () => {
    const one = await run.merchantWith('shared-1')
    const two = await run.merchantWith('shared-1')
    await run.file([
      { settlementId: 'S-0', merchantNumber: 'shared-1', merchantTransactionId: 'order-of-two' },
    ])
    await run.cut()
    assert.deepEqual(await reported(run.division), ['S-0'])
    assert.deepEqual(await reported(one.merchant), [])
    await pay('order-of-two', { entityId: two.channel })
    const number = 'shared-1'
    const [scope] = await run.sql<{ id: string }>(
      'select id from tollgate.settlement_scope where merchant_number = $1',
      [number],
    )
    assert.ok(scope !== undefined)
    assert.equal(await decideAgain(run.engine, scope.id, await run.held()), true)
    await run.cut()
    assert.deepEqual(await reported(two.merchant), ['S-0'])
    assert.deepEqual(await reported(one.merchant), [])
  })

  test('have names of their own', async () => {
    const { merchant } = await run.merchantWith('number-3')
    await run.file([{ settlementId: 'S-0' }, { settlementId: 'S-1', merchantNumber: 'number-3' }])
    await run.cut()
    await run.file(lines(1, 2))
    await run.cut()
    const rows = await run.sql<{ name: string }>('select name from tollgate.report_file')
    const names = rows.map(({ name }) => name)
    assert.equal(new Set(names).size, 3)
    const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
    assert.ok(names.includes(`reconciliation-${run.merchant}-${day}-000002.csv`), names.join())
    assert.ok(names.includes(`reconciliation-${merchant}-${day}-000001.csv`), names.join())
  })

  describe('of a test clock', () => {
    const time = '2031-05-06 07:00:00'

    /** Decides lines in a scope of the clock. */
    const fileOn = async (clockId: string, count: number) => {
      const fileId = await run.stage(lines(count))
      const scopeId = await run.scope()
      await run.sql(
        'update tollgate.settlement_scope set clock_id = $2, lease_until = null where id = $1',
        [scopeId, clockId],
      )
      const { lanes } = run.engine
      const [file] = await lanes.upkeep(fileById(fileId))
      const leased = await lanes.upkeep(takeLeases([scopeId], 60_000))
      const held = { ids: [scopeId], leases: leased.map(({ lease }) => lease) }
      assert.equal(await decideFile(run.engine, file!, held), true)
    }
    /** Advances to the end, as the worker does. */
    const advanced = async (clockId: string, by: string) => {
      await run.gateway.testClocks.advance(clockId, { by })
      const { engine, close } = await openEngine(run as never)
      try {
        await advance(engine, clockId)
      } finally {
        await close()
      }
    }

    test('are apart from those in real time, and an advance makes them', async () => {
      const { id: clockId } = await run.gateway.testClocks.create({ entityId: run.merchant, time })
      await fileOn(clockId, 2)
      assert.deepEqual(
        (await timers()).map(({ ref, clock_id, due_at }) => [ref, clock_id, due_at.toISOString()]),
        [[`${run.merchant} ${clockId}`, clockId, '2031-05-06T07:01:00.000Z']],
      )
      await advanced(clockId, 'PT30S')
      assert.deepEqual(await reported(run.merchant, clockId), [])
      await advanced(clockId, 'PT1H')
      assert.deepEqual(await reported(run.merchant, clockId), named(2))
      assert.deepEqual(await reported(), [])
      assert.deepEqual(await timers(), [])
      const [file] = await run.gateway.reports
        .files({ entityId: run.merchant })
        .then((v) => v.files)
      assert.deepEqual(
        [file!.testClock, file!.madeAt, file!.name],
        [
          clockId,
          '2031-05-06 07:01:00+0000',
          `reconciliation-${run.merchant}-${clockId}-20310506-000001.csv`,
        ],
      )
    })
  })

  /** Runs work the first time that a boundary is reached. */
  function once(at: FaultPoint, work: () => unknown): () => void {
    let isDone = false
    onFaultPoint(async (point) => {
      if (point !== at || isDone) return
      isDone = true
      await work()
    })
    return () => {
      onFaultPoint(undefined)
      assert.ok(isDone, `${at} was not reached`)
    }
  }
})
