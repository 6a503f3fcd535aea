/** Documents with the trust anchors of wallets: fetched, kept as long as their headers allow, refreshed before. */
import type { HttpAnswer, Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import type { Outgoing } from '../net/http.ts'

/** Where a wallet's anchors are, and what it says about a text from there. */
export type Source = { readonly url: string; readonly isUsable: (text: string) => boolean }

type Document = { readonly text: string; readonly refreshMs: number; readonly untilMs: number }

/** After a failed fetch. No payment waits for the next one meanwhile: whoever holds up one would hold up all. */
const pauseSeconds = 5

export class RootDocuments {
  readonly #clock: Clock
  readonly #outgoing: Outgoing
  readonly #log: Log
  readonly #kept = new Map<string, Document>()
  readonly #fetching = new Map<string, Promise<Document>>()
  /** Until when an address is not asked again. */
  readonly #pausedMs = new Map<string, number>()

  constructor({ clock, outgoing, log }: { clock: Clock; outgoing: Outgoing; log: Log }) {
    this.#clock = clock
    this.#outgoing = outgoing
    this.#log = log
  }

  /** @throws GatewayError 503 when there is no document that may still be used, and none can be fetched. */
  async get(source: Source): Promise<string> {
    const nowMs = this.#clock.elapsedMs()
    const known = this.#kept.get(source.url)
    if (known === undefined || known.untilMs <= nowMs) return (await this.#fetchOnce(source)).text
    // A payment does not wait for a refresh, and goes on when one fails.
    if (known.refreshMs <= nowMs) this.refresh(source)
    return known.text
  }

  /** Fetches in the background. Never throws. */
  refresh(source: Source): void {
    this.#fetchOnce(source).catch(() => undefined)
  }

  async #fetchOnce(source: Source): Promise<Document> {
    const { url } = source
    const running = this.#fetching.get(url)
    if (running !== undefined) return running
    if ((this.#pausedMs.get(url) ?? 0) > this.#clock.elapsedMs()) throw unavailable()
    const fetching = this.#load(source)
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : typeof error
        this.#log.warn({ url, why }, 'the trust anchors of a wallet could not be fetched')
        this.#pausedMs.set(url, this.#clock.elapsedMs() + pauseSeconds * 1000)
        throw unavailable()
      })
      .finally(() => this.#fetching.delete(url))
    this.#fetching.set(url, fetching)
    return fetching
  }

  async #load({ url, isUsable }: Source): Promise<Document> {
    const startedMs = this.#clock.elapsedMs()
    const deadlineMs = startedMs + limits.walletDocumentMs
    // It moves no money, so it is never too late to send.
    const sendBy = {
      monotonicMs: deadlineMs,
      wallMs: this.#clock.realMs() + limits.walletDocumentMs,
    }
    const call = this.#outgoing.forCall({ deadlineMs, sendBy })
    try {
      const answer = await call.http.get(url, {}, { maxBytes: limits.walletDocumentBytes })
      if (answer.status !== 200) throw new Error(`the answer has the status ${answer.status}`)
      // A page of a proxy, or an error in JSON, must not replace the document.
      answer.json()
      const text = answer.text()
      if (!isUsable(text)) throw new Error('the answer has no key that the wallet can use')
      const lifeMs = lifeOf(answer)
      const document = { text, refreshMs: startedMs + lifeMs / 2, untilMs: startedMs + lifeMs }
      this.#kept.set(url, document)
      return document
    } finally {
      call.finish()
    }
  }
}

/** How long a document may be kept by its headers: a minute at least, a week at most, an hour without headers. */
function lifeOf({ headers }: HttpAnswer): number {
  const { least, most, unsaid } = limits.walletDocumentLifeMs
  const seconds = /(?:^|[ ,])max-age=([0-9]{1,9})/i.exec(headers['cache-control'] ?? '')?.[1]
  if (seconds === undefined) return unsaid
  const age = /^[0-9]{1,9}$/.test(headers.age ?? '') ? Number(headers.age) : 0
  return Math.min(most, Math.max(least, (Number(seconds) - age) * 1000))
}

const unavailable = () =>
  new GatewayError('999.999.888', {
    status: 503,
    description:
      'The keys of the wallet are not available. Nothing was sent to the acquirer: send the request again.',
    retryAfterSeconds: pauseSeconds,
  })
