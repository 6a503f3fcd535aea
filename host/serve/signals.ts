/** npm repeats the terminal's Ctrl-C to its child, and both arrive: one press is one signal. */
const sameSignalMs = 500

/**
 * Runs `end` at the first SIGINT, SIGTERM or SIGHUP and `force` at the second.
 *
 * @returns a promise that ends with `end`.
 */
export function onEndSignal(
  end: (signal: string) => Promise<void>,
  force: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstMs: number | undefined
    const hear = (signal: NodeJS.Signals) => {
      if (firstMs === undefined) {
        firstMs = performance.now()
        end(signal).then(resolve, reject)
      } else if (performance.now() - firstMs > sameSignalMs) force()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear)
  })
}
