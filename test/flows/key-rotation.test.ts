/** Data keys change under load, whatever process is killed. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import type { FaultPoint } from '../../core/index.ts'
import {
  KeyAdministration,
  localKeys,
  onFaultPoint,
  type Rotation,
  RotationError,
} from '../../core/index.ts'
import { sealedTables } from '../../core/vault/store-sealed.ts'
import { sealAsBefore } from '../core/vault/old-rows.ts'
import { bankPlugin } from '../rig/bank.ts'
import { card, flat, startGateway, type TestGateway, testKey, until } from '../rig/gateway.ts'
import { bundled } from '../rig/programs.ts'
import { inScope, sampled } from '../rig/scope.ts'
import type { RotationNews, RotationOrder } from './key-rotation-process.ts'

const quick = { graceMs: 200, waitMs: 60_000 }
const approved = '000.100.110'
const newerKey = `newer:${'abcd'.repeat(16)}`

type Key = { id: string; state: string; kek: string; rows: bigint }

describe('rotation of data keys', () => {
  let run: TestGateway
  const children: ChildProcess[] = []
  beforeEach(async () => {
    run = await startGateway()
  })
  afterEach(async () => {
    onFaultPoint(undefined)
    for (const child of children.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
    }
    await run.close()
  })

  const administer = async <T>(
    work: (keys: KeyAdministration) => Promise<T>,
    keys = testKey,
  ): Promise<T> => {
    await using opened = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(keys),
    })
    return await work(opened)
  }
  const rotate = (keys = testKey, more = {}): Promise<Rotation> =>
    administer((opened) => opened.rotate({ ...quick, ...more }), keys)
  const keysThere = () =>
    run.sql<Key>(`
      select k.id, k.state, k.key_encryption_key_id as kek,
        (select count(*) from tollgate.instrument i where i.data_key_id = k.id) as rows
      from tollgate.data_key k where k.purpose = 'seal' order by k.created_at, k.id`)
  const states = async () => (await keysThere()).map(({ state }) => state)
  const rebill = async (id: string, on = run.gateway) =>
    (await on.payments.rebill(id, { amount: '1.00', currency: 'EUR' })).result.code
  const start = async (order: Omit<RotationOrder, 'databaseUrl'>) => {
    const full: RotationOrder = { databaseUrl: run.database.url, ...order }
    const program = await bundled('test/flows/key-rotation-process.ts')
    const child = fork(program, [JSON.stringify(full)], {
      // Not those of the process of the tests.
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    children.push(child)
    return child
  }
  const ended = async (child: ChildProcess) => {
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    return child.signalCode ?? child.exitCode
  }
  /** Processes that charge each payment again at once, until they are stopped. */
  const paying = async (count: number, keys = testKey) => {
    const paid: { id: string; code: string; rebill: string }[] = []
    const declined: string[] = []
    const failed: string[] = []
    const heard = new EventEmitter()
    const all = await Promise.all(
      Array.from({ length: count }, async () => {
        const child = await start({ work: 'serve', keys, channel: run.channel })
        child.on('message', (news: RotationNews) => {
          if ('paid' in news) paid.push(news.paid)
          if ('declined' in news) declined.push(news.declined)
          if ('failed' in news) failed.push(news.failed)
          heard.emit('news')
        })
        await once(child, 'message')
        return child
      }),
    )
    return {
      paid,
      declined,
      failed,
      /** Resolves when that many payments were answered, and half as many declined. */
      async atLeast(least: number) {
        while (paid.length < least || declined.length < least / 2) await once(heard, 'news')
      },
      pids: all.map(({ pid }) => pid),
      stopped: () => all.map((child) => child.kill('SIGSTOP')),
      resumed: () => all.map((child) => child.kill('SIGCONT')),
      async stop() {
        for (const child of all) child.send('stop')
        assert.deepEqual(
          await Promise.all(all.map(ended)),
          all.map(() => 0),
        )
      },
    }
  }

  test('a rotation moves every row under a new key and retires the old one, and everything still opens', async () => {
    const payments = await Promise.all(Array.from({ length: 25 }, () => run.pay()))
    const [before] = await keysThere()
    const done = await rotate()
    assert.equal(done.moved, 25)
    assert.deepEqual([done.retired, done.kept], [[before!.id], []])
    const [old, current] = await keysThere()
    assert.deepEqual(
      [old?.state, old?.rows, current?.state, current?.rows, current?.id],
      ['retired', 0n, 'current', 25n, done.keyId],
    )
    for (const { id } of payments) assert.equal(await rebill(id), approved)
    // The process from before the rotation seals with the new key without a restart.
    const fresh = await run.pay()
    const [row] = await run.sql<{ data_key_id: string }>(
      'select data_key_id from tollgate.instrument where id = $1',
      [fresh.id],
    )
    assert.equal(row?.data_key_id, done.keyId)
    const audit = await run.sql<{ action: string }>(
      `select action from tollgate.audit where actor_kind = 'embedder' and resource in (select id from tollgate.data_key)
       order by at, id`,
    )
    assert.deepEqual(
      audit.map(({ action }) => action),
      ['data-key-announced', 'data-key-promoted', 'data-key-retired', 'rows-resealed'],
    )
  })

  test('every table with sealed values takes part', async () => {
    const tables = await run.sql<{ name: string }>(`
      select distinct table_name as name from information_schema.columns
      where table_schema = 'tollgate' and (column_name = 'sealed' or column_name = 'data_key_id')
        and table_name <> 'data_key_use' order by 1`)
    assert.deepEqual(
      tables.map(({ name }) => name),
      [...sealedTables].sort(),
    )
  })

  test('no payment of several processes fails during a rotation, and no old row remains', async () => {
    await Promise.all(Array.from({ length: inScope(60, 300) }, () => run.pay()))
    const load = await paying(inScope(2, 3))
    const [before] = await keysThere()
    const first = await rotate()
    const second = await rotate()
    await load.atLeast(60)
    await load.stop()
    assert.deepEqual(load.failed, [])
    for (const { code, rebill: again } of load.paid)
      assert.deepEqual([code, again], [approved, approved])
    assert.deepEqual([first.retired, second.retired], [[before!.id], [first.keyId]])
    const all = await keysThere()
    assert.deepEqual(
      all.map(({ state, rows }) => [state, rows > 0n]),
      [
        ['retired', false],
        ['retired', false],
        ['current', true],
      ],
    )
    for (const { id } of load.paid.slice(0, inScope(10, 50)))
      assert.equal(await rebill(id), approved)
    // Erased numbers of declined payments did not return.
    const left = await run.sql('select id from tollgate.instrument where id = any($1::uuid[])', [
      load.declined,
    ])
    assert.deepEqual(left, [])
  })

  test('two rotations at once in two processes make one key and share the work', async () => {
    await Promise.all(Array.from({ length: inScope(40, 400) }, () => run.pay()))
    const load = await paying(1)
    const other = await start({ work: 'rotate', keys: testKey })
    const [code] = await Promise.all([ended(other), rotate()])
    assert.equal(code, 0)
    await load.stop()
    assert.deepEqual(load.failed, [])
    // Usually one; a process that starts after another has finished correctly makes its own.
    const all = await keysThere()
    assert.ok(all.length === 2 || all.length === 3, `${all.length} keys`)
    assert.deepEqual(await states(), [...all.slice(1).map(() => 'retired'), 'current'])
    assert.ok(all.slice(0, -1).every(({ rows }) => rows === 0n))
  })

  const points: readonly (readonly [FaultPoint, number])[] = [
    ['key-announced', 1],
    ['key-promoted', 1],
    ['rows-opened', 1],
    ['rows-resealed', 1],
    ['key-fenced', 1],
    ['key-fenced', 2],
    ['key-proven', 1],
    ['key-retired', 1],
  ]
  test('a rotation that fails at any point is finished by the next one', async () => {
    const paid = await Promise.all(Array.from({ length: 10 }, () => run.pay()))
    for (const [at, nth] of points) {
      const known = (await keysThere()).length
      let visits = 0
      onFaultPoint((point) => {
        if (point !== at) return
        visits += 1
        if (visits === nth) throw new Error(`failed at ${at}`)
      })
      await assert.rejects(rotate(), new RegExp(`failed at ${at}`))
      onFaultPoint(undefined)
      paid.push(await run.pay())
      assert.equal(await rebill(paid[0]!.id), approved)
      assert.equal((await keysThere()).length, known + 1)
      await rotate()
      const all = await keysThere()
      // Only after a finished rotation does the next make another key.
      assert.equal(all.length, known + (at === 'key-retired' ? 2 : 1), at)
      assert.equal(all.at(-1)?.state, 'current')
      assert.ok(all.slice(0, -1).every(({ state, rows }) => state === 'retired' && rows === 0n))
      assert.equal(all.at(-1)?.rows, BigInt(paid.length))
      for (const { id } of [...paid.slice(0, 2), ...paid.slice(-1)]) {
        assert.equal(await rebill(id), approved)
      }
    }
  })

  /** The first where rows move is the one of a short run. */
  const deaths = sampled<readonly [FaultPoint, number]>(
    [
      ['rows-resealed', 1],
      ['rows-resealed', 2],
      ...points.filter(([at]) => at !== 'rows-resealed'),
    ],
    1,
  )
  for (const [at, nth] of deaths) {
    test(`a rotation killed at ${at} (${nth}) is finished by the next one while payments continue`, async () => {
      // Two batches where the second one is the point, one elsewhere.
      const count = at === 'rows-resealed' && nth === 2 ? 260 : 15
      const payments = await Promise.all(Array.from({ length: count }, () => run.pay()))
      const child = await start({ work: 'rotate', keys: testKey, die: { at, nth } })
      let isDead = false
      const dead = ended(child).finally(() => {
        isDead = true
      })
      const during: string[] = []
      while (!isDead) during.push((await run.pay()).id)
      assert.equal(await dead, 'SIGKILL')
      // Everything opens between the two.
      for (const { id } of payments.slice(0, 3)) assert.equal(await rebill(id), approved)
      const before = await keysThere()
      await rotate()
      const all = await keysThere()
      // An unfinished rotation was finished; only after a finished one does the next make another
      // key.
      assert.equal(all.length, at === 'key-retired' ? 3 : 2)
      assert.equal(before.length, 2)
      assert.equal(all.at(-1)?.state, 'current')
      assert.ok(all.slice(0, -1).every(({ state, rows }) => state === 'retired' && rows === 0n))
      assert.equal(all.at(-1)?.rows, BigInt(payments.length + during.length))
      for (const id of [...payments.slice(0, 6).map((one) => one.id), ...during.slice(0, 6)]) {
        assert.equal(await rebill(id), approved)
      }
    })
  }

  test('a row erased or changed between opening and exchange stays so', async () => {
    const payments = await Promise.all(Array.from({ length: 40 }, () => run.pay()))
    const erased = payments.slice(0, 10).map(({ id }) => id)
    const changed = payments[10]!.id
    const [{ sealed } = assert.fail()] = await run.sql<{ sealed: Buffer }>(
      'select sealed from tollgate.instrument where id = $1',
      [changed],
    )
    let visits = 0
    onFaultPoint(async (at) => {
      if (at !== 'rows-opened') return
      visits += 1
      if (visits > 1) return
      await run.sql('delete from tollgate.instrument where id = any($1::uuid[])', [erased])
      await run.sql('update tollgate.instrument set sealed = $2 where id = $1', [
        changed,
        Buffer.concat([sealed, Buffer.from([0])]),
      ])
    })
    const done = await rotate()
    const left = await run.sql<{ id: string; sealed: Buffer }>(
      'select id, sealed from tollgate.instrument order by id',
    )
    assert.equal(left.length, 30)
    assert.ok(left.every(({ id }) => !erased.includes(id)))
    assert.equal(left.find(({ id }) => id === changed)?.sealed.length, sealed.length + 1)
    // The changed row does not open, so its key stays and is reported.
    assert.equal(done.moved, 29)
    assert.deepEqual(done.retired, [])
    assert.match(done.kept[0]?.why ?? '', /1 rows under it cannot be opened/)
  })

  test('a locked row is skipped, and moved once it is free', async () => {
    const payments = await Promise.all(Array.from({ length: 10 }, () => run.pay()))
    await run.sql('begin')
    await run.sql('select 1 from tollgate.instrument where id = $1 for update', [payments[0]!.id])
    const lines: string[] = []
    const rotation = rotate(testKey, { tell: (line: string) => void lines.push(line) })
    await until(async () => lines.find((line) => /^9 of 10 rows sealed anew/.test(line)))
    await run.sql('commit')
    assert.equal((await rotation).moved, 10)
  })

  test('a process that cannot open the new key stops the rotation before its first use', async () => {
    const { id } = await run.pay()
    await assert.rejects(rotate(`${newerKey}\n${testKey}`, { waitMs: 300 }), (error) => {
      assert.ok(error instanceof RotationError)
      assert.match(error.message, /1 process cannot open data key [0-9a-f]{32} yet: ".+"/)
      return true
    })
    await until(async () =>
      run.logs.find(({ fields }) => /"newer", which is not among/.test(String(fields.why))),
    )
    assert.deepEqual(await states(), ['current', 'announced'])
    // Without its announcement it does not delay the next rotation.
    const announced = (await keysThere())[1]!.id
    assert.equal(await administer((keys) => keys.retire(announced)), 'retired')
    assert.equal((await rotate()).moved, 1)
    assert.deepEqual(await states(), ['retired', 'retired', 'current'])
    assert.equal(await rebill(id), approved)
    assert.equal(await rebill((await run.pay()).id), approved)
  })

  test('a process that sleeps through a rotation cannot commit a row under the closed key', async () => {
    await run.pay()
    const [old] = await keysThere()
    await rotate()
    await assert.rejects(
      run.sql(
        `insert into tollgate.instrument (id, data_key_id, sealed)
         values ('00000000000070008000000000000001', $1, '')`,
        [old!.id],
      ),
      { code: '23514' },
    )
  })

  test('a process paused while the key closed fails its sealed rows whole and continues', async () => {
    const load = await paying(1)
    await load.atLeast(20)
    load.stopped()
    // Ages the process's heartbeat, so that the rotation does not wait for it.
    await run.sql(
      `update tollgate.data_key_use set seen_at = now() - interval '1 minute'
      where name like '% ' || $1`,
      [String(load.pids[0])],
    )
    const [old] = await keysThere()
    const done = await rotate()
    assert.deepEqual(done.retired, [old!.id])
    const before = load.paid.length
    load.resumed()
    await load.atLeast(before + inScope(20, 50))
    await load.stop()
    for (const failure of load.failed) assert.match(failure, /not_under_|23514/)
    const all = await keysThere()
    assert.equal(all.find(({ id }) => id === old!.id)?.rows, 0n)
    // Failed payments left nothing: none without its number, none that was sent.
    const orphans = await run.sql(`
      select p.id from tollgate.payment p
      where p.referenced_id is null and p.state <> 'declined' and not exists (select from tollgate.instrument i where i.id = p.id)`)
    assert.deepEqual(orphans, [])
  })

  test('rows of the first format, bound to their id alone, open and move to the newest', async () => {
    const { id } = await run.pay()
    await sealAsBefore(run, id, '4200000000000000', 1)
    const early = await run.another()
    assert.equal(await rebill(id, early), approved)
    await run.gateway.close()
    await administer(async (keys) => {
      assert.equal((await keys.rotate(quick)).moved, 1)
    })
    const later = await run.another()
    assert.equal(await rebill(id, later), approved)
  })

  test('a destroyed key is gone for good, after caches have dropped its rows', async () => {
    await run.pay()
    const [{ id } = assert.fail()] = await keysThere()
    await assert.rejects(
      administer((keys) => keys.retire(id)),
      /is in use/,
    )
    await rotate()
    await assert.rejects(
      administer((keys) => keys.retire(id, { destroy: true })),
      /less than 60 seconds ago/,
    )
    await run.sql(
      `update tollgate.data_key set retired_at = now() - interval '1 hour' where id = $1`,
      [id],
    )
    assert.equal(await administer((keys) => keys.retire(id, { destroy: true })), 'destroyed')
    assert.equal(await administer((keys) => keys.retire(id, { destroy: true })), 'destroyed')
    const [row] = await run.sql<{ wrapped: Buffer }>(
      'select wrapped from tollgate.data_key where id = $1',
      [id],
    )
    assert.equal(row?.wrapped.length, 0)
    await assert.rejects(
      administer((keys) => keys.retire('0'.repeat(32))),
      /There is no data key/,
    )
  })

  test('data keys move to another key-encryption key without touching a row', async () => {
    const { id } = await run.pay()
    const rows = () => run.sql('select id, xmin::text, sealed from tollgate.instrument')
    const before = await rows()
    await run.gateway.close()
    const moved = await administer((keys) => keys.rewrap(), `${newerKey}\n${testKey}`)
    assert.deepEqual([moved.keyId, moved.moved.length, moved.kept], ['newer', 2, []])
    const again = await administer((keys) => keys.rewrap(), `${newerKey}\n${testKey}`)
    assert.deepEqual(again.moved, [])
    assert.deepEqual(await rows(), before)
    // The old key-encryption key is not needed any more, and the fingerprints are unchanged.
    const later = await run.another({ keys: localKeys(newerKey) })
    assert.equal(await rebill(id, later), approved)
    const twin = await run.pay({}, { on: later })
    const prints = await run.sql<{ fingerprint: Buffer }>(
      'select fingerprint from tollgate.instrument where id = any($1::uuid[])',
      [[id, twin.id]],
    )
    assert.deepEqual(prints[0], prints[1])
  })

  test('a killed rewrap leaves keys that all open, and the next one finishes it', async () => {
    const { id } = await run.pay()
    const keys = `${newerKey}\n${testKey}`
    await run.gateway.close()
    const child = await start({ work: 'rewrap', keys, die: { at: 'key-rewrapped', nth: 1 } })
    assert.equal(await ended(child), 'SIGKILL')
    const half = await administer((opened) => opened.status(), keys)
    assert.deepEqual(half.keys.map((key) => key.keyEncryptionKeyId).sort(), ['newer', 'test'])
    assert.ok(half.keys.every(({ problem }) => problem === undefined))
    await Promise.all([0, 1].map(() => administer((opened) => opened.rewrap(), keys)))
    const later = await run.another({ keys: localKeys(newerKey) })
    assert.equal(await rebill(id, later), approved)
  })

  test('the key of fingerprints is replaced only without running processes, and on record', async () => {
    const { id } = await run.pay({}, { key: 'order-1' })
    assert.equal((await run.pay({}, { key: 'order-1' })).id, id)
    await rotate()
    assert.equal((await run.pay({}, { key: 'order-1' })).id, id)
    await assert.rejects(
      administer((keys) => keys.renewMac()),
      /only while no process runs/,
    )
    await run.gateway.close()
    await administer((keys) => keys.renewMac())
    await administer((keys) => keys.renewMac())
    const later = await run.another()
    assert.equal((await run.pay({}, { on: later, key: 'order-1' })).id, id)
    await assert.rejects(run.pay({ amount: '93.00' }, { on: later, key: 'order-1' }), {
      code: '200.300.405',
    })
    // The key of repeats is kept as long as a repeat can arrive, and the key of the audit trail
    // forever.
    const [first, second] = await run.sql<{ id: string }>(
      "select id from tollgate.data_key where purpose = 'mac' and state = 'retired' order by retired_at",
    )
    const destroyed = (key: string) => administer((keys) => keys.retire(key, { destroy: true }))
    await assert.rejects(destroyed(first!.id), /links of the audit trail/)
    await assert.rejects(destroyed(second!.id), /31 days/)
    const twin = await run.pay({}, { on: later, key: 'order-2' })
    assert.equal((await run.pay({}, { on: later, key: 'order-2' })).id, twin.id)
    const prints = await run.sql<{ fingerprint: Buffer }>(
      'select fingerprint from tollgate.instrument where id = any($1::uuid[])',
      [[id, twin.id]],
    )
    assert.notDeepEqual(prints[0], prints[1])
    assert.equal(await rebill(id, later), approved)
  })

  test('a lost key affects its own rows alone: they are answered in order, and others are charged', async () => {
    const lost = await run.pay()
    // A second data key under another key-encryption key; then the first one is lost.
    await run.gateway.close()
    const keys = `${newerKey}\n${testKey}`
    await administer((opened) => opened.rewrap(), keys)
    await run.sql(`
      update tollgate.data_key set state = 'previous', key_encryption_key_id = 'gone'
      where purpose = 'seal'`)
    await run.sql(`
      insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped)
      select '0198000000007000800000000000aaaa', 'seal', 'current', 2, key_encryption_key_id, wrapped
      from tollgate.data_key where purpose = 'mac'`)
    const gateway = await run.another({ keys: localKeys(newerKey) })
    const kept = await run.pay({}, { on: gateway })
    assert.equal(await rebill(kept.id, gateway), approved)
    const reply = await run.send(
      { paymentType: 'RB', amount: '1.00', currency: 'EUR' },
      { id: lost.id, on: gateway },
    )
    assert.equal(reply.status, 500)
    assert.equal(reply.body.result.code, '600.100.100')
    assert.match(reply.body.result.description, /stored account of this payment cannot be opened/)
    const trace = run.logs.find(({ message }) => /stays shut/.test(message))
    assert.match(
      String(trace?.fields.why),
      /key "gone", which is not among the given keys \(newer\)/,
    )
    // Nothing is half done: the charge has no record, and follow-ups without a number succeed.
    const rows = await run.sql('select id from tollgate.payment where referenced_id = $1', [
      lost.id,
    ])
    assert.deepEqual(rows, [])
    const refund = await gateway.payments.refund(lost.id, { amount: '5.00', currency: 'EUR' })
    assert.equal(refund.result.code, approved)

    // A rotation moves the rows that open and reports the others.
    const done = await administer((opened) => opened.rotate(quick), newerKey)
    assert.equal(done.moved, 1)
    assert.match(done.kept[0]?.why ?? '', /1 rows under it cannot be opened/)
    assert.equal(await rebill(kept.id, gateway), approved)
  })
})

describe('secrets of merchant accounts', () => {
  const seen: unknown[] = []
  const plugin = bankPlugin(({ account }) => seen.push(account.apiKey))
  let run: TestGateway
  before(async () => {
    run = await startGateway({ plugins: [plugin] })
  })
  after(() => run.close())
  const pay = (on = run.gateway) =>
    run.send(
      { ...flat(card('4200000000000000')), entityId: run.channel, testMode: 'EXTERNAL' },
      { on },
    )

  test('secrets of accounts are resealed by the rotation and open in every process', async () => {
    const id = await run.gateway.entities.createAccount({
      channelId: run.channel,
      connector: 'bank',
      mode: 'EXTERNAL',
      settings: { merchantId: '4711', apiKey: 'key-of-the-shop' },
    })
    assert.equal((await pay()).status, 200)
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    const { keyId } = await keys.rotate(quick)
    const [row] = await run.sql<{ key: string }>(
      'select data_key_id as key from tollgate.merchant_account where id = $1',
      [id],
    )
    assert.equal(row?.key, keyId)
    assert.equal((await pay(await run.another())).status, 200)
    assert.deepEqual(seen, ['key-of-the-shop', 'key-of-the-shop'])
  })

  test('a value of one table does not open in another, and nothing is charged', async () => {
    const { id } = await run.pay()
    await run.sql('delete from tollgate.merchant_account')
    await run.sql(
      `insert into tollgate.merchant_account (id, channel_id, connector, mode, settings, data_key_id, sealed)
       select id, $2, 'bank', 'EXTERNAL', '{"merchantId":"1","apiKey":"2"}', data_key_id, sealed
       from tollgate.instrument where id = $1`,
      [id, run.channel],
    )
    const charged = seen.length
    const reply = await pay(await run.another())
    assert.equal(reply.status, 500)
    assert.equal(reply.body.result.code, '600.100.100')
    assert.equal(seen.length, charged)
    const trace = run.logs.find(({ message }) => /does not open: it was changed/.test(message))
    assert.equal(trace?.fields.table, 'merchant_account')
  })
})
