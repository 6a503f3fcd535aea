/** A wall clock set back, as after a wrong start: no wait becomes longer. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isPending } from '../rig/installation/client.ts'
import { layGround } from '../rig/installation/ground.ts'

const ground = await layGround()
after(() => ground.close())
const { client, acquirer, sql } = ground
const hourMs = 3_600_000

test('a worker whose clock was set back takes over the job of a dead one', async () => {
  const front = await ground.host('front', { role: 'api' })
  const wish = client.first('DB', 9_700)
  await acquirer.plan({ do: 'drop', apply: 'never', when: { on: 'operation' } })
  const answer = await client.send(wish, front)
  assert.ok(answer !== undefined && isPending(answer.code))
  const doomed = await ground.host('doomed', {
    role: 'worker',
    faults: [{ at: 'after-lease', do: 'kill' }],
  })
  await ground.dueUntil(doomed.gone())

  const survivor = await ground.host('survivor', { role: 'worker' })
  await survivor.advance(-hourMs)
  // The dead worker's heartbeat is old, and supervision must notice.
  const aged = await sql(
    `update tollgate_boss.job set heartbeat_on = now() - interval '1 minute'
     where state = 'active' and name = 'charge' returning id`,
  )
  assert.equal(aged.length, 1)
  await ground.quiet()
  assert.equal((await client.insist(wish, [front])).code, '900.100.400')
  await ground.check()
})
