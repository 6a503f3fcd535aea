/**
 * Receives messages of acquirers: stores, acknowledges and then applies them. Nothing else is acknowledged, because an
 * acquirer tells once what was acknowledged: a message that nobody can prove or read now may be genuine, and has to
 * come again.
 */
import type { Connector, Inbound, InboundReply } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { ConnectorCall } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { cardOf } from '../payment/card-of.ts'
import type { OwnCard } from '../payment/own-number.ts'
import { paymentByAttempt, toPayment } from '../payment/store-read.ts'
import { referenceDigest } from '../vault/reference-digest.ts'
import { type Malformed, type ReadClaim, readClaim, withReferences } from './claim.ts'
import { workOnKey } from './fair-turns.ts'
import { floods } from './flood.ts'
import { digestOf, keepClaim } from './keep.ts'
import { entryAbout } from './list.ts'
import { checkedReply, WrongReply } from './reply.ts'
import { countUnverified, type StoredClaim } from './store.ts'

type From = {
  readonly connector: string
  readonly account: string
  /** The sender's address; undefined when unknown. */
  readonly address: string | undefined
}
type Well = Extract<ReadClaim, { claim: StoredClaim }>

/**
 * Takes one message for an account of a connector. The message is stored on return.
 *
 * @param given the message, or a function that reads it once the account is known
 * @returns the reply that the acquirer expects to a proven message, where the connector names one.
 * @throws GatewayError 404 for an unknown connector or account, 400 for a message that is too long, 429 for too many
 * unverified messages, 503 for one that is not proven, or that the connector cannot read: it has to come again.
 */
export async function receive(
  engine: Engine,
  connectorName: string,
  accountKey: string,
  given: Inbound | (() => Promise<Inbound>),
  address?: string,
): Promise<Required<InboundReply> | undefined> {
  const target = await engine.targets.inbound(connectorName, accountKey)
  const inbound = target?.loaded.connector.inbound
  if (target === undefined || inbound === undefined)
    throw new GatewayError('700.400.580', { status: 404 })
  const message = typeof given === 'function' ? await given() : given
  if (message.body.length > limits.messageBytes) {
    throw new GatewayError('200.300.404', {
      description: `A message may have at most ${limits.messageBytes} bytes.`,
    })
  }
  const call = new ConnectorCall(engine.services, target, {
    deadlineMs: engine.clock.elapsedMs() + engine.connectorTimeoutMs,
    sendByWallMs: engine.clock.realMs() + engine.connectorTimeoutMs,
  })
  const from = { connector: connectorName, account: accountKey, address }
  try {
    // A signature that cannot be proven is often a secret that was changed at one end only.
    const isProven = await take(engine, from, inbound, message, call)
    if (!isProven && inbound.proof !== 'none') throw notNow('proven')
    return await replyOf(engine, from, inbound, message, call)
  } finally {
    call.finish()
  }
}

type Receiving = NonNullable<Connector['inbound']>

/**
 * Stores the claims of a message, and begins to work on them.
 *
 * @returns whether the message is proven to be the acquirer's.
 */
async function take(
  engine: Engine,
  from: From,
  inbound: Receiving,
  message: Inbound,
  call: ConnectorCall,
): Promise<boolean> {
  const { connector: connectorName, account: accountKey, address } = from
  const isSigned = inbound.proof !== 'none'
  const verify = async () => isSigned && inbound.verify(message, call)
  const verified = await within(engine, call, verify).then(
    (proven) => proven === true,
    () => undefined,
  )
  if (verified === undefined) {
    // Counted like an unproven one.
    const about = { connector: connectorName, account: accountKey }
    if (!floods(engine, from, 1)) engine.log.warn(about, 'a message could not be checked')
    throw notNow('checked')
  }
  if (!verified && isSigned) {
    engine.alarm('forged-event', {
      subject: `${connectorName} ${accountKey}`,
      connector: connectorName,
      account: accountKey,
      ...(address === undefined ? {} : { address }),
    })
  }
  // Counted before the read, since even an unreadable message costs time.
  if (!verified && floods(engine, from, 1)) throw tooMany()
  const claims = await within(engine, call, async () => inbound.parse(message, call)).catch(
    () => null,
  )
  if (!Array.isArray(claims) || claims.length > limits.claimsPerMessage) {
    if (verified) await listUnread(engine, from, call.clock.now())
    throw notNow('read')
  }
  // One is counted already, also for a message without claims.
  if (!verified && floods(engine, from, Math.max(0, claims.length - 1))) throw tooMany()
  const now = call.clock.now()
  const digest = referenceDigest(engine.vault)
  const read = claims.map((claim: unknown) => readClaim(claim, verified, now, digest))
  const well = read.filter((one) => 'claim' in one)
  const malformed = read.flatMap((one) => ('malformed' in one ? [one.malformed] : []))
  if (!verified) await refuseTooMany(engine, from, well.length)
  const keys = new Set<string>()
  for (const one of well) if (await keep(engine, from, one)) keys.add(one.claim.key)
  if (malformed.length > 0) await putAside(engine, from, verified, malformed)
  for (const key of keys) {
    engine.inFlight.track(workOnKey(engine, connectorName, accountKey, key)).catch(() => {})
  }
  return verified
}

/** The connector's reply to a stored message. A wrong one must not make the acquirer send the message again. */
async function replyOf(
  engine: Engine,
  { connector }: From,
  { reply }: Receiving,
  message: Inbound,
  call: ConnectorCall,
): Promise<Required<InboundReply> | undefined> {
  if (reply === undefined) return undefined
  try {
    return checkedReply(await within(engine, call, async () => reply(message, call)))
  } catch (error) {
    const why = error instanceof WrongReply ? error.message : 'the connector threw'
    engine.log.warn({ connector, why }, 'the acquirer gets the usual reply to its message')
    return undefined
  }
}

/** Waits at most the time limit of any connector call. */
async function within<T>(engine: Engine, call: ConnectorCall, work: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      call.abort()
      reject(new Error('the connector did not end in time'))
    }, engine.connectorTimeoutMs)
  })
  try {
    return await Promise.race([work(), late])
  } finally {
    clearTimeout(timer)
  }
}

/** Not a 4xx, by which an acquirer may give up a message for good. */
const notNow = (done: 'checked' | 'proven' | 'read') =>
  new GatewayError('800.800.801', {
    status: 503,
    description: `The message could not be ${done} now. Send it again.`,
    retryAfterSeconds: 10,
  })

/** Anybody can send unverified messages, so only a limited number is stored. */
async function refuseTooMany(engine: Engine, from: From, more: number): Promise<void> {
  const { unverifiedEvents: most, unverifiedEventsMs } = limits
  const [row] = await engine.lanes.single(
    countUnverified(from.connector, from.account, unverifiedEventsMs, most),
  )
  if ((row?.count ?? 0) + more <= most) return
  throw tooMany()
}

const tooMany = () => new GatewayError('800.120.100', { status: 429, retryAfterSeconds: 60 })

/** @returns whether the event is new and needs work. */
async function keep(engine: Engine, from: From, well: Well): Promise<boolean> {
  const { connector, account } = from
  const { eventId } = well
  const claim =
    well.clear === undefined
      ? well.claim
      : withReferences(well, await cardAbout(engine, well.claim))
  return keepClaim(engine, { connector, account, eventId }, claim)
}

/** The card of the payment that a claim is about, or that it builds upon; null without such a payment. */
async function cardAbout(
  engine: Engine,
  { key }: StoredClaim,
): Promise<OwnCard | undefined | null> {
  const [row] = await engine.lanes.single(paymentByAttempt(key))
  return row === undefined ? null : cardOf(engine, toPayment(row))
}

/**
 * Tells operators of a proven message that the connector cannot read: the acquirer may hold back all later ones for it.
 * One entry per day, since a connector that is behind, or whose network is away, is one problem.
 */
async function listUnread(engine: Engine, from: From, now: Date): Promise<void> {
  const { connector, account } = from
  engine.log.warn({ connector, account }, 'a connector cannot read a proven message')
  const eventId = `unread on ${now.toISOString().slice(0, 10)}`
  const why = 'the connector cannot read a proven message, which the acquirer sends again'
  const about = { connector, account, eventId, key: null }
  await engine.lanes.single(await entryAbout(engine, 'event', about, { why }))
}

/**
 * Puts a message aside for operators: the acquirer received an acknowledgement and will not send it
 * again. One entry per message, since a broken batch is one problem.
 */
async function putAside(
  engine: Engine,
  from: From,
  verified: boolean,
  malformed: readonly Malformed[],
): Promise<void> {
  const whys = [...new Set(malformed.map(({ why }) => why))]
  engine.log.warn(
    { connector: from.connector, claims: malformed.length, why: whys.join('; ') },
    'claims of a connector are malformed',
  )
  if (!verified) return
  const [first] = malformed as [Malformed]
  if (malformed.length === 1) {
    const { why, eventId, key, content } = first
    const digest = digestOf([content])
    const about =
      eventId === null
        ? { ...from, eventId: `without id ${digest}`, key }
        : { ...from, eventId, digest, key }
    const detail = { why: `malformed: ${why}`, content }
    await engine.lanes.single(await entryAbout(engine, 'event', about, detail))
    return
  }
  const about = {
    ...from,
    eventId: `malformed ${digestOf(malformed.map(({ content }) => content))}`,
    key: null,
  }
  await engine.lanes.single(
    await entryAbout(engine, 'event', about, {
      why: `malformed: ${malformed.length} claims of one message`,
      claims: malformed.slice(0, limits.eventEchoes),
      others: malformed.slice(limits.eventEchoes).map(({ eventId, key }) => [eventId, key]),
    }),
  )
}
