/** A run that ends by a signal takes its hosts, its acquirer and its PostgreSQL with it. */
import { EndSignals } from '../../host/end-signals.ts'

export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Rejects at the first signal to end; the second one ends the process at once. */
export function interruption(say: (line: string) => void): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    const { signal } = new EndSignals(process)
    signal.addEventListener('abort', () => {
      // The merchants of the run lose their gateway in the middle of their stories.
      process.on('unhandledRejection', () => undefined)
      say(`${signal.reason}: the run ends with everything that it started`)
      reject(new InterruptedError(String(signal.reason)))
    })
  })
  interrupted.catch(() => undefined)
  return interrupted
}
