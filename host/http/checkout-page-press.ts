/**
 * The cookie that tells the hosted page which press this browser made: the way to the bank of a payment is for the
 * press that began it. The browser's own rule for cookies without a path keeps it to the addresses of this checkout.
 */
import type { Gateway } from '@tollgate/core'
import { limits } from '@tollgate/schemas'
import type { Document } from './answer.ts'

/** The nonce in a Cookie header. */
export function pressIn(header = ''): { nonce?: string } {
  const nonce = /(?:^|;\s*)tollgate-press=([\w-]{16,64})(?:;|$)/.exec(header)?.[1]
  return nonce === undefined ? {} : { nonce }
}

/** The same answer; the browser keeps the press as long as its checkout can be paid. */
export function withPress({ environment }: Gateway, answer: Document, nonce: string): Document {
  const secure = environment === 'live' ? '; Secure' : ''
  const cookie = `tollgate-press=${nonce}; Max-Age=${limits.checkoutLifeMs / 1000}; HttpOnly; SameSite=Lax${secure}`
  return { ...answer, headers: [...answer.headers, 'Set-Cookie', cookie] }
}
