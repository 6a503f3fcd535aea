/** Another key-encryption key while processes run: none of them is left without its data keys, and one that is says so. */
import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  KeyAdministration,
  localKeys,
  onFaultPoint,
  RotationError,
  systemClock,
} from '../../core/index.ts'
import { startGateway, type TestGateway, testKey, until } from '../rig/gateway.ts'
import { bundled } from '../rig/programs.ts'
import type { RotationOrder } from './key-rotation-process.ts'

const approved = '000.100.110'
const newerKey = `newer:${'abcd'.repeat(16)}`
const both = `${newerKey}\n${testKey}`
/** A process that was given the new key and still wraps with the old one. */
const prepared = `${testKey}\n${newerKey}`

describe('a new key-encryption key', () => {
  const keyCacheMs = 3_600_000
  let aheadMs = 0
  let opened = 0
  let run: TestGateway
  const children: ChildProcess[] = []

  beforeEach(async () => {
    aheadMs = 0
    const clock = { ...systemClock, elapsedMs: () => performance.now() + aheadMs }
    const keys = localKeys(prepared)
    const counted: typeof keys = {
      ...keys,
      unwrap(...given) {
        opened += 1
        return keys.unwrap(...given)
      },
    }
    run = await startGateway({ keys: counted, keyCacheMs, clock })
  })
  afterEach(async () => {
    onFaultPoint(undefined)
    for (const child of children.splice(0)) {
      if (child.exitCode !== null || child.signalCode !== null) continue
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
    await run.close()
  })

  const administer = async <T>(work: (keys: KeyAdministration) => Promise<T>): Promise<T> => {
    await using administration = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(both),
    })
    return await work(administration)
  }
  const start = async (order: Omit<RotationOrder, 'databaseUrl'>): Promise<ChildProcess> => {
    const full: RotationOrder = { databaseUrl: run.database.url, ...order }
    const program = await bundled('test/flows/key-rotation-process.ts')
    const child = fork(program, [JSON.stringify(full)], {
      execArgv: [],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    children.push(child)
    return child
  }
  type Row = { id: string; purpose: string; state: string; kek: string; wrapped: Buffer }
  const dataKeys = () =>
    run.sql<Row>(`select id, purpose, state, key_encryption_key_id as kek, wrapped
      from tollgate.data_key order by purpose`)
  const probes = () => run.sql('select id from tollgate.key_probe')
  const shutKeys = async () =>
    (
      await run.sql<{ id: string }>(
        'select unnest(shut_key_ids) as id from tollgate.data_key_use order by 1',
      )
    ).map(({ id }) => id)
  const rebill = async (id: string, on = run.gateway) =>
    (await on.payments.rebill(id, { amount: '1.00', currency: 'EUR' })).result.code
  /** Wraps keys as a command does that asks nobody. */
  const wrapAnew = async (under: string, which: (row: Row) => boolean) => {
    const from = localKeys(both)
    const to = localKeys(under)
    const limit = AbortSignal.timeout(60_000)
    for (const { id, kek, wrapped } of (await dataKeys()).filter(which)) {
      const after = await to.wrap(await from.unwrap(kek, wrapped, limit), limit)
      await run.sql(
        'update tollgate.data_key set key_encryption_key_id = $2, wrapped = $3 where id = $1',
        [id, after.keyId, after.wrapped],
      )
    }
  }

  test('a process without the new key stops the rewrap, which names it and changes nothing', async () => {
    const lacking = await start({ work: 'serve', keys: testKey, channel: run.channel })
    await once(lacking, 'message')
    const before = await dataKeys()
    onFaultPoint(async (at, probe) => {
      if (at !== 'key-probed') return
      await until(
        async () =>
          (
            await run.sql(
              'select from tollgate.data_key_use where name like $1 and $2 = any(probe_ids)',
              [`% ${process.pid}`, probe],
            )
          )[0],
      )
    })
    await assert.rejects(
      administer((keys) => keys.rewrap({ waitMs: 0 })),
      (error) => {
        assert.ok(error instanceof RotationError)
        assert.match(
          error.message,
          new RegExp(
            `^1 process cannot open what key "newer" wraps: "\\S+ ${lacking.pid}"\\. Nothing was changed\\.`,
          ),
        )
        return true
      },
    )
    assert.deepEqual(await dataKeys(), before)
    assert.deepEqual(await probes(), [])
    assert.equal(await run.gateway.isReady(), true)

    lacking.send('stop')
    await once(lacking, 'exit')
    const { moved } = await administer((keys) => keys.rewrap())
    assert.equal(moved.length, 2)
    assert.deepEqual(await probes(), [])
    assert.deepEqual(await administer((keys) => keys.rewrap({ waitMs: 0 })), {
      ...{ keyId: 'newer', moved: [], kept: [] },
    })
  })

  test('a rewrap tells at once for whom it waits, and a process without the new key logs one line about it', async () => {
    const late = await run.another({ keys: localKeys(testKey) })
    const lines: string[] = []
    const rewrapping = administer((keys) =>
      keys.rewrap({ waitMs: 60_000, tell: (line) => void lines.push(line) }),
    )
    const told = await until(async () => lines.find((line) => /cannot open/.test(line)))
    assert.match(
      lines[0] ?? '',
      /^waiting until 2 processes can open what key "newer" wraps: "\S+ \d+", "\S+ \d+"$/,
    )
    assert.match(told, /^1 process cannot open what key "newer" wraps yet: "\S+ \d+"; give the key/)
    await late.close()
    await rewrapping
    const warnings = run.logs.filter(({ fields }) => /"newer"/.test(JSON.stringify(fields)))
    assert.deepEqual(
      warnings.map(({ message, fields }) => [message, fields.why]),
      [
        [
          'a new key-encryption key does not open here',
          '"tollgate keys rewrap" waits for this process, which cannot open what key "newer" wraps.',
        ],
      ],
    )
  })

  test('a rewrap waits for a process that stands still, which would come back without its data keys', async () => {
    await run.sql(
      `insert into tollgate.data_key_use (process_id, name, seen_at)
       values (gen_random_uuid(), 'still 1', now() - interval '1 minute')`,
    )
    const lines: string[] = []
    const rewrapping = administer((keys) => keys.rewrap({ tell: (line) => void lines.push(line) }))
    await until(async () => lines.find((line) => /^1 process .*: "still 1"; give/.test(line)))
    assert.ok((await dataKeys()).every(({ kek }) => kek !== 'newer'))
    await run.sql("delete from tollgate.data_key_use where name = 'still 1'")
    assert.equal((await rewrapping).moved.length, 2)
  })

  test('a rewrap works beside an unfinished rotation, which goes on afterwards', async () => {
    await run.pay()
    onFaultPoint((at) => {
      if (at === 'key-announced') throw new Error('interrupted')
    })
    await assert.rejects(
      administer((keys) => keys.rotate()),
      /interrupted/,
    )
    onFaultPoint(undefined)
    // The announced key is under the new key already.
    assert.equal((await administer((keys) => keys.rewrap())).moved.length, 2)
    assert.equal((await administer((keys) => keys.rotate({ graceMs: 0 }))).retired.length, 1)
    assert.equal((await dataKeys()).filter(({ state }) => state === 'announced').length, 0)
  })

  test('a killed rewrap leaves a probe that harms nobody, and the next one or a rotation removes it', async () => {
    for (const clean of [
      (keys: KeyAdministration) => keys.rotate({ graceMs: 0 }),
      (keys: KeyAdministration) => keys.rewrap(),
    ]) {
      const child = await start({ work: 'rewrap', keys: both, die: { at: 'key-probed', nth: 1 } })
      await once(child, 'exit')
      assert.equal((await probes()).length, 1)
      assert.equal(await run.gateway.isReady(), true)
      assert.equal((await run.pay()).result.code, approved)
      await run.sql("update tollgate.key_probe set seen_at = now() - interval '1 minute'")
      await administer<unknown>(clean)
      assert.deepEqual(await probes(), [])
    }
  })

  test('two rewraps at once share the work', async () => {
    await Promise.all([0, 1].map(() => administer((keys) => keys.rewrap())))
    assert.ok((await dataKeys()).every(({ kek }) => kek === 'newer'))
    assert.deepEqual(await probes(), [])
  })

  for (const purpose of ['seal', 'mac'] as const) {
    test(`a process that lacks the key of a current ${purpose} key is not ready, says why, and works from memory`, async () => {
      const { id } = await run.pay()
      const late = await run.another({ keys: localKeys(testKey) })
      assert.equal(await late.isReady(), true)
      assert.equal(late.whyShut(), undefined)
      await wrapAnew(newerKey, (row) => row.purpose === purpose)
      const why = await until(async () => late.whyShut())
      const [key] = (await dataKeys()).filter((row) => row.purpose === purpose)
      const said = `This process cannot open data key ${key!.id} (${purpose}): it lacks key "newer".`
      assert.equal(why, said)
      assert.equal(await late.isReady(), false)
      assert.equal(await rebill(id, late), approved)
      await until(async () => ((await shutKeys()).length > 0 ? true : undefined))
      assert.deepEqual(await shutKeys(), [key!.id])
      assert.equal(
        run.logs.filter(({ message }) => /a data key does not open/.test(message)).length,
        1,
      )
      assert.equal(await run.gateway.isReady(), true)
      assert.equal(run.gateway.whyShut(), undefined)

      await wrapAnew(testKey, (row) => row.purpose === purpose)
      await until(async () => ((await late.isReady()) ? true : undefined))
      await until(async () => ((await shutKeys()).length === 0 ? true : undefined))
    })
  }

  test('an older key that a process cannot open is reported, and keeps the process ready', async () => {
    await run.pay()
    onFaultPoint((at) => {
      if (at === 'key-promoted') throw new Error('interrupted')
    })
    await assert.rejects(
      administer((keys) => keys.rotate()),
      /interrupted/,
    )
    onFaultPoint(undefined)
    const [old] = (await dataKeys()).filter(({ state }) => state === 'previous')
    // The new data key opens everywhere; of the old one, this process lacks the key.
    await wrapAnew(testKey, ({ state }) => state !== 'previous')
    await wrapAnew(newerKey, ({ state }) => state === 'previous')
    const late = await run.another({ keys: localKeys(testKey) })
    await until(async () => ((await shutKeys()).includes(old!.id) ? true : undefined))
    assert.equal(await late.isReady(), true)
  })

  test('an announced key that a process cannot open does not keep its other keys from being opened again', async () => {
    await run.sql(
      `insert into tollgate.data_key (id, purpose, state, format, key_encryption_key_id, wrapped)
       select '0198000000007000800000000000aaaa', 'seal', 'announced', 3, 'gone', wrapped
       from tollgate.data_key where purpose = 'mac'`,
    )
    await until(async () => (await shutKeys())[0])
    const before = opened
    aheadMs += keyCacheMs * 0.6
    await until(async () => (opened >= before + 2 ? true : undefined))
    aheadMs += keyCacheMs * 0.6
    assert.equal((await run.pay()).result.code, approved)
    assert.equal(await run.gateway.isReady(), true)
  })
})
