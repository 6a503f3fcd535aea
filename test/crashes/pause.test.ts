/**
 * A host paused by SIGSTOP, like a swapping machine or a frozen container, between its first commit
 * and the acquirer, until another host took its leases and decided. On resuming it must not charge,
 * and an earlier charge is reversed and recorded.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../rig/gateway.ts'
import type { Client, Wish } from '../rig/installation/client.ts'
import { sendUpTo } from '../rig/installation/flows.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import { plainChannelId } from '../rig/installation/installation.ts'
import type { Passing } from '../rig/installation/wire.ts'

const hourMs = 3_600_000

const codeOf = ({ tries }: Wish): string => tries[0]?.answer?.code ?? 'no answer'

describe('a host is paused', { concurrency: false }, () => {
  let ground: Ground
  let client: Client
  let other: Bystander
  let sleeper: Host
  before(async () => {
    ground = await layGround({ wired: true })
    ;({ client } = ground)
    other = await ground.bystander('other')
    sleeper = await ground.host('sleeper', { role: 'api' })
  })
  after(() => ground.close())

  async function operationsOf(wish: Wish): Promise<Passing[]> {
    const [row] = await ground.rowsOf(wish)
    return ground.wire.passed.filter(
      (one) => one.route === 'POST /operations' && one.key === row?.key,
    )
  }

  async function attentionTo(wish: Wish): Promise<{ kind: string; open: boolean }[]> {
    return ground.sql(
      `select a.kind, a.resolved_at is null as open from tollgate.attention a
     join tollgate.payment p on p.id = a.payment_id where p.merchant_transaction_id = $1`,
      [wish.reference],
    )
  }

  async function followUps(): Promise<Wish[]> {
    const [captured, refunded, released] = await Promise.all([
      client.approved('PA', 10_000, [other]),
      client.approved('DB', 6_000, [other]),
      client.approved('PA', 3_000, [other]),
    ])
    return [
      client.followUp('CP', captured, 4_000),
      client.followUp('RF', refunded, 2_500),
      client.followUp('RV', released),
    ]
  }

  test('a host that resumes within its deadline finds the key closed', async () => {
    const followed = await followUps()
    const { visits, sent } = await sendUpTo(ground, sleeper, 'before-send', followed)
    const late = client.first('DB', 9_200)
    await sleeper.plan({ at: 'before-send', do: 'stop' })
    const answered = client.send(late, sleeper)
    await sleeper.reached('before-send')
    await ground.quiet()
    for (const visit of visits) sleeper.release(visit)
    sleeper.resume()
    await Promise.all([answered, sent])

    for (const wish of [...followed, late]) {
      assert.equal(codeOf(wish), '900.100.400')
      assert.equal(
        (await operationsOf(wish)).length,
        1,
        'the operation was late and its key closed',
      )
    }
    await ground.check()
  })

  /**
   * Pauses with an approval in hand; an enquiry meanwhile finds nothing, and the charge is reversed.
   */
  async function approvedInVain(entityId?: string): Promise<Wish> {
    const wish = client.first('DB', 9_200, entityId === undefined ? {} : { entityId })
    await sleeper.plan({ at: 'after-send', do: 'stop' })
    const sent = client.send(wish, sleeper)
    await sleeper.reached('after-send')
    const [row] = await ground.rowsOf(wish)
    await ground.acquirer.plan({ do: 'notFound', when: { key: row!.key } })
    await ground.quiet()
    sleeper.resume()
    await sent
    await ground.quiet()
    return wish
  }

  test('an approval that arrives after the reversal is recorded, and the payment stays declined', async () => {
    const wish = await approvedInVain()
    assert.equal(codeOf(wish), '900.100.400')
    // The host records it after its answer, and a job decides about it.
    const records = await until(async () => {
      await ground.quiet()
      const found = await attentionTo(wish)
      return found.some(({ open }) => !open) ? found : undefined
    })
    assert.deepEqual(records, [{ kind: 'conflict', open: false }])
    await ground.check()
  })

  test('without reversals by key a payment stays open until an enquiry finds the approval', async () => {
    const wish = await approvedInVain(plainChannelId)
    const [row] = await ground.rowsOf(wish)
    assert.equal(row!.state, 'approved')
    assert.equal((await operationsOf(wish)).length, 1)
    assert.ok((await attentionTo(wish)).every(({ open }) => !open))
    await ground.check()
  })

  // The last one: the clock of its host stays an hour ahead.
  test('a host that pauses past its deadline between first commit and sending sends nothing', async () => {
    await sleeper.plan()
    const followed = await followUps()
    const never = [
      client.first('PA', 9_300),
      client.first('PA.CP', 9_400),
      client.first('DB', 9_200),
    ]
    const { visits, sent } = await sendUpTo(ground, sleeper, 'before-send', [...followed, ...never])
    sleeper.pause()
    await ground.quiet()
    const moved = sleeper.advance(hourMs)
    for (const visit of visits) sleeper.release(visit)
    sleeper.resume()
    await Promise.all([moved, sent])

    for (const wish of [...followed, ...never]) {
      assert.equal(codeOf(wish), '900.100.400')
      assert.deepEqual(await operationsOf(wish), [])
    }
    await ground.check()
  })
})
