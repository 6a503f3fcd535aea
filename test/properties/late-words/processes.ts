/**
 * Processes that die: a request runs with a planned end, and all its later work stops for good at
 * the next fault point, while other requests continue.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type FaultPoint, onFaultPoint } from '../../../core/index.ts'

type Life = {
  readonly crash: FaultPoint | undefined
  /** Payments begun by the request. */
  readonly begun: string[]
  readonly died: () => void
  isDead: boolean
}

const lives = new AsyncLocalStorage<Life>()

/** Enables the deaths of requests. Returns the function that disables them. */
export function watchProcesses(): () => void {
  onFaultPoint((point, ref) => {
    const life = lives.getStore()
    if (life === undefined) return
    if (point === 'after-T1') life.begun.push(ref)
    if (!life.isDead && life.crash !== point) return
    life.isDead = true
    life.died()
    return new Promise<void>(() => {})
  })
  return () => onFaultPoint(undefined)
}

export type Lived<T> = { readonly died: true } | { readonly died: false; readonly value: T }

/** Runs the work until its end or its death at the fault point. */
export function live<T>(
  crash: FaultPoint | undefined,
  begun: string[],
  work: () => Promise<T>,
): Promise<Lived<T>> {
  return new Promise((resolve, reject) => {
    const died = () => resolve({ died: true })
    lives
      .run({ crash, begun, died, isDead: false }, work)
      .then((value) => resolve({ died: false, value }), reject)
  })
}
