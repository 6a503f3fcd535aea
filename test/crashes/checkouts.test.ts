/**
 * kill -9 of the host that shoppers pay at, each at another point of the payment. They press the same button again and
 * then a new one, at another host: the acquirer's books hold one charge for each.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { FaultPoint } from '../../core/index.ts'
import { until } from '../rig/gateway.ts'
import { card } from '../rig/installation/client.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { channelId } from '../rig/installation/installation.ts'

type Reply = { readonly state: string }

const points: readonly FaultPoint[] = [
  'before-T1',
  'after-T1',
  'before-send',
  'after-send',
  'before-T2',
  'after-T2',
]

/** No call of the victim ends by its own deadline. */
const noDeadlineMs = 120_000

describe('the host of paying shoppers is killed', { concurrency: false }, () => {
  let ground: Ground
  let survivor: Bystander
  const checkouts = new Map<FaultPoint, string>()
  const replies = new Map<FaultPoint, readonly (Reply | undefined)[]>()

  before(async () => {
    ground = await layGround()
    survivor = await ground.bystander('survivor')
    const victim = await ground.host('victim', { role: 'api', connectorTimeoutMs: noDeadlineMs })
    const lost: Promise<void>[] = []
    for (const at of points) {
      const id = await made()
      checkouts.set(at, id)
      await victim.plan({ at, do: 'hold' })
      lost.push(assert.rejects(press(victim, id, nonceOf(at, 'first'))))
      await victim.reached(at)
    }
    await victim.kill()
    await Promise.all(lost)
    const pressed = Promise.all([...checkouts].map(([at, id]) => pressedAgain(at, id)))
    await ground.dueUntil(pressed)
    await pressed
    await ground.quiet()
  })
  after(() => ground.close())

  async function made(): Promise<string> {
    const response = await fetch(`${survivor.url}/v1/checkouts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${survivor.token}` },
      body: new URLSearchParams({
        entityId: channelId,
        amount: '92.00',
        currency: 'EUR',
        paymentType: 'DB',
        testMode: 'EXTERNAL',
      }),
    })
    return ((await response.json()) as { id: string }).id
  }

  async function press(host: { url: string }, id: string, nonce: string): Promise<Reply> {
    const response = await fetch(`${host.url}/v1/checkouts/${id}/payment`, {
      method: 'POST',
      body: new URLSearchParams({ nonce, ...card('4200000000000000') }),
    })
    return (await response.json()) as Reply
  }

  const nonceOf = (at: FaultPoint, press: string) => `${press}-${at}-0123456789`

  async function pressedAgain(at: FaultPoint, id: string): Promise<void> {
    // Waits for an open payment no longer than a browser would.
    const again = Promise.race([press(survivor, id, nonceOf(at, 'first')), settled(id)])
    replies.set(at, await Promise.all([again, press(survivor, id, nonceOf(at, 'other'))]))
  }

  /** Resolves when no payment of the checkout is open. */
  async function settled(id: string): Promise<undefined> {
    await until(async () => {
      const open = await ground.sql(
        `select id from tollgate.payment
          where checkout_id = $1 and state in ('processing', 'pending', 'unknown')`,
        [id],
      )
      return open.length === 0 ? true : undefined
    })
  }

  async function charges(id: string): Promise<number> {
    const rows = await ground.sql<{ id: string }>(
      'select id from tollgate.payment where checkout_id = $1',
      [id],
    )
    const own = new Set(rows.map((row) => row.id))
    const ledger = await ground.acquirer.ledger()
    return ledger.filter(
      ({ kind, state, paymentId }) =>
        kind === 'debit' && state === 'approved' && own.has(paymentId),
    ).length
  }

  for (const at of points) {
    test(`the host is killed ${at}, and the checkout is paid once`, async () => {
      const id = checkouts.get(at)!
      for (const reply of replies.get(at)!) {
        if (reply !== undefined) assert.notEqual(reply.state, 'closed')
      }
      const last = await press(survivor, id, nonceOf(at, 'last'))
      assert.equal(last.state, 'paid')
      assert.equal(await charges(id), 1)
    })
  }
})
