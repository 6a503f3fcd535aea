/** The way back from a bank: to the merchant's page, or to a plain page of ours that says that all is done. */
import { limits } from '@tollgate/schemas'
import type { Document } from './answer.ts'
import { backInFrame } from './back-in-frame.ts'
import type { OwnCall } from './own-operations.ts'
import { pageHeaders } from './security-headers.ts'

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
  const { headers } = page(303, '', '')
  return { status: 303, headers: [...headers, 'Location', onward.location], text: '' }
}

/** Every field once, the first of each name. */
function fieldsOf(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  return fields
}

function page(status: number, title: string, words: string): Document {
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${words}</p></html>`
  return {
    status,
    headers: ['Content-Type', 'text/html;charset=UTF-8', ...pageHeaders(noPage)],
    text: html,
  }
}
