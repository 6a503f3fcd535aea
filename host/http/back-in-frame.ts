/** The page that a bank leads back to inside the widget: it tells the frame around it, and no more. */
import { createHash } from 'node:crypto'
import type { Document } from './answer.ts'
import { framedPageHeaders } from './security-headers.ts'
import type { Spoken } from './shopper-texts.ts'

const script = 'parent.postMessage(JSON.parse(document.body.dataset.message),location.origin)'
const hash = createHash('sha256').update(script).digest('base64')
const policy = `default-src 'none'; script-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'`

export function backInFrame(
  checkout: string,
  location: string | undefined,
  { texts, tag, direction }: Spoken,
): Document {
  const message = escaped(JSON.stringify({ tollgate: 'returned', checkout }))
  const link =
    location === undefined
      ? ''
      : `<p><a href="${escaped(location)}" target="_top" rel="noreferrer">${escaped(texts.page.continue)}</a></p>`
  const html = `<!doctype html><html lang="${tag}" dir="${direction}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(texts.page.title)}</title><body data-message="${message}"><p>${escaped(texts.messages.challengeReturned)}</p>${link}<script>${script}</script></body></html>`
  return {
    status: 200,
    headers: ['Content-Type', 'text/html;charset=UTF-8', ...framedPageHeaders(policy)],
    text: html,
  }
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
