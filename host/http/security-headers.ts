import type { IncomingMessage, ServerResponse } from 'node:http'
import helmet, { type HelmetOptions } from 'helmet'

/** Names and values in turn, as `writeHead` takes them. */
export type FlatHeaders = readonly string[]

/** Answers of the API: never shown as a page, never in a frame, never kept. */
const api: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  frameguard: { action: 'deny' },
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  originAgentCluster: false,
  crossOriginOpenerPolicy: false,
}

/**
 * Helmet's headers are the same for every answer, so it is asked once: setting a dozen headers one
 * by one for each request would be the dearest part of the host.
 */
function askHelmet(options: HelmetOptions): string[] {
  const headers = new Map<string, string>()
  const recorder = {
    setHeader: (name: string, value: string | number) => headers.set(name, String(value)),
    removeHeader: (name: string) => headers.delete(name),
  }
  helmet(options)({} as IncomingMessage, recorder as unknown as ServerResponse, (error) => {
    if (error !== undefined) throw error
  })
  return [...headers].flat()
}

export const apiHeaders: FlatHeaders = [...askHelmet(api), 'Cache-Control', 'no-store']

const framed: FlatHeaders = askHelmet({
  contentSecurityPolicy: false,
  frameguard: false,
  crossOriginEmbedderPolicy: { policy: 'require-corp' },
  crossOriginResourcePolicy: { policy: 'cross-origin' },
  crossOriginOpenerPolicy: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  originAgentCluster: false,
})

/** A page that a merchant's page may show in a frame, also one that isolates itself from other origins. */
export const framedPageHeaders = (contentSecurityPolicy: string): FlatHeaders => [
  ...framed,
  'Content-Security-Policy',
  `${contentSecurityPolicy}; frame-ancestors http: https:`,
  'Cache-Control',
  'no-store',
]

/** A page of ours with a content policy of its own. */
export function pageHeaders(contentSecurityPolicy: string): FlatHeaders {
  return [
    ...askHelmet({ ...api, contentSecurityPolicy: false, crossOriginOpenerPolicy: true }),
    'Content-Security-Policy',
    `${contentSecurityPolicy}; frame-ancestors 'none'`,
    'Cache-Control',
    'no-cache',
  ]
}

/** A page of a shopper: no cache keeps it, since going back must restore nothing. */
export const shopperPageHeaders = (contentSecurityPolicy: string): FlatHeaders => [
  ...pageHeaders(contentSecurityPolicy).slice(0, -1),
  'no-store',
]

const framedByUs: FlatHeaders = askHelmet({
  ...api,
  contentSecurityPolicy: false,
  frameguard: { action: 'sameorigin' },
})

/** A frame of a shopper's page of ours, with a content policy of its own. */
export const ownFrameHeaders = (contentSecurityPolicy: string): FlatHeaders => [
  ...framedByUs,
  'Content-Security-Policy',
  contentSecurityPolicy,
  'Cache-Control',
  'no-store',
]

const besideWidget: FlatHeaders = askHelmet({
  ...api,
  contentSecurityPolicy: false,
  frameguard: false,
  crossOriginResourcePolicy: false,
})

/** The headers of a file of the widget, and those that any response of this host has. */
export function widgetHeaders(own: Readonly<Record<string, string>>): FlatHeaders {
  const named = new Set(Object.keys(own).map((name) => name.toLowerCase()))
  const beside = besideWidget.filter(
    (_, at) => !named.has(besideWidget[at - (at % 2)]!.toLowerCase()),
  )
  return [...beside, ...Object.entries(own).flat()]
}
