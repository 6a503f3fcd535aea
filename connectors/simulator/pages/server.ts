/** The pages of the HTTP simulator. Their addresses are signed, so visitors need no secret. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { PageVisit } from '@tollgate/plugin-kit'
import { sendPage } from '../respond.ts'
import type { Acquirer } from '../server.ts'
import { readText } from '../wire.ts'
import { type Payments, visitBank } from './bank.ts'
import { type Cases, visitIssuer } from './challenge.ts'

const pagePath = /^\/(?:bank|challenge|device)\//

/** Answers a visit of a page; false for any other request. */
export async function servePage(
  acquirer: Acquirer,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://simulator')
  const { method } = incoming
  if (!pagePath.test(pathname) || (method !== 'GET' && method !== 'POST')) return false
  const visit: PageVisit = {
    method,
    path: pathname,
    query: Object.fromEntries(searchParams),
    form: method === 'GET' ? {} : Object.fromEntries(new URLSearchParams(await readText(incoming))),
    ...(incoming.headers['accept-language'] === undefined
      ? {}
      : { acceptLanguage: incoming.headers['accept-language'] }),
  }
  const { secret, name } = acquirer
  const reply =
    (await visitIssuer(visit, casesOf(acquirer), secret, acquirer.time.now())) ??
    (await visitBank(visit, paymentsOf(acquirer), secret, name))
  if (reply === undefined) return false
  sendPage(response, reply)
  return true
}

const casesOf = ({ books, messenger }: Acquirer): Cases => ({
  find: async ({ merchantId, key }) => books.case(merchantId, key),
  async change({ merchantId, key }, change) {
    const found = books.case(merchantId, key)
    if (found === undefined) return undefined
    const changed = change(found)
    books.keepCase(merchantId, changed)
    await books.safe()
    const isNews = found.status === undefined && changed.status !== undefined
    // The cardholder does not wait for the merchant's server.
    if (isNews) void messenger.tellOf(changed, changed.notifyUrl)
    return changed
  },
})

const paymentsOf = ({ books, time }: Acquirer): Payments => ({
  async find({ merchantId, key }) {
    const entry = books.entry(merchantId, key)
    return entry && { amount: entry.amount, isOpen: entry.state === 'pending' }
  },
  async finish({ merchantId, key }, code) {
    books.finish(merchantId, key, code, time.now())
    await books.safe()
  },
})
