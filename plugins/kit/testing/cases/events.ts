import assert from 'node:assert/strict'
import { isChargeback } from '@tollgate/schemas'
import type { Claim, Connector, Inbound } from '../../connector.ts'
import { type Case, claimsIn } from '../case.ts'
import { isBelieved, type Stage } from '../harness.ts'
import { firstKinds, firstOperation, suits } from '../operation.ts'

const needsAnyInbound = ({ inbound }: Connector): string | undefined =>
  inbound === undefined ? 'the connector has no inbound' : undefined

/** Messages whose news is believed. */
export const needsInbound = (connector: Connector): string | undefined =>
  needsAnyInbound(connector) ??
  (isBelieved(connector) ? undefined : 'the acquirer proves none of its messages')

/** Headers that prove nothing. */
export const plainHeader = /^(content-type|content-length|host|user-agent|accept|date)$/

const monthMs = 30 * 24 * 60 * 60_000

/** Messages sent by the acquirer, or by an impostor. */
export const events: readonly Case[] = [
  {
    name: 'an event of the acquirer makes one claim',
    without: needsInbound,
    async run(stage) {
      const { operation, outcome } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      assert.equal(await verify(stage, message), true, 'verify refused a genuine event')
      const [claim, ...others] = await claimsIn(stage, message)
      assert.ok(claim && others.length === 0, 'one event about one operation is one claim')
      assert.equal(claim.key, operation.key, "a claim names the operation by the engine's key")
      assert.deepEqual(claim.amount, operation.amount, 'a claim names its amount')
      assert.equal(claim.outcome.is, outcome.is, 'a claim states the outcome')
      const isId = /^[^\p{C}\p{Z}]{1,255}$/u.test(claim.eventId)
      assert.ok(isId, 'a claim has the id of its event: 1 to 255 visible characters')
    },
  },
  {
    name: 'a forged event is not proven',
    without: needsInbound,
    async run(stage) {
      const { operation } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      const genuine = await claimsIn(stage, message)
      for (const [index, byte] of message.body.entries()) {
        const body = Buffer.from(message.body)
        body[index] = byte ^ 1
        const forged = { ...message, body }
        if (!(await verify(stage, forged))) continue
        // An acquirer can sign a part only: then no other part may have a meaning.
        const rule = `verify took a message whose byte ${index} was changed: compare the signature over all bytes`
        assert.deepEqual(await parseOrThrow(stage, forged), genuine, rule)
      }
      const signing = Object.keys(message.headers).filter((name) => !plainHeader.test(name))
      // A signature in the body was changed with it.
      if (signing.length + Object.keys(message.query).length > 0) {
        const bare = await verify(stage, { ...message, headers: {}, query: {} })
        assert.equal(bare, false, 'verify took a message without any signature')
      }
      for (const name of signing) {
        for (const value of ['', '0', 'sha256=', 'undefined']) {
          const headers = { ...message.headers, [name]: value }
          const rule = `verify took a message with the header ${name}: "${value}"`
          assert.equal(await verify(stage, { ...message, headers }), false, rule)
        }
      }
    },
  },
  {
    name: 'an event for another account is not proven',
    without: (connector, sandbox) =>
      needsInbound(connector) ??
      (sandbox.answers === undefined ? 'the connector works inside the process' : undefined),
    async run(stage) {
      const { wrongAccount, chargeback } = stage.acquirer
      assert.ok(wrongAccount, 'the connector has inbound, so open() must answer with wrongAccount')
      const { operation } = await paid(stage)
      const { key, amount } = operation
      // Proven by another secret, it would be acknowledged, and nobody would tell it again.
      for (const message of [
        await eventOf(stage, key),
        ...(chargeback === undefined ? [] : [await chargeback.call(stage.acquirer, key, amount)]),
      ]) {
        const proven = await verify(stage, message, wrongAccount)
        const rule = 'verify took a message of another account: use the secret of context.account'
        assert.equal(proven, false, rule)
      }
    },
  },
  {
    name: 'a repeated or old event makes the same claim',
    without: needsInbound,
    async run(stage) {
      const { operation } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      const first = await claimsIn(stage, message)
      assert.deepEqual(await claimsIn(stage, message), first, 'the same message is the same claim')
      stage.clock.ms += monthMs
      assert.deepEqual(await claimsIn(stage, message), first, 'an old message is the same claim')
      // An old signature may be refused, but must not cause an error.
      await verify(stage, message)
      const ids = (claims: readonly Claim[]) => claims.map(({ eventId }) => eventId)
      const resent = await claimsIn(stage, await eventOf(stage, operation.key))
      assert.deepEqual(ids(resent), ids(first), 'repeated news has the same event id')
      assert.deepEqual(resent, first, 'repeated news makes the same claim')
    },
  },
  {
    name: 'several events about one payment have ids of their own, in any order',
    without: (connector, sandbox) =>
      needsInbound(connector) ??
      (sandbox.pending === undefined ? 'the sandbox has no pending scene' : undefined) ??
      (sandbox.tellsOpen === false ? 'the acquirer tells nothing about open payments' : undefined),
    async run(stage) {
      const { pending } = stage.sandbox
      const kind = firstKinds.find((known) => stage.connector[known] && suits(pending!, known))!
      const operation = firstOperation(stage.connector, kind, pending!)
      await stage.perform(operation)
      const early = await eventOf(stage, operation.key)
      await stage.acquirer.finish!(operation.key)
      const late = await eventOf(stage, operation.key)
      const [after] = await claimsIn(stage, late)
      const [before] = await claimsIn(stage, early)
      assert.equal(before?.outcome.is, 'pending', 'the first event states that the payment is open')
      const isDone = after?.outcome.is === 'approved' || after?.outcome.is === 'accepted'
      assert.ok(isDone, 'the second event states that the payment is done')
      assert.notEqual(before?.eventId, after?.eventId, 'other news has another event id')
      assert.equal(before?.key, after?.key, 'both are about the same key')
    },
  },
  {
    name: 'a message without a proof names the operation to ask about, and claims nothing of it',
    without: (connector) =>
      needsAnyInbound(connector) ??
      (isBelieved(connector) ? 'the acquirer proves its messages' : undefined),
    async run(stage) {
      const { operation } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      assert.equal(
        await verify(stage, message),
        false,
        'verify took a message of an acquirer that proves none',
      )
      const said = (await claimsIn(stage, message)).map(({ key, outcome }) => [key, outcome.is])
      const rule = 'the engine asks the acquirer: `onlyAsks` makes such claims'
      assert.deepEqual(said, [[operation.key, 'unknown']], rule)
      assert.ok(
        stage.connector.resolve.enquire,
        'a message that makes the engine ask needs enquire',
      )
    },
  },
  {
    name: 'garbage is never an event',
    without: needsAnyInbound,
    async run(stage) {
      for (const text of ['', 'null', '[]', '{}', '"x"', '<xml/>', '{"id":', '\u0000\u00ff']) {
        const message: Inbound = { body: Buffer.from(text), headers: {}, query: {} }
        const proven = await verify(stage, message)
        assert.equal(proven, false, `verify took garbage (${JSON.stringify(text)})`)
        const claims = await parseOrThrow(stage, message)
        assert.ok(claims instanceof Error || claims.length === 0, 'garbage claims nothing')
      }
    },
  },
  {
    name: 'a stored message gets a reply that can be sent',
    without: ({ inbound }) =>
      inbound?.reply === undefined ? 'the connector has no inbound.reply' : undefined,
    async run(stage) {
      const { inbound } = stage.connector
      const { operation } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      for (const time of ['a', 'a repeated']) {
        const { returned, thrown } = await stage.call((context) =>
          inbound!.reply!(message, context),
        )
        assert.ok(
          returned,
          `${time} message has a reply${thrown === undefined ? '' : ', no error'}`,
        )
        const { status = 200, contentType = 'text/plain', body = '' } = returned
        assert.ok(
          status >= 200 && status <= 299,
          `the status of a reply is 200 to 299, not ${status}`,
        )
        assert.match(contentType, /^[\w.+-]+\/[\w.+-]+(; ?[\w-]+=[\w."-]+)*$/, 'contentType is one')
        assert.ok(body.length <= 4096, 'the body of a reply has at most 4,096 characters')
      }
    },
  },
  {
    name: 'a chargeback names its own amount and reference',
    without: (connector, { chargebacks }) =>
      needsInbound(connector) ??
      (chargebacks ? undefined : 'the acquirer sends no messages about chargebacks'),
    async run(stage) {
      const { acquirer } = stage
      assert.ok(acquirer.chargeback, 'a sandbox with chargebacks needs chargeback()')
      const { operation } = await paid(stage)
      const { minor, currency } = operation.amount
      const seen = new Set<string>()
      for (const amount of [minor, minor / 2n, minor + 100n].map((part) => ({
        minor: part,
        currency,
      }))) {
        const message = await acquirer.chargeback(operation.key, amount)
        assert.equal(await verify(stage, message), true, 'verify refused a genuine chargeback')
        const [claim, ...others] = await claimsIn(stage, message)
        assert.ok(claim && others.length === 0, 'one chargeback is one claim')
        assert.equal(claim.key, operation.key, "a chargeback names the payment by the engine's key")
        assert.equal(claim.outcome.is, 'chargeback', 'a chargeback is claimed as one')
        assert.deepEqual(
          claim.amount,
          amount,
          'a chargeback has its own amount, not that of the payment',
        )
        const reason = claim.outcome.is === 'chargeback' ? claim.outcome.reason : ''
        assert.ok(
          isChargeback(reason),
          `the reason of a chargeback is one of 000.100.2xx, not ${reason}`,
        )
        // Without a reference, the id of the event is the dispute's.
        const dispute = claim.reference ?? claim.eventId
        assert.ok(!seen.has(dispute), 'every chargeback has a reference of its own')
        seen.add(dispute)
        assert.deepEqual(await claimsIn(stage, message), [claim], 'a repeat makes the same claim')
      }
    },
  },
]

export async function paid(stage: Stage) {
  const kind = firstKinds.find((known) => stage.connector[known])!
  return stage.done(await stage.prepare(kind))
}

export function eventOf({ acquirer }: Stage, key: string): Promise<Inbound> {
  assert.ok(acquirer.event, 'the connector has inbound, so open() must answer with event()')
  return acquirer.event(key)
}

/** An engine accepts only true as proof. After an error the acquirer repeats its message. */
export async function verify(
  stage: Stage,
  message: Inbound,
  account: Readonly<Record<string, unknown>> = stage.account,
): Promise<boolean> {
  const { inbound } = stage.connector
  const { returned } = await stage.call((context) => inbound!.verify(message, context), { account })
  return returned === true
}

export const parseOrThrow = (stage: Stage, message: Inbound): Promise<readonly Claim[] | Error> =>
  claimsIn(stage, message).catch((error: unknown) =>
    error instanceof Error ? error : new Error('a value that is no Error was thrown'),
  )
