/**
 * Carries settlement records out: accepted payments become final or fail, open ones end, disputes are
 * recorded. A plain settled payment needs nothing. Safe to kill and to run again, also in two processes: the
 * words and facts of a payment happen once, and a record is closed after them.
 */
import type { Money, Outcome, Refs } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { addAttention } from '../attention/store.ts'
import { engineActor } from '../audit/actor.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { applyMessage } from '../payment/acquirer-message.ts'
import { movedBy } from '../payment/amount-moved.ts'
import { report } from '../payment/dispute.ts'
import { applyLateWord } from '../payment/late-word-apply.ts'
import { endLate, held } from '../payment/late-word-move.ts'
import { isOpen, isOver } from '../payment/late-word-table.ts'
import { broughtTo, sameAs } from '../payment/reference-origin.ts'
import { resolve } from '../payment/resolve.ts'
import { lineSource } from '../payment/store-dispute-read.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { settledSum } from '../payment/stored-settlement.ts'
import type { Payment } from '../payment/types.ts'
import { listExceptions } from './exception-entries.ts'
import {
  type EffectRow,
  effectDone,
  effectFailed,
  effectWaits,
  fenceAccepted,
  filesOfFailed,
  lockRecord,
  openEffects,
  stillOpen,
} from './store-effect.ts'
import { maskedName } from './stored-name.ts'

/** Records that are read at once: each page is sorted anew. */
const pageRecords = 10_000

/** The institute did not pay the money out. No proof that the payer was not charged. */
const notPaidOut: Outcome = { is: 'declined', reason: '100.397.102' }

type Done =
  | { readonly is: 'done'; readonly discrepancy?: 'STATE' }
  /** The payment is under way, or the chargeback of a reversal is missing. */
  | { readonly is: 'wait' }

const done: Done = { is: 'done' }
const wait: Done = { is: 'wait' }

/** Tiers of names that are the payment's own, and no other operation's. */
const ownNames: ReadonlySet<string> = new Set(['payment-id', 'acquirer-reference'])

/** Whether the line names the payment itself. Of payments that it does not match, it moves only such. */
const namesPayment = ({ match_status: status, tier }: EffectRow) =>
  status === 'NOT_MATCHED' || ownNames.has(tier ?? '')

/**
 * Whether the line names a payment well enough to decide an open one. A line with references of the acquirer that
 * the payment does not have can be about another operation of the same order, which was made elsewhere.
 */
const decides = (row: EffectRow) =>
  namesPayment(row) || (row.tier === 'merchant-reference' && !isVague(row))

/** Tiers of names that another operation of the same order can have, too. */
const sharedNames: ReadonlySet<string> = new Set(['merchant-reference', 'short-id'])

/** Whether the line calls the payment by such a name alone, and has references that the payment lacks. */
const isVague = ({ tier, refs }: EffectRow) =>
  sharedNames.has(tier ?? '') && refs.some((ref) => ref !== null)

/** Whether the line says of a payment that is over that its money moved. */
const revives = (row: EffectRow) => namesPayment(row) || row.tier === 'operator'

/**
 * Carries out the open effects of scopes. Those that have to wait stay open, for the timer.
 *
 * @param isOver Whether to leave the rest to the next run.
 */
export async function applyEffects(
  engine: Engine,
  scopeIds: readonly string[],
  isOver: () => boolean = () => false,
): Promise<void> {
  while (!isOver()) {
    const page = await engine.lanes.upkeep(openEffects(scopeIds, pageRecords))
    await applyPage(engine, page, isOver)
    if (page.length < pageRecords) break
  }
  for (const file of await engine.lanes.upkeep(filesOfFailed(scopeIds))) {
    await engine.lanes.bulk((client) => listExceptions(engine, client, file))
  }
}

/** Records about one payment follow each other; others run side by side. */
async function applyPage(
  engine: Engine,
  page: readonly EffectRow[],
  isOver: () => boolean,
): Promise<void> {
  const last = new Map<string, Promise<void>>()
  const running = new Set<Promise<void>>()
  for (const row of page) {
    if (isOver()) break
    if (running.size >= limits.settlementEffects) await Promise.race(running)
    const before = row.payments.flatMap((id) => last.get(id) ?? [])
    const work = Promise.all(before)
      .then(() => applyRow(engine, row))
      .finally(() => running.delete(work))
    running.add(work)
    for (const id of row.payments) last.set(id, work)
  }
  await Promise.all(running)
}

async function applyRow(engine: Engine, row: EffectRow): Promise<void> {
  const { lanes, log } = engine
  try {
    await faultPoint('before-settlement-effect', row.id)
    // An operator may have assigned the record since its page was read.
    if ((await lanes.single(stillOpen(row))).length === 0) return
    const result = await effectOf(engine, row)
    await faultPoint('after-settlement-effect', row.id)
    const end =
      result.is === 'wait'
        ? effectWaits(row, limits.settlementEffectMs)
        : effectDone(row, result.discrepancy ?? null)
    await lanes.single(end)
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown.name : 'unknown'
    log.warn({ record: row.id, error }, 'a settlement record could not take effect')
    const { settlementEffectTries: tries, settlementEffectMs: afterMs } = limits
    await lanes.upkeep(effectFailed(row, tries, afterMs))
  }
}

async function effectOf(engine: Engine, row: EffectRow): Promise<Done> {
  const payments: Payment[] = []
  for (const id of row.payments) {
    const [found] = await engine.lanes.single(paymentById(id, null))
    if (found !== undefined) payments.push(toPayment(found))
  }
  if (row.record_type !== 'SETTLED') return tellDispute(engine, row, payments[0])
  // Of a record of the version before.
  if (row.status !== 'FAILED' && !row.is_right_way) return { is: 'done', discrepancy: 'STATE' }
  const results: Done[] = []
  for (const payment of payments) {
    const amount = payments.length === 1 ? amountOf(row) : undefined
    results.push(
      row.status === 'FAILED'
        ? await fail(engine, row, payment, amount)
        : await settled(engine, row, payment, amount),
    )
  }
  if (results.some(({ is }) => is === 'wait')) return wait
  return results.find((result) => result.is === 'done' && result.discrepancy !== undefined) ?? done
}

/** A sum of payments, or a line whose references can be those of another operation. */
const paidUnnamed: Outcome = { is: 'approved', refs: {} }

/**
 * The institute paid the money out, under references by which a refund can name the payment later. One that the
 * payment has already is the one that its success is known by.
 */
function paidOut(engine: Engine, row: EffectRow, payment: Payment): Outcome {
  if (!namesPayment(row)) return paidUnnamed
  const { connector, refs } = row
  const names = engine.registry.get(connector)?.connector.settlement?.refs ?? []
  const named = names.flatMap((name, no) => {
    const ref = refs[no]
    return ref == null || maskedName.test(ref) ? [] : [[name, ref.trim()] as const]
  })
  const given: Refs = Object.fromEntries(named)
  return { is: 'approved', refs: { ...sameAs(payment, given), ...broughtTo(payment, given) } }
}

const amountOf = ({ amount_minor: minor, currency }: EffectRow): Money => ({ minor, currency })

/** @param amount Undefined: the payment is one of several that the line sums up. */
async function settled(
  engine: Engine,
  row: EffectRow,
  given: Payment,
  amount: Money | undefined,
): Promise<Done> {
  const { attemptKey: key } = given
  const paid = amount === undefined ? paidUnnamed : paidOut(engine, row, given)
  if (isOpen(given.state)) {
    const isCertain = amount !== undefined && decides(row) && isWhole(given, amount)
    // Otherwise the acquirer's answer to an enquiry decides.
    if (isCertain) await applyMessage(engine, key, paid, true, amount, 'settlement')
    else await resolve(engine, key, 'look', 'other')
  }
  const payment = await again(engine, given)
  if (isOpen(payment.state)) return wait
  if (payment.state === 'approved' && payment.finalBy === null) return done
  if (isOver(payment.state) && !revives(row)) return { is: 'done', discrepancy: 'STATE' }
  // The payment is accepted: what says nothing of all its money leaves it to the words to come.
  if (!isOver(payment.state) && isVague(row)) return leaveAccepted(engine, payment)
  const isWholePaid = await isPaidInParts(engine, payment, amount)
  if (isWholePaid === false) return leaveAccepted(engine, payment)
  const doubt = { isBeyondReversal: row.tier === 'operator' }
  const moved = isWholePaid === true ? movedBy(payment) : amount
  const applied = await applyLateWord(engine, key, paid, 'settlement', moved, doubt)
  if (applied === undefined) return wait
  if (applied === 'conflict' && !isOver(payment.state)) return leaveAccepted(engine, payment)
  if (applied === 'settled' && isOver(payment.state)) await endIfAssigned(engine, row, payment)
  // Also of a payment that was reversed since the line found it.
  return applied === 'known' && isOver(payment.state) ? { is: 'done', discrepancy: 'STATE' } : done
}

/**
 * An operator can assign the record to another payment between its last look and this late success, once the lease of
 * the scope has run out: the money is that of the other payment, and would count twice.
 */
async function endIfAssigned(engine: Engine, { id }: EffectRow, payment: Payment): Promise<void> {
  const { lanes, clock } = engine
  const [record] = await lanes.single(lockRecord(id, payment.id))
  if (record?.is_its !== false) return
  const now = await held(engine, payment.attemptKey)
  // Decided as declined since: nothing of it counts.
  if (now === undefined || (now.attempt.state !== 'late' && isOver(now.payment.state))) return
  const detail = {
    why: 'its settlement record was assigned to another payment meanwhile, so its money may count twice',
    record: id,
  }
  // What began with this late success since is for operators: a decision to keep it, or its reversal.
  const isAsLeft =
    now.attempt.state === 'late' &&
    now.attempt.settledBy === 'settlement' &&
    (now.attempt.leaseUntil?.getTime() ?? 0) <= clock.realMs()
  const action = 'late-success-failed'
  if (isAsLeft && (await endLate(engine, now, engineActor, action, detail, 'settlement'))) return
  await lanes.single(
    addAttention(newId(), 'conflict', payment.id, payment.attemptKey, 0, detail, `assigned ${id}`),
  )
}

/**
 * The match of the record is committed: a decline that looked for paid money before moves nothing any more, and looks
 * again. A payment that such a decline ended meanwhile is over, and the record takes effect for that.
 */
async function leaveAccepted({ lanes }: Engine, { attemptKey }: Payment): Promise<Done> {
  return (await lanes.single(fenceAccepted(attemptKey))).length > 0 ? done : wait
}

/**
 * Whether the records of an accepted payment pay out all of it together; undefined: the record is no part of its
 * amount.
 */
async function isPaidInParts(
  { lanes }: Engine,
  payment: Payment,
  amount: Money | undefined,
): Promise<boolean | undefined> {
  const { minor, currency } = movedBy(payment)
  const isPart =
    payment.state === 'approved' && amount?.currency === currency && amount.minor < minor
  if (!isPart) return undefined
  const [row] = await lanes.single(settledSum(payment.id, currency))
  return (row?.minor ?? 0n) >= minor
}

async function fail(
  engine: Engine,
  row: EffectRow,
  given: Payment,
  amount: Money | undefined,
): Promise<Done> {
  const { attemptKey: key } = given
  if (isOpen(given.state)) await resolve(engine, key, 'look', 'other')
  const payment = await again(engine, given)
  if (isOpen(payment.state)) return wait
  const doubt = { isVague: isVague(row) }
  const applied = await applyLateWord(engine, key, notPaidOut, 'settlement', amount, doubt)
  if (applied === undefined) return wait
  return applied === 'conflict' ? { is: 'done', discrepancy: 'STATE' } : done
}

const isWhole = ({ amount }: Payment, { minor, currency }: Money) =>
  amount.minor === minor && amount.currency === currency

async function again(engine: Engine, payment: Payment): Promise<Payment> {
  const [row] = await engine.lanes.single(paymentById(payment.id, null))
  return row === undefined ? payment : toPayment(row)
}

/** A chargeback or its reversal; one that failed moved no money. */
async function tellDispute(
  engine: Engine,
  row: EffectRow,
  payment: Payment | undefined,
): Promise<Done> {
  if (payment === undefined || row.status === 'FAILED') return done
  if (isOpen(payment.state)) await resolve(engine, payment.attemptKey, 'look', 'other')
  const reported = await report(engine, {
    is: row.record_type === 'CHARGEBACK' ? 'chargeback' : 'reversal',
    payment: await again(engine, payment),
    ...amountOf(row),
    reference: row.reference ?? undefined,
    source: `${lineSource}${row.id}`,
    settlementId: row.settlement_id ?? undefined,
    reason: row.reason ?? undefined,
    refs: row.reference === null ? {} : { ChargebackId: row.reference },
    ageMs: row.age_ms,
  })
  return reported === 'wait' ? wait : done
}
