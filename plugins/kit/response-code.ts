/** Response codes of ISO 8583 (field 39), which many acquirers pass on under names of their own. */
import { type Reason, resultAdvice } from '@tollgate/schemas'
import {
  type Approved,
  approved,
  declined,
  type Money,
  type Outcome,
  type Refs,
  unknown,
} from './outcome.ts'

/**
 * The meaning of a response code. `approvedInPart`: for the amount in the answer, which can be lower than the
 * requested one. `unknown`: the code says nothing about the money, because a machine on the way failed, the
 * issuer answered too late, or the code is unlisted.
 */
export type ResponseMeaning =
  | { readonly is: 'approved' | 'approvedInPart' | 'unknown' }
  | { readonly is: 'declined'; readonly reason: Reason }

const done: ResponseMeaning = { is: 'approved' }
const inPart: ResponseMeaning = { is: 'approvedInPart' }
const open: ResponseMeaning = { is: 'unknown' }
const refused = (reason: Reason): ResponseMeaning => ({ is: 'declined', reason })

// biome-ignore format: a table reads best with one row on one line.
const meanings: ReadonlyMap<string, ResponseMeaning> = new Map([
  ['00', done],                   // approved
  ['08', done],                   // approved, honour with identification
  ['10', inPart],                 // approved for a part of the amount
  ['11', done],                   // approved, VIP
  ['16', done],                   // approved, track 3 to be updated
  ['01', refused('800.100.152')], // refer to the issuer
  ['02', refused('800.100.152')], // refer to the issuer, special condition
  ['03', refused('800.100.190')], // merchant unknown
  ['04', refused('800.100.171')], // retain the card
  ['05', refused('800.100.152')], // do not honour
  ['07', refused('800.100.171')], // retain the card, special condition
  ['12', refused('800.100.154')], // transaction not valid
  ['13', refused('800.100.174')], // amount not valid
  ['14', refused('800.100.151')], // card number not valid
  ['15', refused('800.100.151')], // no such issuer
  ['30', refused('800.100.156')], // format error
  ['33', refused('800.100.157')], // expired card, retain it
  ['34', refused('800.100.158')], // fraud suspected, retain the card
  ['35', refused('800.100.171')], // retain the card, contact the acquirer
  ['36', refused('800.100.168')], // restricted card, retain it
  ['38', refused('800.100.178')], // too many tries of the PIN, retain the card
  ['39', refused('800.100.169')], // no credit account
  ['41', refused('800.100.165')], // lost card
  ['43', refused('800.100.159')], // stolen card
  ['46', refused('800.100.172')], // account closed
  ['51', refused('800.100.155')], // not sufficient funds
  ['52', refused('800.100.195')], // no current account
  ['53', refused('800.100.195')], // no savings account
  ['54', refused('800.100.157')], // expired card
  ['55', refused('800.100.166')], // PIN wrong
  ['56', refused('800.100.151')], // no record of the card
  ['57', refused('800.100.170')], // transaction not permitted to the cardholder
  ['58', refused('800.100.170')], // transaction not permitted to the terminal
  ['59', refused('800.100.158')], // fraud suspected
  ['61', refused('800.100.162')], // above the limit
  ['62', refused('800.100.168')], // restricted card
  ['63', refused('800.100.158')], // security violation
  ['65', refused('300.100.100')], // authentication required, or too many withdrawals
  ['1A', refused('300.100.100')], // authentication required
  ['70', refused('800.100.166')], // PIN data required
  ['75', refused('800.100.178')], // too many tries of the PIN
  ['78', refused('800.100.160')], // blocked, or first used
  ['79', refused('800.100.160')], // life cycle of the card
  ['82', refused('800.100.153')], // security code wrong
  ['93', refused('800.100.170')], // against the law
  ['N7', refused('800.100.153')], // security code wrong
  ['R0', refused('800.100.500')], // stop this recurring payment
  ['R1', refused('800.100.501')], // stop every recurring payment of the merchant
  ['R3', refused('800.100.501')], // stop all recurring payments
  ['06', open],                   // error
  ['09', open],                   // in progress
  ['22', open],                   // suspected malfunction
  ['68', open],                   // the response came too late
  ['90', open],                   // cut-off in progress
  ['91', open],                   // issuer not available
  ['92', open],                   // no route
  ['94', open],                   // duplicate: the first one may have been carried out
  ['96', open],                   // system malfunction
])

/** What a response code says about an operation. An unlisted code is `unknown`, and never an approval. */
export const responseMeaning = (code: string): ResponseMeaning => meanings.get(code) ?? open

/** The acquirer's answer beside its response code. */
export type Response = Omit<Approved, 'is' | 'code' | 'amount' | 'refs'> & {
  /** The acquirer's references. An approval without any becomes `unknown` in the engine. */
  readonly refs: Refs
  /** The amount in the answer. Required for a partial approval. */
  readonly amount?: Money | undefined
  /**
   * The requested amount. `undefined` in an event, which does not know it: the engine compares the amount of the
   * claim with its payment, so an approval names it.
   */
  readonly asked: Money | undefined
  /** The acquirer's text for a decline. */
  readonly text?: string | undefined
}

/**
 * The outcome of an operation with this response code. An approval names the amount of the answer where that differs
 * from the requested one; the engine decides about the difference. A partial approval without an amount of its own is `unknown`.
 *
 * @param code as the acquirer wrote it, two characters.
 */
export function responseOutcome(
  code: string,
  { refs, amount, asked, text, ...shown }: Response,
): Outcome {
  const meaning = responseMeaning(code)
  switch (meaning.is) {
    case 'declined': {
      const { reason } = meaning
      const advice = resultAdvice(reason)
      const { avs, cvv, details, card } = shown
      return declined(reason, {
        refs,
        code,
        ...given({ text, advice, avs, cvv, details, card }),
      })
    }
    case 'unknown':
      return unknown(`the response code ${code.slice(0, 8)} does not say what happened`, { refs })
    case 'approvedInPart':
      if (amount === undefined) return unknown('approved in part, without an amount', { refs })
      // An amount that only repeats the request does not name the part.
      if (asked !== undefined && isSame(amount, asked)) {
        return unknown('approved in part, with the whole amount', { refs })
      }
  }
  const isOther = amount !== undefined && (asked === undefined || !isSame(amount, asked))
  return approved(refs, { ...shown, code, ...(isOther ? { amount } : {}) })
}

const isSame = (one: Money, other: Money): boolean =>
  one.minor === other.minor && one.currency === other.currency

/** Without the absent values. */
const given = <Values extends object>(values: Values) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Values]?: Exclude<Values[Name], undefined>
  }
