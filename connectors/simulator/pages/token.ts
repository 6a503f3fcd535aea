import { createHmac, timingSafeEqual } from 'node:crypto'

/** The page that a token opens. A token of one page opens no other. */
export type PageKind = 'bank' | 'challenge' | 'device'

/**
 * A signed visit as a part of an address: letters, digits, hyphens, underscores and one dot. Nothing
 * is stored for a shopper who never comes.
 */
export function tokenOf(kind: PageKind, visit: object, secret: string): string {
  const text = Buffer.from(JSON.stringify(visit)).toString('base64url')
  return `${text}.${signature(kind, text, secret)}`
}

/** The visit of a token; undefined for a text that is none. */
export function visitOf<Visit>(kind: PageKind, token: string, secret: string): Visit | undefined {
  const [text = '', given = ''] = token.split('.')
  const right = Buffer.from(signature(kind, text, secret))
  const bytes = Buffer.from(given)
  if (bytes.length !== right.length || !timingSafeEqual(bytes, right)) return undefined
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Visit
}

const signature = (kind: PageKind, text: string, secret: string): string =>
  createHmac('sha256', secret).update(`${kind} page ${text}`).digest('base64url')
