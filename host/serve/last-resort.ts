import { traceOf } from '../http/fault.ts'
import type { HostLog } from '../http/request-log.ts'

/** More of them within a minute: something is broken that a new process would not have. */
const mostPerMinute = 100
const minuteMs = 60_000

export type LastResort = {
  /** How many errors nobody caught. */
  readonly count: number
}

/**
 * What a serving process does about errors that nobody caught: it counts and logs them and goes on. What
 * matters is in the database under leases and outlives whatever broke here, while an end of the process
 * would take all other payments with it. It ends in order when they do not stop.
 *
 * @param faulted is told, to answer what was left unanswered.
 * @param end ends the process in order.
 */
export function standLastResort(
  log: HostLog,
  faulted: (error: unknown) => void,
  end: () => void,
): LastResort {
  const said = { count: 0 }
  let lately = 0
  let sinceMs = performance.now()
  process.on('uncaughtException', (error: unknown, origin: string) => {
    // An error in here would end the process at once.
    try {
      said.count += 1
      if (performance.now() - sinceMs > minuteMs) {
        lately = 0
        sinceMs = performance.now()
      }
      lately += 1
      if (lately > mostPerMinute + 1) return
      log.warn({ ...traceOf(error), origin, count: said.count }, 'an error that nobody caught')
      faulted(error)
      if (lately > mostPerMinute) end()
    } catch {
      // The next one is counted.
    }
  })
  return said
}
