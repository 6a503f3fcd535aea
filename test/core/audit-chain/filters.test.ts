/** The filters of the audit trail read what they show, whatever one token wrote beside it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type AuditFilter, auditPage } from '../../../core/audit/store-list.ts'
import { startGateway } from '../../rig/gateway.ts'
import { rowsTouched } from '../../rig/rows-touched.ts'

test('each filter is a look into an index', async () => {
  const run = await startGateway({ role: 'api' })
  try {
    await run.gateway.entities.createToken(run.merchant, 'needle')
    await run.sql('alter table tollgate.audit disable trigger user')
    await run.sql(
      `insert into tollgate.audit (id, at, actor, actor_kind, actor_id, action, entity_id, resource, detail)
       select gen_random_uuid(), now() + n * interval '1 millisecond', 'shop', 'token', 'shop-id', 'webhook.changed', $1::uuid,
         $2::uuid, '{}'
       from generate_series(1, 20000) n`,
      [run.channel, run.psp],
    )
    const shown = async (filter: AuditFilter) => (await run.gateway.audit.list(filter, 10)).length
    const made = await run.gateway.audit.list({ action: 'token' }, 100)
    const tokens = made.length
    assert.ok(tokens >= 1)
    const cases: readonly [AuditFilter, number][] = [
      [{}, 10],
      [{ action: 'token' }, tokens],
      [{ action: 'token.created', since: new Date(0) }, tokens],
      [{ action: 'webhook' }, 10],
      [{ action: 'nothing' }, 0],
      [{ actor: 'nobody' }, 0],
      [{ actor: 'shop' }, 10],
      [{ actor: 'shop-id' }, 10],
      [{ actor: 'shop', since: new Date(Date.now() + 3_600_000) }, 0],
      [{ entity: run.merchant, action: 'token.created' }, tokens],
      [{ entity: run.division, action: 'nothing' }, 0],
      [{ entity: run.channel }, 10],
    ]
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await run.sql('analyze tollgate.audit')
      for (const [filter, rows] of cases) {
        assert.equal(await shown(filter), rows, JSON.stringify(filter))
        for (const order of ['newest', 'oldest'] as const) {
          const page = auditPage(filter, order, null, 10)
          const touched = await rowsTouched(run.database.url, page, ['audit'])
          assert.ok(touched <= 100, `${JSON.stringify(filter)}: ${touched} rows`)
        }
      }
    }
  } finally {
    await run.close()
  }
})
