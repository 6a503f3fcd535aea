/** The statements that find events whose turn has come read rows by index, however many events are stored. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { dueEvents, takeDue, takeNext } from '../../../core/acquirer-events/store.ts'
import { addAlone, addFirst, knownAt } from '../../../core/acquirer-events/store-add.ts'
import { addOtherContent } from '../../../core/acquirer-events/store-content.ts'
import { sql } from '../../../core/db/sql.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { rowsTouched } from '../../rig/rows-touched.ts'

describe('turns of events', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  const add = (count: number, isOver: boolean, key: string) =>
    run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, processed_at, outcome, next_at)
       select 'filled', md5((no % 50)::text), gen_random_uuid()::text,
         jsonb_build_object('key', coalesce(nullif($3, ''), no::text), 'verified', true, 'outcome', jsonb_build_object('is', 'approved')),
         case when $2 then now() end, case when $2 then 'known' end, now() + interval '1 hour' * (no % 10)
       from generate_series(1, $1::integer) as no`,
      [count, isOver, key],
    )
  async function planOf(statement: Parameters<typeof explainGeneric>[1]): Promise<PlanNode> {
    const client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    try {
      return await explainGeneric(client, statement)
    } finally {
      await client.end()
    }
  }
  const event = { connector: 'filled', account: 'a'.repeat(32), eventId: 'known' }
  const another = { ...event, claim: '{}', digest: 'digest' }
  const statements = {
    addAlone: addAlone(event, '{}'),
    addOtherContent: addOtherContent(another, event.account, [event.account], 10),
    addFirst: addFirst(event, 'busy', '{}', undefined, []),
    knownAt: knownAt(event, 'busy', '{}', []),
    somethingDue: sql`select exists (${dueEvents}) as due, ${1}::integer as one`,
    takeDue: takeDue(8, 60_000, ['slow']),
    takeNext: takeNext('filled', 'a'.repeat(32), 'busy', 60_000),
  }

  test('no statement reads the whole table', async () => {
    await add(30_000, true, '')
    await add(2_000, true, 'busy')
    await add(3_000, false, '')
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await run.sql('analyze tollgate.inbound_event')
      for (const [name, statement] of Object.entries(statements)) {
        const plan = JSON.stringify(await planOf(statement))
        assert.doesNotMatch(plan, /"Seq Scan","[^}]*inbound_event/, `${name}: ${plan}`)
      }
    }
  })

  test('closed events about the same operation are not looked at', async () => {
    const touched = await rowsTouched(run.database.url, statements.takeNext, ['inbound_event'])
    assert.ok(touched < 20, `${touched} rows`)
  })
})
