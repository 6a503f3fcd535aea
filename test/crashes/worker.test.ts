/** kill -9 of the host that resolves interrupted operations. Another host continues. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, isApproved, isPending, type Wish } from '../rig/installation/client.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { plainChannelId } from '../rig/installation/installation.ts'

const hourMs = 3_600_000

describe('a worker is killed', { concurrency: false }, () => {
  let ground: Ground
  let client: Client
  let front: Bystander
  before(async () => {
    ground = await layGround()
    ;({ client } = ground)
    front = await ground.bystander('front', { role: 'api' })
  })
  after(() => ground.close())

  /** Leaves these undecided: they never reached the acquirer, and no outcome is known. */
  async function leaveBehind(wishes: readonly Wish[]): Promise<void> {
    const times = wishes.length
    await ground.acquirer.plan({ do: 'drop', apply: 'never', times, when: { on: 'operation' } })
    for (const answer of await Promise.all(wishes.map((wish) => client.send(wish, front)))) {
      assert.ok(answer !== undefined && isPending(answer.code))
    }
  }

  test('a worker is killed at every step of a resolution', async () => {
    // An operation without a reversal by key is sent again under the same key.
    const on = await client.approved('PA', 10_000, [front], { entityId: plainChannelId })
    const steps = [
      { at: 'after-lease', wish: client.first('DB', 9_200) },
      { at: 'before-enquiry', wish: client.first('PA', 9_300) },
      { at: 'after-enquiry', wish: client.first('PA.CP', 9_400) },
      { at: 'before-resend', wish: client.followUp('CP', on, 4_000) },
      { at: 'before-T2', wish: client.first('DB', 9_500) },
      { at: 'after-T2', wish: client.first('DB', 9_600) },
    ] as const
    const wishes = steps.map(({ wish }) => wish)
    await leaveBehind(wishes)
    const faults = await Promise.all(
      steps.map(async ({ at, wish }) => {
        const [row] = await ground.rowsOf(wish)
        return { at, do: 'hold', ref: row!.id } as const
      }),
    )
    const doomed = await ground.host('doomed', { role: 'worker', faults })
    await ground.dueUntil(Promise.all(steps.map(({ at }) => doomed.reached(at))))
    await doomed.kill()
    await ground.endDeadJobs()
    const survivor = await ground.bystander('survivor', { role: 'worker' })
    await ground.quiet()
    for (const wish of wishes) {
      const { code } = await client.insist(wish, [front])
      assert.ok(
        wish.type === 'CP' ? isApproved(code) : code === '900.100.400',
        `${wish.type} ${code}`,
      )
    }
    await ground.check()
    await survivor.close()
  })

  test('a worker is killed during its sweep, and the others continue', async () => {
    const wish = client.first('DB', 9_700)
    await leaveBehind([wish])
    const doomed = await ground.host('doomed', {
      role: 'worker',
      faults: [{ at: 'before-sweep', do: 'kill' }],
    })
    await ground.dueUntil(doomed.gone())
    const survivor = await ground.bystander('survivor', { role: 'worker' })
    await ground.quiet()
    assert.equal((await client.insist(wish, [front])).code, '900.100.400')
    await ground.check()
    await survivor.close()
  })

  test('a worker whose clock was set back takes over the job of a dead one', async () => {
    const wish = client.first('DB', 9_700)
    await leaveBehind([wish])
    const doomed = await ground.host('doomed', {
      role: 'worker',
      faults: [{ at: 'after-lease', do: 'kill' }],
    })
    await ground.dueUntil(doomed.gone())

    const survivor = await ground.host('survivor', { role: 'worker' })
    await survivor.advance(-hourMs)
    // The dead worker's heartbeat is old, and supervision must notice.
    const aged = await ground.sql(
      `update tollgate_boss.job set heartbeat_on = now() - interval '1 minute'
       where state = 'active' and name = 'charge' returning id`,
    )
    assert.equal(aged.length, 1)
    await ground.quiet()
    assert.equal((await client.insist(wish, [front])).code, '900.100.400')
    await ground.check()
  })
})
