/** Pages that plugins serve to shoppers in test set-ups. */
import type { PageReply, PageVisit } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Document } from './answer.ts'
import type { OwnCall } from './own-operations.ts'
import { framedPageHeaders } from './security-headers.ts'

const nothing = "default-src 'none'; base-uri 'none'; form-action 'none'"

const missing: PageReply = {
  status: 404,
  html: '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Page not found</title><h1>Page not found</h1><p>There is nothing at this address.</p></html>',
}

export async function visitPage({
  gateway,
  request,
  path,
  query,
  readBody,
}: OwnCall): Promise<Document> {
  const { plugin = '', rest = '' } = path
  if (!gateway.pages.serves(plugin)) return documentOf(missing)
  const isPost = request.method === 'POST'
  const acceptLanguage = request.headers['accept-language']
  const visit: PageVisit = {
    method: isPost ? 'POST' : 'GET',
    path: `/${rest}`,
    query: fieldsOf(query),
    form: isPost ? fieldsOf((await readBody(limits.pageFormBytes)).toString('utf8')) : {},
    ...(acceptLanguage === undefined ? {} : { acceptLanguage }),
  }
  return documentOf((await gateway.pages.visit(plugin, visit)) ?? missing)
}

function documentOf({
  status,
  html = '',
  location,
  contentSecurityPolicy = nothing,
}: PageReply): Document {
  const headers = [
    'Content-Type',
    'text/html;charset=UTF-8',
    ...framedPageHeaders(contentSecurityPolicy),
    ...(location === undefined ? [] : ['Location', location]),
  ]
  return { status, headers, text: html }
}

/** Every field once, the first of each name. */
function fieldsOf(text: string): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of new URLSearchParams(text)) fields[name] ??= value
  return fields
}
