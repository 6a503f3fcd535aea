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
import { basketPage, resultPage, script, troublePage } from './pages.ts'

export type DemoShop = {
  readonly url: string
  close(): Promise<void>
}

const mostBodyBytes = 256 * 1024
const mostShoppers = 100

type Visit = {
  readonly url: URL
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

/** @param port the one that is tried first; another one is taken when it is in use. */
export async function openDemoShop(
  credentials: Credentials,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<DemoShop> {
  const notifications = new Notifications()
  /** Stored cards of each shopper, by the cookie. */
  const stored = new Map<string, readonly string[]>()
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://shop')
    answer({ url, request, response }).catch(() => {
      if (!response.headersSent) html(response, credentials, 500, troublePage())
    })
  })
  const at = await listen(server, host, port)
  const address = `http://${host.includes(':') ? `[${host}]` : host}:${at}`
  await notifications.subscribe(credentials, `http://127.0.0.1:${at}`)
  return {
    url: address,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  async function answer(visit: Visit): Promise<void> {
    const { url, request, response } = visit
    if (request.method === 'POST' && url.pathname === notificationPath) {
      const isTaken = notifications.take(request.headers, await bodyOf(request))
      response.writeHead(isTaken ? 204 : 400).end()
      return
    }
    if (request.method !== 'GET') return html(response, credentials, 404, troublePage())
    if (url.pathname === '/') return showBasket(visit)
    if (url.pathname === '/hosted') return goToPage(visit)
    if (url.pathname === '/result') return showResult(visit)
    html(response, credentials, 404, troublePage())
  }

  async function showBasket({ url, request, response }: Visit): Promise<void> {
    const shopper = shopperOf(request)
    const prepared = await prepareCheckout(credentials, {}, stored.get(shopper) ?? [])
    if (prepared.answer.id === undefined)
      return html(response, credentials, 502, troublePage(prepared))
    response.setHeader('Set-Cookie', `shopper=${shopper}; HttpOnly; SameSite=Lax; Path=/`)
    const locale = /^[a-z]{2}$/.exec(url.searchParams.get('locale') ?? '')?.[0]
    html(response, credentials, 200, basketPage({ baseUrl: credentials.baseUrl, prepared, locale }))
  }

  /** The same product by the page of the gateway. */
  async function goToPage({ request, response }: Visit): Promise<void> {
    const own = `http://${request.headers.host ?? ''}/result`
    const shopper = shopperOf(request)
    const prepared = await prepareCheckout(
      credentials,
      { shopperResultUrl: own },
      stored.get(shopper) ?? [],
    )
    const { id } = prepared.answer
    if (id === undefined) return html(response, credentials, 502, troublePage(prepared))
    const page = `${credentials.baseUrl}/v1/checkouts/${id}/page?brands=${brands.join('+')}`
    response.writeHead(303, { Location: page }).end()
  }

  async function showResult({ url, request, response }: Visit): Promise<void> {
    const result = await readResult(credentials, url.searchParams.get('resourcePath'))
    if (result === undefined) return html(response, credentials, 404, troublePage())
    const checkout = url.searchParams.get('id') ?? ''
    const { registrationId } = result.answer
    if (typeof registrationId === 'string') keep(shopperOf(request), registrationId)
    const told = await notifications.of(checkout)
    html(
      response,
      credentials,
      200,
      resultPage({ result, told, address: url.pathname + url.search }),
    )
  }

  function keep(shopper: string, registrationId: string): void {
    const known = stored.get(shopper) ?? []
    stored.delete(shopper)
    stored.set(shopper, [...new Set([registrationId, ...known])].slice(0, 3))
    for (const oldest of stored.keys()) {
      if (stored.size <= mostShoppers) break
      stored.delete(oldest)
    }
  }
}

function shopperOf({ headers }: IncomingMessage): string {
  return (
    /(?:^|;\s*)shopper=([0-9a-f]{32})/.exec(headers.cookie ?? '')?.[1] ??
    randomBytes(16).toString('hex')
  )
}

/** The policy that docs/widget.md gives to merchants: the host of the gateway, and the own page. */
function html(
  response: ServerResponse,
  { baseUrl }: Credentials,
  status: number,
  { text, styleHash }: { readonly text: string; readonly styleHash: string },
): void {
  const gateway = new URL(baseUrl).origin
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
