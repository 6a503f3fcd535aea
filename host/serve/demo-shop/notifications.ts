/** Receives the shop's webhooks: checks their signature, and keeps the latest by checkout. */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import type { Credentials } from '../demo.ts'
import { ask } from './merchant.ts'

export const notificationPath = '/demo-shop/notifications'

const most = 200
const patienceMs = 3_000

export class Notifications {
  readonly #byCheckout = new Map<string, unknown[]>()
  readonly #waiting = new Set<() => void>()
  #secret: Buffer | undefined

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
    this.#secret = Buffer.from(secret.replace('whsec_', ''), 'base64')
  }

  /** @returns false for a message that the gateway has not signed. */
  take(headers: IncomingHttpHeaders, body: string): boolean {
    if (!this.#isSigned(headers, body)) return false
    const notification = JSON.parse(body) as { payload?: { ndc?: string } }
    const checkout = notification.payload?.ndc ?? ''
    const known = this.#byCheckout.get(checkout) ?? []
    this.#byCheckout.delete(checkout)
    this.#byCheckout.set(checkout, [...known, notification].slice(-5))
    for (const oldest of this.#byCheckout.keys()) {
      if (this.#byCheckout.size <= most) break
      this.#byCheckout.delete(oldest)
    }
    for (const look of this.#waiting) look()
    return true
  }

  /** The notifications about a checkout; the first is waited for, a moment. */
  async of(checkout: string): Promise<readonly unknown[]> {
    const found = () => this.#byCheckout.get(checkout)
    if (found() === undefined) {
      await new Promise<void>((resolve) => {
        const end = () => {
          clearTimeout(timer)
          this.#waiting.delete(look)
          resolve()
        }
        const look = () => {
          if (found() !== undefined) end()
        }
        const timer = setTimeout(end, patienceMs)
        this.#waiting.add(look)
      })
    }
    return found() ?? []
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

async function earlierEndpoint(credentials: Credentials): Promise<string | undefined> {
  const { answer } = await ask(credentials, 'GET', '/v1/webhooks')
  const { webhooks = [] } = answer as { webhooks?: readonly { id: string; url: string }[] }
  return webhooks.find(({ url }) => new URL(url).pathname === notificationPath)?.id
}
