import { HttpError, type HttpErrorCode } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'

/** The last moment for a first byte, on two clocks: a suspended machine may stop one of them. */
export type SendBy = { readonly monotonicMs: number; readonly wallMs: number }

/**
 * One request under way. Only this class decides whether bytes may still leave, and records whether
 * any did. Every byte asks `beforeWrite` first; a doubtful byte counts as written.
 */
export class Exchange {
  readonly moves: boolean
  readonly #sendBy: SendBy
  readonly #clock: Pick<Clock, 'elapsedMs' | 'realMs'>
  /** Most exchanges have at most one listener, so a list costs less than a set. */
  #listeners: (() => void)[] = []
  #wroteBytes = false
  #ended = false
  #failure: HttpError | undefined

  constructor(moves: boolean, sendBy: SendBy, clock: Pick<Clock, 'elapsedMs' | 'realMs'>) {
    this.moves = moves
    this.#sendBy = sendBy
    this.#clock = clock
  }

  /** Whether a byte of the request may have left this machine. */
  get wroteBytes(): boolean {
    return this.#wroteBytes
  }

  get failure(): HttpError | undefined {
    return this.#failure
  }

  /** Calls `listener` as soon as the exchange fails. Returns a function that removes the listener. */
  onFailure(listener: () => void): () => void {
    this.#listeners = [...this.#listeners, listener]
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener)
    }
  }

  /** Ends the exchange with an error, and gives the error it ended with. The first failure stays. */
  fail(code: HttpErrorCode, message: string): HttpError {
    if (this.#failure !== undefined) return this.#failure
    const failure = new HttpError(code, message, this.#wroteBytes)
    if (this.#ended) return failure
    this.#ended = true
    this.#failure = failure
    const listeners = this.#listeners
    this.#listeners = []
    for (const listener of listeners) listener()
    return failure
  }

  /** The answer is complete: nothing is written any more. */
  end(): void {
    this.#ended = true
    this.#listeners = []
  }

  /** Called by the socket right before bytes go to the kernel. An error means: do not write. */
  beforeWrite(): HttpError | undefined {
    if (this.#ended) return this.fail('aborted', 'The request had already ended.')
    if (this.moves && this.isPastSendBy()) {
      return this.fail('past-deadline', 'The time to send this request had passed.')
    }
    this.#wroteBytes = true
    return undefined
  }

  isPastSendBy(): boolean {
    const { monotonicMs, wallMs } = this.#sendBy
    return this.#clock.elapsedMs() > monotonicMs || this.#clock.realMs() > wallMs
  }
}
