/** Postgres restarts, crashes, and closes all connections under load over two hosts. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { startLoad } from '../rig/installation/load.ts'
import { inScope } from '../rig/scope.ts'

const size = inScope(
  { merchants: 4, before: 10, after: 20, rounds: 3, perRound: 10 },
  { merchants: 12, before: 80, after: 200, rounds: 8, perRound: 40 },
)

describe('Postgres fails under load', { concurrency: false }, () => {
  let ground: Ground
  let hosts: readonly Bystander[]
  before(async () => {
    ground = await layGround({ ownPostgres: true })
    hosts = await Promise.all([ground.bystander('one'), ground.bystander('two')])
  })
  after(() => ground.close())

  const startedAt = async () => {
    const [row] = await ground.sql<{ at: Date }>('select pg_postmaster_start_time() as at')
    return row!.at.getTime()
  }

  for (const [kind, signal] of [
    ['fast', 'SIGINT'],
    ['immediate', 'SIGQUIT'],
  ] as const) {
    test(`Postgres restarts after a ${kind} shutdown under load`, async () => {
      const load = startLoad(ground.client, hosts, size.merchants)
      await load.more(size.before)
      const before = await startedAt()
      await ground.cluster.restart(signal)
      await load.more(size.after)
      assert.notEqual(await startedAt(), before, 'the server did not restart')
      await load.stop()
      await ground.check()
    })
  }

  test('all connections are closed repeatedly under load', async () => {
    const load = startLoad(ground.client, hosts, size.merchants)
    for (let round = 0; round < size.rounds; round += 1) {
      await load.more(size.perRound)
      const ended = await ground.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid() and application_name like 'tollgate%'`,
      )
      assert.ok(ended.length > 0)
    }
    await load.more(size.perRound)
    await load.stop()
    await ground.check()
  })
})
