/**
 * A gateway whose replies a test writes down: for lost connections, slow banks and other rare
 * moments of a shopper. It serves the real files of the widget.
 */
import { assets } from '@tollgate/widget'
import { type Answer, html, type Served, serve } from './servers.ts'

export const checkoutId = '0123456789ABCDEF0123456789ABCDEF.test1'

/** The address of the script in a merchant's page. */
export const scriptOf = ({ origin }: { readonly origin: string }): string =>
  `${origin}/v1/paymentWidgets.js?checkoutId=${checkoutId}`

type Json = Record<string, unknown>

export type Script = {
  checkout?: Json
  /** The replies to submissions, one after another; the last one stays. */
  replies?: (Json | { readonly cut: true })[]
  /** The answers about the state, one after another; the last one stays. */
  states?: Json[]
  /** Replies wait for this. */
  held?: Promise<void>
}

export type ScriptedGateway = {
  readonly origin: string
  readonly fields: string
  readonly script: Script
  /** Submissions, in their order. */
  readonly submitted: Record<string, string>[]
  readonly requests: string[]
  readonly close: () => Promise<void>
}

const everyone = {
  'Access-Control-Allow-Origin': '*',
  'Cross-Origin-Resource-Policy': 'cross-origin',
}

const card = (brand: string) => ({ brand, flow: 'card' })

export const ordinary: Json = {
  kind: 'payment',
  amount: '92.00',
  currency: 'EUR',
  brands: [
    ...['VISA', 'MASTER', 'AMEX', 'DINERS', 'CARTEBANCAIRE'].map(card),
    { brand: 'DIRECTDEBIT_SEPA', flow: 'bank' },
    { brand: 'PAYPAL', flow: 'redirect' },
  ],
  registrations: [],
  createRegistration: false,
  test: true,
  result: false,
  merchantFields: [],
}

export async function scriptedGateway(script: Script = {}): Promise<ScriptedGateway> {
  const submitted: Record<string, string>[] = []
  const requests: string[] = []
  const next = <One>(list: One[] | undefined, otherwise: One): One =>
    list === undefined || list.length === 0
      ? otherwise
      : list.length === 1
        ? list[0]!
        : list.shift()!
  let fields: Served
  const pages = bankPages(() => main.origin)
  const answer = (path: string, method: string, body: string): Answer | Promise<Answer> => {
    requests.push(`${method} ${path}`)
    if (path === '/device') return html('<!doctype html><title>Device</title>')
    const address = new URL(path, 'http://gateway')
    const [, hash, name] = /^\/v1\/widget\/([^/]+)\/([^/]+)$/.exec(address.pathname) ?? []
    if (address.pathname === '/v1/paymentWidgets.js') return file(assets.loader)
    const asset = assets.files.find((one) => one.hash === hash && one.name === name)
    if (hash !== undefined) return asset === undefined ? { status: 404 } : file(asset)
    const frame = /\/frame\/([^/]+)\/(\w+)$/.exec(address.pathname)
    if (frame !== null) return frameAnswer(frame[2]!, frame[1]!)
    if (address.pathname.endsWith('/widget')) {
      if (script.checkout === undefined) return { status: 404, headers: everyone, body: '{}' }
      return json({ ...ordinary, fieldsUrl: fields.origin, ...script.checkout }, everyone)
    }
    if (address.pathname.endsWith('/state')) return json(next(script.states, { state: 'free' }))
    if (method === 'POST' && /\/checkouts\/[^/]+\/(payment|registration)$/.test(address.pathname)) {
      submitted.push(JSON.parse(body))
      const reply = next<Json>(script.replies, { state: 'declined', attemptsLeft: 3 })
      const answer: Answer = reply.cut === true ? { cut: true } : json(reply)
      return (script.held ?? Promise.resolve()).then(() => answer)
    }
    return pages(address.pathname) ?? { status: 404 }
  }
  const main = await serve('localhost', (request, body) =>
    answer(request.url!, request.method!, body),
  )
  fields = await serve('localhost', (request, body) => answer(request.url!, request.method!, body))
  return {
    origin: main.origin,
    fields: fields.origin,
    script,
    submitted,
    requests,
    close: async () => {
      await Promise.all([main.close(), fields.close()])
    },
  }
}

const json = (body: Json, headers = {}): Answer => ({
  headers: { 'Content-Type': 'application/json', 'Cache-Control': 'no-store', ...headers },
  body: JSON.stringify(body),
})

const file = ({ type, bytes }: { type: string; bytes: Buffer }): Answer => ({
  headers: { 'Content-Type': type, 'Timing-Allow-Origin': '*', ...everyone },
  body: bytes,
})

function frameAnswer(name: string, hash: string): Answer {
  const frame = assets.frames.find((one) => one.name === name && one.hash === hash)
  if (frame === undefined) return { status: 404 }
  const isForBank = name === 'challenge'
  return html(frame.html, {
    'Content-Security-Policy': `${frame.contentSecurityPolicy}; frame-ancestors https: http:`,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'no-referrer',
    'Cross-Origin-Resource-Policy': 'cross-origin',
    ...(isForBank ? {} : { 'Cross-Origin-Embedder-Policy': 'require-corp' }),
  })
}

/** The page of a bank, and the page that a shopper returns to inside the frame. */
function bankPages(origin: () => string): (path: string) => Answer | null {
  return (path) => {
    if (path === '/bank') {
      return html(
        `<!doctype html><html lang="en"><title>Bank</title><main><h1>Example Bank</h1>
        <form action="/v1/return/payment/token" method="post"><button>Confirm</button></form></main></html>`,
      )
    }
    if (path.startsWith('/v1/return/')) {
      return html(
        `<!doctype html><html lang="en"><title>Back</title><main><h1>Thank you</h1><script>
        parent.postMessage({ tollgate: 'returned', checkout: '${checkoutId}' }, '${origin()}')
        </script></main></html>`,
      )
    }
    return null
  }
}
