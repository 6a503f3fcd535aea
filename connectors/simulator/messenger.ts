import type { Inbound } from '@tollgate/plugin-kit'
import type { Case } from './authentication/case.ts'
import { messageAbout } from './authentication/event.ts'
import type { Entry } from './entry.ts'
import { messageOf } from './event.ts'

/** Sends events of the HTTP acquirer to its merchants. */
export type Messenger = {
  /** Address of events without one of their own; undefined: none. */
  listen(url: string | undefined): void
  /** Sends the state of an entry. Resolves true when the receiver answered 2xx. Never rejects. */
  tell(entry: Entry, url?: string): Promise<boolean>
  /** The same for an authentication of the issuer. */
  tellOf(found: Case, url?: string): Promise<boolean>
  /** Resolves when no event is being sent. */
  idle(): Promise<void>
}

const timeoutMs = 5_000

export function openMessenger(
  secret: string,
  defaultUrl: string | undefined,
  closing: AbortSignal,
): Messenger {
  let listener = defaultUrl
  const sending = new Set<Promise<boolean>>()
  const send = async ({ body, headers }: Inbound, url: string): Promise<boolean> => {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
        redirect: 'manual',
        signal: AbortSignal.any([closing, AbortSignal.timeout(timeoutMs)]),
      })
      await answer.arrayBuffer()
      return answer.ok
    } catch {
      return false
    }
  }
  const deliver = async (message: Inbound, url = listener): Promise<boolean> => {
    if (url === undefined) return false
    const sent = send(message, url)
    sending.add(sent)
    try {
      return await sent
    } finally {
      sending.delete(sent)
    }
  }
  return {
    listen(url) {
      listener = url
    },
    tell: (entry, url) => deliver(messageOf(entry, secret, Date.now()), url),
    tellOf: (found, url) => deliver(messageAbout(found, secret), url),
    async idle() {
      await Promise.all(sending)
    },
  }
}
