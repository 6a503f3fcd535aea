/** Reports of one merchant wait for one another, and neither those of others nor operators wait for them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import type { Caller } from '../../../core/caller/caller.ts'
import { rightSet } from '../../../core/caller/rights.ts'
import { GatewayError } from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { storePayout } from '../../rig/stored-payouts.ts'

describe('reports of several merchants', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  const callerOf = (entityId: string): Caller => ({
    id: 'token',
    entityId,
    rights: rightSet(['read', 'reconcile']),
  })
  const march = { date: { from: '2026-03-01', to: '2026-03-31' }, currency: 'EUR' } as const
  const payouts = async (caller: Caller) => {
    const { aggregations } = await run.gateway.reports.aggregations(march, { caller })
    return aggregations.length
  }
  /** Reads that the lock of the test holds. */
  const held = async () => {
    const [row] = await run.sql<{ count: bigint }>(
      'select count(*) as count from pg_locks where not granted and relation = $1::regclass',
      ['tollgate.settlement_batch_line'],
    )
    return Number(row!.count)
  }
  const heldAre = (count: number) =>
    until(async () => ((await held()) === count ? true : undefined))

  test('while many of one merchant wait, others and the audit search read, and the merchant gets 429 beyond some', async () => {
    const { entities, reports, settlement, audit } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
    const given = { holder: 'Erika', reference: 'order' }
    const { id } = await storePayout(run, { channel: run.channel, merchant: run.merchant }, given)
    const others = await storePayout(run, { channel, merchant }, given)
    const [one, other] = [callerOf(run.merchant), callerOf(merchant)]
    assert.deepEqual([await payouts(one), await payouts(other)], [1, 1])

    const refused: GatewayError[] = []
    const more = 20
    const ask = () =>
      payouts(one).catch((error: unknown) => {
        assert.ok(error instanceof GatewayError)
        refused.push(error)
        return undefined
      })
    await run.sql('begin')
    await run.sql('lock table tollgate.settlement_batch_line in access exclusive mode')
    const all = [ask()]
    try {
      await heldAre(1)
      all.push(...Array.from({ length: limits.slowReadsWaiting + more }, ask))
      await until(async () => (refused.length === more ? true : undefined))
      for (const { status, code, retryAfterSeconds } of refused) {
        assert.deepEqual([status, code, retryAfterSeconds], [429, '800.120.100', 1])
      }
      const caller = one
      const period = { from: new Date(0), to: new Date() }
      const tooMany = { status: 429 }
      await assert.rejects(settlement.unsettled({ caller, ...period }), tooMany)
      await assert.rejects(reports.recordPage(id, {}, { caller }), tooMany)
      await assert.rejects(reports.aggregation(id, { caller }), tooMany)
      await assert.rejects(reports.records(id, {}, { caller }).next(), tooMany)
      // The other merchant has the place that the first one leaves.
      const page = await reports.recordPage(others.id, {}, { caller: other })
      assert.equal(page.records.length, 1)
      const last = payouts(other)
      await heldAre(2)
      // Operators have the connection that all merchants leave.
      assert.ok((await audit.search({}, undefined, 10)).length > 0)
      assert.equal(await held(), 2)
      await run.sql('rollback')
      assert.equal(await last, 1)
    } finally {
      await run.sql('rollback')
      await Promise.allSettled(all)
    }
    const found = (await Promise.all(all)).filter((count) => count !== undefined)
    assert.deepEqual(
      found,
      Array.from({ length: 1 + limits.slowReadsWaiting }, () => 1),
    )
  })
})
