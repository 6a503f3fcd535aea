/**
 * The merchants' requests and answers, one line for each attempt, in a file: a run of half an hour
 * has a million of them, and the tested database may be down.
 */
import { closeSync, openSync, writeSync } from 'node:fs'

export type Try = {
  /** Idempotency-Key and merchantTransactionId. */
  readonly reference: string
  readonly type: string
  readonly on: string | undefined
  readonly host: string
  /** Milliseconds since 1970, on the merchants' clock. */
  readonly startedMs: number
  readonly endedMs: number
  /** `waits`: a refund of a cent that must not be given now. */
  readonly asks: 'payment' | 'read' | 'stranger' | 'schedule' | 'waits'
  /** Undefined when no answer arrived. */
  readonly answer: Answer | undefined
}

export type Answer = {
  readonly status: number
  readonly id: string
  readonly code: string
  readonly type: string | undefined
  readonly amount: string | undefined
}

/** A span between two approvals, in milliseconds since 1970. */
export type Silence = { readonly fromMs: number; readonly toMs: number }

/** Columns of a line, as in the checker's table. */
export const columns =
  'reference text, type text, on_id text, host text, started_ms bigint, ended_ms bigint, asks text, status integer, id text, code text, answer_type text, minor bigint'

export class History {
  readonly path: string
  readonly #file: number
  #lines: string[] = []
  /** Attempts, answers with an outcome, and pending ones among them. */
  readonly counts = { tries: 0, words: 0, pending: 0 }
  readonly silences: Silence[] = []
  #approvedMs: number | undefined

  constructor(path: string) {
    this.path = path
    // The database server reads the file as another user.
    this.#file = openSync(path, 'w', 0o644)
  }

  add(made: Try): void {
    const { answer } = made
    this.counts.tries += 1
    if (isWord(answer)) this.counts.words += 1
    if (answer !== undefined && isPending(answer.code)) this.counts.pending += 1
    if (answer !== undefined && isApproved(answer.code)) this.#approved(made.endedMs)
    this.#lines.push(
      [
        made.reference,
        made.type,
        made.on,
        made.host,
        Math.floor(made.startedMs),
        Math.ceil(made.endedMs),
        made.asks,
        answer?.status,
        answer?.id,
        answer?.code,
        answer?.type,
        answer?.amount?.replace('.', ''),
      ]
        .map((value) => (value === undefined || value === '' ? '\\N' : value))
        .join('\t'),
    )
    if (this.#lines.length >= linesAtOnce) this.flush()
  }

  #approved(atMs: number): void {
    const fromMs = this.#approvedMs ?? atMs
    if (atMs - fromMs > 1_000) this.silences.push({ fromMs, toMs: atMs })
    this.#approvedMs = Math.max(fromMs, atMs)
  }

  flush(): void {
    if (this.#lines.length === 0) return
    writeSync(this.#file, `${this.#lines.join('\n')}\n`)
    this.#lines = []
  }

  close(): void {
    this.flush()
    closeSync(this.#file)
  }
}

const linesAtOnce = 256

export const isApproved = (code: string) => /^(000\.000\.|000\.100\.1|000\.[36])/.test(code)
export const isPending = (code: string) => code.startsWith('000.200.')

/** An answer with an outcome of the wish; others ask the client to send it again. */
export const isWord = (answer: Answer | undefined): answer is Answer =>
  answer !== undefined && answer.status < 500 && answer.status !== 429
