import type { Kind } from '@tollgate/plugin-kit'
import {
  millisecondsOf,
  moneyFromWire,
  objectOf,
  optional,
  textOf,
  WireError,
  type WireMoney,
} from './wire.ts'

/**
 * One fault of the HTTP acquirer.
 *
 * - `delay`: the answer waits `ms`; with `apply: 'late'` the ledger moves only then.
 * - `drop` closes, `reset` resets the connection instead of an answer. `500`, `html`, `truncate`,
 *   `drip` (a byte each `ms`), `unknownCode`, `alterAmount` (to `amount`): damaged answers.
 * - `twice`: the whole HTTP response is written two times on the connection.
 * - `notFound`: an enquiry finds nothing. `hide`: enquiries about the key find nothing for `ms`.
 */
export type Fault = {
  readonly do: (typeof faultNames)[number]
  /** Whether the ledger moves: before the fault (the default), not at all, or after the delay. */
  readonly apply?: 'first' | 'never' | 'late'
  readonly ms?: number
  readonly amount?: WireMoney
  /** Only matching requests. Without it: the next one that moves money, enquires or reverses. */
  readonly when?: {
    readonly on?: Call['on']
    readonly kind?: Kind
    readonly key?: string
    /** Card number. */
    readonly number?: string
    readonly merchantId?: string
  }
  /** The number of requests it hits. Default 1. */
  readonly times?: number
}

export const faultNames = [
  'delay',
  'drop',
  'reset',
  '500',
  'html',
  'truncate',
  'drip',
  'unknownCode',
  'alterAmount',
  'twice',
  'notFound',
  'hide',
] as const

/** A request as a plan sees it. */
export type Call = {
  readonly on: 'operation' | 'enquiry' | 'reversal' | 'authentication' | 'authenticationEnquiry'
  readonly merchantId: string
  readonly key: string
  readonly kind?: string
  readonly number?: string
}

/** A queue of faults: each request takes the first matching one. */
export type Plan = {
  add(faults: readonly Fault[]): void
  clear(): void
  take(call: Call): Fault | undefined
  /** Unused faults. */
  readonly left: number
}

export function createPlan(): Plan {
  let queue: { readonly fault: Fault; left: number }[] = []
  return {
    add(faults) {
      queue.push(...faults.map((fault) => ({ fault, left: fault.times ?? 1 })))
    },
    clear() {
      queue = []
    },
    take(call) {
      const found = queue.find(({ fault }) => fits(fault, call))
      if (found === undefined) return undefined
      found.left -= 1
      if (found.left === 0) queue = queue.filter((planned) => planned !== found)
      return found.fault
    },
    get left() {
      return queue.reduce((sum, { left }) => sum + left, 0)
    },
  }
}

function fits({ do: name, when = {} }: Fault, call: Call): boolean {
  const on = when.on ?? (name === 'notFound' ? 'enquiry' : undefined)
  return (
    (on === undefined ? !call.on.startsWith('authentication') : on === call.on) &&
    (when.kind === undefined || when.kind === call.kind) &&
    (when.key === undefined || when.key === call.key) &&
    (when.number === undefined || when.number === call.number) &&
    (when.merchantId === undefined || when.merchantId === call.merchantId)
  )
}

/** Reads a fault from a control request. @throws WireError with the name of the wrong field. */
export function faultFromWire(json: unknown, name: string): Fault {
  const body = objectOf(json, name)
  const what = textOf(body.do, `${name}.do`)
  if (!faultNames.includes(what as Fault['do'])) {
    throw new WireError(`${name}.do must be one of ${faultNames.join(', ')}`)
  }
  if (body.apply !== undefined && !['first', 'never', 'late'].includes(String(body.apply))) {
    throw new WireError(`${name}.apply must be first, never or late`)
  }
  const when = objectOf(body.when ?? {}, `${name}.when`)
  for (const field of ['on', 'kind', 'key', 'number', 'merchantId']) {
    optional(when[field], `${name}.when.${field}`, textOf)
  }
  const times = optional(body.times, `${name}.times`, millisecondsOf)
  if (times === 0) throw new WireError(`${name}.times must be 1 or more`)
  optional(body.ms, `${name}.ms`, millisecondsOf)
  optional(body.amount, `${name}.amount`, moneyFromWire)
  return body as unknown as Fault
}
