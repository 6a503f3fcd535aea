/**
 * Chargebacks and their reversals: facts that an acquirer or a settlement file reports. Nothing is sent,
 * so there is no attempt, no lease and no sweep; each is recorded in one statement, once for its
 * reference.
 */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { addAttention, freezeWith } from '../operator/store.ts'
import { approvedCode } from './decide.ts'
import { chargebackReason, chargedBack, factRow, type Hit, isOf, tell } from './dispute-fact.ts'
import {
  type ChargebackRow,
  chargebacksOf,
  type FactKind,
  factByReference,
  recordChargeback,
  recordReversal,
} from './store-dispute.ts'
import { paymentById, toPayment } from './store-read.ts'
import type { Payment } from './types.ts'
import { isOpen } from './words.ts'

/** What somebody outside reports, wherever it comes from. */
export type Report = {
  readonly is: FactKind
  /** Of the payment that it is about: the one whose key the acquirer named. */
  readonly payment: Payment
  readonly minor: bigint
  readonly currency: string
  /** The acquirer's reference of the dispute; undefined: the id of the message stands for it. */
  readonly reference: string | undefined
  /** Id of the message or line that says it. */
  readonly source: string
  /** The acquirer's reason of a chargeback: a result code, or a code of its scheme. */
  readonly reason: string | undefined
  readonly refs: Readonly<Record<string, string>>
  /** Since it was reported first. */
  readonly ageMs: number
}

export type Reported =
  | 'recorded'
  /** Its reference is known, with the same amount. */
  | 'known'
  /** It cannot be recorded as it is: on the operators' list. */
  | 'listed'
  /** Its payment or a capture of it is undecided, or its chargeback has not come yet. */
  | 'wait'

/** Records what was reported. Never refused: what does not fit the sums is listed beside its record. */
export async function report(engine: Engine, reported: Report): Promise<Reported> {
  if (isOpen(reported.payment.state)) return 'wait'
  const record = reported.is === 'chargeback' ? reportChargeback : reportReversal
  const recorded = await record(engine, reported)
  if (recorded !== 'twin') return recorded
  const again = await record(engine, reported)
  return again === 'twin' ? 'wait' : again
}

async function reportChargeback(engine: Engine, reported: Report): Promise<Reported | 'twin'> {
  const { payment, minor, currency } = reported
  const hit = await chargedBack(engine, payment)
  const rounds = await roundsOf(engine, reported)
  const told = await toldBefore(engine, reported, hit, rounds, rounds.at(-1))
  if (told !== undefined) return told
  if (hit.isUndecided) return 'wait'
  const isAgain = rounds.length > 0
  const reason = chargebackReason(reported.reason)
  const misfit = misfitOf(reported, hit)
  const row = await factRow(engine, hit.target, {
    kind: 'chargeback',
    account: accountOf(payment),
    reference: nameOf(referenceOf(reported), rounds.length + 1),
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
  await faultPoint('before-fact', row.id)
  const [recorded] = await engine.lanes.inOrder(row.balanceId ?? row.paymentId, () =>
    engine.lanes.single(recordChargeback(row, entry)),
  )
  await faultPoint('after-fact', row.id)
  if (recorded === undefined) return 'twin'
  tell(engine, row, recorded)
  return 'recorded'
}

/** Why a chargeback is outside of the sums, and what waits until an operator looked at it. */
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
  const reference = nameOf(referenceOf(reported), Math.max(rounds.length, 1))
  const earlier = await roundsOf(engine, reported, rounds.length)
  const same = earlier.find((row) => row.reference === reference)
  const told = await toldBefore(engine, reported, hit, earlier, same)
  if (told !== undefined) return told
  const charged = isNamed
    ? rounds.at(-1)
    : namelessOf(
        await engine.lanes.single(chargebacksOf([payment.id, ...hit.ever])),
        currency,
        isLate,
      )
  if (charged === undefined) {
    if (!isLate) return 'wait'
    return list(engine, reported, 'no chargeback that it reverses')
  }
  if (!isOf(hit, payment, charged)) {
    return list(engine, reported, 'its chargeback is of another payment')
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
  // Without a reference it may be of a chargeback that has not come: what stands is then too little for it.
  const isWhole = !isNamed && !isLate && row.balanceId !== null
  const why = isOtherCurrency
    ? 'a reversal in another currency than its chargeback'
    : rounds.length > 1
      ? 'it may be the reversal of an earlier round of its chargeback'
      : null
  await faultPoint('before-fact', row.id)
  const [recorded] = await engine.lanes.inOrder(row.balanceId ?? row.paymentId, () =>
    engine.lanes.single(recordReversal(row, { isStrict: false, isWhole, isAny: isLate, why })),
  )
  await faultPoint('after-fact', row.id)
  if (recorded === undefined) return 'twin'
  tell(engine, row, recorded)
  return 'recorded'
}

/** The chargeback without a reference that stands longest, or the last there was, in its own currency. */
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

/**
 * The facts of a reference, one for each round: a bank may take again what it gave back.
 *
 * @param most How many there can be; without it, up to the first that is missing.
 */
async function roundsOf(
  engine: Engine,
  { is, payment, ...reported }: Report,
  most?: number,
): Promise<ChargebackRow[]> {
  const rounds: ChargebackRow[] = []
  for (let round = 1; most === undefined || round <= Math.max(most, 1); round++) {
    const name = nameOf(referenceOf(reported), round)
    const [row] = await engine.lanes.single(
      factByReference(payment.connector, accountOf(payment), is, name),
    )
    if (row !== undefined) rounds.push(row)
    else if (most === undefined) break
  }
  return rounds
}

/**
 * What a known reference says: nothing new while it is told of the same. With another amount or for
 * another payment it is listed. Undefined: it is new, or a round of its own.
 *
 * @param same What it would be a repetition of.
 */
async function toldBefore(
  engine: Engine,
  reported: Report,
  hit: Hit,
  rounds: readonly ChargebackRow[],
  same: ChargebackRow | undefined,
): Promise<Reported | undefined> {
  if (rounds.some(({ source }) => source === reported.source)) return 'known'
  if (same === undefined) return undefined
  const isOver = reported.is === 'chargeback' && same.minor > 0n && same.given_back >= same.minor
  const freezes = reported.is === 'chargeback' ? hit.target.rootId : undefined
  if (!isOf(hit, reported.payment, same)) {
    return list(engine, reported, 'the reference is known of another payment', same, freezes)
  }
  if (same.minor !== reported.minor || same.currency !== reported.currency) {
    const why = 'the reference is known with another amount'
    return list(engine, reported, why, same, isOver ? freezes : undefined)
  }
  return isOver ? undefined : 'known'
}

const accountOf = (payment: Payment): string => payment.accountId ?? 'internal'

const referenceOf = ({ reference, source }: Pick<Report, 'reference' | 'source'>): string =>
  reference ?? source

const nameOf = (reference: string, round: number): string =>
  round === 1 ? reference : `${reference} round ${round}`

const saidOf = (reported: Report) => ({
  reported: reported.is === 'chargeback' ? 'CB' : 'CR',
  event: reported.source,
  reference: referenceOf(reported),
  minor: String(reported.minor),
  currency: reported.currency,
})

/** @param freezes Balance that waits until an operator ended the entry. */
async function list(
  engine: Engine,
  reported: Report,
  why: string,
  known?: ChargebackRow,
  freezes?: string,
): Promise<'listed'> {
  const { is, payment, minor, currency } = reported
  const detail = {
    ...saidOf(reported),
    why,
    ...(known === undefined ? {} : { knownMinor: String(known.minor) }),
  }
  const said = `${is} ${referenceOf(reported)}`
  const reference = known === undefined ? said : `${said} ${minor} ${currency}`
  const entry = [newId(), 'beyond-sums', payment.id, payment.attemptKey, 0, detail] as const
  await engine.lanes.single(
    freezes === undefined || payment.state !== 'approved'
      ? addAttention(...entry, reference)
      : freezeWith(...entry, reference, freezes),
  )
  return 'listed'
}
