/** The call of a connector's handler: bounded in time, and never trusted more than it proves. */
import { type Found, type Outcome, type Reversed, Sensitive } from '@tollgate/plugin-kit'
import { isFailure, isPending, isResultCode } from '@tollgate/schemas'
import { ConnectorCall, TooLateToSend } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { maskCardNumbers } from '../net/mask.ts'
import { CallRecord } from '../step/call-record.ts'
import type { Work } from './work.ts'

export type Sent = {
  readonly outcome: Outcome
  readonly source: 'answer' | 'deadline'
  /** Of a call that outlived its deadline: what it says when it ends after all. */
  readonly late: Promise<Outcome> | null
}

type Bounded<T> = { readonly value: T } | { readonly late: Promise<T> }

/** Sends one attempt. Never throws: whatever happens is an outcome. */
export async function send(engine: Engine, work: Work): Promise<Sent> {
  const { connector } = work.target.loaded
  const handler = connector[work.operation.kind]
  if (handler === undefined) {
    const why = `${connector.name} has no ${work.operation.kind}`
    const outcome: Outcome = { is: 'notSent', why }
    engine.steps.note({
      paymentId: work.payment.id,
      name: work.operation.kind,
      startedMs: engine.clock.realMs(),
      outcome: outcome.is,
      detail: { said: { why } },
    })
    return { outcome, source: 'answer', late: null }
  }
  await faultPoint('before-send', work.payment.id)
  const call = new ConnectorCall(
    engine.services,
    work.target,
    {
      deadlineMs: work.deadlineMs,
      sendByWallMs: work.sendByWallMs,
    },
    work.operation,
  )
  const record = new CallRecord(engine, work, work.operation.kind, call)
  const answer = run(() => handler(work.operation, call), call, work, record)
  const result = await bounded(answer, call, work.deadlineMs - engine.clock.elapsedMs())
  await faultPoint('after-send', work.payment.id)
  if ('value' in result) {
    record.ended(result.value, { sent: call.finish() })
    return { outcome: result.value, source: 'answer', late: null }
  }
  const outcome: Outcome = { is: 'unknown', why: 'the acquirer did not answer in time' }
  record.ended(outcome)
  result.late.then((said) => record.ended(said, { late: true })).catch(() => {})
  return { outcome, source: 'deadline', late: result.late }
}

/** Asks a connector about an attempt or undoes it. A throw or a time-out is an unknown answer. */
export async function ask<T extends Found | Reversed>(
  engine: Engine,
  work: Work,
  what: 'enquire' | 'reverseByKey',
  handler: (operation: Work['operation'], context: ConnectorCall) => Promise<T>,
): Promise<T | { is: 'unknown'; why: string }> {
  const call = new ConnectorCall(
    engine.services,
    work.target,
    {
      deadlineMs: work.deadlineMs,
      sendByWallMs: work.sendByWallMs,
    },
    work.operation,
  )
  const record = new CallRecord(engine, work, what, call)
  const answer = Promise.resolve()
    .then(() => handler(work.operation, call))
    .catch((error: unknown) => {
      record.thrown(error)
      return { is: 'unknown' as const, why: nameOf(error) }
    })
    .finally(() => call.finish())
  const result = await bounded(answer, call, work.deadlineMs - engine.clock.elapsedMs())
  if ('value' in result) {
    record.ended(result.value)
    return result.value
  }
  const silence = { is: 'unknown', why: 'the acquirer did not answer in time' } as const
  record.ended(silence)
  result.late.then((said) => record.ended(said, { late: true })).catch(() => {})
  return silence
}

async function run(
  handler: () => Promise<Outcome>,
  call: ConnectorCall,
  work: Work,
  record: CallRecord,
): Promise<Outcome> {
  let outcome: Outcome
  try {
    outcome = withoutOwnSecrets(checked(await handler()), call.secrets())
  } catch (error) {
    record.thrown(error)
    outcome = { is: 'notSent', why: isTooLate(error) ? error.message : nameOf(error) }
  }
  // Only positive knowledge that nothing left this process makes a failure harmless.
  const mayHaveMoved = call.finish()
  if (outcome.is === 'notSent' && mayHaveMoved) {
    return { is: 'unknown', why: `${outcome.why}, after a request may have been written` }
  }
  if (
    outcome.is === 'approved' &&
    work.operation.kind !== 'verify' &&
    Object.keys(outcome.refs).length === 0
  ) {
    return { is: 'unknown', why: 'approved without any reference of the acquirer' }
  }
  return outcome
}

function isTooLate(error: unknown): error is TooLateToSend {
  try {
    return error instanceof TooLateToSend
  } catch {
    return false
  }
}

/** Waits at most `ms` for an answer; then aborts the call, which may still end later. */
function bounded<T>(answer: Promise<T>, call: ConnectorCall, ms: number): Promise<Bounded<T>> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(
      () => {
        call.abort()
        resolve({ late: answer })
      },
      Math.max(0, ms),
    )
    const ended = (value: T) => {
      clearTimeout(timer)
      resolve({ value })
    }
    const failed = (error: unknown) => {
      clearTimeout(timer)
      reject(error)
    }
    answer.then(ended, failed)
  })
}

const kinds = new Set(['approved', 'accepted', 'declined', 'pending', 'notSent', 'unknown'])

/** An author's outcome as the engine may rely on it; anything malformed is `unknown`. */
export function checked(given: unknown): Outcome {
  const bad = (why: string): Outcome => ({ is: 'unknown', why })
  if (typeof given !== 'object' || given === null) return bad('the connector returned no outcome')
  // Read once: what was checked must be what is used.
  const outcome = { ...given } as Outcome
  if (!kinds.has(outcome.is)) return bad('the connector returned an outcome that does not exist')
  if (outcome.is === 'notSent' || outcome.is === 'unknown') {
    return { ...outcome, why: maskCardNumbers(String(outcome.why).slice(0, 500)) }
  }
  if (outcome.refs !== undefined && !isTexts(outcome.refs))
    return bad('refs must be an object of texts')
  if ((outcome.is === 'approved' || outcome.is === 'accepted') && outcome.refs === undefined) {
    return bad('approved without any reference of the acquirer')
  }
  if (outcome.is === 'declined' && !isResultCode(outcome.reason)) {
    return { ...outcome, reason: '800.100.100' }
  }
  // Merchants go by the code: a decline that is told as a success would be delivered.
  if (outcome.is === 'declined' && !isFailure(outcome.reason)) {
    return bad('declined with a reason that is no failure')
  }
  if (outcome.is === 'pending' && !isNext(outcome.next)) return bad('pending without a next step')
  if (outcome.is === 'pending' && outcome.expiresAt !== undefined && !isTime(outcome.expiresAt)) {
    return bad('pending until a time that is none')
  }
  if (outcome.is === 'accepted' && !isFinalBy(outcome.finalBy)) {
    return bad('accepted without a word on when it is final')
  }
  if (outcome.is === 'pending' && outcome.reason !== undefined && !isPending(outcome.reason)) {
    return bad('pending with a reason that is not pending')
  }
  if (!isJson(outcome)) return bad('the outcome holds what is no JSON')
  return outcome
}

/** Whether everything in it can be stored; the amount is no part of what is stored as JSON. */
function isJson(outcome: Outcome): boolean {
  try {
    JSON.stringify({ ...outcome, amount: undefined })
    return true
  } catch {
    return false
  }
}

function isTexts(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.values(value).every((text) => typeof text === 'string' && !Sensitive.is(text))
  )
}

function isNext(next: unknown): boolean {
  if (next === 'event') return true
  if (typeof next !== 'object' || next === null) return false
  if ('poll' in next) return isPoll(next)
  return 'redirect' in next && isWebAddress((next.redirect as { url?: unknown } | null)?.url)
}

const isPoll = (given: unknown): boolean => {
  const { poll } = Object(given) as { poll?: unknown }
  return typeof poll === 'number' && Number.isFinite(poll) && poll > 0
}

const isFinalBy = (finalBy: unknown): boolean =>
  finalBy === 'settlement' || finalBy === 'event' || isPoll(finalBy)

const isTime = (date: unknown): boolean => date instanceof Date && !Number.isNaN(date.getTime())

/** The shopper's browser is sent there: a script or a file must not be. */
function isWebAddress(url: unknown): boolean {
  return typeof url === 'string' && /^https?:$/.test(URL.parse(url)?.protocol ?? '')
}

/** What may be told about whatever an author's code threw: never its message. */
function nameOf(error: unknown): string {
  try {
    const name = error instanceof Error ? error.name : typeof error
    return typeof name === 'string' ? name.slice(0, 100) : typeof error
  } catch {
    // Looking at it throws as well.
    return typeof error
  }
}

/** Below this many characters a secret is likely to be part of other values by chance. */
const shortSecret = 6
const told = ['refs', 'memo', 'details', 'text', 'card', 'networkTxId', 'code'] as const

/** Parts that people read. In the others, which are sent back to the acquirer, a digit must not change. */
const readable = new Set<string>(['text', 'details'])

/**
 * What an acquirer says is stored in clear and shown: the secrets that this call was given are taken
 * out of it. A short one is hidden where it is a whole value, and in texts for people also where it
 * stands alone; but not as a response code, which it may equal by chance.
 */
function withoutOwnSecrets(outcome: Outcome, secrets: readonly string[]): Outcome {
  const parts = outcome as { readonly [Part in (typeof told)[number]]?: unknown }
  const text = JSON.stringify(told.map((part) => parts[part]))
  if (!secrets.some((secret) => text.includes(secret))) return outcome
  const long = secrets.filter((secret) => secret.length >= shortSecret)
  const short = secrets.filter((secret) => secret.length < shortSecret)
  const clean = (value: unknown, part: string): unknown => {
    if (typeof value === 'string') {
      if (part !== 'code' && short.includes(value)) return masked
      const hidden = long.reduce((all, secret) => all.replaceAll(secret, masked), value)
      return readable.has(part) ? short.reduce(withoutWord, hidden) : hidden
    }
    if (Array.isArray(value)) return value.map((one) => clean(one, part))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [clean(name, part), clean(inner, part)]),
    )
  }
  const cleaned = told.flatMap((part) =>
    parts[part] === undefined ? [] : [[part, clean(parts[part], part)]],
  )
  return { ...outcome, ...Object.fromEntries(cleaned) }
}

const masked = '[masked]'

/** The text without a word, where no letter or digit is beside it. */
function withoutWord(text: string, word: string): string {
  let result = ''
  let copied = 0
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) {
    const isPart =
      /[\p{L}\p{N}]/u.test(text[at - 1] ?? '') || /[\p{L}\p{N}]/u.test(text[at + word.length] ?? '')
    if (isPart) continue
    result += text.slice(copied, at) + masked
    copied = at + word.length
  }
  return result + text.slice(copied)
}
