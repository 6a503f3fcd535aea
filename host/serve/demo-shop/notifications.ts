/** Receives the shop's webhooks: checks their signature, and keeps the latest by checkout. */
import { createHmac, timingSafeEqual } from 'node:crypto'
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

  /** @param secret of the endpoint, where it is known before `subscribe`. */
  constructor(secret?: Buffer) {
    this.#secret = secret
  }

  /** Takes over the endpoint of an earlier start: a new secret of it is told, as that of a new endpoint is. */
  async subscribe(credentials: Credentials, shopUrl: string): Promise<void> {
    const settings = {
      url: shopUrl + notificationPath,
      types: 'PAYMENT,REGISTRATION',
      wrapper: 'NONE',
      active: 'true',
    }
    const id = await earlierEndpoint(credentials)
    const path = id === undefined ? '/v1/webhooks' : `/v1/webhooks/${id}`
    const made = await ask(credentials, 'POST', path, settings)
    const told = id === undefined ? made : await ask(credentials, 'POST', `${path}/rotate`)
    const secret = (told.answer as { signingSecret?: string }).signingSecret ?? ''
    const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
    // An empty key would let everybody sign.
    this.#secret = key.length === 0 ? undefined : key
  }

  /** @returns false for a message that the gateway has not signed, and without a secret for every message. */
  take(headers: IncomingHttpHeaders, body: string): boolean {
    if (!this.#isSigned(headers, body)) return false
    const notification = read(body)
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

/** Undefined for a text that is no object in JSON. */
function read(body: string): Notification | undefined {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

async function earlierEndpoint(credentials: Credentials): Promise<string | undefined> {
  const { answer } = await ask(credentials, 'GET', '/v1/webhooks')
  const { webhooks = [] } = answer as { webhooks?: readonly { id: string; url: string }[] }
  return webhooks.find(({ url }) => new URL(url).pathname === notificationPath)?.id
}
