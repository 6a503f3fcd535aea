/**
 * One authentication at the simulated issuer, and its changes. Values never change: a change is a
 * new case. The functions use no clock and do no I/O, so both transports decide alike.
 */
import type { Money } from '@tollgate/plugin-kit'
import { type Enrolment, effectOfCode } from './enrolment.ts'

/** `Y` to `U` are the issuer's statuses; the others are ends without one. */
export type Status = 'Y' | 'A' | 'N' | 'R' | 'U' | 'notEnrolled' | 'cancelled' | 'timedOut'

export type Case = {
  readonly key: string
  readonly amount: Money
  readonly brand: string
  readonly last4: string
  readonly isPayment: boolean
  /** The merchant's name for the cardholder. */
  readonly shop?: string
  /** Language of the cardholder's browser. */
  readonly language?: string
  readonly returnUrl?: string
  /** Address of events about this case. */
  readonly notifyUrl?: string
  readonly flow: 'frictionless' | 'challenge'
  /** Whether the browser is looked at before the challenge. */
  readonly deviceStep: boolean
  readonly device?: 'seen'
  /** Absent while the cardholder has to act. */
  readonly status?: Status
  /** The issuer's reason, two digits. */
  readonly reason?: string
  readonly wrongCodes: number
  /** The last try of the cardholder, for the next page. */
  readonly note?: 'wrong' | 'empty' | 'resent'
  /** The end of a challenge in the merchant's business time, for the engine. Milliseconds since 1970. */
  readonly expiresAt: number
  /** The same on the machine's clock, for the page, which knows no merchant's time. */
  readonly closesAt: number
}

/** What the issuer is asked. */
export type Question = Pick<
  Case,
  | 'key'
  | 'amount'
  | 'brand'
  | 'last4'
  | 'isPayment'
  | 'shop'
  | 'language'
  | 'returnUrl'
  | 'notifyUrl'
> & {
  readonly enrolment: Enrolment
  readonly timeoutMs: number
}

/** Wrong codes that end a challenge. */
export const mostWrongCodes = 3

/** Reasons of the protocol's table. */
const reasonOf: Partial<Record<Status, string>> = {
  N: '01',
  R: '11',
  U: '22',
  notEnrolled: '13',
  timedOut: '14',
}
const tooManyChallenges = '19'

/** Opens the case of an unused key. Without a challenge, or a shopper for one, it is decided at once. */
export function openCase(
  { enrolment, timeoutMs, ...about }: Question,
  now: { readonly business: number; readonly machine: number },
): Case {
  const { enrolled, flow, status, deviceStep } = enrolment
  const open: Case = {
    ...about,
    flow: enrolled ? flow : 'frictionless',
    deviceStep: enrolled && flow === 'challenge' && deviceStep,
    wrongCodes: 0,
    expiresAt: now.business + timeoutMs,
    closesAt: now.machine + timeoutMs,
  }
  if (!enrolled) return decided(open, 'notEnrolled')
  if (flow === 'frictionless') return decided(open, status)
  return about.returnUrl === undefined ? decided(open, 'U') : open
}

function decided(found: Case, status: Status, reason = reasonOf[status]): Case {
  const { note: _done, ...rest } = found
  return { ...rest, status, ...(reason === undefined ? {} : { reason }) }
}

/** The cardholder typed a code. Blanks between digits are no mistake. */
export function enterCode(found: Case, typed: string): Case {
  if (found.status !== undefined) return found
  const code = typed.replaceAll(/\s/g, '')
  if (code === '') return { ...found, note: 'empty' }
  const { status } = effectOfCode(code)
  if (status !== undefined) return decided(found, status)
  const wrongCodes = found.wrongCodes + 1
  const wrong: Case = { ...found, wrongCodes, note: 'wrong' }
  return wrongCodes < mostWrongCodes ? wrong : decided(wrong, 'N', tooManyChallenges)
}

export const resendCode = (found: Case): Case =>
  found.status === undefined ? { ...found, note: 'resent' } : found

export const cancel = (found: Case): Case =>
  found.status === undefined ? decided(found, 'cancelled') : found

export const seeDevice = (found: Case): Case =>
  found.deviceStep && found.device === undefined ? { ...found, device: 'seen' } : found

/** Closes a challenge whose time is over for the merchant. */
export const whenOver = (found: Case, businessNow: number): Case =>
  found.status === undefined && businessNow >= found.expiresAt ? decided(found, 'timedOut') : found

/** The same for a visitor of the page. */
export const whenClosed = (found: Case, machineNow: number): Case =>
  found.status === undefined && machineNow >= found.closesAt ? decided(found, 'timedOut') : found
