import {
  closeSync,
  copyFileSync,
  fstatSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
} from 'node:fs'

const limitBytes = 4 * 1024 * 1024
const checkEveryMs = 10_000

/** Opens the server's log for appending; the server inherits the descriptor. */
export function openLog(path: string): number {
  boundLog(path)
  return openSync(path, 'a', 0o600)
}

/**
 * Keeps the log at a few megabytes: what was written so far becomes `<path>.1`. The server goes on
 * writing to the same file, which is why it is emptied and not renamed.
 */
export function boundLog(path: string): void {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size <= limitBytes) return
  copyFileSync(path, `${path}.1`)
  truncateSync(path)
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

/** What was written from this position on, at most the last 4 kB. */
export function readLog(path: string, from: number): string {
  const file = openSync(path, 'r')
  try {
    const end = fstatSync(file).size
    const start = Math.max(from, end - 4096)
    const bytes = Buffer.alloc(Math.max(0, end - start))
    readSync(file, bytes, 0, bytes.length, start)
    return bytes.toString('utf8')
  } finally {
    closeSync(file)
  }
}
