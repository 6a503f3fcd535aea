import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Bytes in use, garbage included, from which on the heap is kept close, and below which it is let go again. */
const closeFrom = 160_000_000
const freeBelow = 120_000_000
/** How much may be added to what is alive, in percent, before V8 collects. */
const growth = { free: 100, close: 20 }
const lookEveryMs = 1_000

/**
 * On a machine with much memory V8 lets the heap of a process with thousands of waiting payments grow
 * to several times what is alive before it collects: there a fifth more is enough. A small heap may
 * double, because a collection of the whole heap every few seconds is felt by one payment in a hundred.
 */
export function keepHeapClose(): void {
  let allowed = grow(growth.free)
  setInterval(() => {
    const { used_heap_size: used } = getHeapStatistics()
    const isClose = used > closeFrom || (allowed === growth.close && used > freeBelow)
    const wanted = isClose ? growth.close : growth.free
    if (wanted !== allowed) allowed = grow(wanted)
  }, lookEveryMs).unref()
}

function grow(percent: number): number {
  setFlagsFromString(`--heap-growing-percent=${percent}`)
  return percent
}
