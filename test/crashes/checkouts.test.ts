/**
 * kill -9 of the host that a shopper pays at. The shopper presses the same button again and then a
 * new one, at another host: the acquirer's books hold one charge.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { FaultPoint } from '../../core/index.ts'
import { card } from '../rig/installation/client.ts'
import { layGround } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import { channelId } from '../rig/installation/installation.ts'

const ground = await layGround()
after(() => ground.close())
const survivor = await ground.host('survivor')

type Reply = { readonly state: string }

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

async function press(host: Host, id: string, nonce: string): Promise<Reply> {
  const response = await fetch(`${host.url}/v1/checkouts/${id}/payment`, {
    method: 'POST',
    body: new URLSearchParams({ nonce, ...card('4200000000000000') }),
  })
  return (await response.json()) as Reply
}

async function charges(id: string): Promise<number> {
  const rows = await ground.sql<{ id: string }>(
    'select id from tollgate.payment where checkout_id = $1',
    [id],
  )
  const own = new Set(rows.map((row) => row.id))
  const ledger = await ground.acquirer.ledger()
  return ledger.filter(
    ({ kind, state, paymentId }) => kind === 'debit' && state === 'approved' && own.has(paymentId),
  ).length
}

const nonceOf = (at: FaultPoint, press: string) => `${press}-${at}-0123456789`

for (const at of [
  'before-T1',
  'after-T1',
  'before-send',
  'after-send',
  'before-T2',
  'after-T2',
] as const) {
  test(`the host is killed ${at}, and the checkout is paid once`, async () => {
    const id = await made()
    const victim = await ground.host('victim', { role: 'api', faults: [{ at, do: 'kill' }] })
    await assert.rejects(press(victim, id, nonceOf(at, 'first')))
    await victim.gone()
    // Waits for an open payment no longer than a browser would.
    const [again, other] = await Promise.all([
      Promise.race([press(survivor, id, nonceOf(at, 'first')), ground.dueUntil(settled(id))]),
      press(survivor, id, nonceOf(at, 'other')),
    ])
    for (const reply of [again, other]) {
      if (reply !== undefined) assert.notEqual(reply.state, 'closed')
    }
    await ground.quiet()
    const last = await press(survivor, id, nonceOf(at, 'last'))
    assert.equal(last.state, 'paid')
    assert.equal(await charges(id), 1)
  })
}

/** Resolves when no payment of the checkout is open. */
async function settled(id: string): Promise<void> {
  for (;;) {
    const open = await ground.sql(
      `select id from tollgate.payment
        where checkout_id = $1 and state in ('processing', 'pending', 'unknown')`,
      [id],
    )
    if (open.length === 0) return
    await new Promise((resume) => setTimeout(resume, 50))
  }
}
