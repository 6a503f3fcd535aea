/**
 * kill -9 of one of two hosts, at every fault point of a payment, under one payment of each kind.
 * The other host finishes or undoes interrupted payments, and repeated requests get the true
 * outcome.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Answer, isApproved, isPending, type Wish } from '../rig/installation/client.ts'
import { isSecondStep, oneOfEach, sendUpTo } from '../rig/installation/flows.ts'
import { layGround } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import type { Hold, Passing } from '../rig/installation/wire.ts'

const ground = await layGround({ wired: true })
after(() => ground.close())
const { client, wire } = ground
const survivor = await ground.host('survivor')

/** The dead host's clients ask the other one, at once and again after the decision. */
async function asked(wishes: readonly Wish[]): Promise<Answer[]> {
  const early = await Promise.all(wishes.map((wish) => client.insist(wish, [survivor])))
  for (const { code } of early) assert.ok(isApproved(code) || isPending(code), code)
  return early
}

async function decided(wishes: readonly Wish[]): Promise<Record<string, string[]>> {
  await ground.quiet()
  const answers = await Promise.all(wishes.map((wish) => client.insist(wish, [survivor])))
  await ground.check()
  const outcomes: Record<string, string[]> = {}
  wishes.forEach((wish, index) => {
    const { code } = answers[index]!
    const name = isSecondStep(wish) ? 'PA.CP in its second step' : wish.type
    outcomes[name] = [...(outcomes[name] ?? []), isApproved(code) ? 'approved' : code]
  })
  return outcomes
}

const each = (outcome: string): Record<string, string[]> => ({
  DB: [outcome],
  PA: [outcome],
  'PA.CP': [outcome],
  'PA.CP in its second step': [outcome],
  CP: [outcome],
  RV: [outcome, outcome],
  RF: [outcome],
})
/**
 * An operation that was never sent is not sent later, because its client may have paid another way.
 */
const undone = each('900.100.400')
const done = each('approved')

const victim = (): Promise<Host> => ground.host('victim', { role: 'api' })

for (const [at, outcomes, moment] of [
  ['after-T1', undone, 'after its first commit, before it asked the acquirer'],
  ['before-send', undone, 'right before it asked the acquirer'],
  ['after-send', done, 'when the acquirer had answered'],
  ['before-T2', done, 'right before its second commit'],
  ['after-T2', done, 'after its second commit, before its answer'],
] as const) {
  test(`a host is killed ${moment}`, async () => {
    const host = await victim()
    const wishes = await oneOfEach(client, [survivor])
    const { sent } = await sendUpTo(ground, host, at, wishes)
    await host.kill()
    await sent
    assert.ok(wishes.every(({ tries }) => tries[0]?.answer === undefined))
    // Without a repeat the jobs alone take the second step of a two-step payment.
    if (at !== 'after-T2') await asked(wishes)
    assert.deepEqual(await decided(wishes), outcomes)
  })
}

/** Exactly the operations of the interrupted wishes. */
const isInterrupted = ({ route, kind, minor }: Passing): boolean =>
  route === 'POST /operations' &&
  !(kind === 'authorize' && isSecondStep({ type: 'PA.CP', minor: Number(minor) }))

async function killedDuringCalls(where: Hold['where']): Promise<Wish[]> {
  const host = await victim()
  const wishes = await oneOfEach(client, [survivor])
  wire.hold({ where, fits: isInterrupted })
  const sent = Promise.all(wishes.map((wish) => client.send(wish, host)))
  await wire.held(wishes.length)
  wire.hold(undefined)
  await host.kill()
  await sent
  await asked(wishes)
  return wishes
}

test('a host is killed while the acquirer processes its requests', async () => {
  const wishes = await killedDuringCalls('answer')
  assert.deepEqual(await decided(wishes), done)
  await wire.release()
})

test('a host is killed while its requests are under way, and they arrive after the decision', async () => {
  const wishes = await killedDuringCalls('request')
  const outcomes = await decided(wishes)
  await wire.release()
  assert.deepEqual(outcomes, undone)
  await ground.check()
})
