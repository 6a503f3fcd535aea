/** Documents with the trust anchors of wallets: fetched, kept as long as their headers allow, refreshed before. */
import type { HttpAnswer, Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { GatewayError } from '../errors.ts'
import type { Outgoing } from '../net/http.ts'

type Document = { readonly text: string; readonly refreshMs: number; readonly untilMs: number }

export class RootDocuments {
  readonly #clock: Clock
  readonly #outgoing: Outgoing
  readonly #log: Log
  readonly #kept = new Map<string, Document>()
  readonly #fetching = new Map<string, Promise<Document>>()

  constructor({ clock, outgoing, log }: { clock: Clock; outgoing: Outgoing; log: Log }) {
    this.#clock = clock
    this.#outgoing = outgoing
    this.#log = log
  }

  /** @throws GatewayError 503 when there is no document that may still be used, and none can be fetched. */
  async get(url: string): Promise<string> {
    const nowMs = this.#clock.elapsedMs()
    const known = this.#kept.get(url)
    if (known === undefined || known.untilMs <= nowMs) return (await this.#fetchOnce(url)).text
    // A payment does not wait for a refresh, and goes on when one fails.
    if (known.refreshMs <= nowMs) this.refresh(url)
    return known.text
  }

  /** Fetches in the background. Never throws. */
  refresh(url: string): void {
    this.#fetchOnce(url).catch(() => undefined)
  }

  #fetchOnce(url: string): Promise<Document> {
    const running = this.#fetching.get(url)
    if (running !== undefined) return running
    const fetching = this.#load(url)
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : typeof error
        this.#log.warn({ url, why }, 'the trust anchors of a wallet could not be fetched')
        throw unavailable()
      })
      .finally(() => this.#fetching.delete(url))
    this.#fetching.set(url, fetching)
    return fetching
  }

  async #load(url: string): Promise<Document> {
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
      // A page of a proxy must not replace the document.
      answer.json()
      const lifeMs = lifeOf(answer)
      const document = {
        text: answer.text(),
        refreshMs: startedMs + lifeMs / 2,
        untilMs: startedMs + lifeMs,
      }
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
    retryAfterSeconds: 5,
  })
