/** The way back from a bank: to the merchant's page, or to a plain page of ours that says that all is done. */
import { createHash } from 'node:crypto'
import type { Redirect } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Document } from './answer.ts'
import { backInFrame } from './back-in-frame.ts'
import type { OwnCall } from './own-operations.ts'
import { framedPageHeaders, pageHeaders } from './security-headers.ts'

const noPage = "default-src 'none'; base-uri 'none'; form-action 'none'"

export async function comeBack({
  gateway,
  request,
  path,
  query,
  readBody,
}: OwnCall): Promise<Document> {
  const isPost = request.method === 'POST'
  const onward = await gateway.shoppers.cameBack(path.id ?? '', path.token ?? '', {
    method: isPost ? 'POST' : 'GET',
    query: fieldsOf(query),
    form: isPost ? fieldsOf((await readBody(limits.shopperReturnBytes)).toString('utf8')) : {},
  })
  if (onward === undefined) {
    return page(404, 'Page not found', 'There is no payment at this address.')
  }
  if (onward.to === 'nowhere') {
    return page(200, 'Thank you', 'Your answer has arrived. You can close this page.')
  }
  if (onward.to === 'frame') return backInFrame(onward.checkout, onward.location)
  if (onward.to === 'next') return nextPage(onward.redirect, onward.inFrame === true)
  return goTo(onward.location)
}

function goTo(location: string): Document {
  const { headers } = page(303, '', '')
  return { status: 303, headers: [...headers, 'Location', location], text: '' }
}

/** The form of the next page of an authentication sends itself; without scripts the shopper does. */
const sendsItself = 'document.forms[0].submit()'
const allowed = `'sha256-${createHash('sha256').update(sendsItself).digest('base64')}'`

function nextPage({ url, method, parameters }: Redirect['redirect'], isInFrame: boolean): Document {
  const fields = parameters ?? []
  if (method !== 'POST') {
    const location = new URL(url)
    for (const { name, value } of fields) location.searchParams.append(name, value)
    return goTo(location.href)
  }
  const inputs = fields.map(
    ({ name, value }) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  const form = `<form method="post" action="${escaped(url)}">${inputs.join('')}<button>Continue</button></form><script>${sendsItself}</script>`
  const headersOf = isInFrame ? framedPageHeaders : pageHeaders
  const policy = `default-src 'none'; base-uri 'none'; script-src ${allowed}; form-action ${new URL(url).origin}`
  return {
    status: 200,
    headers: ['Content-Type', 'text/html;charset=UTF-8', ...headersOf(policy)],
    text: document('Confirm your payment', 'Your bank asks you to confirm your payment.', form),
  }
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`)

/** Every field once, the first of each name. */
function fieldsOf(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  return fields
}

function page(status: number, title: string, words: string): Document {
  return {
    status,
    headers: ['Content-Type', 'text/html;charset=UTF-8', ...pageHeaders(noPage)],
    text: document(title, words),
  }
}

const document = (title: string, words: string, more = '') =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${words}</p>${more}</html>`
