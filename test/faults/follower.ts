/**
 * A merchant who follows the event feed from the first event to the last on any running host, and
 * records every event.
 */
import { closeSync, openSync, writeSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { EventView } from '../../core/index.ts'
import type { Address, Line } from './line.ts'
import { type Random, randomOf } from './random.ts'

export type Follower = {
  /** File of the received events, in the columns of the checker's table. */
  readonly path: string
  /** Resolves at the end of the feed. */
  end(): Promise<void>
}

/** Columns of a line. */
export const followed = 'no bigint, id text, resource text, sequence integer, type text'

/** Shorter than most freezes, so that the reader asks another host from the same cursor. */
const withinMs = 6_000
const endsWithinMs = 60_000

type Page = {
  readonly events: readonly EventView[]
  readonly nextCursor: string
  readonly more: boolean
}

export function openFollower(line: Line, seed: number, path: string): Follower {
  const follower = new Reader(line, randomOf(seed, 'follower'), path)
  const following = follower.follow()
  following.catch(() => undefined)
  return {
    path,
    async end() {
      follower.finish()
      await following
    },
  }
}

class Reader {
  readonly #line: Line
  readonly #random: Random
  readonly #file: number
  #cursor: string | undefined
  #told = 0
  #endsAtMs = Number.POSITIVE_INFINITY

  constructor(line: Line, random: Random, path: string) {
    this.#line = line
    this.#random = random
    // The database server reads the file as another user.
    this.#file = openSync(path, 'w', 0o644)
  }

  finish(): void {
    this.#endsAtMs = performance.now() + endsWithinMs
  }

  async follow(): Promise<void> {
    try {
      for (;;) {
        const isLast = this.#endsAtMs !== Number.POSITIVE_INFINITY
        // Frequent requests fall between the commits of two transactions.
        const page = await this.#page(isLast ? '0' : this.#random.pick(['0', '0', '2']))
        if (page !== undefined) {
          this.#write(page.events)
          this.#cursor = page.nextCursor
        }
        if (isLast && page?.more === false) return
        if (performance.now() > this.#endsAtMs) throw new Error('nobody answers the feed')
      }
    } finally {
      closeSync(this.#file)
    }
  }

  async #page(wait: string): Promise<Page | undefined> {
    const host = this.#line.any(this.#random.next())
    // Pages of different sizes end at different places.
    const limit = String(this.#random.between(1, 200))
    const page = host && (await ask(host, { cursor: this.#cursor, limit, wait }))
    if (page === undefined) await pause(100)
    return page
  }

  #write(events: readonly EventView[]): void {
    const lines = events.map(({ id, payload, sequence, type }) => {
      this.#told += 1
      return `${[this.#told, id, payload.id, sequence, type].join('\t')}\n`
    })
    if (lines.length > 0) writeSync(this.#file, lines.join(''))
  }
}

/** Undefined when no page arrived. */
async function ask(
  host: Address,
  query: Readonly<Record<string, string | undefined>>,
): Promise<Page | undefined> {
  const sent = Object.entries(query).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  )
  try {
    const answer = await fetch(`${host.url}/v1/events?${new URLSearchParams(sent)}`, {
      headers: { authorization: `Bearer ${host.token}` },
      signal: AbortSignal.timeout(withinMs),
    })
    const text = await answer.text()
    return answer.status === 200 ? (JSON.parse(text) as Page) : undefined
  } catch {
    return undefined
  }
}
