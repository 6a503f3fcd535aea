import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { RemoteFile } from '@tollgate/plugin-kit'
import { onFaultPoint } from '../../../core/index.ts'
import { fetchFiles } from '../../../core/settlement/fetch.ts'
import { until } from '../../rig/gateway.ts'
import {
  type SettlingRun,
  settled,
  settlementFile,
  settlingAcquirer,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'
import { type OpenEngine, openEngine } from './engines.ts'

describe('fetched settlement files', () => {
  /** Files at the acquirer, and the cursors that fetches came with. */
  const shelf: { name: string; bytes: Uint8Array }[] = []
  let cursors: (string | undefined)[] = []
  let open: (bytes: Uint8Array) => AsyncIterable<Uint8Array> = streamed

  async function* fetch(cursor: string | undefined): AsyncGenerator<RemoteFile> {
    cursors.push(cursor)
    for (const [at, { name, bytes }] of shelf.entries()) {
      if (at < Number(cursor ?? 0)) continue
      yield { name, cursor: String(at + 1), open: async () => open(bytes) }
    }
  }

  let run: SettlingRun
  let engine: OpenEngine
  before(async () => {
    run = await startSettling({ role: 'api', acquirer: settlingAcquirer({ fetch }) })
    engine = await openEngine(run)
  })
  after(async () => {
    await engine.close()
    await run.close()
  })
  afterEach(() => {
    onFaultPoint(undefined)
    cursors = []
    open = streamed
  })

  let last = 0
  const put = (name: string) =>
    shelf.push({ name, bytes: settlementFile([settled({ id: `F-${++last}` })]) })
  const names = async () => (await run.gateway.settlement.files()).map(({ name }) => name).reverse()
  const nextInSeconds = async () => {
    const [row] = await run.sql<{ seconds: number }>(
      `select extract(epoch from due_at - now())::float8 as seconds
     from tollgate.timer where kind = 'settlement-fetch' and ref = $1`,
      [run.account],
    )
    return row?.seconds
  }

  describe('a fetch', () => {
    test('stores new files oldest first, and continues behind them', async () => {
      put('day-1')
      put('day-2')
      await fetchFiles(engine.engine, run.account)
      assert.deepEqual(await names(), ['day-1', 'day-2'])
      put('day-3')
      await fetchFiles(engine.engine, run.account)
      assert.deepEqual(await names(), ['day-1', 'day-2', 'day-3'])
      assert.deepEqual(cursors, [undefined, '2'])
      const [audited] = await run.sql<{ count: bigint }>(
        "select count(*) from tollgate.audit where action = 'settlement.fetched'",
      )
      assert.equal(audited!.count, 3n)
      const seconds = await nextInSeconds()
      assert.ok(seconds !== undefined && seconds > 3_000 && seconds <= 3_600, `${seconds}`)
    })

    test('of an operator comes at once, counts its files, and says what fails', async () => {
      const { settlement } = run.gateway
      const before = await names()
      put('now')
      assert.equal(await settlement.fetch(run.account), 1)
      assert.equal(await settlement.fetch(run.account), 0)
      assert.deepEqual(await names(), [...before, 'now'])
      put('broken')
      open = () => {
        throw new RangeError('4111111111111111')
      }
      await assert.rejects(settlement.fetch(run.account), {
        status: 502,
        message: /^the files could not be fetched \(RangeError\)/,
      })
      shelf.pop()
      const caller = { id: 'shop', entityId: run.channel, rights: 0 }
      await assert.rejects(settlement.fetch(run.account, { caller }), { status: 403 })
    })

    test('that dies before its cursor fetches the file again', async () => {
      put('day-4')
      onFaultPoint((point) => {
        if (point === 'settlement-fetched') throw new Error('the process died')
      })
      await fetchFiles(engine.engine, run.account)
      onFaultPoint(undefined)
      await fetchFiles(engine.engine, run.account)
      assert.deepEqual(cursors, ['4', '4'])
      assert.deepEqual((await names()).slice(4), ['day-4', 'day-4'])
      await fetchFiles(engine.engine, run.account)
      assert.equal(cursors.at(-1), '5')
    })

    test('that fails within a file stores nothing of it, and logs no text of the acquirer', async () => {
      put('day-5')
      const before = await names()
      open = async function* (bytes) {
        yield bytes.subarray(0, 10)
        throw new RangeError('4111111111111111')
      }
      await fetchFiles(engine.engine, run.account)
      assert.deepEqual(await names(), before)
      const [parts] = await run.sql<{ count: bigint }>(
        `select count(*) from tollgate.settlement_part
       where file_id not in (select id from tollgate.settlement_file)`,
      )
      assert.equal(parts!.count, 0n)
      assert.doesNotMatch(JSON.stringify(run.logs), /4111/)
      open = streamed
      await fetchFiles(engine.engine, run.account)
      assert.deepEqual(await names(), [...before, 'day-5'])
    })

    test('of a disabled account goes on: its payments are still settled', async () => {
      const { account } = await run.addAccount('MID-DISABLED')
      await run.gateway.accounts.disable(account)
      await fetchFiles(engine.engine, account)
      const timers = await run.sql('select from tollgate.timer where ref = $1', [account])
      assert.equal(timers.length, 1)
    })

    test('of an account whose connector fetches nothing removes its timer', async () => {
      const { account } = await run.addAccount('MID-ENDED')
      await run.sql(`update tollgate.merchant_account set connector = 'simulator' where id = $1`, [
        account,
      ])
      await run.sql(
        `insert into tollgate.timer (id, due_at, kind, ref)
       values (gen_random_uuid(), now(), 'settlement-fetch', $1)`,
        [account],
      )
      await fetchFiles(engine.engine, account)
      const left = await run.sql('select from tollgate.timer where ref = $1', [account])
      assert.deepEqual(left, [])
    })
  })

  test('a worker fetches by itself, and a fetch that hangs holds up no other account', async () => {
    const own = settlingAcquirer({
      async *fetch(_, { account }) {
        const { merchantNumber } = account as { merchantNumber: string }
        if (merchantNumber === 'MID-HANGS') await new Promise(() => {})
        yield {
          name: `of ${merchantNumber}`,
          cursor: '1',
          open: async () => streamed(settlementFile([settled({ merchant: merchantNumber })])),
        }
      },
    })
    const working = await startSettling({ acquirer: own, shutdownGraceMs: 100 })
    try {
      await working.addAccount('MID-HANGS')
      await working.addAccount('MID-WORKS')
      const timers = () =>
        working.sql<{ ref: string; due_at: Date }>(
          "select ref, due_at from tollgate.timer where kind = 'settlement-fetch'",
        )
      const worker = await working.another({ plugins: [own.plugin], shutdownGraceMs: 100 })
      const planned = await until(async () => {
        const rows = await timers()
        return rows.length === 3 ? rows : undefined
      })
      assert.equal(new Set(planned.map(({ due_at }) => due_at.getTime())).size, 3)
      await working.sql("update tollgate.timer set due_at = now() where kind = 'settlement-fetch'")
      const read = await until(async () => {
        const files = await worker.settlement.files()
        return files.filter(({ state }) => state === 'done').length === 2 ? files : undefined
      })
      assert.deepEqual(read.map(({ name }) => name).sort(), ['of MID-00001', 'of MID-WORKS'])
      const rows = await timers()
      assert.ok(rows.every(({ due_at }) => due_at.getTime() > Date.now() + 30_000))
    } finally {
      await working.close()
    }
  })
})
