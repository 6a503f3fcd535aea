/**
 * kill -9 of the host that charges schedules, and of the one that advances a test clock. Another
 * host continues.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FaultPoint } from '../../core/index.ts'
import { until } from '../rig/gateway.ts'
import { card } from '../rig/installation/client.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { channelId } from '../rig/installation/installation.ts'
import { sampled } from '../rig/scope.ts'

const charge = { amount: '1.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' }
/** Daily, about two hours ago. */
const daily = () => ({ 'job.expression': `0 0 ${(new Date().getUTCHours() + 22) % 24} * * ?` })

/** The remaining points are covered by the tests of payments and by the fault run. */
const points: readonly FaultPoint[] = sampled(
  ['in-fire', 'after-fire', 'after-T1', 'after-send'],
  1,
)

type Body = Record<string, unknown> & { id: string }

describe('a worker is killed while it charges schedules', { concurrency: false }, () => {
  let ground: Ground
  let front: Bystander
  before(async () => {
    ground = await layGround()
    front = await ground.bystander('front', { role: 'api' })
  })
  after(() => ground.close())

  async function ask(
    method: string,
    path: string,
    fields: Readonly<Record<string, string>> = {},
  ): Promise<Body> {
    const text = new URLSearchParams({ entityId: channelId, ...fields })
    const isBody = method === 'POST'
    const response = await fetch(`${front.url}${path}${isBody ? '' : `?${text}`}`, {
      method,
      headers: { authorization: `Bearer ${front.token}` },
      ...(isBody ? { body: text } : {}),
    })
    const answer = (await response.json()) as Body
    assert.equal(response.status, 200, JSON.stringify(answer))
    return answer
  }

  async function stored(more: Readonly<Record<string, string>> = {}): Promise<string> {
    const { 'card.cvv': _code, ...account } = card('4200000000000000')
    const fields = { testMode: 'EXTERNAL', paymentBrand: 'VISA', ...account, ...more }
    return (await ask('POST', '/v1/registrations', fields)).id
  }

  /** As many schedules whose time of today was not fired yet. */
  async function due(count: number): Promise<string[]> {
    const registrationId = await stored()
    const ids: string[] = []
    for (let no = 0; no < count; no += 1) {
      const fields = { ...charge, ...daily(), registrationId }
      ids.push((await ask('POST', '/scheduling/v1/schedules', fields)).id)
    }
    await ground.sql(
      `update tollgate.schedule set next_at = next_at - interval '1 day' where id = any($1::uuid[])`,
      [ids],
    )
    return ids
  }

  /** A worker dies at the point; another one takes over and is returned when nothing is left to do. */
  async function killedAt(at: FaultPoint, nth = 1): Promise<Bystander> {
    const doomed = await ground.host('doomed', {
      role: 'worker',
      faults: [{ at, do: 'kill', nth }],
    })
    await doomed.gone()
    await ground.endDeadJobs()
    return ground.bystander('survivor', { role: 'worker' })
  }

  /** The number of charges of each schedule at the acquirer. */
  async function chargedTimes(ids: readonly string[]): Promise<number[]> {
    const ledger = await ground.acquirer.ledger()
    const rows = await ground.sql<{ id: string; schedule_id: string }>(
      'select id, schedule_id from tollgate.payment where schedule_id = any($1::uuid[])',
      [ids],
    )
    const schedules = new Map(rows.map((row) => [row.id, row.schedule_id]))
    const charges = ledger.filter(({ kind, state }) => kind === 'debit' && state === 'approved')
    const counts = Map.groupBy(charges, ({ paymentId }) => schedules.get(paymentId))
    return ids.map((id) => counts.get(id)?.length ?? 0)
  }

  const paymentsOf = (id: string) =>
    ground.sql<{ state: string }>(
      'select state from tollgate.payment where schedule_id = $1 order by id desc',
      [id],
    )

  for (const at of points) {
    test(`a worker is killed ${at}, and each schedule is charged once`, async () => {
      const ids = await due(5)
      // The second charge; all five are fired at once.
      const survivor = await killedAt(at, at === 'in-fire' || at === 'after-fire' ? 1 : 2)
      await ground.quiet()
      assert.deepEqual(await chargedTimes(ids), [1, 1, 1, 1, 1])
      await survivor.close()
    })
  }

  test('a host is killed while it advances a test clock, and another one completes the advance', async () => {
    const clock = await ask('POST', '/v1/testclocks', { time: '2027-01-15 00:00:00' })
    const registrationId = await stored({ testClock: clock.id })
    const { id } = await ask('POST', '/scheduling/v1/schedules', {
      ...charge,
      registrationId,
      'job.dayOfMonth': '1',
      'job.month': '*',
    })
    await ask('POST', `/v1/testclocks/${clock.id}/advance`, { by: 'P1Y' })
    const survivor = await killedAt('after-clock-step', 4)
    await until(async () => {
      const { status } = await ask('GET', `/v1/testclocks/${clock.id}`)
      return status === 'READY' ? true : undefined
    })
    const rows = await ground.sql<{ at: Date; state: string }>(
      `select o.at, p.state from tollgate.occurrence o join tollgate.payment p on p.id = o.payment_id
       where o.schedule_id = $1 order by o.at`,
      [id],
    )
    assert.deepEqual(
      rows.map(({ at, state }) => `${at.toISOString().slice(0, 10)} ${state}`),
      Array.from({ length: 12 }, (_, no) => {
        const month = new Date(Date.UTC(2027, 1 + no, 1)).toISOString().slice(0, 10)
        return `${month} approved`
      }),
    )
    assert.deepEqual(await chargedTimes([id]), [12])
    await survivor.close()
  })

  test('a charge whose answer and worker are lost is found and not repeated', async () => {
    const [id = ''] = await due(1)
    await ground.acquirer.plan({ do: 'drop', apply: 'first', times: 1, when: { on: 'operation' } })
    const survivor = await killedAt('after-send')
    await ground.quiet()
    assert.deepEqual(await chargedTimes([id]), [1])
    assert.deepEqual(await paymentsOf(id), [{ state: 'approved' }])
    await survivor.close()
  })

  test('a charge that never reached the acquirer is made once', async () => {
    const [id = ''] = await due(1)
    const survivor = await killedAt('before-send')
    await ground.quiet()
    assert.deepEqual(await chargedTimes([id]), [1])
    // By the same payment, or by another one after proof that it was undone.
    const [last, ...earlier] = await paymentsOf(id)
    assert.equal(last?.state, 'approved')
    assert.deepEqual(
      earlier.filter(({ state }) => state !== 'declined'),
      [],
    )
    await survivor.close()
  })

  test('charges of a killed worker are missed if they are cancelled before another worker takes them', async () => {
    const [id = ''] = await due(1)
    const doomed = await ground.host('doomed', {
      role: 'worker',
      faults: [{ at: 'before-T1', do: 'kill' }],
    })
    await doomed.gone()
    await ask('DELETE', `/scheduling/v1/schedules/${id}`)
    await ground.endDeadJobs()
    const survivor = await ground.bystander('survivor', { role: 'worker' })
    await ground.quiet()
    const path = `/scheduling/v1/schedules/${id}/executions`
    const { executions, missed } = (await ask('GET', path)) as unknown as {
      executions: unknown[]
      missed: { count: string }[]
    }
    assert.deepEqual(executions, [])
    assert.deepEqual(
      missed.map(({ count }) => count),
      ['1'],
    )
    assert.deepEqual(await chargedTimes([id]), [0])
    await survivor.close()
  })
})
