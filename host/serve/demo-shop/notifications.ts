/** Receives the shop's webhooks: checks their signature, decrypts them, and keeps the latest by checkout. */
import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Credentials } from '../demo.ts'
import { ask } from './merchant.ts'

export const notificationPath = '/demo-shop/notifications'

/** Messages that are kept, of all checkouts and of one. */
const most = { ofAll: 50, ofOne: 5 }
const patienceMs = 3_000

export class Notifications {
  /** The latest last. */
  #kept: readonly { readonly checkout: string; readonly notification: unknown }[] = []
  readonly #waiting = new Set<() => void>()
  #secret: Buffer | undefined
  #key = Buffer.alloc(0)

  /** @param secret of the endpoint, where it is known before `subscribe`. */
  constructor(secret?: Buffer) {
    this.#secret = secret
  }

  /** Replaces the endpoint of an earlier start, whose secrets are not told again. */
  async subscribe(credentials: Credentials, shopUrl: string): Promise<void> {
    for (const id of await earlierEndpoints(credentials)) {
      await ask(credentials, 'DELETE', `/v1/webhooks/${id}`)
    }
    const settings = { url: shopUrl + notificationPath, types: 'PAYMENT,REGISTRATION' }
    const { answer } = await ask(credentials, 'POST', '/v1/webhooks', settings)
    const { signingSecret = '', encryptionKey = '' } = answer as Partial<Record<string, string>>
    const secret = Buffer.from(signingSecret.replace('whsec_', ''), 'base64')
    // An empty key would let everybody sign.
    this.#secret = secret.length === 0 ? undefined : secret
    this.#key = Buffer.from(encryptionKey, 'hex')
  }

  /** @returns false for a message that the gateway has not signed, and without a secret for every message. */
  take(headers: IncomingHttpHeaders, body: string): boolean {
    if (!this.#isSigned(headers, body)) return false
    const notification = read(headers, body, this.#key)
    if (notification === undefined) return false
    const checkout = notification.payload?.ndc ?? ''
    const [oldest, ...newer] = this.#kept.filter((one) => one.checkout === checkout)
    const kept = this.#kept.filter((one) => newer.length + 1 < most.ofOne || one !== oldest)
    this.#kept = [...kept, { checkout, notification }].slice(-most.ofAll)
    for (const look of this.#waiting) look()
    return true
  }

  /** The notifications about a checkout; the first is waited for, a moment. */
  async of(checkout: string): Promise<readonly unknown[]> {
    const found = () =>
      this.#kept.filter((one) => one.checkout === checkout).map((one) => one.notification)
    if (found().length === 0) {
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer)
          this.#waiting.delete(look)
          resolve()
        }
        const look = () => {
          if (found().length > 0) end()
        }
        const timer = setTimeout(end, patienceMs)
        this.#waiting.add(look)
      })
    }
    return found()
  }

  #isSigned(headers: IncomingHttpHeaders, body: string): boolean {
    const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': given } = headers
    if (this.#secret === undefined || typeof given !== 'string') return false
    if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 300) return false
    const right = createHmac('sha256', this.#secret).update(`${id}.${timestamp}.${body}`).digest()
    return given.split(' ').some((one) => {
      const sent = Buffer.from(one.replace('v1,', ''), 'base64')
      return sent.length === right.length && timingSafeEqual(sent, right)
    })
  }
}

type Notification = { readonly payload?: { readonly ndc?: string } | null }

/** Undefined for a text that does not open, or is no object in JSON. */
function read(
  { 'x-initialization-vector': iv, 'x-authentication-tag': tag }: IncomingHttpHeaders,
  body: string,
  key: Buffer,
): Notification | undefined {
  try {
    const value: unknown = JSON.parse(
      iv === undefined ? body : opened(body, key, `${iv}`, `${tag}`),
    )
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function opened(body: string, key: Buffer, iv: string, tag: string): string {
  const cipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'hex'))
  cipher.setAuthTag(Buffer.from(tag, 'hex'))
  return cipher.update(body, 'hex', 'utf8') + cipher.final('utf8')
}

async function earlierEndpoints(credentials: Credentials): Promise<string[]> {
  const { answer } = await ask(credentials, 'GET', '/v1/webhooks')
  const { webhooks = [] } = answer as { webhooks?: readonly { id: string; url: string }[] }
  return webhooks
    .filter(({ url }) => new URL(url).pathname === notificationPath)
    .map(({ id }) => id)
}
