/** The result of a load from the client's side. */
export type Load = {
  readonly payments: number
  readonly seconds: number
  readonly p50Ms: number
  readonly p99Ms: number
}

/**
 * Keeps `concurrent` payments under way for `durationMs` and measures each. `pay` gets a number
 * unique in this process; its error fails the whole measurement.
 */
export async function measure(
  concurrent: number,
  durationMs: number,
  pay: (no: number, lane: number) => Promise<void>,
): Promise<Load> {
  const latencies: number[] = []
  const start = performance.now()
  const until = start + durationMs
  const lane = async (which: number) => {
    for (let from = performance.now(); from < until; ) {
      await pay(nextNo(), which)
      const now = performance.now()
      latencies.push(now - from)
      from = now
    }
  }
  await Promise.all(Array.from({ length: concurrent }, (_, which) => lane(which)))
  return summarise(latencies, (performance.now() - start) / 1000)
}

/** The figures of a load from the milliseconds of each payment. */
export function summarise(latencies: readonly number[], seconds: number): Load {
  const sorted = Float64Array.from(latencies).sort()
  const quantile = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN
  return { payments: sorted.length, seconds, p50Ms: quantile(0.5), p99Ms: quantile(0.99) }
}

let last = 0
const nextNo = () => ++last
