/** Entries of the operators' list about late words, and the balances that wait for an operator. */
import type { Money } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { isSameAmount, movedBy } from './amount-moved.ts'
import { isOver, type Told } from './late-word-table.ts'
import { referencedBy, returnsOf } from './rebuild-attempt.ts'
import { otherReference } from './reference-origin.ts'
import { capturesOf } from './store-dispute-read.ts'
import type { Entry, LateMove } from './store-late-word.ts'
import type { Held, Payment, Source } from './types.ts'

/** A late word beside the payment that it is about. */
export type LateWord = {
  readonly now: Held
  readonly outcome: Told
  readonly source: Source
  /** The amount of the word; undefined when the word names none. */
  readonly amount: Money | undefined
  /** Whether that amount differs from the amount that moved. */
  readonly isOtherAmount: boolean
  /** Whether it names another operation under the key of the payment. */
  readonly isOfAnother: boolean
  /** Tells words about one payment apart: a repeated word is listed once. */
  readonly content: string
  /** The word as entries record it. */
  readonly said: Readonly<Record<string, unknown>>
}

export function lateWordOf(
  engine: Pick<Engine, 'registry'>,
  now: Held,
  outcome: Told,
  source: Source,
  amount: Money | undefined,
): LateWord {
  const { payment } = now
  const isOtherAmount = amount !== undefined && !isSameAmount(amount, movedBy(payment))
  const other = otherReference(engine, payment, outcome)
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  const what = isOtherAmount ? `${outcome.is} ${amount.minor} ${amount.currency}` : outcome.is
  // A second success that is told as accepted and then as approved is one.
  const isOne = other !== undefined && isSuccess && !isOtherAmount
  const content = [...(other === undefined ? [] : [other]), ...(isOne ? [] : [what])].join(' ')
  const said = {
    row: payment.state,
    outcome: outcome.is,
    source,
    refs: 'refs' in outcome ? (outcome.refs ?? {}) : {},
    ...('code' in outcome && outcome.code !== undefined ? { code: outcome.code } : {}),
    ...(outcome.is === 'declined' ? { reason: outcome.reason } : {}),
    ...(outcome.is === 'notReversed' ? { why: outcome.why } : {}),
    ...(amount === undefined ? {} : { minor: String(amount.minor), currency: amount.currency }),
  }
  const isOfAnother = other !== undefined
  return { now, outcome, source, amount, isOtherAmount, isOfAnother, content, said }
}

export async function entryOf(
  engine: Engine,
  { now, outcome, isOtherAmount, said }: LateWord,
  kind: Entry['kind'],
  detail: Entry['detail'],
  reference = '',
): Promise<NonNullable<LateMove['entry']>> {
  const isOther = isOtherAmount && reference !== ''
  return {
    id: newId(),
    kind,
    reference,
    detail: { ...said, ...detail },
    freezes: await frozenBy(engine, kind, now.payment, outcome, isOther),
  }
}

/**
 * Balances that wait for an operator: returned money, for an authorisation with its captures; an authorisation whose
 * capture was reversed late; or money with two reported amounts.
 */
async function frozenBy(
  engine: Engine,
  kind: Entry['kind'],
  payment: Payment,
  outcome: Told,
  isOther: boolean,
): Promise<readonly string[]> {
  if (kind === 'return') {
    const captures = isAuthorisation(payment)
      ? await engine.lanes.single(capturesOf(payment.rootId))
      : []
    return [payment.rootId, ...captures.map(({ id }) => id)]
  }
  const isSuccess = outcome.is === 'approved' || outcome.is === 'accepted'
  if (payment.effect === 'undo') {
    const undoes = isSuccess ? await referencedBy(engine, payment) : undefined
    return undoes === undefined ? [] : [undoes.rootId]
  }
  const isMoneyThere = isSuccess || outcome.is === 'notReversed'
  const isTwoAmounts = isOther && (isMoneyThere || payment.state === 'approved')
  return [
    ...(isTwoAmounts ? [payment.rootId] : []),
    ...(isTwoAmounts && payment.parentId !== null ? [payment.parentId] : []),
    ...(isSuccess && isOver(payment.state) ? await freedBy(engine, payment) : []),
  ]
}

/**
 * The authorisation whose capture was reversed late: the amount is free again, and a capture of it waits until that
 * is certain.
 */
export async function freedBy(engine: Engine, payment: Payment): Promise<readonly string[]> {
  if (payment.effect !== 'void') return []
  const returns = returnsOf(payment, await referencedBy(engine, payment))
  return returns === null ? [] : [returns.balanceId]
}

const isAuthorisation = ({ effect }: Payment) =>
  effect === 'authorisation' || effect === 'replacement' || effect === 'increase'
