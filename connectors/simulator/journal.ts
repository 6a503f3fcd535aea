import {
  closeSync,
  fdatasync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { caseFromJson, caseToJson } from './authentication/answer.ts'
import type { Case } from './authentication/case.ts'
import { type Entry, entryFromJson, entryToJson } from './entry.ts'
import type { SettledDay } from './settlement/state.ts'

/** One change: entries of the ledger, a case of the issuer, or a settled day. */
export type JournalLine = {
  readonly merchantId: string
  readonly entries?: readonly Entry[]
  readonly case?: Case
  readonly settled?: SettledDay
}

/** Called for every change of a journal, in the order of writing. */
type Replay = (line: JournalLine) => void

/**
 * An append-only file of ledger entries and cases, one JSON line for each change. `safe` resolves when all
 * earlier lines are on the disk: every answer waits for it, so a killed process loses no answered
 * payment.
 */
export type Journal = {
  append(line: JournalLine): void
  safe(): Promise<void>
  close(): Promise<void>
}

/** A ledger in memory only. */
export const noJournal: Journal = {
  append() {},
  safe: () => Promise.resolve(),
  close: () => Promise.resolve(),
}

/**
 * Opens or creates the file and replays it. A truncated last line was never answered and is
 * removed.
 *
 * @throws Error with the file and line for any other unreadable line.
 */
export function openJournal(path: string, replay: Replay): Journal {
  const file = openSync(path, 'a+', 0o600)
  const text = readFileSync(path, 'utf8')
  const complete = text.slice(0, text.lastIndexOf('\n') + 1)
  if (complete.length < text.length) ftruncateSync(file, Buffer.byteLength(complete))
  complete.split('\n').forEach((line, index) => {
    if (line !== '') readLine(line, replay, `${path}, line ${index + 1}`)
  })
  flushFolder(path)
  return createJournal(file)
}

function createJournal(file: number): Journal {
  let flushed: Promise<void> = Promise.resolve()
  let next: Promise<void> | undefined
  const flush = () =>
    new Promise<void>((done, failed) => {
      // All lines appended so far belong to this flush; later ones need the next.
      next = undefined
      fdatasync(file, (error) => (error === null ? done() : failed(error)))
    })
  const safe = (): Promise<void> => {
    if (next === undefined) {
      next = flushed.then(flush)
      flushed = next
    }
    return next
  }
  return {
    append({ merchantId, entries, case: found, settled }) {
      if (entries?.length === 0) return
      const line = JSON.stringify({
        merchantId,
        ...(entries === undefined ? {} : { entries: entries.map(entryToJson) }),
        ...(found === undefined ? {} : { case: caseToJson(found) }),
        ...(settled === undefined ? {} : { settled }),
      })
      writeAll(file, Buffer.from(`${line}\n`))
    },
    safe,
    async close() {
      await safe()
      closeSync(file)
    },
  }
}

function writeAll(file: number, bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written)
  }
}

function readLine(line: string, replay: Replay, where: string): void {
  try {
    const read = JSON.parse(line) as JournalLine & { entries?: unknown[]; case?: unknown }
    const { merchantId, entries = [], settled } = read
    if (read.case !== undefined) replay({ merchantId, case: caseFromJson(read.case) })
    else if (settled !== undefined) replay({ merchantId, settled })
    else replay({ merchantId, entries: entries.map(entryFromJson) })
  } catch {
    throw new Error(`the ledger file cannot be read at ${where}: it must hold one change as JSON`)
  }
}

/** A new file survives a crash only if its folder was written too. */
function flushFolder(path: string): void {
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
