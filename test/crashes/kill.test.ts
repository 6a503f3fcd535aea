/**
 * kill -9 of one of two hosts, which is at every fault point of a payment at once: under one payment of each kind at
 * each point. The other host finishes or undoes interrupted payments, and repeated requests get the true outcome.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Client, isApproved, isPending, type Wish } from '../rig/installation/client.ts'
import { isSecondStep, oneOfEach, sendUpTo } from '../rig/installation/flows.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import type { Hold, Passing } from '../rig/installation/wire.ts'

type Outcomes = Readonly<Record<string, readonly string[]>>

const each = (outcome: string): Outcomes => ({
  DB: [outcome],
  PA: [outcome],
  'PA.CP': [outcome],
  'PA.CP in its second step': [outcome],
  CP: [outcome],
  RV: [outcome, outcome],
  RF: [outcome],
})
/** An operation that was never sent is not sent later, because its client may have paid another way. */
const undone = each('900.100.400')
const done = each('approved')

const points = [
  { at: 'after-T1', expected: undone, moment: 'after its first commit, before it asks' },
  { at: 'before-send', expected: undone, moment: 'right before it asks the acquirer' },
  { at: 'after-send', expected: done, moment: 'when the acquirer has answered' },
  { at: 'before-T2', expected: done, moment: 'right before its second commit' },
  { at: 'after-T2', expected: done, moment: 'after its second commit, before its answer' },
] as const

const calls = [
  { where: 'answer', expected: done, moment: 'while the acquirer processes the request' },
  { where: 'request', expected: undone, moment: 'while the request is under way' },
] as const

/** Exactly the operations of the interrupted wishes. */
const isInterrupted = ({ route, kind, minor }: Passing): boolean =>
  route === 'POST /operations' &&
  !(kind === 'authorize' && isSecondStep({ type: 'PA.CP', minor: Number(minor) }))

/** No call of the victim ends by its own deadline. */
const noDeadlineMs = 120_000

describe('a host is killed in the middle of payments', { concurrency: false }, () => {
  let ground: Ground
  let client: Client
  let survivor: Bystander
  const interrupted = new Map<string, readonly Wish[]>()

  before(async () => {
    ground = await layGround({ wired: true })
    ;({ client } = ground)
    survivor = await ground.bystander('survivor')
    const victim = await ground.host('victim', { role: 'api', connectorTimeoutMs: noDeadlineMs })
    const sent: Promise<unknown>[] = []
    for (const { at, moment } of points) {
      const wishes = await oneOfEach(client, [survivor])
      sent.push((await sendUpTo(ground, victim, at, wishes)).sent)
      interrupted.set(moment, wishes)
    }
    await victim.plan()
    // Both before the first hold, which would hold their captures' authorisations, too.
    const called = [await oneOfEach(client, [survivor]), await oneOfEach(client, [survivor])]
    let held = 0
    for (const [index, { where, moment }] of calls.entries()) {
      const wishes = called[index]!
      sent.push(heldOnTheWire(victim, where, wishes))
      held += wishes.length
      await ground.wire.held(held)
      interrupted.set(moment, wishes)
    }
    ground.wire.hold(undefined)
    await victim.kill()
    await Promise.all(sent)
    // The dead host's clients ask the other one, at once and again after the decision. Without a repeat the jobs
    // alone take the second step of a two-step payment.
    const asking = [...interrupted].filter(([moment]) => moment !== points[4].moment)
    await Promise.all(asking.flatMap(([, wishes]) => wishes).map(askEarly))
    await ground.quiet()
  })
  after(() => ground.close())

  function heldOnTheWire(victim: Host, where: Hold['where'], wishes: readonly Wish[]) {
    ground.wire.hold({ where, fits: isInterrupted })
    return Promise.all(wishes.map((wish) => client.send(wish, victim)))
  }

  async function askEarly(wish: Wish): Promise<void> {
    const { code } = await client.insist(wish, [survivor])
    assert.ok(isApproved(code) || isPending(code), code)
  }

  async function outcomesOf(moment: string): Promise<Outcomes> {
    const wishes = interrupted.get(moment)!
    assert.ok(wishes.every(({ tries }) => tries[0]?.answer === undefined))
    const found: Record<string, string[]> = {}
    for (const wish of wishes) {
      const { code } = await client.insist(wish, [survivor])
      const name = isSecondStep(wish) ? 'PA.CP in its second step' : wish.type
      found[name] = [...(found[name] ?? []), isApproved(code) ? 'approved' : code]
    }
    return found
  }

  for (const { moment, expected } of [...points, ...calls]) {
    test(`a host is killed ${moment}`, async () => {
      assert.deepEqual(await outcomesOf(moment), expected)
    })
  }

  test('requests of the dead host that arrive after the decision move no money', async () => {
    await ground.check()
    await ground.wire.release()
    for (const { moment, expected } of calls) {
      assert.deepEqual(await outcomesOf(moment), expected)
    }
    await ground.check()
  })
})
