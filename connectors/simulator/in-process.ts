import { setTimeout as wait } from 'node:timers/promises'
import {
  type Connector,
  type Context,
  contractVersion,
  defineConnector,
  type Found,
  type Inbound,
  notSent,
  type Operation,
  type Outcome,
  type Pages,
  type Reversed,
  unknown,
} from '@tollgate/plugin-kit'
import type { Reason } from '@tollgate/schemas'
import { type Entry, noSums } from './entry.ts'
import { claimsOf, isSigned, messageOf } from './event.ts'
import { decideKept, keeperOf, secretOf } from './keep.ts'
import {
  apply,
  decide,
  enquire,
  entryOf,
  finish,
  type Ledger,
  openLedger,
  type Request,
  reverseByKey,
} from './ledger.ts'
import { toFound, toOutcome, toReversed } from './outcomes.ts'
import { openPages } from './pages/in-process.ts'
import { paymentsIn } from './pages/kept-payments.ts'
import { reasonFor } from './reasons.ts'
import { isProof, redirectOf } from './redirect.ts'
import { toRequest } from './requests.ts'
import { simulatorParameters } from './rules.ts'
import { simulatedSettlement } from './settlement/simulated.ts'

/**
 * The subject of a dispute: `original` is the disputed payment, or its chargeback for a reversal.
 */
export type Dispute = Pick<Operation, 'key' | 'paymentId' | 'amount' | 'original'> & {
  readonly reason: Reason
}

export type InProcessSimulator = Connector & {
  /**
   * Charges a payment back, or reverses the chargeback. Returns the signed event for `inbound`,
   * like a message from the network, or the acquirer's refusal.
   */
  readonly raise: (
    what: 'chargeback' | 'chargebackReversal',
    dispute: Dispute,
    context: Pick<Context, 'records' | 'clock'>,
  ) => Promise<{ readonly message: Inbound } | { readonly refused: Reason }>
  /** The pages of banks and issuers, for the plugin of this connector. */
  readonly pages: Pages
}

/** Entries remembered by an acquirer inside the process. */
const defaultLimit = 20_000
const eventTimeoutMs = 5_000

/**
 * An acquirer inside the process. Ordinary payments live in memory and end with the process, as
 * does their money; a follow-up on a forgotten one relies on the engine's sums. All records needed
 * later (lost answers, open payments, chargebacks, closed keys) are kept in `context.records`.
 *
 * @param ledger its books; a bounded one of its own by default
 */
export function createSimulator(ledger: Ledger = openLedger(defaultLimit)): InProcessSimulator {
  const run = (operation: Operation, context: Context) => operate(ledger, operation, context)
  const connector = defineConnector({
    name: 'simulator',
    title: 'Simulator',
    contract: contractVersion,
    supports: {
      customParameters: simulatorParameters,
      brands: 'any',
      currencies: 'any',
      methods: ['card', 'bankAccount', 'virtualAccount', 'tokenAccount'],
      capture: { partial: true, multiple: true },
      refund: { partial: true },
      reverse: { partial: true },
      key: { by: 'key', ttlMs: 30 * 24 * 60 * 60_000 },
      enquiryVisibleAfterMs: 0,
      threeDSecure: 'external',
      modes: ['INTERNAL'],
    },
    authorize: run,
    debit: run,
    credit: run,
    capture: run,
    refund: run,
    reverse: run,
    increment: run,
    verify: run,
    resolve: {
      enquire: (operation, context) => ask(ledger, operation, context),
      reverseByKey: (operation, context) => undo(ledger, operation, context),
    },
    complete: (operation, { query }, context) => comeBack(ledger, operation, query, context),
    inbound: {
      verify: async (message, { records }) => isSigned(message, await secretOf(records)),
      parse: claimsOf,
    },
    settlement: simulatedSettlement,
    // It has no credentials; its records must be there, since late answers depend on them.
    check: async ({ records }) => {
      await secretOf(records)
      return { ok: true }
    },
  })
  return {
    ...connector,
    raise: (what, dispute, context) => raise(ledger, what, dispute, context),
    pages: openPages((records) => paymentsIn(ledger, records)),
  }
}

/**
 * Async so that an error of `sending()` is a rejection; an ordinary payment awaits nothing, and no
 * other operation runs between its decision and its entry.
 */
async function operate(ledger: Ledger, operation: Operation, context: Context): Promise<Outcome> {
  const request = toRequest(operation)
  const now = context.clock.now().getTime()
  if (operation.original !== undefined) await remember(ledger, operation.original, context)
  if (request.delayMs > 0) return operateKept(ledger, operation, request, context)
  const change = decide(ledger, request, now)
  if (change.delivery === 'never') return notSent('the simulator is configured as unreachable')
  if (change.delivery !== 'once' || change.writes[0]?.durable || change.answer.wait) {
    return operateKept(ledger, operation, request, context)
  }
  context.sending()
  apply(ledger, change.writes)
  return toOutcome(change.answer, operation.amount)
}

/** Operations that must be stored before their answer. */
async function operateKept(
  ledger: Ledger,
  operation: Operation,
  request: ReturnType<typeof toRequest>,
  context: Context,
): Promise<Outcome> {
  const { key, amount } = operation
  const late = request.delayMs > 0 ? { ...request, durable: true } : request
  const now = context.clock.now().getTime()
  let sent = false
  const change = await decideKept(ledger, [key], context, () => {
    const decided = decide(ledger, late, now)
    if (!sent && decided.delivery !== 'never') context.sending()
    sent = true
    return decided
  })
  if (change.delivery === 'never') return notSent('the simulator is configured as unreachable')
  // A call ends with its answer, so both copies of a double answer precede it.
  const copies = { once: 0, lost: 0, eventFirst: 1, twice: 2 }[change.delivery]
  for (let copy = 0; copy < copies; copy += 1) await tell(ledger, key, context)
  if (request.delayMs > 0) {
    const waited = await wait(request.delayMs, true, { signal: context.signal }).catch(() => false)
    if (!waited) return unknown('the answer was too late')
  }
  if (change.delivery === 'lost') return unknown('the answer was lost')
  return toOutcome(change.answer, amount, await redirectOf(change.answer, operation, context))
}

async function ask(ledger: Ledger, operation: Operation, context: Context): Promise<Found> {
  const now = context.clock.now().getTime()
  const change = await decideKept(ledger, [operation.key], context, () =>
    enquire(ledger, operation.key, now),
  )
  return toFound(
    change.answer,
    operation.amount,
    await redirectOf(change.answer, operation, context),
  )
}

async function undo(ledger: Ledger, operation: Operation, context: Context): Promise<Reversed> {
  const now = context.clock.now().getTime()
  if (operation.original !== undefined) await remember(ledger, operation.original, context)
  context.sending()
  const { answer } = await decideKept(ledger, [operation.key], context, () =>
    reverseByKey(ledger, operation.key, now),
  )
  return toReversed(answer)
}

/** The shopper has returned. Only the page, or the redirect's proof, counts: no other part of the query. */
async function comeBack(
  ledger: Ledger,
  operation: Operation,
  query: Readonly<Record<string, string>>,
  context: Context,
): Promise<Outcome> {
  const now = context.clock.now().getTime()
  const proven = await isProof(query, operation.key, context.records)
  if (proven) context.sending()
  const change = await decideKept(ledger, [operation.key], context, () =>
    proven ? finish(ledger, operation.key, '00', now) : enquire(ledger, operation.key, now),
  )
  return toOutcome(
    change.answer,
    operation.amount,
    await redirectOf(change.answer, operation, context),
  )
}

async function raise(
  ledger: Ledger,
  kind: 'chargeback' | 'chargebackReversal',
  dispute: Dispute,
  context: Pick<Context, 'records' | 'clock'>,
): Promise<{ message: Inbound } | { refused: Reason }> {
  const { original, reason, key, paymentId, amount } = dispute
  const now = context.clock.now().getTime()
  const about = [key]
  if (original !== undefined) {
    await remember(ledger, original, context)
    const disputed = entryOf(ledger, original.key)?.original
    about.push(original.key, ...(disputed === undefined ? [] : [disputed]))
  }
  const request: Request = {
    kind,
    key,
    paymentId,
    amount,
    reason,
    instrument: '',
    signs: {},
    ...(original === undefined ? {} : { original: original.key }),
  }
  const { answer } = await decideKept(ledger, about, context, () => decide(ledger, request, now))
  const entry = entryOf(ledger, key)
  if (answer.status !== 'approved' || entry === undefined) {
    return { refused: reasonFor(answer.code) }
  }
  return { message: messageOf(entry, await secretOf(context.records), now) }
}

/** An original unknown to this process was stored, or is taken from the engine's data. */
async function remember(
  ledger: Ledger,
  original: NonNullable<Operation['original']>,
  { records }: Pick<Context, 'records'>,
): Promise<void> {
  if (entryOf(ledger, original.key) !== undefined) return
  await keeperOf(ledger, records).load(original.key)
  if (entryOf(ledger, original.key) !== undefined) return
  const { key, kind, paymentId, amount } = original
  const forgotten: Entry = {
    key,
    kind,
    paymentId,
    amount,
    instrument: '',
    state: 'approved',
    code: '00',
    sums: { ...noSums, authorised: amount.minor },
    finalBy: {},
    delivery: 'once',
    movements: [],
    shifts: [],
    history: [],
  }
  apply(ledger, [forgotten])
}

/** Sends the event of an entry. A failure to deliver is ordinary for events. */
async function tell(ledger: Ledger, key: string, context: Context): Promise<void> {
  const entry = entryOf(ledger, key)
  if (entry === undefined || context.notifyUrl === undefined) return
  try {
    const now = context.clock.now().getTime()
    const { body, headers } = messageOf(entry, await secretOf(context.records), now)
    const timeoutMs = eventTimeoutMs
    await context.http.request('POST', context.notifyUrl, { body, headers, timeoutMs })
  } catch {
    context.log.warn({ key }, 'an event of the simulator was not delivered')
  }
}
