/** The issuer's answer about one key, the same over every transport. */
import {
  type Authentication,
  type Json,
  type Money,
  type Redirect,
  Sensitive,
} from '@tollgate/plugin-kit'
import type { Case, Status } from './case.ts'
import { eciOf, protocolVersion, transactionIdOf, verificationIdOf } from './values.ts'

/** Addresses of the pages of one case. */
export type PageUrls = { readonly challenge: string; readonly device: string }

export type IssuerAnswer = {
  readonly key: string
  readonly amount: Money
  /** `open`: the cardholder has to act on the pages. */
  readonly status: Status | 'open'
  readonly version: string
  readonly dsTransactionId: string
  readonly acsTransactionId: string
  readonly eci?: string
  readonly verificationId?: string
  readonly authType?: string
  readonly reason?: string
  readonly pages?: PageUrls
  readonly deviceStep?: true
  /** Milliseconds since 1970. */
  readonly expiresAt?: number
}

/** A one-time code, in the protocol's table of methods. */
const dynamic = '02'

/** @param pages absent where nobody can visit them */
export function answerOf(found: Case, secret: string, pages?: PageUrls): IssuerAnswer {
  const { key, amount, status, reason, expiresAt } = found
  const eci = eciOf(found)
  const proves = status === 'Y' || status === 'A'
  const isOpen = status === undefined || status === 'timedOut'
  return {
    key,
    amount,
    status: status ?? 'open',
    version: protocolVersion,
    dsTransactionId: transactionIdOf(found, 'directory', secret),
    acsTransactionId: transactionIdOf(found, 'issuer', secret),
    ...(eci === undefined ? {} : { eci }),
    ...(proves ? { verificationId: verificationIdOf(found, secret) } : {}),
    ...(found.flow === 'challenge' ? { authType: dynamic } : {}),
    ...(reason === undefined ? {} : { reason }),
    ...(isOpen ? { expiresAt } : {}),
    ...(isOpen && pages !== undefined ? { pages } : {}),
    ...(isOpen && found.deviceStep && found.device === undefined ? { deviceStep: true } : {}),
  }
}

/** The answer as the engine reads it. */
export function toAuthentication(answer: IssuerAnswer, asked: Money): Authentication {
  const { status, reason, authType, eci, version, dsTransactionId, acsTransactionId } = answer
  const facts = {
    version,
    dsTransactionId,
    acsTransactionId,
    ...(authType === undefined ? {} : { authType }),
    ...(reason === undefined ? {} : { reason }),
  }
  switch (status) {
    case 'Y':
    case 'A': {
      const { amount, verificationId } = answer
      const isSame = amount.minor === asked.minor && amount.currency === asked.currency
      return {
        is: status === 'Y' ? 'authenticated' : 'attempted',
        ...facts,
        ...(eci === undefined ? {} : { eci }),
        ...(verificationId === undefined ? {} : { verificationId: new Sensitive(verificationId) }),
        ...(isSame ? {} : { amount }),
      }
    }
    case 'notEnrolled': {
      const { reason: _, ...rest } = facts
      return { is: 'notEnrolled', ...rest }
    }
    case 'N':
    case 'R':
      return { is: 'failed', status, ...facts }
    case 'U':
      return { is: 'unavailable', ...facts }
    case 'cancelled':
      return { is: 'cancelled', ...facts }
    // The engine's own timer ends a challenge whose time is over.
    default:
      return toShopper(answer) ?? { is: 'unavailable', ...facts }
  }
}

function toShopper({ pages, deviceStep, expiresAt }: IssuerAnswer): Authentication | undefined {
  if (pages === undefined || expiresAt === undefined) return undefined
  const next: Redirect = {
    redirect: {
      url: pages.challenge,
      method: 'GET',
      parameters: [],
      ...(deviceStep ? { preconditions: [deviceStepAt(pages.device)] } : {}),
    },
  }
  return { is: 'shopper', next, expiresAt: new Date(expiresAt) }
}

const deviceStepAt = (url: string) => ({
  origin: 'iframe#hidden',
  waitUntil: 'iframe#onload',
  method: 'POST' as const,
  url,
  parameters: [
    { name: 'threeDSMethodData', value: Buffer.from('{"simulated":true}').toString('base64url') },
  ],
  description: 'Hidden frame in which the issuer looks at the browser',
})

/** A case as JSON, minor units as a decimal string. */
export function caseToJson({ amount, ...rest }: Case): { [key: string]: Json } {
  return { ...rest, amount: { minor: String(amount.minor), currency: amount.currency } }
}

export function caseFromJson(json: unknown): Case {
  const stored = json as Case & { readonly amount: { readonly minor: string } }
  return { ...stored, amount: { ...stored.amount, minor: BigInt(stored.amount.minor) } }
}
