/** Postgres restarts, crashes, and closes all connections under load over two hosts. */

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { layGround } from '../rig/installation/ground.ts'
import { startLoad } from '../rig/installation/load.ts'

const ground = await layGround({ ownPostgres: true })
after(() => ground.close())
const { client, sql, cluster } = ground
const hosts = await Promise.all([ground.host('one'), ground.host('two')])

const startedAt = async () => {
  const [row] = await sql<{ at: Date }>('select pg_postmaster_start_time() as at')
  return row!.at.getTime()
}

for (const [kind, signal] of [
  ['fast', 'SIGINT'],
  ['immediate', 'SIGQUIT'],
] as const) {
  test(`Postgres restarts after a ${kind} shutdown under load`, async () => {
    const load = startLoad(client, hosts, 12)
    await load.more(80)
    const before = await startedAt()
    await cluster.restart(signal)
    await load.more(200)
    assert.notEqual(await startedAt(), before, 'the server did not restart')
    await load.stop()
    await ground.check()
  })
}

test('all connections are closed repeatedly under load', async () => {
  const load = startLoad(client, hosts, 12)
  for (let round = 0; round < 8; round += 1) {
    await load.more(40)
    const ended = await sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tollgate%'`,
    )
    assert.ok(ended.length > 0)
  }
  await load.more(40)
  await load.stop()
  await ground.check()
})
