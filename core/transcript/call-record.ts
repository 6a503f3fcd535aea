/** Records one call of a connector's handler in the step log: begin, end and result. */
import type { Log } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import type { ConnectorCall } from '../connector/call.ts'
import type { StepLog } from './log.ts'
import type { StepDetail } from './store.ts'

/** Any value that says of itself which outcome it is. */
export type Said = { readonly is: string }

/** The step log and the clock of a record. */
type Records = { readonly steps: StepLog; readonly clock: Clock; readonly log: Log }

/** The attempt that a call is made for. */
type Attempt = {
  readonly payment: { readonly id: string }
  readonly lease: number
  /** The number of the request that made the payment. */
  readonly ndc?: string | undefined
}

export class CallRecord {
  readonly #records: Records
  readonly #attempt: Attempt
  readonly #name: string
  readonly #call: ConnectorCall
  readonly #startedMs: number
  readonly #elapsedMs: number
  #thrown: StepDetail['thrown']

  constructor(records: Records, attempt: Attempt, name: string, call: ConnectorCall) {
    this.#records = records
    this.#attempt = attempt
    this.#name = name
    this.#call = call
    this.#startedMs = records.clock.realMs()
    this.#elapsedMs = records.clock.elapsedMs()
  }

  /** Records a throw of the handler: the kind of error and its line, never its message. */
  thrown(error: unknown): void {
    try {
      const place = placeOf(error)
      const kind = String(this.#call.scrubbed(kindOf(error).slice(0, 100)))
      this.#thrown = {
        kind,
        ...(place === undefined ? {} : { place: String(this.#call.scrubbed(place)) }),
      }
    } catch {
      // Looking at it throws as well.
      this.#thrown = { kind: typeof error }
    }
  }

  /** The call ended or reached its deadline; a later result is `late`. */
  ended(said: Said, end: End = {}): void {
    const { steps, clock } = this.#records
    if (steps.days === 0) return
    const durationUs = Math.round((clock.elapsedMs() - this.#elapsedMs) * 1000)
    try {
      steps.note({
        paymentId: this.#attempt.payment.id,
        name: this.#name,
        startedMs: this.#startedMs,
        durationUs,
        outcome: said.is,
        detail: this.#detail(said, end),
      })
    } catch (error) {
      // A connector's value may be unreadable; the payment continues.
      this.#records.log.warn({ error: kindOf(error) }, 'a step could not be logged')
    }
  }

  /** The payment's row already contains a plain answer, so the step omits it. */
  #detail(said: Said, { late, sent }: End): StepDetail | undefined {
    const isPlain = sent !== undefined && plain.has(said.is) && !('amount' in said)
    const requests = this.#call.transcript()
    const { lease, ndc } = this.#attempt
    const isBare = isPlain && requests.length === 0 && lease === 1
    if (isBare) return ndc === undefined ? undefined : { ndc }
    const { is: _, memo: _memo, ...facts } = said as Said & { memo?: unknown }
    return {
      lease,
      ...(ndc === undefined ? {} : { ndc }),
      ...(sent === false ? { sent } : {}),
      ...(late === true ? { late } : {}),
      ...(isPlain ? {} : { said: this.#call.scrubbed(facts) as Record<string, unknown> }),
      ...(this.#thrown === undefined ? {} : { thrown: this.#thrown }),
      ...(requests.length === 0 ? {} : { requests }),
    }
  }
}

type End = {
  /** The call ended after its deadline. */
  readonly late?: true
  /** For a call in time: whether a moving request may have left the process. */
  readonly sent?: boolean
}

const plain = new Set<string>(['approved', 'accepted', 'declined', 'pending'])

function kindOf(error: unknown): string {
  return error instanceof Error ? String(error.name) : typeof error
}

/** The first line of the stack that names a place in a source, with the end of its path. */
function placeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || typeof error.stack !== 'string') return undefined
  // The message comes first and may hold anything, also lines that look like places.
  const message = String(error.message)
  const at = message === '' ? 0 : error.stack.indexOf(message)
  if (at === -1) return undefined
  for (const line of error.stack
    .slice(at + message.length, at + message.length + 2000)
    .split('\n')) {
    const text = line.trim()
    const place = text.startsWith('at ') ? text.slice(3) : ''
    const file = place.slice(place.lastIndexOf('(') + 1)
    const [position = '', ...path] = file.split('/').reverse()
    if (/^[\w.-]+:[0-9]+:[0-9]+\)?$/.test(position)) {
      return [path[0], position.replace(')', '')].filter((part) => part !== undefined).join('/')
    }
  }
  return undefined
}
