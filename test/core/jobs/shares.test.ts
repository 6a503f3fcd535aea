/** Jobs say whose work they are, and those of one merchant leave room for the others. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { once, scheduling } from '../../rig/schedules.ts'

describe('jobs of one merchant', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ shutdownGraceMs: 100 })
  })
  after(() => {
    onFaultPoint(undefined)
    return closeChecked(run)
  })

  const due = (kind: string, ref: string) =>
    run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref) values ($1::uuid, now(), $2, $3)
       on conflict (kind, ref) do update set due_at = excluded.due_at`,
      [newId(), kind, ref],
    )
  /** The groups of the jobs with this key, once there are so many of them. */
  const groupsOf = (name: string, key: string, count = 1) =>
    until(async () => {
      const jobs = await run.sql<{ group_id: string | null }>(
        `select group_id from tollgate_boss.job where name = $1 and singleton_key = $2`,
        [name, key],
      )
      return jobs.length < count ? undefined : [...new Set(jobs.map(({ group_id }) => group_id))]
    })

  test('executions that are looked at again, or charged anew after a decline, belong to their merchant', async () => {
    const tools = scheduling(run)
    const { id } = await tools.schedule(await tools.store(), { job: once })
    await tools.comeDue([id])
    await until(async () => ((await tools.history(id)).length === 1 ? true : undefined))
    const [execution] = await run.sql<{ id: string }>(
      `select replace(id::text, '-', '') as id from tollgate.occurrence where schedule_id = $1::uuid`,
      [id],
    )
    const ended = () =>
      until(async () => {
        const [left] = await run.sql<{ count: number }>(
          `select count(*)::integer as count from tollgate_boss.job where name = 'charge' and state < 'completed'`,
        )
        return left!.count === 0 || undefined
      })
    await ended()
    await due('execution', execution!.id)
    assert.deepEqual(await groupsOf('charge', execution!.id, 2), [run.merchant])
    await ended()
    await due('resubmit', `${execution!.id} 1`)
    assert.deepEqual(await groupsOf('charge', execution!.id, 3), [run.merchant])
  })

  test('work on reports and settlement belongs to the merchant of its channel or scope', async () => {
    const scopeId = newId()
    await run.sql(
      `insert into tollgate.settlement_scope (id, connector, mode, merchant_number, entity_id)
       values ($1::uuid, 'simulator', 'INTERNAL', $2::text, $2::uuid)`,
      [scopeId, run.channel],
    )
    const works = [
      ['report-cut', run.channel, run.channel],
      ['settlement-day', `simulator ${run.channel}`, `simulator ${run.channel}`],
      ['settlement-effect', scopeId, scopeId],
      ['settlement-retry', `${scopeId} all`, scopeId],
    ] as const
    for (const [kind, ref] of works) await due(kind, ref)
    for (const [kind, , key] of works) {
      assert.deepEqual(await groupsOf(kind, key), [run.merchant], kind)
    }
  })

  test('a merchant whose reports take long leaves room for those of another', async () => {
    const { entities } = run.gateway
    const merchant = () =>
      entities.create({ kind: 'merchant', name: 'another', parentId: run.division })
    const [slow, other] = [await merchant(), await merchant()]
    const own = new Set([slow])
    for (const name of ['first', 'second']) {
      own.add(await entities.create({ kind: 'channel', name, parentId: slow }))
    }
    const begun: string[] = []
    const release = Promise.withResolvers<void>()
    onFaultPoint((point, ref) => {
      if (point !== 'report-published') return
      begun.push(ref)
      return own.has(ref) ? release.promise : undefined
    })
    for (const ref of own) await due('report-cut', ref)
    await until(async () => begun.some((ref) => own.has(ref)) || undefined)
    await due('report-cut', other)
    await until(async () => begun.includes(other) || undefined)
    assert.equal(begun.filter((ref) => own.has(ref)).length, 1)
    release.resolve()
    await until(async () => [...own].every((ref) => begun.includes(ref)) || undefined)
  })
})
