/** A run that ends by a signal takes its hosts, its acquirer and its PostgreSQL with it. */
import { onEndSignal } from '../../host/serve/signals.ts'

export class InterruptedError extends Error {
  override readonly name = 'InterruptedError'
}

/** Rejects at the first signal to end; the second one ends the process at once. */
export function interruption(say: (line: string) => void): Promise<never> {
  const interrupted = new Promise<never>((_, reject) => {
    void onEndSignal(
      async (why) => {
        // The merchants of the run lose their gateway in the middle of their stories.
        process.on('unhandledRejection', () => undefined)
        say(`${why}: the run ends with everything that it started`)
        reject(new InterruptedError(why))
      },
      () => process.exit(130),
    )
  })
  interrupted.catch(() => undefined)
  return interrupted
}
