/**
 * Processes that die: a request runs with its own end in mind, and whatever it does once it is dead
 * stops for good at the next boundary, while others go on.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type FaultPoint, onFaultPoint } from '../../../core/index.ts'

type Life = {
  readonly crash: FaultPoint | undefined
  /** Payments that were begun under it. */
  readonly begun: string[]
  readonly died: () => void
  isDead: boolean
}

const lives = new AsyncLocalStorage<Life>()

/** Lets requests die. Returns what ends it. */
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

/** Runs it until it ends or dies at the boundary. */
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
