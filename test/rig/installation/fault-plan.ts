/** The faults inside a host process, at the engine's fault points. */
import type { FaultPoint } from '../../../core/index.ts'

export type Fault = {
  readonly at: FaultPoint
  /**
   * - `kill`: kill -9 of the process itself
   * - `stop`: SIGSTOP of the process itself, which needs a SIGCONT
   * - `hold`: the payment waits for its release, everything else continues
   * - `tell`: only reports the visit
   */
  readonly do: 'kill' | 'stop' | 'hold' | 'tell'
  /** Only for this payment; for events the event's id, for sweeps the engine's name. */
  readonly ref?: string
  /** Only at the n-th matching visit, counted from 1; at every one by default. */
  readonly nth?: number
  /** After a `stop`: the advance of the process's wall clock when it continues. */
  readonly thenAdvanceMs?: number
}

/** One visit to a fault point with a planned fault. Its number is used for the release. */
export type Visit = { readonly number: number; readonly at: FaultPoint; readonly ref: string }

/** The variable with a host process's initial faults. */
export const planVariable = 'TOLLGATE_TEST_FAULTS'

/** Messages from a test to a host process. */
export type Order =
  | { readonly plan: readonly Fault[]; readonly id: number }
  | { readonly release: number }
  | { readonly advanceMs: number; readonly id: number }
  | { readonly close: true }

/** Messages from a host process to its test. */
export type News =
  | {
      readonly listening: {
        readonly url: string | null
        readonly token: string
        readonly strangerToken: string
      }
    }
  | { readonly reached: Visit }
  | { readonly warned: string }
  | { readonly done: number }
  | { readonly failed: string }

export type Inside = {
  tell(news: News): Promise<void>
  /** Advances the wall clock of this process. */
  advance(ms: number): void
}

/** Carries a plan out inside the process. */
export class FaultPlan {
  readonly #inside: Inside
  readonly #waiting = new Map<number, () => void>()
  #faults: { readonly fault: Fault; seen: number }[] = []
  #visits = 0

  constructor(inside: Inside) {
    this.#inside = inside
  }

  set(faults: readonly Fault[]): void {
    this.#faults = faults.map((fault) => ({ fault, seen: 0 }))
  }

  release(visit: number): void {
    this.#waiting.get(visit)?.()
    this.#waiting.delete(visit)
  }

  readonly reach = (at: FaultPoint, ref: string): void | Promise<void> => {
    const planned = this.#faults.find(({ fault }) => isFor(fault, at, ref))
    if (planned === undefined) return undefined
    planned.seen += 1
    if (planned.fault.nth !== undefined && planned.fault.nth !== planned.seen) return undefined
    this.#visits += 1
    return this.#carryOut(planned.fault, { number: this.#visits, at, ref })
  }

  async #carryOut(fault: Fault, visit: Visit): Promise<void> {
    if (fault.do === 'kill') {
      process.kill(process.pid, 'SIGKILL')
      return new Promise(() => {})
    }
    const released = new Promise<void>((resume) => void this.#waiting.set(visit.number, resume))
    await this.#inside.tell({ reached: visit })
    if (fault.do === 'hold') await released
    if (fault.do !== 'stop') return
    process.kill(process.pid, 'SIGSTOP')
    this.#inside.advance(fault.thenAdvanceMs ?? 0)
  }
}

function isFor(fault: Fault, at: FaultPoint, ref: string): boolean {
  return fault.at === at && (fault.ref === undefined || fault.ref === ref)
}
