/** npm repeats the terminal's Ctrl-C to its child, and both arrive: one press is one signal. */
const sameSignalMs = 500
const parentLookMs = 500

/**
 * Runs `end` at the first signal to end, and `force` at the second.
 *
 * @returns a promise that ends with `end`.
 */
export function onEndSignal(end: (why: string) => Promise<void>, force: () => void): Promise<void> {
  return new Promise((resolve, reject) => {
    let firstMs: number | undefined
    const hear = (why: string) => {
      if (firstMs === undefined) {
        firstMs = performance.now()
        end(why).then(resolve, reject)
      } else if (performance.now() - firstMs > sameSignalMs) force()
    }
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear)
    // npm tells the shell between us, which ends without a word: that is seen by whose child we are.
    if (process.env.npm_lifecycle_event === undefined) return
    const parent = process.ppid
    const look = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(look)
      hear('end of npm')
    }, parentLookMs)
    look.unref()
  })
}
