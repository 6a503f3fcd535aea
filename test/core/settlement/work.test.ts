import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { FaultPoint } from '../../../core/fault-point.ts'
import { onFaultPoint } from '../../../core/index.ts'
import { ScopeLeases } from '../../../core/settlement/leases.ts'
import { readBytes } from '../../../core/settlement/sealed-file.ts'
import { workOnScope } from '../../../core/settlement/work.ts'
import {
  batchLine,
  type Cells,
  type SettlingRun,
  settled,
  settlementFile,
  sha256,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'
import { type OpenEngine, openEngine } from './engines.ts'

describe('work on settlement files', () => {
  let run: SettlingRun
  let one: OpenEngine
  let two: OpenEngine
  before(async () => {
    // Its process only takes requests: the engines here do the work.
    run = await startSettling({ role: 'api' })
    one = await openEngine(run)
    two = await openEngine(run)
  })
  after(async () => {
    await one.close()
    await two.close()
    await run.close()
  })
  afterEach(() => onFaultPoint(undefined))

  let last = 0
  const fresh = (more: Cells = {}) => settled({ id: `W-${++last}`, ...more })

  async function imported(lines: readonly Cells[], accountId = run.account): Promise<string> {
    const bytes = settlementFile(lines)
    return (await run.gateway.settlement.import(streamed(bytes), { accountId })).id
  }

  async function scopeOf(fileId: string): Promise<string> {
    const [row] = await run.sql<{ scope_id: string }>(
      'select scope_id from tollgate.settlement_file where id = $1',
      [fileId],
    )
    return row!.scope_id
  }

  /** Everything that a file led to. */
  async function traces(fileId: string) {
    const [row] = await run.sql<Record<string, unknown>>(
      `select file.state, file.records,
       (select count(*)::integer from tollgate.settlement_stage where file_id = file.id) as staged,
       (select count(*)::integer from tollgate.settlement_record where file_id = file.id) as stored,
       (select count(*)::integer from tollgate.settlement_batch_line where file_id = file.id) as batch_lines,
       (select count(*)::integer from tollgate.settlement_exception where file_id = file.id) as exceptions,
       (select count(*)::integer from tollgate.attention
         where kind = 'settlement' and detail ->> 'file' = replace(file.id::text, '-', '')) as entries
     from tollgate.settlement_file as file where file.id = $1`,
      [fileId],
    )
    return row!
  }

  const makeDue = () =>
    run.sql('update tollgate.settlement_file set due_at = now() where done_at is null')
  const expireLeases = () =>
    run.sql(`update tollgate.settlement_scope set lease_until = now() - interval '1 second'`)
  const freeLeases = async () => {
    const rows = await run.sql(
      'select from tollgate.settlement_scope where lease_until is not null',
    )
    return rows.length === 0
  }

  /** A file with a record, a line about a payout and an exception. */
  const mixed = () =>
    imported([
      fresh(),
      fresh(),
      batchLine('fee', '1.00', { description: `n-${++last}` }),
      { type: 'NEWS' },
    ])
  /** The records of a whole file match no payment, which is an entry of its own. */
  const whole = {
    state: 'done',
    records: 2,
    staged: 0,
    stored: 2,
    batch_lines: 1,
    exceptions: 1,
    entries: 2,
  }
  const refusable = () => imported([fresh(), fresh({ date: 'never' })])
  const refused = {
    state: 'refused',
    records: 0,
    staged: 0,
    stored: 0,
    batch_lines: 0,
    exceptions: 0,
    entries: 1,
  }

  type Case = {
    readonly point: FaultPoint
    /** The state that is committed before the point. */
    readonly before: string
    readonly make: () => Promise<string>
    readonly end: { readonly state: string }
  }
  const cases: readonly Case[] = [
    { point: 'settlement-leased', before: 'arrived', make: mixed, end: whole },
    { point: 'settlement-copied', before: 'arrived', make: mixed, end: whole },
    { point: 'settlement-read', before: 'arrived', make: mixed, end: whole },
    { point: 'settlement-staged', before: 'staged', make: mixed, end: whole },
    { point: 'settlement-window', before: 'staged', make: mixed, end: whole },
    { point: 'settlement-matched', before: 'staged', make: mixed, end: whole },
    { point: 'settlement-recorded', before: 'staged', make: mixed, end: whole },
    { point: 'settlement-decided', before: 'decided', make: mixed, end: whole },
    { point: 'settlement-done', before: 'done', make: mixed, end: whole },
    { point: 'settlement-leased', before: 'arrived', make: refusable, end: refused },
    { point: 'settlement-refused', before: 'refused', make: refusable, end: refused },
  ]

  for (const { point, before: committed, make, end } of cases) {
    const name = `${point} of a file that is ${end.state}`
    describe(name, () => {
      let fileId: string
      let scopeId: string
      beforeEach(async () => {
        fileId = await make()
        scopeId = await scopeOf(fileId)
      })

      test('a failure there leaves nothing half done', async () => {
        onFaultPoint((reached) => {
          if (reached === point) throw new Error('interrupted')
        })
        await workOnScope(one.engine, scopeId)
        onFaultPoint(undefined)
        assert.ok(await freeLeases())
        await makeDue()
        await workOnScope(one.engine, scopeId)
        assert.deepEqual(await traces(fileId), end)
      })

      test('a process that sleeps there commits nothing after another one took over', async () => {
        const asleep = Promise.withResolvers<void>()
        const wake = Promise.withResolvers<void>()
        let isFirst = true
        onFaultPoint(async (reached) => {
          if (reached !== point || !isFirst) return
          isFirst = false
          asleep.resolve()
          await wake.promise
        })
        const sleeper = workOnScope(one.engine, scopeId)
        await asleep.promise
        await workOnScope(two.engine, scopeId)
        const meanwhile = await traces(fileId)
        await expireLeases()
        await workOnScope(two.engine, scopeId)
        const afterwards = await traces(fileId)
        wake.resolve()
        await sleeper
        assert.equal(meanwhile.state, committed)
        assert.deepEqual(afterwards, end)
        assert.deepEqual(await traces(fileId), end)
      })
    })
  }

  describe('two engines', () => {
    test('at once on one scope take each file in once, in the order of arrival', async () => {
      const ids = [await mixed(), await mixed(), await refusable(), await mixed()]
      const scopeId = await scopeOf(ids[0]!)
      const order: string[] = []
      onFaultPoint((point, ref) => {
        if (point === 'settlement-done' || point === 'settlement-refused') order.push(ref)
      })
      for (let round = 0; order.length < ids.length && round < 20; round += 1) {
        await Promise.all([
          workOnScope(one.engine, scopeId),
          workOnScope(two.engine, scopeId),
          workOnScope(one.engine, scopeId),
        ])
      }
      assert.deepEqual(order, ids)
      const ends = await Promise.all(ids.map(traces))
      assert.deepEqual(ends, [whole, whole, refused, whole])
    })

    test('take the leases of other scopes that a file names, and wait while one is busy', async () => {
      const { account } = await run.addAccount('MID-BUSY')
      const busyScope = await scopeOf(await imported([fresh({ merchant: 'MID-BUSY' })], account))
      await workOnScope(two.engine, busyScope)
      const busy = await ScopeLeases.take(two.engine, [busyScope])
      assert.ok(busy !== undefined)
      const fileId = await imported([fresh(), fresh({ merchant: 'MID-BUSY' })])
      const scopeId = await scopeOf(fileId)
      await workOnScope(one.engine, scopeId)
      assert.equal((await traces(fileId)).state, 'arrived')
      const [noted] = await run.sql<{ scope_ids: string; tries: number }>(
        'select scope_ids::text, tries from tollgate.settlement_file where id = $1',
        [fileId],
      )
      assert.ok(noted!.scope_ids.replaceAll('-', '').includes(busyScope), 'the next run knows them')
      assert.equal(noted!.tries, 0, 'waiting is no failure')
      await makeDue()
      await workOnScope(one.engine, scopeId)
      assert.equal((await traces(fileId)).state, 'arrived')
      await busy.end()
      await makeDue()
      await workOnScope(one.engine, scopeId)
      assert.deepEqual(await traces(fileId), {
        ...whole,
        batch_lines: 0,
        exceptions: 0,
        entries: 1,
      })
      assert.ok(await freeLeases())
    })
  })

  test('a step that keeps failing comes later each time, and operators see it once', async () => {
    const fileId = await mixed()
    const scopeId = await scopeOf(fileId)
    onFaultPoint((point) => {
      if (point === 'settlement-read') throw new Error('a disk is full')
    })
    const delays: number[] = []
    for (let round = 0; round < 4; round += 1) {
      await makeDue()
      await workOnScope(one.engine, scopeId)
      const [row] = await run.sql<{ seconds: number }>(
        `select extract(epoch from due_at - now())::float8 as seconds
       from tollgate.settlement_file where id = $1`,
        [fileId],
      )
      delays.push(row!.seconds)
      await workOnScope(one.engine, scopeId)
    }
    assert.ok(
      delays.every((delay, at) => at === 0 || delay > delays[at - 1]! * 1.5),
      `${delays}`,
    )
    const entries = await run.gateway.operator.attention(1000)
    const own = entries.filter(({ detail }) => detail.file === fileId)
    assert.deepEqual(
      own.map(({ detail }) => detail.kind),
      ['STUCK'],
    )
    onFaultPoint(undefined)
    await makeDue()
    await workOnScope(one.engine, scopeId)
    assert.deepEqual(await traces(fileId), { ...whole, entries: 3 })
  })

  test('a file whose staged lines a crash of the server took is staged again', async () => {
    const fileId = await mixed()
    const scopeId = await scopeOf(fileId)
    const keysOf = (table: string) =>
      run.sql<{ line: number }>(
        `select ${table === 'settlement_stage' ? 'shown_line as line' : 'line'}, key, content from tollgate.${table}
         where file_id = $1 order by line`,
        [fileId],
      )
    onFaultPoint((point) => {
      if (point === 'settlement-staged') throw new Error('the server is gone')
    })
    await workOnScope(one.engine, scopeId)
    onFaultPoint(undefined)
    const before = await keysOf('settlement_stage')
    assert.equal(before.length, 2)
    // Recovery empties unlogged tables.
    await run.sql('truncate tollgate.settlement_stage')
    await makeDue()
    await workOnScope(one.engine, scopeId)
    assert.deepEqual(await keysOf('settlement_record'), before)
    assert.deepEqual(await traces(fileId), whole)
  })

  for (const point of ['settlement-matched', 'settlement-recorded'] as const) {
    test(`a crash of the server at ${point} loses no record of a file`, async () => {
      const fileId = await mixed()
      const scopeId = await scopeOf(fileId)
      let crashes = 0
      onFaultPoint(async (reached) => {
        if (reached !== point || crashes > 0) return
        crashes += 1
        // Recovery empties unlogged tables.
        await run.sql(
          'truncate tollgate.settlement_stage, tollgate.settlement_work, tollgate.settlement_candidate, tollgate.settlement_decision',
        )
      })
      await workOnScope(one.engine, scopeId)
      onFaultPoint(undefined)
      await makeDue()
      await workOnScope(one.engine, scopeId)
      assert.equal(crashes, 1)
      assert.deepEqual(await traces(fileId), whole)
    })
  }

  test('parts that changed places in the database are noticed', async () => {
    const lines = Array.from({ length: 9_000 }, () => fresh({ holder: 'x'.repeat(100) }))
    const fileId = await imported(lines)
    const scopeId = await scopeOf(fileId)
    const swap = async () => {
      for (const [from, to] of [
        [0, 9],
        [1, 0],
        [9, 1],
      ]) {
        await run.sql(
          'update tollgate.settlement_part set no = $3 where file_id = $1 and no = $2',
          [fileId, from, to],
        )
      }
    }
    await swap()
    await workOnScope(one.engine, scopeId)
    assert.equal((await traces(fileId)).state, 'refused')
    await swap()
    const stored = readBytes(one.engine, fileId, {
      parts: 2,
      sha256: sha256(settlementFile(lines)),
    })
    assert.deepEqual(await collected(stored), settlementFile(lines))
    await swap()
    const changed = readBytes(one.engine, fileId, {
      parts: 2,
      sha256: sha256(settlementFile(lines)),
    })
    await assert.rejects(collected(changed), /not those that arrived/)
  })

  async function collected(bytes: AsyncIterable<Uint8Array>): Promise<Buffer> {
    const chunks: Uint8Array[] = []
    for await (const chunk of bytes) chunks.push(chunk)
    return Buffer.concat(chunks)
  }
})
