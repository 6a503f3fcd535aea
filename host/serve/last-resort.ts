import { errorFields } from '@tollgate/core/early'
import type { HostLog } from '../http/request-log.ts'
import type { OwnProcess } from '../shell.ts'

/** More of them within a minute: something is broken that a new process would not have. */
const mostPerMinute = 100
const minuteMs = 60_000

export type LastResort = {
  /** The number of uncaught errors. */
  readonly count: number
}

/**
 * Handles uncaught errors of a serving process: counts and logs them, and continues. Payments are
 * in the database under leases and survive the error, while an exit would interrupt all other
 * payments. The process ends in order when the errors continue.
 *
 * @param faulted answers the requests that were left without a response.
 * @param end ends the process in order.
 */
export function standLastResort(
  { onUncaught }: Pick<OwnProcess, 'onUncaught'>,
  log: HostLog,
  faulted: (error: unknown) => void,
  end: () => void,
): LastResort {
  const said = { count: 0 }
  let lately = 0
  let sinceMs = performance.now()
  onUncaught((error, origin) => {
    // An error in here would end the process at once.
    try {
      said.count += 1
      if (performance.now() - sinceMs > minuteMs) {
        lately = 0
        sinceMs = performance.now()
      }
      lately += 1
      if (lately > mostPerMinute + 1) return
      log.warn({ ...errorFields(error), origin, count: said.count }, 'an error that nobody caught')
      faulted(error)
      if (lately > mostPerMinute) end()
    } catch {
      // The next one is counted.
    }
  })
  return said
}
