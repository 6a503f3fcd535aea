/** Reversals of chargebacks that an acquirer or a settlement file reports. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { approvedCode } from './decide.ts'
import { isAdopted, isConfirmed } from './dispute-adoption.ts'
import {
  accountOf,
  beginningByHand,
  disputeReferenceOf,
  isNamedAs,
  list,
  nameOf,
  type Report,
  reportedBefore,
  roundsOf,
  type Step,
} from './dispute-case.ts'
import { balancesOf, chargedBack, factRow, idsOf, tell } from './dispute-fact.ts'
import { type ChargebackRow, chargebacksOf, factByReference } from './store-dispute-read.ts'
import { confirmReversal, recordReversal } from './store-dispute-reversal.ts'
import { paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'

export async function reportReversal(engine: Engine, reported: Report): Promise<Step> {
  const { payment, minor, currency } = reported
  const hit = await chargedBack(engine, payment)
  const isLate = reported.ageMs >= limits.unclaimedMs
  const isNamed = reported.reference !== undefined
  const rounds = isNamed ? await roundsOf(engine, { ...reported, is: 'chargeback' }) : []
  const reference = nameOf(disputeReferenceOf(reported), Math.max(rounds.length, 1))
  const earlier = await roundsOf(engine, reported, rounds.length)
  if (await isConfirmed(engine, reported, hit, earlier)) return 'known'
  const same = earlier.find((row) => isNamedAs(row, reference))
  const earlierReport = await reportedBefore(engine, reported, hit, earlier, same)
  if (earlierReport !== undefined) return earlierReport
  if (await isAdopted(engine, reported, hit, reference)) return 'known'
  const ids = idsOf(hit, payment)
  const ever = isNamed
    ? rounds
    : closest(await engine.lanes.single(chargebacksOf(ids)), payment, hit.isAuthorisation)
  const byHand = isNamed ? ever.slice(-1).filter(isOver) : ever
  const confirmed = await confirm(engine, reported, reference, byHand)
  if (confirmed !== undefined) {
    const isSame = (row: ChargebackRow) => row.minor - row.given_back === minor
    const mayBeAnother = ever.some((row) => row.currency === currency && isSame(row))
    if (!isNamed && mayBeAnother) await list(engine, reported, anotherStands)
    return confirmed
  }
  const { charged, mayBe } = chosenOf(ever, reported, isLate)
  if (charged === undefined) {
    if (!isLate) return 'wait'
    return list(engine, reported, 'no chargeback that it reverses')
  }
  if (!ids.includes(charged.payment_id)) {
    return list(engine, reported, 'its chargeback is of another payment')
  }
  const isOtherCurrency = charged.currency !== currency
  const isDoubtful = new Set(mayBe.map((row) => row.payment_id)).size > 1
  const [charge] = await engine.lanes.single(paymentById(charged.payment_id, null))
  const row = await factRow(engine, charge === undefined ? payment : toPayment(charge), {
    kind: 'reversal',
    account: accountOf(payment),
    reference,
    isNamed,
    source: reported.source,
    settlementId: reported.settlementId ?? null,
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
  const why = isOtherCurrency
    ? 'a reversal in another currency than its chargeback'
    : rounds.length > 1
      ? 'it may be the reversal of an earlier round of its chargeback'
      : isDoubtful
        ? 'it names no chargeback, and several payments have one'
        : null
  const sameSums = isNamed ? [charged] : ever.filter((one) => isAskedFor(one, charged, isLate))
  await faultPoint('before-fact', row.record.id)
  const [recorded] = await engine.lanes.inOrder(row.record.parentId ?? row.paymentId, () =>
    engine.lanes.single(
      recordReversal(row, {
        isStrict: false,
        // Without a reference, the reversal may belong to a missing chargeback; the recorded ones
        // are then too small.
        isWhole: !isNamed && !isLate && !isOtherCurrency,
        isAny: isLate,
        givenBackBefore: sameSums.reduce((sum, { given_back }) => sum + given_back, 0n),
        why,
        // One outside of the sums can be of any capture.
        freezes: isDoubtful
          ? mayBe.flatMap(({ balance_id }) => balance_id ?? balancesOf(payment, hit))
          : [],
      }),
    ),
  )
  await faultPoint('after-fact', row.record.id)
  if (recorded === undefined) return 'twin'
  tell(engine, row, recorded)
  return 'recorded'
}

/** Nothing is frozen: refunds wait for the chargeback that stands. */
const anotherStands = 'it was taken for the reversal by hand, and a chargeback of its amount stands'

/** One by the key of a capture is about that of the capture, where one stands. */
function closest(
  all: readonly ChargebackRow[],
  { id }: Payment,
  isAuthorisation: boolean,
): readonly ChargebackRow[] {
  const own = all.filter((row) => row.payment_id === id)
  return !isAuthorisation && own.some((row) => !isOver(row)) ? own : all
}

const isOver = ({ minor, given_back }: ChargebackRow): boolean => given_back >= minor

/** The chargebacks among which the statement looks for one without a reference. */
const isAskedFor = (one: ChargebackRow, charged: ChargebackRow, isLate: boolean): boolean =>
  one.payment_id === charged.payment_id && (!one.is_named || isLate)

/**
 * An operator recorded this reversal earlier: no money moves, and the merchant gets no second
 * notification. Reversals by hand of one amount are alike, so the oldest is confirmed.
 */
async function confirm(
  engine: Engine,
  { payment, minor, currency, source, reference: given }: Report,
  reference: string,
  mayBe: readonly ChargebackRow[],
): Promise<'known' | 'twin' | undefined> {
  const { connector } = payment
  const account = accountOf(payment)
  const names = mayBe.map((row) => beginningByHand(row.reference))
  const isNamed = given !== undefined
  const reversal = { connector, account, names, reference, isNamed, source, minor, currency }
  const [confirmed] = await engine.lanes.single(confirmReversal(reversal))
  if (confirmed !== undefined) return 'known'
  // Two processes may handle the same message at the same moment.
  const [other] = await engine.lanes.single(
    factByReference(connector, account, 'reversal', reference),
  )
  return other === undefined ? undefined : 'twin'
}

type Chosen = {
  readonly charged: ChargebackRow | undefined
  /** The open chargebacks that a reversal without a reference may mean equally well. */
  readonly mayBe: readonly ChargebackRow[]
}

/**
 * The latest round of a named chargeback. Otherwise an open chargeback of this currency without a
 * reference, or after a time of any: the oldest of an equal open amount, or else the oldest. Without
 * one, the latest closed one.
 */
function chosenOf(
  ever: readonly ChargebackRow[],
  { reference, minor, currency }: Report,
  isLate: boolean,
): Chosen {
  if (reference !== undefined) return { charged: ever.at(-1), mayBe: [] }
  const possible = ever.filter((row) => !row.is_named || isLate)
  const same = possible.filter((row) => row.currency === currency)
  const open = same.filter((row) => !isOver(row))
  const nameless = open.filter((row) => !row.is_named)
  const first = nameless.length > 0 ? nameless : open
  const equal = first.filter((row) => row.minor - row.given_back === minor)
  const mayBe = equal.length > 0 ? equal : first
  const closed = same.at(-1) ?? (isLate ? possible.at(-1) : undefined)
  return { charged: mayBe[0] ?? closed, mayBe }
}
