import { performance } from 'node:perf_hooks'
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8'

/** How V8 treats the heap, from loosest to tightest. */
export type HeapRegime = keyof typeof heapFlags

/**
 * Settings of V8's heap: the growth of live memory, in percent, before a collection, and whether a
 * collection compacts memory, which takes processor time.
 */
export const heapFlags = {
  free: ['--heap-growing-percent=100', '--no-optimize-for-size'],
  near: ['--heap-growing-percent=40', '--no-optimize-for-size'],
  close: ['--heap-growing-percent=20', '--no-optimize-for-size'],
  closest: ['--heap-growing-percent=20', '--optimize-for-size'],
} as const

/** Bytes in use, garbage included. Each limit comes into force with the next collection, hence two steps. */
const nearFrom = 100_000_000
const closeFrom = 140_000_000
/** Share of its time that the event loop works, from which on there is none left for moving. */
const busyShare = 0.9
/**
 * The young generation stops doubling at this size. Unlimited, it grows to 134 MB while thousands
 * of payments wait, and no payment is faster.
 */
const youngEnough = 12_000_000
const lookEveryMs = 250

/**
 * Keeps the memory of this process small while thousands of payments wait for a slow acquirer.
 * `tollgate serve` calls this function, and so may an embedding program. On a machine with much
 * memory, V8 lets such a heap grow to several times its live size. A small heap may double, because
 * a collection of the whole heap every few seconds delays one payment in a hundred.
 */
export function keepHeapClose(): void {
  let set = ''
  let last = performance.eventLoopUtilization()
  const look = () => {
    const current = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(current, last)
    last = current
    const regime = heapRegime(getHeapStatistics().used_heap_size, utilization)
    const flags = [
      ...heapFlags[regime],
      `--semi-space-growth-factor=${youngSize() < youngEnough ? 2 : 1}`,
    ]
    if (set === flags.join()) return
    set = flags.join()
    for (const flag of flags) setFlagsFromString(flag)
  }
  look()
  setInterval(look, lookEveryMs).unref()
}

/**
 * @param used bytes in use, garbage included.
 * @param utilization share of its time that the event loop worked lately, 0 to 1.
 */
export function heapRegime(used: number, utilization: number): HeapRegime {
  if (used < nearFrom) return 'free'
  if (used < closeFrom) return 'near'
  return utilization > busyShare ? 'close' : 'closest'
}

function youngSize(): number {
  return (
    getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space')?.space_size ?? 0
  )
}
