import { type Money, Sensitive } from '@tollgate/plugin-kit'
import { isResultCode } from '@tollgate/schemas'
import type { Answer, Reversal } from './answer.ts'
import type { Labels } from './entry.ts'
import type { Request } from './ledger.ts'
import { longestDelayMs } from './rules.ts'
import type { Signs } from './verdict.ts'

/** Headers of the HTTP acquirer's API, next to `authorization: Bearer <secret>`. */
export const merchantHeader = 'x-merchant-id'
export const keyHeader = 'idempotency-key'

/** Data sent over HTTP in addition to the operation. */
export type Around = {
  readonly delayMs?: number
  /** The merchant's business time, milliseconds since 1970; the server's own by default. */
  readonly at?: number
  readonly notifyUrl?: string
  readonly returnUrl?: string
  /** What the bank's page shows beside the books. */
  readonly shop?: string
  readonly language?: string
}

/** Amounts are strings of minor units: JSON numbers are not exact enough for money. */
export type WireMoney = { readonly minor: string; readonly currency: string }
export type WireAnswer = Omit<Answer, 'amount'> & {
  readonly amount?: WireMoney
  readonly redirectUrl?: string
}

export const moneyToWire = ({ minor, currency }: Money): WireMoney => ({
  minor: String(minor),
  currency,
})

/** The body of POST /operations. Account numbers and the CVV are revealed only while writing. */
export function requestToWire(request: Request, around: Around): Record<string, unknown> {
  const { key: _inHeader, signs, amount, ...rest } = request
  const hide = (value: string | undefined) =>
    value === undefined ? undefined : new Sensitive(value)
  const hidden = { number: hide(signs.number), cvv: hide(signs.cvv), iban: hide(signs.iban) }
  return { ...rest, ...around, amount: moneyToWire(amount), signs: { ...signs, ...hidden } }
}

/** A request that the HTTP acquirer refuses. The message names the field, never its value. */
export class WireError extends Error {
  override readonly name = 'WireError'
}

const kinds =
  'authorize debit credit capture refund reverse increment verify chargeback chargebackReversal'.split(
    ' ',
  )
const signNames = 'holder number iban account brand cvv postcode'.split(' ') as (keyof Signs)[]

/** Reads the body of POST /operations. @throws WireError with the name of the wrong field. */
export function requestFromWire(key: string, json: unknown): { request: Request } & Around {
  const body = objectOf(json, 'body')
  const signs = objectOf(body.signs ?? {}, 'signs')
  const kind = textOf(body.kind, 'kind')
  if (!kinds.includes(kind)) throw new WireError(`kind must be one of ${kinds.join(', ')}`)
  const reason = optional(body.reason, 'reason', textOf)
  if (reason !== undefined && !isResultCode(reason)) {
    throw new WireError('reason must be a code of the result table')
  }
  const delayMs = optional(body.delayMs, 'delayMs', millisecondsOf)
  return {
    request: {
      key,
      kind: kind as Request['kind'],
      paymentId: textOf(body.paymentId, 'paymentId'),
      amount: moneyFromWire(body.amount, 'amount'),
      instrument: typeof body.instrument === 'string' ? body.instrument : '',
      signs: signsFromWire(signs),
      ...only('original', optional(body.original, 'original', textOf)),
      ...only('decline', optional(body.decline, 'decline', textOf)),
      ...only('labels', optional(body.labels, 'labels', labelsFromWire)),
      ...(reason === undefined ? {} : { reason }),
      ...(body.replaces === true ? { replaces: true } : {}),
      ...(body.final === true ? { final: true } : {}),
    },
    ...only('delayMs', delayMs === undefined ? undefined : Math.min(delayMs, longestDelayMs)),
    ...only('at', optional(body.at, 'at', millisecondsOf)),
    ...only('notifyUrl', optional(body.notifyUrl, 'notifyUrl', textOf)),
    ...only('returnUrl', optional(body.returnUrl, 'returnUrl', textOf)),
    ...only('shop', optional(body.shop, 'shop', textOf)),
    ...only('language', optional(body.language, 'language', textOf)),
  }
}

const labelNames = ['brand', 'last4', 'shortId', 'order', 'descriptor'] as const

function labelsFromWire(value: unknown, name: string): Labels {
  const labels = objectOf(value, name)
  const texts = labelNames.map((label) =>
    only(label, optional(labels[label], `${name}.${label}`, textOf)),
  )
  return Object.assign({}, ...texts)
}

function signsFromWire(signs: Readonly<Record<string, unknown>>): Signs {
  const texts = signNames.map((name) => only(name, optional(signs[name], `signs.${name}`, textOf)))
  return Object.assign({}, ...texts, signs.authenticated === true ? { authenticated: true } : {})
}

export function answerToWire(answer: Answer, redirectUrl?: string): WireAnswer {
  const { amount, ...rest } = answer
  return {
    ...rest,
    ...(amount === undefined ? {} : { amount: moneyToWire(amount) }),
    ...(redirectUrl === undefined ? {} : { redirectUrl }),
  }
}

/**
 * Reads an answer about `key`. An answer with another key belongs to another request, which happens
 * on a connection whose peer answered twice.
 *
 * @throws WireError for an unreadable answer or another key.
 */
export function answerFromWire(json: unknown, key: string): Answer & { redirectUrl?: string } {
  const body = objectOf(json, 'answer')
  const status = textOf(body.status, 'status')
  if (!['approved', 'declined', 'pending', 'notFound'].includes(status)) {
    throw new WireError('status of the answer is unknown')
  }
  if (body.key !== key) throw new WireError('the answer is about another key')
  const amount = optional(body.amount, 'amount', moneyFromWire)
  if (amount === undefined && status === 'approved') {
    throw new WireError('amount is missing in an approval')
  }
  const texts = answerTexts.map((name) => only(name, optional(body[name], name, textOf)))
  return {
    status: status as Answer['status'],
    key,
    code: textOf(body.code, 'code'),
    ...only('amount', amount),
    ...only('wait', optional(body.wait, 'wait', waitOf)),
    ...only('expiresAt', optional(body.expiresAt, 'expiresAt', millisecondsOf)),
    ...(Object.assign({}, ...texts) as { [Name in (typeof answerTexts)[number]]?: string }),
  }
}
const answerTexts = ['reference', 'text', 'avs', 'cvv', 'networkTxId', 'redirectUrl'] as const

function waitOf(value: unknown, name: string): NonNullable<Answer['wait']> {
  if (value === 'shopper' || value === 'event') return value
  return { pollMs: millisecondsOf(objectOf(value, name).pollMs, `${name}.pollMs`) }
}

/** Reads the answer to a reversal by key. @throws WireError for an unreadable answer. */
export function reversalFromWire(json: unknown, key: string): Reversal {
  const body = objectOf(json, 'answer')
  const { status } = body
  if (status !== 'reversed' && status !== 'nothing' && status !== 'refused') {
    throw new WireError('status of the answer is unknown')
  }
  if (body.key !== key) throw new WireError('the answer is about another key')
  const reference = optional(body.reference, 'reference', textOf)
  return { status, key, code: textOf(body.code, 'code'), ...only('reference', reference) }
}

export function moneyFromWire(value: unknown, name: string): Money {
  const { minor, currency } = objectOf(value, name)
  if (typeof minor !== 'string' || !/^[0-9]{1,18}$/.test(minor)) {
    throw new WireError(`${name}.minor must be a string of minor units, digits only`)
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    throw new WireError(`${name}.currency must be three upper-case letters`)
  }
  return { minor: BigInt(minor), currency }
}

export function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>
  }
  throw new WireError(`${name} must be a JSON object`)
}

export function textOf(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '' && value.length <= 2048) return value
  throw new WireError(`${name} must be a string of 1 to 2048 characters`)
}

export function millisecondsOf(value: unknown, name: string): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw new WireError(`${name} must be a whole number of milliseconds, 0 or more`)
}

export function optional<T>(
  value: unknown,
  name: string,
  read: (value: unknown, name: string) => T,
): T | undefined {
  return value === undefined ? undefined : read(value, name)
}

/** `{ name: value }`, or nothing without a value. */
export const only = <const Name extends string, T>(
  name: Name,
  value: T | undefined,
): { [N in Name]?: T } => (value === undefined ? {} : ({ [name]: value } as { [N in Name]?: T }))

const mostBytes = 64 * 1024

/** The body of a request. @throws WireError for one that is too large. */
export async function readText(incoming: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    size += chunk.length
    if (size > mostBytes) throw new WireError(`the body must not exceed ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
