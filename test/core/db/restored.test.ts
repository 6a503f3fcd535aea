/** A dump of another cluster, whose events have transaction numbers that this server has not reached. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'

describe('a database from another cluster', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => run.close())

  const pay = () =>
    run.gateway.payments.create({ ...card('4200000000000000'), entityId: run.channel } as never)
  /** What a restored dump looks like: another cluster's timeline, and events that are ahead. */
  const asRestored = async (ahead: number) => {
    await run.sql(`update tollgate.server_timeline set system = '1'`)
    await run.sql(
      `update tollgate.event set txid = ((pg_snapshot_xmax(pg_current_snapshot())::text::bigint + $1)::text)::xid8`,
      [ahead],
    )
  }

  test('the first start leaves out the numbers of its events, so that readers of the feed miss nothing', async () => {
    const old = await pay()
    await asRestored(50_000)
    const told: [Record<string, unknown>, string][] = []
    const log = { info: (...line: [object, string]) => void told.push(line as never), warn() {} }
    const another = await run.another({ log })
    await run.another({ log })
    const notes = told.filter(([, text]) =>
      text.startsWith('the database was restored into another'),
    )
    assert.equal(notes.length, 1, 'the start that closes the gap tells it once')
    assert.ok(Number(notes[0]![0].to) > Number(notes[0]![0].from) + 50_000)
    const one = await pay()
    await olderTransactionsEnd(run)
    const { events } = await another.events.list({ since: '2026-01-01' })
    const ids = events.map((event) => JSON.stringify(event))
    assert.equal(ids.length, 2)
    assert.ok(ids[0]!.includes(old.id) && ids[1]!.includes(one.id), ids.join())
    const rows = await run.sql(
      'select system = (select system_identifier::text from pg_control_system()) as is_own from tollgate.server_timeline',
    )
    assert.deepEqual(rows, [{ is_own: true }])
  })

  test('numbers of settlement records count, and those that readers may know from after the dump stay out', async () => {
    await asRestored(1_000)
    const [{ ahead } = { ahead: 0n }] = await run.sql<{ ahead: bigint }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 50000 as ahead',
    )
    await run.sql(
      `insert into tollgate.report_series (entity_id, txid, record_id)
       values (gen_random_uuid(), $1::text::xid8, gen_random_uuid())`,
      [String(ahead)],
    )
    await run.another()
    const [{ next } = { next: 0n }] = await run.sql<{ next: bigint }>(
      'select pg_snapshot_xmax(pg_current_snapshot())::text::bigint as next',
    )
    assert.ok(next > ahead + BigInt(limits.skippedTxids), `${next} follows ${ahead}`)
    await run.sql('delete from tollgate.report_series')
  })

  test('a start refuses a gap that takes minutes, and says the statement that closes it', async () => {
    await asRestored(1_000_000_000)
    await assert.rejects(
      run.another(),
      /restored into another cluster.*run outside of a transaction: do \$\$ begin while/,
    )
  })
})
