import type { Records } from './connector.ts'

/** A browser's visit of a page that a plugin serves in a test set-up. */
export type PageVisit = {
  readonly method: 'GET' | 'POST'
  /** Below the plugin's address, beginning with a slash, without the query. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** Fields of a posted form; empty otherwise. */
  readonly form: Readonly<Record<string, string>>
  /** Languages of the browser, as it sent them. */
  readonly acceptLanguage?: string
}

/** A complete document, or the address to go on to. The host adds security headers. */
export type PageReply = {
  readonly status: number
  readonly html?: string
  readonly location?: string
  readonly contentSecurityPolicy?: string
}

export type PageContext = {
  /** Records of the connector or authenticator of that name in this plugin, in mode INTERNAL. */
  records(part: string): Records
  readonly clock: { now(): Date }
}

export type Pages = (visit: PageVisit, context: PageContext) => Promise<PageReply>
