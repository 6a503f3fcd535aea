/** Calls a connector's handler within a deadline, and trusts only proven outcomes. */
import {
  type Found,
  MissingReference,
  type Outcome,
  type Reversed,
  type ShopperReturn,
} from '@tollgate/plugin-kit'
import { businessNow } from '../business-time/time.ts'
import { ConnectorCall, TooLateToSend } from '../connector/call.ts'
import type { Engine } from '../engine.ts'
import { faultPoint } from '../fault-point.ts'
import { CallRecord } from '../transcript/call-record.ts'
import type { AttemptContext } from './attempt-context.ts'
import { checked, checkedFound, checkedReversed } from './checked-outcome.ts'
import { ownCardOf, ownNumbersIn } from './own-number.ts'
import { tellConnectorCall } from './telling.ts'

export { checked }

export type Sent = {
  readonly outcome: Outcome
  readonly source: 'answer' | 'deadline'
  /** The eventual outcome of a call that outlived its deadline. */
  readonly late: Promise<Outcome> | null
}

/** The context of one call. On a test clock, the acquirer's time is that of the payment. */
function callOf(engine: Engine, work: AttemptContext): ConnectorCall | Promise<ConnectorCall> {
  const { target, deadlineMs, sendByWallMs, operation, payment } = work
  const bounded = (at?: Date) => {
    const bounds = { deadlineMs, sendByWallMs, ...(at === undefined ? {} : { at }) }
    return new ConnectorCall(engine.services, target, bounds, operation)
  }
  if (payment.clockId === null) return bounded()
  return Promise.resolve(businessNow(engine, payment.channelId, payment.clockId)).then(bounded)
}

type Bounded<T> = { readonly value: T } | { readonly late: Promise<T> }

/** Sends one attempt. Never throws: every failure becomes an outcome. */
export const send = (engine: Engine, work: AttemptContext): Promise<Sent> =>
  tellConnectorCall(
    engine,
    work,
    work.operation.kind,
    () => sendNow(engine, work),
    ({ outcome }) => outcome.is,
  )

async function sendNow(engine: Engine, work: AttemptContext): Promise<Sent> {
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
  const call = await callOf(engine, work)
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

/**
 * Asks a connector how a shopper came back. Undefined where that changes nothing: the connector threw or
 * says that nothing was sent, and no byte that moves money left this process.
 */
export const completeReturn = (
  engine: Engine,
  work: AttemptContext,
  back: ShopperReturn,
): Promise<Outcome | undefined> =>
  tellConnectorCall(
    engine,
    work,
    'complete',
    () => completeNow(engine, work, back),
    (outcome) => outcome?.is,
  )

async function completeNow(
  engine: Engine,
  work: AttemptContext,
  back: ShopperReturn,
): Promise<Outcome | undefined> {
  const { complete } = work.target.loaded.connector
  if (complete === undefined) throw new Error(`${work.payment.connector} has no complete`)
  const { deadlineMs, operation } = work
  const call = await callOf(engine, work)
  const record = new CallRecord(engine, work, 'complete', call)
  const answer = run(() => complete(operation, back, call), call, work, record)
  const result = await bounded(answer, call, deadlineMs - engine.clock.elapsedMs())
  if ('value' in result) {
    record.ended(result.value, { sent: call.finish() })
    const hasMoved = call.finish()
    const isNothing = result.value.is === 'notSent' || result.value.is === 'unknown'
    return isNothing && !hasMoved ? undefined : result.value
  }
  const silence: Outcome = { is: 'unknown', why: 'the acquirer did not answer in time' }
  record.ended(silence)
  result.late.then((said) => record.ended(said, { late: true })).catch(() => {})
  return call.finish() ? silence : undefined
}

/** Enquires about an attempt or undoes it. A throw or a time-out counts as an unknown answer. */
export const ask = <Said extends Found | Reversed>(
  engine: Engine,
  work: AttemptContext,
  what: 'enquire' | 'reverseByKey',
  handler: Asking<Said>,
): Promise<Said | Silence> =>
  tellConnectorCall(
    engine,
    work,
    what,
    () => askNow(engine, work, what, handler),
    ({ is }) => is,
  )

type Asking<Said> = (
  operation: AttemptContext['operation'],
  context: ConnectorCall,
) => Promise<Said>
type Silence = { is: 'unknown'; why: string }

async function askNow<Said extends Found | Reversed>(
  engine: Engine,
  work: AttemptContext,
  what: 'enquire' | 'reverseByKey',
  handler: Asking<Said>,
): Promise<Said | Silence> {
  const call = await callOf(engine, work)
  const record = new CallRecord(engine, work, what, call)
  const answer = Promise.resolve()
    .then(() => handler(work.operation, call))
    .then((said) => {
      const believed = trusted(what, said, call)
      return withoutOwnSecrets(believed, [...call.secrets(), ...ownNumbers(believed, work)]) as Said
    })
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

/**
 * An enquiry carries no instrument, yet acquirers echo its number. A number with the beginning and
 * end of the payment's card is therefore masked. Other lookalikes stay, since references can
 * resemble a card number by chance.
 */
function ownNumbers(said: Found | Reversed, { payment }: AttemptContext): string[] {
  const card = ownCardOf(payment)
  return card === undefined ? [] : ownNumbersIn(JSON.stringify(answerPartsOf(said)), card)
}

const trusted = (what: 'enquire' | 'reverseByKey', said: unknown, call: ConnectorCall) =>
  what === 'enquire' ? checkedFound(said, call.clock.now()) : checkedReversed(said)

async function run(
  handler: () => Promise<Outcome>,
  call: ConnectorCall,
  work: AttemptContext,
  record: CallRecord,
): Promise<Outcome> {
  let outcome: Outcome
  let missing: Outcome | undefined
  try {
    outcome = withoutOwnSecrets(checked(await handler(), call.clock.now()), call.secrets())
  } catch (error) {
    record.thrown(error)
    outcome = { is: 'notSent', why: isTooLate(error) ? error.message : nameOf(error) }
    missing = missingIn(error)
  }
  // A failure is harmless only when the call provably sent nothing.
  const mayHaveMoved = call.finish()
  if (outcome.is === 'notSent' && mayHaveMoved) {
    return { is: 'unknown', why: `${outcome.why}, after a request may have been written` }
  }
  if (missing !== undefined) return missing
  if (
    outcome.is === 'approved' &&
    work.operation.kind !== 'verify' &&
    Object.keys(outcome.refs).length === 0
  ) {
    return { is: 'unknown', why: 'approved without any reference of the acquirer' }
  }
  return outcome
}

/** A missing reference has a reason of its own: the acquirer is not down, and waiting changes nothing. */
function missingIn(error: unknown): Outcome | undefined {
  try {
    return MissingReference.is(error) ? checked(error.outcome) : undefined
  } catch {
    return undefined
  }
}

function isTooLate(error: unknown): error is TooLateToSend {
  try {
    return error instanceof TooLateToSend
  } catch {
    return false
  }
}

/** Waits at most `ms` for an answer, then aborts the call. An aborted call may still end later. */
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

/** The class name of a connector's error; its message may contain secrets. */
function nameOf(error: unknown): string {
  try {
    const name = error instanceof Error ? error.name : typeof error
    return typeof name === 'string' ? name.slice(0, 100) : typeof error
  } catch {
    // A hostile object throws on inspection.
    return typeof error
  }
}

/** A shorter secret probably occurs in other values by chance. */
const shortSecret = 6
const answerParts = [
  'refs',
  'memo',
  'details',
  'text',
  'why',
  'card',
  'networkTxId',
  'code',
  'avs',
  'cvv',
  'advice',
] as const

/** Parts for people. Every other part returns to the acquirer and must keep all digits. */
const readable = new Set<string>(['text', 'details', 'why'])
/** Codes of schemes, which may equal a short secret by chance. */
const codes = new Set<string>(['code', 'avs', 'cvv', 'advice'])

const answerPartsOf = (said: object): unknown[] => {
  const parts = said as { readonly [Part in (typeof answerParts)[number]]?: unknown }
  return answerParts.map((part) => parts[part])
}

/**
 * Responses of acquirers are stored in clear and shown, so the secrets of this call are removed. A
 * short secret is removed as a whole value, and as a separate word in texts for people. Response
 * codes stay, since a code may equal a short secret by chance.
 */
function withoutOwnSecrets<Said extends Outcome | Found | Reversed>(
  outcome: Said,
  secrets: readonly string[],
): Said {
  const parts = outcome as { readonly [Part in (typeof answerParts)[number]]?: unknown }
  const text = JSON.stringify(answerPartsOf(outcome))
  if (!secrets.some((secret) => text.includes(secret))) return outcome
  const long = secrets.filter((secret) => secret.length >= shortSecret)
  const short = secrets.filter((secret) => secret.length < shortSecret)
  const clean = (value: unknown, part: string): unknown => {
    if (typeof value === 'string') {
      if (!codes.has(part) && short.includes(value)) return masked
      const hidden = long.reduce((all, secret) => all.replaceAll(secret, masked), value)
      return readable.has(part) ? short.reduce(withoutWord, hidden) : hidden
    }
    if (Array.isArray(value)) return value.map((one) => clean(one, part))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [clean(name, part), clean(inner, part)]),
    )
  }
  const cleaned = answerParts.flatMap((part) =>
    parts[part] === undefined ? [] : [[part, clean(parts[part], part)]],
  )
  return { ...outcome, ...Object.fromEntries(cleaned) }
}

const masked = '[masked]'

/** Removes a word from a text, unless a letter or digit adjoins it. */
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
