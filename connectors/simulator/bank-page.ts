import { createHmac, timingSafeEqual } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Books } from './books.ts'
import { sendHtml, sendJson } from './respond.ts'

/** The page of the shopper's bank, on which a redirected payment is approved or cancelled. */
export type BankPage = {
  /** The shopper's address. Anybody with the address can use it, as at a real bank. */
  urlFor(merchantId: string, key: string, returnUrl: string | undefined): string
  serve(method: string, path: string, response: ServerResponse): Promise<void>
}

type Visit = { readonly merchantId: string; readonly key: string; readonly returnUrl?: string }

/** The effect of each button: the acquirer's code of the payment. */
const buttons: Readonly<Record<string, string>> = { approve: '00', cancel: 'cancelled' }

export function openBankPage(bank: {
  readonly url: string
  readonly name: string
  readonly secret: string
  readonly books: Books
  readonly now: () => number
}): BankPage {
  const { secret, books } = bank
  return {
    urlFor: (merchantId, key, returnUrl) => {
      const visit = { merchantId, key, ...(returnUrl === undefined ? {} : { returnUrl }) }
      return `${bank.url}/bank/${tokenOf(visit, secret)}`
    },
    async serve(method, path, response) {
      const [token = '', button] = path.split('/')
      const visit = visitOf(token, secret)
      const entry = visit && books.entry(visit.merchantId, visit.key)
      if (visit === undefined || entry === undefined) {
        return sendHtml(response, 404, pageOf(bank.name, 'There is no payment at this address.'))
      }
      if (button === undefined) return sendHtml(response, 200, pageOf(bank.name, question(token)))
      const code = Object.hasOwn(buttons, button) ? buttons[button] : undefined
      if (code === undefined || method !== 'POST') {
        return sendJson(response, 404, { refused: 'no resource at this path' })
      }
      books.finish(visit.merchantId, visit.key, code, bank.now())
      await books.safe()
      if (visit.returnUrl === undefined) {
        return sendHtml(response, 200, pageOf(bank.name, 'Done. You can close this page.'))
      }
      response.writeHead(303, { location: visit.returnUrl, 'content-length': 0 })
      response.end()
    },
  }
}

/** The signed visit, so that nothing is stored for a shopper who never comes. */
function tokenOf(visit: Visit, secret: string): string {
  const text = Buffer.from(JSON.stringify(visit)).toString('base64url')
  return `${text}.${signature(text, secret)}`
}

function visitOf(token: string, secret: string): Visit | undefined {
  const [text = '', given = ''] = token.split('.')
  const right = Buffer.from(signature(text, secret))
  const bytes = Buffer.from(given)
  if (bytes.length !== right.length || !timingSafeEqual(bytes, right)) return undefined
  return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as Visit
}

const signature = (text: string, secret: string): string =>
  createHmac('sha256', secret).update(`bank page ${text}`).digest('base64url')

/** The token holds only letters, digits, hyphens and dots, so it needs no escaping. */
const question = (token: string): string =>
  Object.keys(buttons)
    .map(
      (name) =>
        `<form method="post" action="/bank/${token}/${name}"><button>${name}</button></form>`,
    )
    .join('')

function pageOf(name: string, content: string): string {
  const title = name.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1>${content}</html>`
}
