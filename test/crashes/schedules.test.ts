/**
 * kill -9 of the host that charges schedules, and of the one that advances a test clock. Another
 * host continues.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { FaultPoint } from '../../core/index.ts'
import { card } from '../rig/installation/client.ts'
import { layGround } from '../rig/installation/ground.ts'
import { channelId } from '../rig/installation/installation.ts'

const ground = await layGround()
after(() => ground.close())
const { sql } = ground
const front = await ground.host('front', { role: 'api' })

async function ask(
  method: string,
  path: string,
  fields: Readonly<Record<string, string>> = {},
): Promise<Record<string, unknown> & { id: string }> {
  const text = new URLSearchParams({ entityId: channelId, ...fields })
  const isBody = method === 'POST'
  const response = await fetch(`${front.url}${path}${isBody ? '' : `?${text}`}`, {
    method,
    headers: { authorization: `Bearer ${front.token}` },
    ...(isBody ? { body: text } : {}),
  })
  const answer = (await response.json()) as Record<string, unknown> & { id: string }
  assert.equal(response.status, 200, JSON.stringify(answer))
  return answer
}

async function stored(more: Readonly<Record<string, string>> = {}): Promise<string> {
  const { 'card.cvv': _code, ...account } = card('4200000000000000')
  const fields = { testMode: 'EXTERNAL', paymentBrand: 'VISA', ...account, ...more }
  return (await ask('POST', '/v1/registrations', fields)).id
}

const charge = { amount: '1.00', currency: 'EUR', paymentType: 'DB', testMode: 'EXTERNAL' }

/** An expression for the single second that far ahead. */
function onceIn(seconds: number): string {
  const at = new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000)
  const [date, time] = at.toISOString().split(/[T.]/) as [string, string]
  const [year, month, day] = date.split('-').map(Number)
  const [hour, minute, second] = time.split(':').map(Number)
  return `${second} ${minute} ${hour} ${day} ${month} ? ${year}`
}

async function until(isSo: () => Promise<boolean>, withinMs = 120_000): Promise<void> {
  const since = performance.now()
  while (!(await isSo())) {
    assert.ok(performance.now() - since < withinMs, 'it does not come')
    await pause(50)
  }
}

/** The number of charges of each schedule at the acquirer. */
async function chargedTimes(ids: readonly string[]): Promise<number[]> {
  const ledger = await ground.acquirer.ledger()
  const rows = await sql<{ id: string; schedule_id: string }>(
    'select id, schedule_id from tollgate.payment where schedule_id = any($1::uuid[])',
    [ids],
  )
  const schedules = new Map(rows.map((row) => [row.id, row.schedule_id]))
  const charges = ledger.filter(({ kind, state }) => kind === 'debit' && state === 'approved')
  const counts = Map.groupBy(charges, ({ paymentId }) => schedules.get(paymentId))
  return ids.map((id) => counts.get(id)?.length ?? 0)
}

/** The remaining points are covered by the tests of payments and by the fault run. */
const points: readonly FaultPoint[] = ['in-fire', 'after-fire', 'after-T1', 'after-send']

for (const at of points) {
  test(`a worker is killed ${at}, and each schedule is charged once`, async () => {
    const registrationId = await stored()
    const job = onceIn(1.5)
    const made = await Promise.all(
      Array.from({ length: 5 }, () =>
        ask('POST', '/scheduling/v1/schedules', {
          ...charge,
          registrationId,
          'job.expression': job,
        }),
      ),
    )
    const ids = made.map(({ id }) => id)
    const doomed = await ground.host('doomed', {
      role: 'worker',
      faults: [{ at, do: 'kill', nth: 2 }],
    })
    await Promise.race([
      doomed.gone(),
      pause(at === 'in-fire' || at === 'after-fire' ? 6_000 : 20_000),
    ])
    await doomed.kill()
    await ground.endDeadJobs()
    const survivor = await ground.host('survivor', { role: 'worker' })
    await until(async () => {
      const [row] = await sql<{ n: bigint }>(
        'select count(*) as n from tollgate.occurrence where schedule_id = any($1::uuid[])',
        [ids],
      )
      return row?.n === 5n
    })
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
  const doomed = await ground.host('doomed', {
    role: 'worker',
    faults: [{ at: 'after-clock-step', do: 'kill', nth: 4 }],
  })
  await ask('POST', `/v1/testclocks/${clock.id}/advance`, { by: 'P1Y' })
  await doomed.gone()
  await ground.endDeadJobs()
  const survivor = await ground.host('survivor', { role: 'worker' })
  await until(async () => (await ask('GET', `/v1/testclocks/${clock.id}`)).status === 'READY')
  const rows = await sql<{ at: Date; state: string }>(
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
  const registrationId = await stored()
  const { id } = await ask('POST', '/scheduling/v1/schedules', {
    ...charge,
    registrationId,
    'job.expression': onceIn(1.5),
  })
  await ground.acquirer.plan({ do: 'drop', apply: 'first', times: 1, when: { on: 'operation' } })
  const doomed = await ground.host('doomed', {
    role: 'worker',
    faults: [{ at: 'after-send', do: 'kill' }],
  })
  await doomed.gone()
  await ground.endDeadJobs()
  const survivor = await ground.host('survivor', { role: 'worker' })
  await ground.quiet()
  assert.deepEqual(await chargedTimes([id]), [1])
  const [paid] = await sql<{ state: string }>(
    'select state from tollgate.payment where schedule_id = $1',
    [id],
  )
  assert.equal(paid?.state, 'approved')
  await survivor.close()
})

test('a charge that never reached the acquirer is made once', async () => {
  const registrationId = await stored()
  const { id } = await ask('POST', '/scheduling/v1/schedules', {
    ...charge,
    registrationId,
    'job.expression': onceIn(1.5),
  })
  const doomed = await ground.host('doomed', {
    role: 'worker',
    faults: [{ at: 'before-send', do: 'kill' }],
  })
  await doomed.gone()
  await ground.endDeadJobs()
  const survivor = await ground.host('survivor', { role: 'worker' })
  await ground.quiet()
  assert.deepEqual(await chargedTimes([id]), [1])
  // By the same payment, or by another one after proof that it was undone.
  const rows = await sql<{ state: string }>(
    'select state from tollgate.payment where schedule_id = $1 order by id desc',
    [id],
  )
  assert.equal(rows[0]?.state, 'approved')
  assert.deepEqual(
    rows.slice(1).filter(({ state }) => state !== 'declined'),
    [],
  )
  await survivor.close()
})

test('charges of a killed worker are missed if they are cancelled before another worker takes them', async () => {
  const registrationId = await stored()
  const make = () =>
    ask('POST', '/scheduling/v1/schedules', {
      ...charge,
      registrationId,
      'job.expression': onceIn(1.5).replace(/ \d+$/, ' *'),
    })
  const { id } = await make()
  const doomed = await ground.host('doomed', {
    role: 'worker',
    faults: [{ at: 'before-T1', do: 'kill' }],
  })
  await doomed.gone()
  await ask('DELETE', `/scheduling/v1/schedules/${id}`)
  await ground.endDeadJobs()
  const survivor = await ground.host('survivor', { role: 'worker' })
  await ground.quiet()
  const { executions, missed } = (await ask(
    'GET',
    `/scheduling/v1/schedules/${id}/executions`,
  )) as unknown as { executions: unknown[]; missed: { count: string }[] }
  assert.deepEqual(executions, [])
  assert.deepEqual(
    missed.map(({ count }) => count),
    ['1'],
  )
  assert.deepEqual(await chargedTimes([id]), [0])
  await survivor.close()
})
