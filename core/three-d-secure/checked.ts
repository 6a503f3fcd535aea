/** Validates the answers of authenticators. A malformed answer is no answer. */
import { type Authentication, type Json, Sensitive } from '@tollgate/plugin-kit'
import { currencyOf } from '@tollgate/schemas'
import { maskCardNumbers } from '../redaction/mask.ts'
import type { Facts } from './types.ts'

/** An answer, that there is none, or that the authenticator knows no such key. */
export type Said = Authentication | { is: 'notFound' } | { is: 'unknown'; why: string }

const formats: readonly (readonly [field: string, RegExp])[] = [
  ['eci', /^0[0-9]$/],
  ['dsTransactionId', /^[\x21-\x7e]{1,36}$/],
  ['acsTransactionId', /^[\x21-\x7e]{1,36}$/],
  ['version', /^[12]\.[0-9]\.[0-9]$/],
  ['authType', /^0[1-4]$/],
  ['reason', /^[0-9]{2}$/],
]

/** Longer proofs than any scheme has. */
const longestProof = 128
/** Memos are kept with the payment. */
const longestMemo = 16_384

const bad = (why: string) => ({ is: 'unknown', why }) as const

type Fields = Readonly<Record<string, unknown>>

/** A validated copy. The code reads each property once, so that a getter cannot change a checked value. */
export function checkedAuthentication(given: unknown): Said {
  if (typeof given !== 'object' || given === null)
    return bad('the authenticator returned no answer')
  const answer: Fields = { ...given }
  const memo = memoOf(answer.memo)
  switch (answer.is) {
    case 'notFound':
      return { is: 'notFound' }
    case 'authenticated':
    case 'attempted':
    case 'informational':
      return confirmed(answer.is, answer, memo)
    case 'failed': {
      if (answer.status !== 'N' && answer.status !== 'R')
        return bad('failed with a status that is none')
      return { is: 'failed', status: answer.status, ...factsIn(answer), ...memo }
    }
    case 'cancelled':
    case 'unavailable':
    case 'notEnrolled':
      return { is: answer.is, ...factsIn(answer), ...memo }
    case 'shopper': {
      const { redirect } = Object(answer.next) as Fields
      if (typeof redirect !== 'object' || redirect === null) return bad('no page for the shopper')
      return { is: 'shopper', next: { redirect: redirect as never }, ...endOf(answer), ...memo }
    }
    case 'decoupled':
      if (typeof answer.poll !== 'number' || !(answer.poll > 0))
        return bad('decoupled without a pause')
      return { is: 'decoupled', poll: answer.poll, ...factsIn(answer), ...endOf(answer), ...memo }
    default:
      return bad('the authenticator returned an answer that does not exist')
  }
}

function confirmed(
  is: 'authenticated' | 'attempted' | 'informational',
  answer: Fields,
  memo: { memo?: Json },
): Said {
  const { version = '', ...facts } = factsIn(answer)
  if (version === '') return bad('authenticated without a version of the protocol')
  const proof = answer.verificationId
  const isProof =
    Sensitive.is(proof) &&
    typeof proof.reveal() === 'string' &&
    (proof.reveal() as string).length <= longestProof
  if (proof !== undefined && !isProof) return bad('the verification id must be a Sensitive text')
  const amount = moneyOf(answer.amount)
  if (answer.amount !== undefined && amount === undefined) return bad('authenticated for no amount')
  return {
    is,
    version,
    ...facts,
    ...(isProof ? { verificationId: proof as Sensitive } : {}),
    ...(amount === undefined ? {} : { amount }),
    ...memo,
  }
}

/** Well-formed values alone: none of them is worth losing the answer for. */
function factsIn(answer: Fields): { eci?: string; version?: string; reason?: string } {
  const values = formats.flatMap(([name, format]) => {
    const value = answer[name]
    const isValue = typeof value === 'string' && format.test(value)
    return isValue && maskCardNumbers(value) === value ? [[name, value]] : []
  })
  return Object.fromEntries(values)
}

function endOf({ expiresAt }: Fields): { expiresAt?: Date } {
  const isTime = expiresAt instanceof Date && !Number.isNaN(expiresAt.getTime())
  return isTime ? { expiresAt: new Date(expiresAt) } : {}
}

function memoOf(memo: unknown): { memo?: Json } {
  if (memo === undefined) return {}
  try {
    const text = JSON.stringify(memo)
    if (text === undefined || text.length > longestMemo) return {}
    return { memo: JSON.parse(maskCardNumbers(text) === text ? text : '{}') }
  } catch {
    return {}
  }
}

function moneyOf(given: unknown): { minor: bigint; currency: string } | undefined {
  if (typeof given !== 'object' || given === null) return undefined
  const { minor, currency } = given as Fields
  if (typeof minor !== 'bigint' || typeof currency !== 'string') return undefined
  return currencyOf(currency)?.exponent == null ? undefined : { minor, currency }
}

const statuses: Readonly<Record<string, string>> = {
  authenticated: 'Y',
  attempted: 'A',
  informational: 'I',
  cancelled: 'N',
  unavailable: 'U',
  notEnrolled: 'U',
  shopper: 'C',
  decoupled: 'D',
}

/** Reason of the protocol: the cardholder is not enrolled in the service. */
const cardholderNotEnrolled = '13'

/** The values of an answer that are shown and sent on, in the names of the API. */
export function factsOf(said: Authentication): Facts {
  const {
    reason: named,
    eci,
    dsTransactionId,
    acsTransactionId,
    version,
    authType,
  } = said as Fields & Facts
  const reason = said.is === 'notEnrolled' ? cardholderNotEnrolled : named
  const status = said.is === 'failed' ? said.status : statuses[said.is]
  return {
    ...(eci === undefined ? {} : { eci }),
    ...(dsTransactionId === undefined ? {} : { dsTransactionId }),
    ...(acsTransactionId === undefined ? {} : { acsTransactionId }),
    ...(version === undefined ? {} : { version }),
    ...(authType === undefined ? {} : { authType }),
    ...(typeof reason === 'string' ? { transactionStatusReason: reason } : {}),
    ...(status === undefined ? {} : { authenticationStatus: status }),
  }
}
