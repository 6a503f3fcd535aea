/**
 * Chargebacks and their reversals: facts that an acquirer or a settlement file reports. The engine
 * sends nothing, so a fact has no attempt, no lease and no sweep. One statement records each fact
 * once per reference.
 */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { approvedCode } from './decide.ts'
import {
  accountOf,
  beginningByHand,
  disputeReferenceOf,
  list,
  nameOf,
  type Report,
  type Reported,
  reportedBefore,
  roundsOf,
  saidOf,
} from './dispute-case.ts'
import { chargebackReason, chargedBack, factRow, type Hit, isOf, tell } from './dispute-fact.ts'
import { isOpen } from './late-word-table.ts'
import { confirmReversal, recordChargeback, recordReversal, type Seen } from './store-dispute.ts'
import {
  adoptFact,
  type ChargebackRow,
  chargebacksOf,
  confirmRound,
  factByReference,
} from './store-dispute-read.ts'
import { balanceById, paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

/** Records a report. No report is refused: a fact outside of the sums is recorded and listed. */
export async function report(engine: Engine, reported: Report): Promise<Reported> {
  const recorded = await record(engine, reported)
  if (recorded !== 'twin') return recorded
  // Another process recorded the fact or moved the payment meanwhile, so the code reads both again.
  const [row] = await engine.lanes.single(paymentById(reported.payment.id, null))
  if (row === undefined) return 'wait'
  const again = await record(engine, { ...reported, payment: toPayment(row) })
  return again === 'twin' ? 'wait' : again
}

async function record(engine: Engine, reported: Report): Promise<Reported | 'twin'> {
  if (isOpen(reported.payment.state)) return 'wait'
  return reported.is === 'chargeback'
    ? reportChargeback(engine, reported)
    : reportReversal(engine, reported)
}

async function reportChargeback(engine: Engine, reported: Report): Promise<Reported | 'twin'> {
  const { payment, minor, currency } = reported
  const hit = await chargedBack(engine, payment)
  // Read before the facts: another report of this moment changes the sums.
  const [sums] = await engine.lanes.single(balanceById(hit.target.rootId))
  const rounds = await roundsOf(engine, reported)
  if (await isConfirmed(engine, reported, hit, rounds)) return 'known'
  const earlierReport = await reportedBefore(engine, reported, hit, rounds, rounds.at(-1))
  if (earlierReport !== undefined) return earlierReport
  if (await isAdopted(engine, reported, hit)) return 'known'
  if (hit.isUndecided) return 'wait'
  const isAgain = rounds.length > 0
  const reason = chargebackReason(reported.reason)
  const misfit = misfitOf(reported, hit)
  const row = await factRow(engine, hit.target, {
    kind: 'chargeback',
    account: accountOf(payment),
    reference: nameOf(disputeReferenceOf(reported), rounds.length + 1),
    isNamed: reported.reference !== undefined,
    source: reported.source,
    minor,
    currency,
    balanceId: misfit === undefined ? hit.target.rootId : null,
    reverses: null,
    referencedId: hit.target.id,
    ...reason,
    refs: reported.refs,
    request: {
      paymentType: 'CB',
      ...(reason.resultCode === reported.reason ? { chargebackResultCode: reported.reason } : {}),
    },
  })
  const why =
    misfit?.why ??
    (isAgain ? 'a chargeback that was reversed came again' : 'a chargeback beyond what is left')
  const entry = {
    id: newId(),
    kind: 'beyond-sums',
    detail: { ...saidOf(reported), why },
    freezes: payment.state === 'approved' ? (misfit?.freezes ?? []) : [],
    isAlways: isAgain,
  } as const
  await faultPoint('before-fact', row.record.id)
  const [recorded] = await engine.lanes.inOrder(row.record.parentId ?? row.paymentId, () =>
    engine.lanes.single(
      recordChargeback(row, entry, {
        ...seenOf(payment, hit),
        sums:
          row.record.parentId === null || sums === undefined
            ? null
            : { paymentId: row.record.parentId, chargedBack: sums.charged_back },
      }),
    ),
  )
  await faultPoint('after-fact', row.record.id)
  if (recorded === undefined) return 'twin'
  tell(engine, row, recorded)
  return 'recorded'
}

/** Whether a message and a settlement line tell of the same round. */
async function isConfirmed(
  engine: Engine,
  { payment, minor, currency, source }: Report,
  { target, ever }: Hit,
  rounds: readonly ChargebackRow[],
): Promise<boolean> {
  if (rounds.length === 0) return false
  const references = rounds.map(({ reference }) => reference)
  const report = {
    ...{ connector: payment.connector, account: accountOf(payment), minor, currency, source },
    paymentIds: [...new Set([payment.id, target.id, ...ever])],
  }
  return (await engine.lanes.single(confirmRound(references, report))).length > 0
}

/** Whether a message and a settlement line tell of the same fact, one of them without a reference. */
async function isAdopted(engine: Engine, reported: Report, { target, ever }: Hit) {
  const { is: kind, payment, minor, currency, reference, source } = reported
  const report = {
    ...{ connector: payment.connector, account: accountOf(payment), kind },
    paymentIds: [...new Set([payment.id, target.id, ...ever])],
    ...{ minor, currency, isNamed: reference !== undefined, source },
    withinDays: limits.disputeAdoptionDays,
  }
  return (await engine.lanes.single(adoptFact(report))).length > 0
}

/**
 * The state behind a decision. A concurrent decision or capture makes the statement write nothing.
 */
const seenOf = (
  { id, state, rootId, attemptKey }: Payment,
  { sums, captures, keys }: Hit,
): Omit<Seen, 'sums'> => ({
  paymentId: id,
  state,
  about: [attemptKey, ...keys],
  authorisation:
    sums === null || state !== 'approved'
      ? null
      : {
          rootId,
          captures,
          count: sums.captures,
          captured: sums.captured,
          capturing: sums.capturing,
        },
})

/** Why a chargeback is outside of the sums, and which balances wait for an operator. */
function misfitOf(
  { payment, currency }: Report,
  { target, isAuthorisation, captures }: Hit,
): { readonly why: string; readonly freezes: readonly string[] } | undefined {
  if (currency !== payment.amount.currency) {
    return { why: 'a chargeback in another currency', freezes: [target.rootId] }
  }
  if (payment.state !== 'approved') {
    return { why: `a chargeback of a payment that is ${payment.state}`, freezes: [] }
  }
  if (!isAuthorisation) {
    const hasTaken = ['sale', 'capture'].includes(payment.effect) && payment.paymentType !== 'CD'
    return hasTaken ? undefined : { why: 'a chargeback of what took no money', freezes: [] }
  }
  if (captures.length === 1) return undefined
  const many = captures.length > 1 ? 'several captures' : 'no capture'
  return {
    why: `a chargeback of an authorisation with ${many}`,
    freezes: [payment.rootId, ...captures],
  }
}

async function reportReversal(engine: Engine, reported: Report): Promise<Reported | 'twin'> {
  const { payment, minor, currency } = reported
  const hit = await chargedBack(engine, payment)
  const isLate = reported.ageMs >= limits.unclaimedMs
  const isNamed = reported.reference !== undefined
  const rounds = isNamed ? await roundsOf(engine, { ...reported, is: 'chargeback' }) : []
  const reference = nameOf(disputeReferenceOf(reported), Math.max(rounds.length, 1))
  const earlier = await roundsOf(engine, reported, rounds.length)
  const same = earlier.find((row) => [row.reference, row.told_as].includes(reference))
  const earlierReport = await reportedBefore(engine, reported, hit, earlier, same)
  if (earlierReport !== undefined) return earlierReport
  if (await isAdopted(engine, reported, hit)) return 'known'
  const ever = isNamed
    ? rounds
    : await engine.lanes.single(chargebacksOf([payment.id, ...hit.ever]))
  const charged = isNamed ? rounds.at(-1) : namelessOf(ever, currency, isLate)
  if (charged === undefined) {
    if (!isLate) return 'wait'
    return list(engine, reported, 'no chargeback that it reverses')
  }
  if (!isOf(hit, payment, charged)) {
    return list(engine, reported, 'its chargeback is of another payment')
  }
  if (charged.given_back >= charged.minor) {
    const mayBe = isNamed ? [charged] : ever.filter((row) => !row.is_named)
    const confirmed = await confirm(engine, reported, reference, mayBe)
    if (confirmed !== undefined) return confirmed
  }
  const isOtherCurrency = charged.currency !== currency
  const [charge] = await engine.lanes.single(paymentById(charged.payment_id, null))
  const row = await factRow(engine, charge === undefined ? payment : toPayment(charge), {
    kind: 'reversal',
    account: accountOf(payment),
    reference,
    isNamed,
    source: reported.source,
    minor,
    currency,
    balanceId: isOtherCurrency ? null : charged.balance_id,
    reverses: isNamed ? charged.reference : null,
    referencedId: charged.record_id,
    resultCode: approvedCode[payment.mode],
    refs: reported.refs,
    details: {},
    request: { paymentType: 'CR' },
  })
  // Without a reference, the reversal may belong to a missing chargeback; the recorded ones are
  // then too small.
  const isWhole = !isNamed && !isLate && row.record.parentId !== null
  const why = isOtherCurrency
    ? 'a reversal in another currency than its chargeback'
    : rounds.length > 1
      ? 'it may be the reversal of an earlier round of its chargeback'
      : null
  await faultPoint('before-fact', row.record.id)
  const [recorded] = await engine.lanes.inOrder(row.record.parentId ?? row.paymentId, () =>
    engine.lanes.single(
      recordReversal(row, {
        isStrict: false,
        isWhole,
        isAny: isLate,
        why,
        ...(isNamed ? { reversedBefore: charged.reversed } : {}),
      }),
    ),
  )
  await faultPoint('after-fact', row.record.id)
  if (recorded === undefined) return 'twin'
  tell(engine, row, recorded)
  return 'recorded'
}

/**
 * An operator recorded this reversal earlier: no money moves, and the merchant gets no second
 * notification.
 */
async function confirm(
  engine: Engine,
  { payment, minor, currency, source }: Report,
  reference: string,
  mayBe: readonly ChargebackRow[],
): Promise<Reported | 'twin' | undefined> {
  const { connector } = payment
  const account = accountOf(payment)
  const names = mayBe.map((row) => beginningByHand(row.reference))
  const reversal = { connector, account, names, reference, source, minor, currency }
  const [confirmed] = await engine.lanes.single(confirmReversal(reversal))
  if (confirmed !== undefined) return 'known'
  // Two processes may handle the same message at the same moment.
  const [other] = await engine.lanes.single(
    factByReference(connector, account, 'reversal', reference),
  )
  return other === undefined ? undefined : 'twin'
}

/**
 * The oldest open chargeback without a reference, or the latest closed one, in the same currency.
 */
function namelessOf(
  ever: readonly ChargebackRow[],
  currency: string,
  isLate: boolean,
): ChargebackRow | undefined {
  const nameless = ever.filter((row) => !row.is_named || isLate)
  const same = nameless.filter((row) => row.currency === currency)
  return (
    same.find((row) => row.counted > row.reversed) ??
    same.at(-1) ??
    (isLate ? nameless.at(-1) : undefined)
  )
}
