import { writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import pino from 'pino'
import type { HostLog } from './http/request-log.ts'
import type { Shell } from './shell.ts'
import { systemCode } from './thrown.ts'

export type Logging = {
  readonly log: HostLog
  /** Writes what is still in memory. Ends also when the reader of the log is gone. */
  flush(): Promise<void>
}

/** Log lines wait in memory for company: a write for each would cost more than the request's own. */
const bufferedBytes = 8192
const flushEveryMs = 250
/** A reader that stands still costs log lines, not memory. */
const heldBytes = 16 * 1024 * 1024
/** Tries of a write at the end of the process, while the reader's pipe is full. */
const lastTries = 100
const lastPauseMs = 10

/**
 * The log of a command, on standard error: JSON lines for machines, short lines for people. Nothing is
 * awaited; lines are written together and at the end of the process.
 */
export function openLog(
  level: string,
  isPretty: boolean,
  { stderr, ownProcess }: Pick<Shell, 'stderr' | 'ownProcess'>,
): Logging {
  if (isPretty) {
    const screen = new Writable({
      write(line: Buffer, _, done) {
        stderr.write(`${prettyLine(line.toString())}\n`)
        done()
      },
    })
    return { log: pino({ level, base: null }, screen), async flush() {} }
  }
  const json = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
  }
  const { fd } = stderr
  // A stream in memory needs no company for its lines.
  if (typeof fd !== 'number') return { log: pino(json, stderr), async flush() {} }
  const destination = pino.destination({
    dest: fd,
    sync: false,
    minLength: bufferedBytes,
    periodicFlush: flushEveryMs,
    maxLength: heldBytes,
  })
  // A reader that went away must not take running payments with it, and writing synchronously to it would
  // be tried for ever.
  let isBroken = false
  destination.on('error', () => {
    isBroken = true
  })
  destination.on('write', () => {
    isBroken = false
  })
  const flush = () =>
    new Promise<void>((done) => {
      destination.once('error', () => done())
      destination.flush(() => done())
    })
  // The library calls its own at exit, and that one would try a write to a full disk for ever.
  destination.flushSync = () => {
    if (!isBroken) writeHeld(destination as unknown as Held, fd)
  }
  ownProcess?.onExit(() => destination.flushSync())
  return { log: pino(json, destination), flush }
}

/** The lines that the library holds, and those of a write that failed. */
type Held = {
  _writing: boolean
  _writingBuf: string | Buffer
  _bufs: string[]
  _len: number
}

/** Writes held lines before an exit, and leaves out what cannot be written. */
function writeHeld(held: Held, fd: number): void {
  const begun = held._writing ? '' : held._writingBuf
  let left = Buffer.concat([begun, ...held._bufs].map((text) => Buffer.from(text)))
  held._bufs = []
  if (!held._writing) held._writingBuf = ''
  held._len = 0
  for (let tries = 0; left.length > 0 && tries < lastTries; ) {
    try {
      left = left.subarray(writeSync(fd, left))
    } catch (thrown) {
      if (systemCode(thrown) !== 'EAGAIN') return
      tries += 1
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lastPauseMs)
    }
  }
}

/**
 * The security log: alarms, and where the audit trail's chain ends. Lines of the same log, marked, so that
 * they can be kept apart; written whatever level the rest is written at.
 */
export function securityLog(log: HostLog): HostLog {
  return log.child?.({ security: true }, { level: 'info' }) ?? log
}

/** `12:30:01 200 POST /v1/payments 000.100.110 4.2 ms` */
function prettyLine(line: string): string {
  const { time, level, msg, ...fields } = JSON.parse(line) as Record<string, unknown>
  const clock = new Date(Number(time)).toTimeString().slice(0, 8)
  if (msg === 'request') {
    const { status, method, route, id, code, ms } = fields
    const path = String(route || '(no such path)').replace('{id}', String(id ?? '{id}'))
    return `${clock} ${status} ${method} ${path} ${code ?? ''} ${ms} ms`
  }
  const sign = Number(level) >= 40 ? ' !' : ''
  const details = Object.entries(fields).map(([name, value]) => `${name}=${String(value)}`)
  return `${clock}${sign} ${[msg, ...details].join(' ')}`
}
