/** The way back from a bank: to the merchant's page, to the page of the checkout, or to a plain page of ours. */
import { createHash } from 'node:crypto'
import { GatewayError } from '@tollgate/core'
import type { Redirect } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Document } from './answer.ts'
import { backInFrame } from './back-in-frame.ts'
import { drained } from './body.ts'
import type { OwnCall } from './own-operations.ts'
import { framedPageHeaders, pageHeaders } from './security-headers.ts'
import { type Spoken, spokenTo } from './shopper-texts.ts'

const documentType = ['Content-Type', 'text/html;charset=UTF-8'] as const
const noPage = "default-src 'none'; base-uri 'none'; form-action 'none'"

export async function comeBack(call: OwnCall): Promise<Document> {
  const { gateway, request, path, query } = call
  const isPost = request.method === 'POST'
  const onward = await gateway.shoppers.cameBack(path.id ?? '', path.token ?? '', {
    method: isPost ? 'POST' : 'GET',
    query: fieldsOf(query),
    form: isPost ? fieldsOf(await formOf(call)) : {},
  })
  if (onward?.to === 'merchant') return goTo(onward.location)
  // Relative, so that every name and prefix of a host works.
  if (onward?.to === 'nowhere' && onward.checkout !== undefined) {
    return goTo(`../../checkouts/${onward.checkout}/page`)
  }
  const spoken = await spokenTo(request.headers)
  const { messages } = spoken.texts
  if (onward === undefined) return page(404, spoken, messages.unknown)
  if (onward.to === 'nowhere') return page(200, spoken, messages.challengeReturned)
  if (onward.to === 'frame') return backInFrame(onward.checkout, onward.location, spoken)
  return nextPage(onward.redirect, onward.inFrame === true, spoken)
}

/** A form that cannot be read proves no less than any other: the shopper goes on without it. */
async function formOf({ request, readBody }: OwnCall): Promise<string> {
  try {
    return (await readBody(limits.shopperReturnBytes)).toString('utf8')
  } catch (error) {
    if (!(error instanceof GatewayError) || error.status !== 400) throw error
    await drained(request)
    return ''
  }
}

function goTo(location: string): Document {
  const headers = [...documentType, ...pageHeaders(noPage), 'Location', location]
  return { status: 303, headers, text: '' }
}

/** The form of the next page of an authentication sends itself; without scripts the shopper does. */
const sendsItself = 'document.forms[0].submit()'
const allowed = `'sha256-${createHash('sha256').update(sendsItself).digest('base64')}'`

function nextPage(
  { url, method, parameters }: Redirect['redirect'],
  isInFrame: boolean,
  spoken: Spoken,
): Document {
  const { texts } = spoken
  const fields = parameters ?? []
  if (method !== 'POST') {
    const location = new URL(url)
    for (const { name, value } of fields) location.searchParams.append(name, value)
    return goTo(location.href)
  }
  const inputs = fields.map(
    ({ name, value }) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  )
  const form = `<form method="post" action="${escaped(url)}">${inputs.join('')}<button>${escaped(texts.page.continue)}</button></form><script>${sendsItself}</script>`
  const headersOf = isInFrame ? framedPageHeaders : pageHeaders
  const policy = `default-src 'none'; base-uri 'none'; script-src ${allowed}; form-action ${new URL(url).origin}`
  return {
    status: 200,
    headers: [...documentType, ...headersOf(policy)],
    text: document(spoken, texts.messages.challengeOpen, form),
  }
}

const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`)

/** Every field once, the first of each name. */
function fieldsOf(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  return fields
}

function page(status: number, spoken: Spoken, words: string): Document {
  return {
    status,
    headers: [...documentType, ...pageHeaders(noPage)],
    text: document(spoken, words),
  }
}

const document = ({ texts, tag, direction }: Spoken, words: string, more = ''): string => {
  const title = escaped(texts.page.title)
  return `<!doctype html><html lang="${tag}" dir="${direction}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${escaped(words)}</p>${more}</html>`
}
