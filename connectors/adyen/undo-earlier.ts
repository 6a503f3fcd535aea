/** Records of earlier versions, which kept conclusions in place of the words that led to them. */
import type { Json } from '@tollgate/plugin-kit'
import { noWords, type Told, type Try, type Words } from './undo-words.ts'

export type Earlier = {
  readonly round: number
  readonly state: 'open' | 'asked' | 'failed' | 'done'
  readonly by: 'payment' | 'reference'
  readonly payment?: string
  readonly payments?: readonly {
    readonly psp: string
    /** The try that took it back; 0 for another way. */
    readonly undone?: number
    readonly undoneBy?: string
  }[]
  /** The try that took back a payment before anybody told of one. */
  readonly unnamed?: number
  readonly unnamedBy?: string
  readonly authorised?: boolean
  readonly returned?: number
  readonly minor: string
  readonly currency: string
}

export const isEarlier = (value: Json): boolean => 'state' in Object(value)

/** A payment that a webhook told as authorised, and as refused. */
type Noted = { readonly psp?: string; readonly isRefused?: true }

export function wordsFrom(earlier: Earlier | undefined, { psp, isRefused }: Noted): Words {
  const told = psp === undefined ? [] : [psp]
  const before = { ...noWords, authorised: told, refused: isRefused === true ? told : [] }
  if (earlier === undefined) return before
  const { minor, currency, authorised } = earlier
  return {
    ...before,
    amount: { minor, currency },
    authorised: [...new Set([...told, ...paymentsOf(earlier).map((one) => one.psp)])],
    refused: authorised === false ? ['', ...before.refused] : before.refused,
    tries: triesFrom(earlier),
    told: toldFrom(earlier),
  }
}

/** The first version did not keep which payment a success took back. */
const paymentsOf = ({ state, payments, payment, round }: Earlier) =>
  payments ?? (state === 'done' && payment !== undefined ? [{ psp: payment, undone: round }] : [])

function triesFrom(earlier: Earlier): readonly Try[] {
  const { round, state, by, payment } = earlier
  if (round === 0) return []
  const last: Try = {
    round,
    ...(by === 'payment' && payment !== undefined ? { of: payment } : {}),
    ...(state === 'open' ? { answer: 'refused' } : {}),
    ...(state === 'done' ? { isPassed: true } : {}),
  }
  return [last]
}

function toldFrom(earlier: Earlier): readonly Told[] {
  const { state, by, payment, payments, round, returned, unnamedBy } = earlier
  const isUnnamed = state === 'done' && payments === undefined && payment === undefined
  const unnamed = earlier.unnamed ?? (isUnnamed ? round : undefined)
  const told = paymentsOf(earlier).flatMap(({ psp, undone, undoneBy }) =>
    undone === undefined ? [] : [word('done', undone, psp, undoneBy)],
  )
  if (unnamed !== undefined) told.push(word('done', unnamed, '', unnamedBy))
  if (returned !== undefined) told.push(word('returned', returned))
  const named = by === 'reference' ? (payment ?? '') : ''
  if (state === 'failed') told.push(word('failed', round, named))
  else if (named !== '') told.push(word('failed', 0, named))
  return told
}

/** Adyen's reference of a try was kept elsewhere. */
const word = (is: Told['is'], round: number, original = '', psp = `earlier ${round}`): Told => ({
  is,
  psp,
  original,
  eventCode: 'CANCEL_OR_REFUND',
  value: 0,
  currency: '',
  ...(round === 0 ? {} : { round }),
})
