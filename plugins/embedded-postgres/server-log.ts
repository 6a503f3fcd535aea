import { statSync, truncateSync } from 'node:fs'

const limitBytes = 4 * 1024 * 1024
const checkEveryMs = 10_000

/**
 * Keeps the server's log at a few megabytes. The server goes on writing to the same file, which is
 * why it is emptied and not renamed.
 */
export function boundLog(path: string): void {
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > limitBytes) truncateSync(path)
}

/** Bounds the log for as long as this process runs; answers how to end that. */
export function keepLogBounded(path: string): () => void {
  const timer = setInterval(() => {
    try {
      boundLog(path)
    } catch {
      // A full disk or a removed folder: the next round tries again.
    }
  }, checkEveryMs)
  timer.unref()
  return () => clearInterval(timer)
}
