/**
 * A small shop on an origin of its own, for a first look at a payment: the widget, the test cards, and what the
 * server of a merchant gets. It knows the gateway by its API alone.
 */
import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemCode } from '../../thrown.ts'
import type { Credentials } from '../demo.ts'
import { brands, prepareCheckout, readResult } from './merchant.ts'
import { Notifications, notificationPath } from './notifications.ts'
import { basketPage, type Page, resultPage, script, troublePage } from './pages.ts'

export type DemoShop = {
  readonly url: string
  close(): Promise<void>
}

const mostBodyBytes = 256 * 1024
const mostShoppers = 100
const mostCheckouts = 1_000

type Visit = {
  readonly url: URL
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export type DemoShopOptions = {
  readonly host: string
  /** The port that is tried first; another one is taken when it is in use. */
  readonly port: number
  /** The gateway's name for browsers, where it is not the base URL. */
  readonly gatewayUrl?: string
  /** The origin of card fields, where it is another. */
  readonly fieldsUrl?: string
}

export async function openDemoShop(
  credentials: Credentials,
  { host, port, gatewayUrl = credentials.baseUrl, fieldsUrl = gatewayUrl }: DemoShopOptions,
): Promise<DemoShop> {
  const origins = [...new Set([gatewayUrl, fieldsUrl].map((url) => new URL(url).origin))]
  const shop = new Shop(credentials, gatewayUrl, origins)
  const server = createServer((request, response) => {
    shop.answer(request, response).catch(() => shop.show(response, 500, troublePage()))
  })
  const at = await listen(server, host, port)
  // A shop without notifications says so on its result page.
  await shop.notifications.subscribe(credentials, `http://127.0.0.1:${at}`).catch(() => {})
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${at}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

class Shop {
  readonly notifications = new Notifications()
  readonly #credentials: Credentials
  readonly #gatewayUrl: string
  readonly #origins: readonly string[]
  /** The shopper of each checkout, by the cookie. The result address of a checkout may be in other hands. */
  readonly #shoppers = new Map<string, string>()
  /** Stored cards of each shopper, by the cookie. */
  readonly #stored = new Map<string, readonly string[]>()

  constructor(credentials: Credentials, gatewayUrl: string, origins: readonly string[]) {
    this.#credentials = credentials
    this.#gatewayUrl = gatewayUrl
    this.#origins = origins
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '', 'http://shop')
    if (request.method === 'POST' && url?.pathname === notificationPath) {
      const isTaken = this.notifications.take(request.headers, await bodyOf(request))
      response.writeHead(isTaken ? 204 : 400).end()
      return
    }
    const pages: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
      '/': (visit) => this.#basket(visit),
      '/hosted': (visit) => this.#hosted(visit),
      '/result': (visit) => this.#result(visit),
    }
    const page =
      url !== null && Object.hasOwn(pages, url.pathname) ? pages[url.pathname] : undefined
    if (request.method !== 'GET' || page === undefined || url === null) {
      return this.show(response, 404, troublePage())
    }
    await page({ url, request, response })
  }

  async #basket({ url, request, response }: Visit): Promise<void> {
    const shopper = shopperOf(request)
    const prepared = await prepareCheckout(this.#credentials, {}, this.#stored.get(shopper) ?? [])
    if (prepared.answer.id === undefined) return this.show(response, 502, troublePage(prepared))
    this.#remember(prepared.answer.id, shopper, response)
    const locale = /^[a-z]{2}$/.exec(url.searchParams.get('locale') ?? '')?.[0]
    this.show(response, 200, basketPage({ baseUrl: this.#gatewayUrl, prepared, locale }))
  }

  /** The same product by the page of the gateway. */
  async #hosted({ request, response }: Visit): Promise<void> {
    const shopperResultUrl = `http://${request.headers.host ?? ''}/result`
    const shopper = shopperOf(request)
    const stored = this.#stored.get(shopper) ?? []
    const prepared = await prepareCheckout(this.#credentials, { shopperResultUrl }, stored)
    const { id } = prepared.answer
    if (id === undefined) return this.show(response, 502, troublePage(prepared))
    this.#remember(id, shopper, response)
    const page = `${this.#gatewayUrl}/v1/checkouts/${id}/page?brands=${brands.join('+')}`
    response.writeHead(303, { Location: page }).end()
  }

  async #result({ url, request, response }: Visit): Promise<void> {
    const path = url.searchParams.get('resourcePath')
    const result = await readResult(this.#credentials, path)
    if (result === undefined) return this.show(response, 404, troublePage())
    const { registrationId } = result.answer
    const shopper = shopperOf(request)
    const isOwn = this.#shoppers.get(path?.split('/')[3] ?? '') === shopper
    if (isOwn && typeof registrationId === 'string') this.#keep(shopper, registrationId)
    const told = await this.notifications.of(url.searchParams.get('id') ?? '')
    const address = url.pathname + url.search
    this.show(response, 200, resultPage({ result, told, address }))
  }

  #remember(checkout: string, shopper: string, response: ServerResponse): void {
    response.setHeader('Set-Cookie', `shopper=${shopper}; HttpOnly; SameSite=Lax; Path=/`)
    this.#shoppers.set(checkout, shopper)
    const [oldest] = this.#shoppers.keys()
    if (this.#shoppers.size > mostCheckouts) this.#shoppers.delete(oldest!)
  }

  #keep(shopper: string, registrationId: string): void {
    const known = this.#stored.get(shopper) ?? []
    this.#stored.delete(shopper)
    this.#stored.set(shopper, [...new Set([registrationId, ...known])].slice(0, 3))
    for (const oldest of this.#stored.keys()) {
      if (this.#stored.size <= mostShoppers) break
      this.#stored.delete(oldest)
    }
  }

  show(response: ServerResponse, status: number, page: Page): void {
    if (!response.headersSent) sendPage(response, status, page, this.#origins)
  }
}

function shopperOf({ headers }: IncomingMessage): string {
  return (
    /(?:^|;\s*)shopper=([0-9a-f]{32})/.exec(headers.cookie ?? '')?.[1] ??
    randomBytes(16).toString('hex')
  )
}

/** The policy that docs/widget.md gives to merchants: the host of the gateway, and the own page. */
function sendPage(
  response: ServerResponse,
  status: number,
  { text, styleHash }: Page,
  origins: readonly string[],
): void {
  const gateway = origins.join(' ')
  const policy = [
    "default-src 'none'",
    `script-src ${gateway} '${hashOf(script)}'`,
    `style-src ${gateway} '${styleHash}'`,
    `connect-src ${gateway}`,
    `img-src ${gateway}`,
    `frame-src ${gateway}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  response
    .writeHead(status, {
      'Content-Type': 'text/html;charset=utf-8',
      'Content-Security-Policy': policy.join('; '),
      'Cache-Control': 'no-store',
      'Referrer-Policy': 'no-referrer',
      'X-Content-Type-Options': 'nosniff',
    })
    .end(text)
}

const hashOf = (text: string): string =>
  `sha256-${createHash('sha256').update(text).digest('base64')}`

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    bytes += part.length
    if (bytes > mostBodyBytes) throw new Error('a notification of the gateway is never this large')
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function listen(
  server: ReturnType<typeof createServer>,
  host: string,
  port: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const listening = () => resolve((server.address() as AddressInfo).port)
    server.once('error', (error) => {
      if (port === 0 || systemCode(error) !== 'EADDRINUSE') return reject(error)
      listen(server, host, 0).then(resolve, reject)
    })
    server.listen(port, host, listening)
  })
}
