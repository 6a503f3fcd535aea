/** An acquirer whose answers are lost, doubled, wrong, early or forged. Its ledger is the truth. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { sign, signatureHeader } from '../../connectors/simulator/event.ts'
import type { Fault } from '../../connectors/simulator/faults.ts'
import { defaultSecret } from '../../connectors/simulator/server.ts'
import { until as found } from '../rig/gateway.ts'
import type { Acquirer } from '../rig/installation/acquirer.ts'
import { check } from '../rig/installation/check-all.ts'
import { type Client, card, isApproved, isPending, type Wish } from '../rig/installation/client.ts'
import { gather } from '../rig/installation/evidence.ts'
import { oneOfEach } from '../rig/installation/flows.ts'
import {
  type Bystander,
  type Ground,
  layGround,
  type Sql,
  type WishRow,
} from '../rig/installation/ground.ts'
import { channelId, merchantId } from '../rig/installation/installation.ts'
import { inScope, sampled } from '../rig/scope.ts'

const all = { DB: 1, PA: 1, 'PA.CP': 2, CP: 1, RV: 2, RF: 1 }
const expected = (differences: Readonly<Record<string, string>> = {}): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(all).map(([type, count]) => [
      type,
      Array.from({ length: count }, () => differences[type] ?? 'approved'),
    ]),
  )

const pendingCard = card('4000000000000077')

type Told = { key: string; status: 'approved' | 'declined'; minor?: string; secret?: string }

const unknownKey = 'nobody-knows-it'

/** How the acquirer loses an answer after the money moved. */
const losses = sampled(['drop', 'reset', '500', 'html', 'truncate'] as const, 2)
const doubled = inScope(6, 30)
const early = inScope(3, 10)

describe('an acquirer with faults', { concurrency: false }, () => {
  let ground: Ground
  let client: Client
  let acquirer: Acquirer
  let sql: Sql
  let one: Bystander
  let two: Bystander
  before(async () => {
    ground = await layGround()
    ;({ client, acquirer, sql } = ground)
    ;[one, two] = await Promise.all([ground.bystander('one'), ground.bystander('two')])
  })
  after(() => ground.close())

  const rowOf = async (wish: Wish): Promise<WishRow> =>
    (await ground.rowsOf(wish)).at(-1) ?? assert.fail(`${wish.reference} has no row`)

  /** The final result of each wish, by type. */
  async function outcomes(wishes: readonly Wish[]): Promise<Record<string, string[]>> {
    const found: Record<string, string[]> = {}
    for (const wish of wishes) {
      const { code } = await client.insist(wish, [two])
      found[wish.type] = [...(found[wish.type] ?? []), isApproved(code) ? 'approved' : code]
    }
    return found
  }

  /** One wish of each kind, each under the same fault of the acquirer. */
  async function underFault(fault: Omit<Fault, 'when' | 'times'>): Promise<Wish[]> {
    const wishes = await oneOfEach(client, [one, two])
    await acquirer.plan({ ...fault, times: wishes.length, when: { on: 'operation' } })
    for (const answer of await Promise.all(wishes.map((wish) => client.send(wish, one)))) {
      assert.ok(answer !== undefined && isPending(answer.code), 'the outcome is unknown')
    }
    assert.equal((await acquirer.control({})).left, 0)
    return wishes
  }

  test('enquiries find answers lost after the money moved', async () => {
    const lost: Wish[] = []
    for (const fault of losses) {
      lost.push(...(await underFault({ do: fault })))
    }
    await ground.quiet()
    for (let from = 0; from < lost.length; from += 8) {
      assert.deepEqual(await outcomes(lost.slice(from, from + 8)), expected())
    }
    await ground.check()
  })

  test('an operation that never reached the acquirer is reversed by key and never sent later', async () => {
    const wishes = await underFault({ do: 'drop', apply: 'never' })
    await ground.quiet()
    const undone = Object.fromEntries(Object.keys(all).map((type) => [type, '900.100.400']))
    assert.deepEqual(await outcomes(wishes), expected(undone))
    await ground.check()
  })

  test('an approval for another amount is reversed', async () => {
    const wish = client.first('DB', 9_200)
    const amount = { minor: '9100', currency: 'EUR' }
    await acquirer.plan({ do: 'alterAmount', amount, times: 2 })
    const answer = await client.send(wish, one)
    assert.ok(answer !== undefined && isPending(answer.code))
    await ground.quiet()
    assert.deepEqual(await outcomes([wish]), { DB: ['900.100.400'] })
    await ground.check()
  })

  test('an enquiry that finds nothing too early decides nothing, and operators see it', async () => {
    const wish = client.first('DB', 9_200)
    await acquirer.plan({ do: 'drop', when: { on: 'operation' } }, { do: 'notFound' })
    await client.send(wish, one)
    const { id } = await rowOf(wish)
    await sql('update tollgate.timer set due_at = now() where ref = $1', [(await rowOf(wish)).key])
    const asked = await until(wish, ({ enquiries }) => enquiries === 1)
    assert.equal(asked.state, 'unknown')
    await until(wish, async () => (await leaseOf(id)) === null)
    check(
      await gather(client.history, acquirer, sql),
      'what stays undecided is on the operators’ list',
    )
    await ground.quiet()
    assert.deepEqual(await outcomes([wish]), { DB: ['approved'] })
    await ground.check()
  })

  test('a second answer on a connection belongs to no request', async () => {
    await acquirer.plan({ do: 'twice', times: doubled, when: { on: 'operation' } })
    const wishes = Array.from({ length: doubled }, () => client.first('DB', 9_200))
    for (const wish of wishes) await client.insist(wish, [one])
    await ground.quiet()
    assert.deepEqual(await outcomes(wishes), { DB: wishes.map(() => 'approved') })
    await ground.check()
  })

  const eventsAt = async ({ url }: { url: string }): Promise<string> => {
    const [account] = await sql<{ id: string }>(
      'select id from tollgate.merchant_account where channel_id = $1',
      [channelId],
    )
    return `${url}/connectors/simulator-http/${account!.id}/events`
  }

  test('events that reach the other host before the answer do not change it', async () => {
    await acquirer.control({ events: await eventsAt(two) })
    const soon = Array.from({ length: early }, () => client.first('DB', 9_289))
    const answers = await Promise.all(soon.map((wish) => client.send(wish, one)))
    for (const answer of answers) assert.ok(isApproved(answer?.code ?? ''), answer?.code)
    const twice = Array.from({ length: early }, () => client.first('PA', 9_288))
    for (const wish of twice) await client.insist(wish, [one])
    for (const wish of [...soon, ...twice]) {
      const { key } = await rowOf(wish)
      await acquirer.control({ tell: { merchantId, key } })
    }
    await ground.quiet()
    await acquirer.control({ events: null })
    const stored = await sql<{ outcome: string }>('select outcome from tollgate.inbound_event')
    assert.deepEqual(new Set(stored.map(({ outcome }) => outcome)), new Set(['known']))
    assert.equal(stored.length, 2 * early, 'each event once, however often it was sent')
    await ground.check()
  })

  test("the acquirer's event ends a pending payment, delivered to both hosts", async () => {
    const wishes = [client.first('DB', 9_200, pendingCard), client.first('PA', 9_300, pendingCard)]
    for (const [index, wish] of wishes.entries()) {
      const answer = await client.send(wish, one)
      assert.ok(answer !== undefined && isPending(answer.code))
      const { key } = await rowOf(wish)
      await acquirer.control({ events: await eventsAt(two) })
      await acquirer.control({ finish: { merchantId, key, code: index === 0 ? '00' : '05' } })
      await acquirer.control({ events: await eventsAt(one) })
      await acquirer.control({ tell: { merchantId, key } })
    }
    await acquirer.control({ events: null })
    await ground.quiet()
    assert.deepEqual(await outcomes(wishes), { DB: ['approved'], PA: ['800.100.152'] })
    await ground.check()
  })

  /** A message in the acquirer's form, genuine with its secret. @returns its id. */
  async function tellHost({ key, status, minor = '9200', secret = defaultSecret }: Told) {
    const eventId = `${key}-${status}-${secret.length}-${minor}`
    const body = JSON.stringify({
      eventId,
      kind: 'debit',
      key,
      status,
      code: status === 'approved' ? '00' : '05',
      reference: `sim-${key}`,
      amount: { minor, currency: 'EUR' },
    })
    const answer = await fetch(await eventsAt(two), {
      method: 'POST',
      headers: { [signatureHeader]: sign(body, secret) },
      body,
    })
    assert.equal(answer.status, secret === defaultSecret ? 200 : 503)
    return eventId
  }

  test('forged events, and genuine ones about another amount, decide nothing', async () => {
    const pending = client.first('DB', 9_200, pendingCard)
    const approved = client.first('DB', 9_200)
    const declined = client.first('DB', 9_200, card('4000000000000002'))
    for (const wish of [pending, approved, declined]) await client.send(wish, one)
    const forged = { secret: 'a secret of somebody else' }
    for (const status of ['approved', 'declined'] as const) {
      for (const wish of [pending, approved, declined]) {
        const { key } = await rowOf(wish)
        await tellHost({ key, status, ...forged })
      }
    }
    await tellHost({ key: (await rowOf(pending)).key, status: 'approved', minor: '1' })
    await tellHost({ key: unknownKey, status: 'declined' })
    await until(pending, async () => (await openEvents()) === 0)
    assert.deepEqual(
      await Promise.all(
        [pending, approved, declined].map(async (wish) => (await rowOf(wish)).state),
      ),
      ['pending', 'approved', 'declined'],
    )
    await acquirer.control({
      finish: { merchantId, key: (await rowOf(pending)).key, code: '00' },
    })
    await ground.check()
  })

  test('a genuine event that contradicts the answer is recorded', async () => {
    const wish = client.first('DB', 9_200)
    await client.insist(wish, [one])
    const { key, id } = await rowOf(wish)
    await tellHost({ key, status: 'declined' })
    await until(wish, async () => (await openEvents()) === 0)
    const listed = await sql('select kind from tollgate.attention where payment_id = $1', [id])
    assert.deepEqual(listed, [{ kind: 'return' }])
    await ground.check()
  })

  /** A word about a key that nobody knows waits for its payment, and counts as none. */
  const openEvents = async (): Promise<number> => {
    const rows = await sql(
      `select 1 from tollgate.inbound_event
     where processed_at is null and (waits = 0 or claim ->> 'key' <> $1)`,
      [unknownKey],
    )
    return rows.length
  }

  const leaseOf = async (id: string): Promise<Date | null> => {
    const [row] = await sql<{ until: Date | null }>(
      'select lease_until as until from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row?.until ?? null
  }

  /** The row of a wish in the expected state. */
  const until = (
    wish: Wish,
    isReached: (row: WishRow) => boolean | Promise<boolean>,
  ): Promise<WishRow> =>
    found(async () => {
      const row = await rowOf(wish)
      return (await isReached(row)) ? row : undefined
    })
})
