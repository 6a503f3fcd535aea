import { getHeapStatistics, setFlagsFromString } from 'node:v8'

/** Bytes in use, garbage included, from which on the heap is kept close, and below which it is let go again. */
const closeFrom = 160_000_000
const freeBelow = 120_000_000
const lookEveryMs = 1_000

/**
 * On a machine with much memory V8 lets the heap of a process with thousands of waiting payments grow
 * to several times what is alive before it collects: there a fifth more is enough. A small heap is left
 * to V8, because a collection of the whole heap every few seconds is felt by one payment in a hundred.
 */
export function keepHeapClose(): void {
  let isClose = false
  setInterval(() => {
    const { used_heap_size: used } = getHeapStatistics()
    const wanted = used > closeFrom || (isClose && used > freeBelow)
    if (wanted === isClose) return
    isClose = wanted
    // 0 leaves it to V8.
    setFlagsFromString(`--heap-growing-percent=${isClose ? 20 : 0}`)
  }, lookEveryMs).unref()
}
