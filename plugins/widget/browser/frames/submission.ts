import type { CheckoutState, Reply, Submission } from '../protocol.ts'
import { randomName } from '../random-name.ts'
import { securityCode } from './cvv-neighbour.ts'
import type { PagePort } from './page-port.ts'
import { checkoutPath } from './place.ts'

const repeatsMs = [500, 2_000]
const answerLimitMs = 90_000
const pollMs = { first: 1_000, most: 15_000, growth: 1.5 }
/** A shopper waits this long for an acquirer before the result page opens. */
const awaitLimitMs = 10_000

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Sends the payments of one form. A second press while one is under way sends nothing. */
export function createSender(): {
  readonly send: (word: Submission, card: Record<string, string>, port: PagePort) => Promise<void>
  readonly follow: (port: PagePort) => Promise<void>
  readonly look: (port: PagePort) => Promise<void>
} {
  let isSending = false
  /** Kept until an answer arrives, so that a repeat is never a second payment. */
  let nonce: string | null = null
  /** The press whose payment waits for the shopper: the gateway names its bank to this press alone. */
  let waiting: string | undefined

  const send = async (word: Submission, card: Record<string, string>, port: PagePort) => {
    if (isSending) return
    isSending = true
    pauseMs = pollMs.first
    nonce ??= randomName()
    port.say({ is: 'sent' })
    const cvv = word.withCvv ? securityCode(port.nonce) : ''
    // Card data comes from frames alone, whatever the page says.
    const { 'card.number': _, 'card.cvv': _cvv, ...fields } = word.fields
    const reply = await post(word.kind === 'registration' ? 'registration' : 'payment', {
      ...fields,
      ...card,
      ...(cvv === '' ? {} : { 'card.cvv': cvv }),
      nonce,
      origin: port.origin,
      resultUrl: word.resultUrl,
      challenge: word.challenge,
      ...(word.shown === '' ? {} : { shown: word.shown }),
    })
    isSending = false
    if (reply === null) return port.say({ is: 'lost' })
    // No payment was begun.
    const isVain = ['busy', 'invalid', 'changed'].includes(reply.state)
    if (!isVain) waiting = nonce
    nonce = null
    port.say({ is: 'reply', reply, ...(waiting === undefined ? {} : { press: waiting }) })
  }

  let isFollowing = false
  let pauseMs = pollMs.first
  const follow = async (port: PagePort) => {
    if (isFollowing) return
    isFollowing = true
    const state = await awaitRest(waiting, () => {
      const nowMs = pauseMs
      pauseMs = Math.min(pollMs.growth * pauseMs, pollMs.most)
      return nowMs
    })
    isFollowing = false
    port.say(state === null ? { is: 'lost' } : { is: 'state', state })
  }
  const look = async (port: PagePort) => {
    const state = await readState(waiting)
    if (state !== null) port.say({ is: 'looked', state })
  }
  return { send, follow, look }
}

/** Posts a submission, and repeats it with the same nonce when the network fails. */
async function post(kind: string, fields: Record<string, string>): Promise<Reply | null> {
  const body = JSON.stringify(fields)
  for (let round = 0; ; round++) {
    try {
      const response = await fetch(`${checkoutPath}/${kind}`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', Accept: 'application/json' },
        credentials: 'omit',
        redirect: 'error',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(answerLimitMs),
      })
      return readReply(response.status, await response.json())
    } catch {
      const waitMs = repeatsMs[round]
      if (waitMs === undefined) return null
      await pause(waitMs)
    }
  }
}

/** The reply of the gateway; refusals before there is a payment count as fields to correct. */
function readReply(status: number, body: unknown): Reply {
  const { state, result } = body as {
    state?: Reply['state']
    result?: { parameterErrors?: readonly { name: string }[] }
  }
  if (status === 200 && state !== undefined) return body as Reply
  if (status >= 500 || status === 429) throw new Error(`status ${status}`)
  const errors = (result?.parameterErrors ?? []).map(({ name }) => ({
    field: name,
    reason: 'invalid',
  }))
  return status === 404 || errors.length === 0 ? { state: 'closed' } : { state: 'invalid', errors }
}

/** @param press whose payment is meant, where there is one. */
export async function readState(press?: string): Promise<CheckoutState | null> {
  const query = press === undefined ? '' : `?nonce=${encodeURIComponent(press)}`
  try {
    const response = await fetch(`${checkoutPath}/state${query}`, {
      cache: 'no-store',
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      headers: { Accept: 'application/json' },
    })
    if (response.status === 404 || response.status === 400) return { state: 'closed' }
    return response.ok ? ((await response.json()) as CheckoutState) : null
  } catch {
    return null
  }
}

/**
 * Asks until nothing is under way any more, or only the acquirer is still awaited after ten seconds; null when the
 * gateway cannot be reached.
 */
async function awaitRest(
  press: string | undefined,
  nextPauseMs: () => number,
): Promise<CheckoutState | null> {
  const untilMs = performance.now() + awaitLimitMs
  for (let failures = 0; failures < 5; ) {
    const state = await readState(press)
    const leftMs = untilMs - performance.now()
    if (state !== null) {
      if (state.state !== 'busy' || state.redirect !== undefined) return state
      if (state.awaited === true && leftMs <= 0) return state
    }
    failures = state === null ? failures + 1 : 0
    const pauseMs = nextPauseMs()
    await pause(leftMs > 0 ? Math.min(pauseMs, leftMs) : pauseMs)
  }
  return null
}
