/** Loaded into the host process to measure it from inside on request. */
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { writeHeapSnapshot } from 'node:v8'

export type Measured = {
  /** Longest and 99th percentile of the event loop's delay since the last question, milliseconds. */
  readonly longestDelayMs: number
  readonly p99DelayMs: number
  /** Highest resident memory since the last question, and memory in use after a collection, bytes. */
  readonly peakBytes: number
  readonly heapBytes: number
}

export type Question = { readonly id: number; readonly measure?: true; readonly snapshot?: string }

const delay = monitorEventLoopDelay({ resolution: 10 })
delay.enable()
let peakBytes = 0
const look = () => {
  peakBytes = Math.max(peakBytes, process.memoryUsage.rss())
}
setInterval(look, 50).unref()

function measure(): Measured {
  look()
  const measured = {
    longestDelayMs: Math.round(delay.max / 1e6),
    p99DelayMs: Math.round(delay.percentile(99) / 1e6),
    peakBytes,
  }
  globalThis.gc?.()
  const heapBytes = process.memoryUsage().heapUsed
  peakBytes = 0
  delay.reset()
  return { ...measured, heapBytes }
}

process.on('message', ({ id, snapshot }: Question) => {
  if (snapshot === undefined) process.send?.({ id, measured: measure() })
  else {
    globalThis.gc?.()
    writeHeapSnapshot(snapshot)
    delay.reset()
    process.send?.({ id })
  }
})
process.channel?.unref()
