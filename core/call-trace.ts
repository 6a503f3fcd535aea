/**
 * Whether a call of a program may have changed something: a row, a job, or the world outside. Only a call that
 * cannot have done so may be told to be safe to repeat.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

export type CallTrace = {
  /** Actions that have begun and may still happen. */
  pending: number
  hasActed: boolean
  /** The call that this one is a part of. */
  readonly within: CallTrace | undefined
}

const traces = new AsyncLocalStorage<CallTrace>()

/** Follows the work of one call, also through everything that it starts. */
export function traced<T>(work: () => T): T {
  return traces.run({ pending: 0, hasActed: false, within: traces.getStore() }, work)
}

/** The call that this code works for, if it is one of a program. */
export const presentCall = (): CallTrace | undefined => traces.getStore()

/** False if the call is proven to have changed nothing, and not to change anything later. */
export const mayHaveActed = ({ hasActed, pending }: CallTrace): boolean => hasActed || pending > 0

/** From now on, the present call may have changed something. */
export function noteAction(call: CallTrace | undefined = presentCall()): void {
  for (let one = call; one !== undefined; one = one.within) one.hasActed = true
}

/**
 * An action that is about to begin: until its end, nobody may say that the call does nothing.
 *
 * @returns the end of it. Only `never` proves that it did not happen and will not.
 */
export function intendAction(
  call: CallTrace | undefined = presentCall(),
): (how: 'perhaps' | 'never') => void {
  for (let one = call; one !== undefined; one = one.within) one.pending += 1
  let isOver = false
  return (how) => {
    if (isOver) return
    isOver = true
    for (let one = call; one !== undefined; one = one.within) one.pending -= 1
    if (how === 'perhaps') noteAction(call)
  }
}
