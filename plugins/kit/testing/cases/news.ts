import assert from 'node:assert/strict'
import type { Claim, Connector, Inbound } from '../../connector.ts'
import { type Case, claimsIn, needs } from '../case.ts'
import type { Stage } from '../harness.ts'
import {
  type Done,
  firstKinds,
  firstOperation,
  scenesOf,
  suits,
  withArticle,
} from '../operation.ts'
import type { Message, Sandbox } from '../sandbox.ts'
import { eventOf, needsInbound, paid, plainHeader, verify } from './events.ts'

const needsMessage =
  (what: Message) =>
  (_connector: Connector, { messages }: Sandbox): string | undefined =>
    messages?.includes(what) ? undefined : `the sandbox has no message ${what}`

/** Messages about other news than a payment that was made, and signatures that are nearly right. */
export const news: readonly Case[] = [
  {
    name: 'a signature is compared to its last character',
    without: needsInbound,
    async run(stage) {
      const { operation } = await paid(stage)
      const message = await eventOf(stage, operation.key)
      for (const where of ['headers', 'query'] as const) {
        for (const [name, value] of Object.entries(message[where])) {
          if (!plainHeader.test(name)) await mustCompareAll(stage, message, where, name, value)
        }
      }
    },
  },
  {
    name: 'an event about a declined payment claims the decline',
    without: needs(needsInbound, (_connector, { tellsDeclines }) =>
      tellsDeclines === false ? 'the acquirer tells nothing about declined payments' : undefined,
    ),
    async run(stage) {
      const { declined } = stage.sandbox
      const kind = firstKinds.find((known) => stage.connector[known] && suits(declined, known))
      if (kind === undefined) return
      const operation = firstOperation(stage.connector, kind, declined)
      await stage.perform(operation)
      const claims = await claimsIn(stage, await eventOf(stage, operation.key))
      const rule = 'set tellsDeclines: false in a sandbox whose acquirer does not tell it'
      mustClaim(claims, operation.key, 'declined', rule)
    },
  },
  {
    name: 'an event of a partial approval claims the part',
    without: needs(needsInbound, needsMessage('partialApproval')),
    async run(stage) {
      const { operation } = await paid(stage)
      const { key, amount: whole } = operation
      const amount = { ...whole, minor: whole.minor / 2n }
      const message = await messageOf(stage, 'partialApproval', { ...operation, amount })
      assert.equal(await verify(stage, message), true, 'verify refused a genuine message')
      const claims = await claimsIn(stage, message)
      const rule = 'Tollgate compares the amount, and undoes the part or keeps it'
      mustClaim(claims, key, 'approved', rule)
      const { outcome, amount: told } = claims[0]!
      const said = outcome.is === 'approved' ? (outcome.amount ?? told) : told
      assert.deepEqual(said, amount, `the claim is about the part: ${rule}`)
    },
  },
  {
    name: 'an operation that fails after it counted as done is told by its event',
    without: needs(needsInbound, needsMessage('failure')),
    async run(stage) {
      const accepted = await acceptedOnes(stage)
      assert.ok(accepted.length > 0, 'what can fail later is accepted, and nothing was')
      for (const { operation } of accepted) {
        const message = await messageOf(stage, 'failure', operation)
        assert.equal(await verify(stage, message), true, 'verify refused a genuine message')
        const rule = `the failure of ${withArticle(operation.kind)} gives its amount back`
        mustClaim(await claimsIn(stage, message), operation.key, 'declined', rule)
      }
    },
  },
  {
    name: 'the reversal of a chargeback is no chargeback',
    without: needs(needsInbound, needsMessage('chargebackReversal')),
    async run(stage) {
      const { chargeback } = stage.acquirer
      assert.ok(chargeback, 'a sandbox with chargebackReversal needs chargeback()')
      const { operation } = await paid(stage)
      const { key, amount } = operation
      const [first] = await claimsIn(stage, await chargeback.call(stage.acquirer, key, amount))
      const message = await messageOf(stage, 'chargebackReversal', operation)
      assert.equal(await verify(stage, message), true, 'verify refused a genuine message')
      const claims = await claimsIn(stage, message)
      mustClaim(claims, key, 'chargebackReversal', 'a merchant gets the money of the dispute back')
      assert.deepEqual(claims[0]?.amount, amount, 'it has the amount of the dispute')
      assert.notEqual(claims[0]?.eventId, first?.eventId, 'it has an event id of its own')
      assert.equal(claims[0]?.reference, first?.reference, 'both name the dispute alike')
    },
  },
  {
    name: 'a message of an unlisted type claims nothing',
    without: needs(needsInbound, needsMessage('unlisted')),
    async run(stage) {
      const { operation } = await paid(stage)
      const message = await messageOf(stage, 'unlisted', operation)
      assert.equal(await verify(stage, message), true, 'verify refused a genuine message')
      // A throw would keep the acquirer repeating it, and holding back what comes after it.
      const said = (await claimsIn(stage, message)).map(({ outcome }) => outcome.is)
      assert.deepEqual(said, [], 'a type that the manual does not list can mean anything')
    },
  },
  {
    name: 'a message that was signed too long ago is not proven',
    without: needs(needsInbound, needsMessage('aged')),
    async run(stage) {
      const { operation } = await paid(stage)
      const fresh = await verify(stage, await eventOf(stage, operation.key))
      assert.equal(fresh, true, 'verify refused a message of this moment')
      const proven = await verify(stage, await messageOf(stage, 'aged', operation))
      assert.equal(proven, false, 'verify took a message with an old signature: compare its time')
    },
  },
]

function messageOf(
  { acquirer }: Stage,
  what: Message,
  { key, amount }: Done['operation'],
): Promise<Inbound> {
  assert.ok(acquirer.message, 'a sandbox with messages needs message() in open()')
  return acquirer.message(what, key, amount)
}

function mustClaim(
  claims: readonly Claim[],
  key: string,
  is: Claim['outcome']['is'],
  rule: string,
): void {
  const said = claims.map((claim) => ({ key: claim.key, is: claim.outcome.is }))
  assert.deepEqual(said, [{ key, is }], rule)
}

/** An operation of each sort that counts as done and can still fail. */
async function acceptedOnes(stage: Stage): Promise<readonly Done[]> {
  const { connector, sandbox } = stage
  const found: Done[] = []
  for (const kind of firstKinds.filter((known) => connector[known])) {
    for (const scene of scenesOf(sandbox, kind)) {
      const done = await stage.done(firstOperation(connector, kind, scene))
      if (done.outcome.is === 'accepted') found.push(done)
    }
  }
  for (const kind of (['capture', 'refund'] as const).filter((known) => connector[known])) {
    const done = await stage.done(await stage.prepare(kind))
    if (done.outcome.is === 'accepted') found.push(done)
  }
  return found
}

/** Long words of a header are signatures, or ids that nothing depends on. */
const longWord = /[A-Za-z0-9+/_-]{16,}/g

/** Every character of a signature counts; a word in which none counts is no signature. */
async function mustCompareAll(
  stage: Stage,
  message: Inbound,
  where: 'headers' | 'query',
  name: string,
  value: string,
): Promise<void> {
  for (const { 0: word, index } of value.matchAll(longWord)) {
    const ignored: number[] = []
    for (let at = 0; at < word.length; at += 1) {
      const place = index + at
      const changed = value.slice(0, place) + otherThan(word[at]!) + value.slice(place + 1)
      const forged = { ...message, [where]: { ...message[where], [name]: changed } }
      if (await verify(stage, forged)) ignored.push(at + 1)
    }
    const isWhole = ignored.length === 0 || ignored.length === word.length
    const places = `${ignored.slice(0, 5).join(', ')}${ignored.length > 5 ? ', …' : ''}`
    assert.ok(
      isWhole,
      `verify took a signature with other characters at ${places} of ${name}: compare all of it`,
    )
  }
}

const base64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** A character whose bits differ where base64 and hexadecimal digits both count them. */
function otherThan(character: string): string {
  if (/[0-9a-f]/i.test(character)) return character === '7' ? '8' : character === '0' ? '8' : '0'
  const at = base64.indexOf(character)
  return at === -1 ? 'A' : base64[at ^ 32]!
}
