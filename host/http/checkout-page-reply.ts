/** Responses of the hosted page: documents without scripts, redirects, and the frame of a bank's steps. */
import type { Gateway } from '@tollgate/core'
import type { Document } from './answer.ts'
import { deviceFramePolicy } from './checkout-page-device.ts'
import { styleHash } from './checkout-page-style.ts'
import { type FlatHeaders, ownFrameHeaders, shopperPageHeaders } from './security-headers.ts'

type Environment = Gateway['environment']

/** Where banks may be: on live, HTTPS alone. */
const webOf = { live: 'https:', test: 'https: http:' }

/** Forms go to the page itself and to banks; browsers apply this to the redirect after a post as well. */
const policyOf = (environment: Environment): string =>
  `default-src 'none'; style-src ${styleHash}; base-uri 'none'; form-action 'self' ${webOf[environment]}`

const html = (status: number, text: string, headers: FlatHeaders): Document => ({
  status,
  headers: ['Content-Type', 'text/html;charset=UTF-8', ...headers],
  text,
})

export const page = (
  { environment }: Gateway,
  status: number,
  text: string,
  more: readonly string[] = [],
): Document => html(status, text, [...shopperPageHeaders(policyOf(environment)), ...more])

/** A page with frames of ours and of banks, which opens the next page after some seconds. */
export const pageWithFrames = (
  { environment }: Gateway,
  text: string,
  next: { readonly afterSeconds: number; readonly location: string },
): Document =>
  html(200, text, [
    ...shopperPageHeaders(`${policyOf(environment)}; frame-src 'self' ${webOf[environment]}`),
    ...['Refresh', `${next.afterSeconds};url=${next.location}`],
  ])

export const frame = ({ environment }: Gateway, text: string): Document =>
  html(200, text, ownFrameHeaders(deviceFramePolicy(webOf[environment])))

export const goTo = (gateway: Gateway, location: string): Document =>
  page(gateway, 303, '', ['Location', location])
