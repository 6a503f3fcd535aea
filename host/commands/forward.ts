/** One notification to a program on this machine, exactly as a webhook would bring it. */
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import { type FeedEvent, whyOf } from './merchant-api.ts'

export type Target = {
  readonly url: string
  /** `whsec_…` */
  readonly secret: string
  /** Undefined: plain JSON. */
  readonly wrapper: { readonly as: 'TEXT' | 'JSON'; readonly key: string } | undefined
}

export type Forwarded = {
  /** Undefined when none came. */
  readonly status: number | undefined
  readonly error: string | undefined
  readonly ms: number
}

const longestAnswerMs = 30_000

/** Sends one event once. Never throws but when `signal` is aborted. */
export async function forward(
  { url, secret, wrapper }: Target,
  event: FeedEvent,
  signal: AbortSignal,
): Promise<Forwarded> {
  const { type, action, payload } = event
  const text = JSON.stringify({ type, ...(action === undefined ? {} : { action }), payload })
  const { body, headers } = wrapped(text, wrapper)
  const timestamp = String(Math.floor(Date.now() / 1000))
  const startedMs = performance.now()
  const end = (status: number | undefined, error?: string): Forwarded => ({
    status,
    error,
    ms: Math.round(performance.now() - startedMs),
  })
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(longestAnswerMs)]),
      headers: {
        ...headers,
        'webhook-id': event.id,
        'webhook-timestamp': timestamp,
        'webhook-sequence': String(event.sequence),
        'webhook-signature': signature(secret, `${event.id}.${timestamp}.${body}`),
      },
      body,
    })
    await answer.body?.cancel()
    return end(answer.status)
  } catch (error) {
    signal.throwIfAborted()
    return end(undefined, whyOf(error))
  }
}

function signature(secret: string, signed: string): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

function wrapped(
  text: string,
  wrapper: Target['wrapper'],
): { body: string; headers: Record<string, string> } {
  if (wrapper === undefined) return { body: text, headers: { 'content-type': 'application/json' } }
  const iv = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', Buffer.from(wrapper.key, 'hex'), iv)
  const hex = upperHex(Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]))
  return {
    body: wrapper.as === 'TEXT' ? hex : JSON.stringify({ encryptedBody: hex }),
    headers: {
      'content-type': wrapper.as === 'TEXT' ? 'text/plain' : 'application/json',
      'x-initialization-vector': upperHex(iv),
      'x-authentication-tag': upperHex(cipher.getAuthTag()),
    },
  }
}

const upperHex = (bytes: Buffer) => bytes.toString('hex').toUpperCase()

/** The same token gives the same secret and key, so that a program keeps them between two runs. */
export function secretOf(token: string): string {
  return `whsec_${derived(token, 'signing secret').subarray(0, 24).toString('base64')}`
}

export const keyOf = (token: string): string => derived(token, 'encryption key').toString('hex')

const derived = (token: string, what: string) =>
  createHmac('sha256', token).update(`tollgate listen: ${what}`).digest()
