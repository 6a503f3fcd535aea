/**
 * Chargebacks and their reversals: facts that an acquirer or a settlement file reports. The engine
 * sends nothing, so a fact has no attempt, no lease and no sweep. One statement records each fact
 * once per reference.
 */
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { isAdopted, isConfirmed } from './dispute-adoption.ts'
import {
  accountOf,
  disputeReferenceOf,
  nameOf,
  type Report,
  type Reported,
  reportedBefore,
  roundsOf,
  type Step,
  saidOf,
} from './dispute-case.ts'
import {
  balancesOf,
  chargebackReason,
  chargedBack,
  factRow,
  type Hit,
  tell,
} from './dispute-fact.ts'
import { reportReversal } from './dispute-reversal.ts'
import { isOpen } from './late-word-table.ts'
import { recordChargeback, type Seen } from './store-dispute.ts'
import { placesOf } from './store-dispute-read.ts'
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

async function record(engine: Engine, reported: Report): Promise<Step> {
  if (isOpen(reported.payment.state)) return 'wait'
  return reported.is === 'chargeback'
    ? reportChargeback(engine, reported)
    : reportReversal(engine, reported)
}

async function reportChargeback(engine: Engine, reported: Report): Promise<Step> {
  const { payment, minor, currency } = reported
  const hit = await chargedBack(engine, payment)
  // Read before the facts: another report of this moment takes the place and changes the sums.
  const family = familyOf(payment, hit)
  const [taken] = await engine.lanes.single(placesOf(family))
  const [sums] = await engine.lanes.single(balanceById(hit.target.rootId))
  const rounds = await roundsOf(engine, reported)
  if (await isConfirmed(engine, reported, hit, rounds)) return 'known'
  const earlierReport = await reportedBefore(engine, reported, hit, rounds, rounds.at(-1))
  if (earlierReport !== undefined) return earlierReport
  const reference = nameOf(disputeReferenceOf(reported), rounds.length + 1)
  if (await isAdopted(engine, reported, hit, reference)) return 'known'
  if (hit.isUndecided) return 'wait'
  const isAgain = rounds.length > 0
  const reason = chargebackReason(reported.reason)
  const misfit = misfitOf(reported, hit)
  const row = await factRow(engine, hit.target, {
    kind: 'chargeback',
    account: accountOf(payment),
    reference,
    isNamed: reported.reference !== undefined,
    source: reported.source,
    settlementId: reported.settlementId ?? null,
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
  const again = isAgain ? 'a chargeback that was reversed came again' : undefined
  const whys = [again, misfit?.why].filter((why) => why !== undefined)
  const why = whys.length === 0 ? 'a chargeback beyond what is left' : whys.join(', ')
  const entry = {
    id: newId(),
    kind: 'beyond-sums',
    detail: { ...saidOf(reported), why },
    freezes: misfit?.freezes ?? [],
    isAlways: isAgain,
  } as const
  await faultPoint('before-fact', row.record.id)
  const [recorded] = await engine.lanes.inOrder(row.record.parentId ?? row.paymentId, () =>
    engine.lanes.single(
      recordChargeback(row, entry, {
        ...seenOf(payment, hit),
        place: { family, number: taken!.places + 1 },
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

/** A report names an authorisation or its capture, so a chain and its captures are one family. */
const familyOf = ({ rootId }: Payment, { members }: Hit): string => members[0] ?? rootId

/**
 * The state behind a decision. A concurrent decision or capture makes the statement write nothing.
 */
const seenOf = (
  { id, state, attemptKey }: Payment,
  { sums, captures, keys }: Hit,
): Omit<Seen, 'sums' | 'place'> => ({
  paymentId: id,
  state,
  about: [attemptKey, ...keys],
  authorisation: sums.length === 0 ? null : { id, captures, sums },
})

/** Why a chargeback is outside of the sums, and which balances wait for an operator. */
function misfitOf(
  { payment, currency }: Report,
  hit: Hit,
): { readonly why: string; readonly freezes: readonly string[] } | undefined {
  const { isAuthorisation, captures, target } = hit
  const balances = balancesOf(payment, hit)
  if (currency !== payment.amount.currency) {
    return { why: 'a chargeback in another currency', freezes: balances }
  }
  if (payment.state !== 'approved') {
    return { why: `a chargeback of a payment that is ${payment.state}`, freezes: balances }
  }
  if (!isAuthorisation) {
    const hasTaken = ['sale', 'capture'].includes(payment.effect) && payment.paymentType !== 'CD'
    return hasTaken ? undefined : { why: 'a chargeback of what took no money', freezes: [] }
  }
  if (target.id !== payment.id) return undefined
  const many = captures.length > 1 ? 'several captures' : 'no capture'
  return { why: `a chargeback of an authorisation with ${many}`, freezes: balances }
}
