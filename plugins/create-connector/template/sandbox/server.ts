/** Acme Bank on this machine: its books behind HTTP, for one merchant. */
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  // #redirect
  type ServerResponse,
  // #end
} from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  basicAuthorization,
  // #events
  hmac,
  type Inbound,
  type Money,
  // #end
} from '@tollgate/plugin-kit'
import { type Answer, moneyIn } from '../src/answers.ts'
// #events
import { signatureHeader } from '../src/events.ts'
// #end
import { Books, type Entry } from './books.ts'
import { Logins } from './logins.ts'
import { contentType, received, shown } from './wire.ts'

export type Account = {
  readonly user: string
  readonly password: string
  // #events
  readonly notifySecret: string
  // #end
}

export type RunningBank = {
  readonly url: string
  readonly books: Books
  // #token
  readonly logins: Logins
  // #end
  // #events
  /** The signed message about the present state of a key. */
  eventOf(key: string): Inbound
  /** The signed message that a payment was approved for this part of its amount. */
  partOf(key: string, amount: Money): Inbound
  /** The signed message that a payment is charged back for this amount. */
  chargebackOf(key: string, amount: Money): Inbound
  // #end
  close(): Promise<void>
}

type Texts = Readonly<Record<string, string | undefined>>

export async function startBank(account: Account): Promise<RunningBank> {
  const books = new Books()
  const logins = new Logins(basicAuthorization(account.user, account.password).reveal())
  const server = createServer(async (request, response) => {
    // #redirect
    if (request.method === 'GET') return confirm(books, request, response)
    // #end
    const { url: path = '', headers } = request
    const isKnown = logins.isKnown(headers.authorization, path)
    const fields = received(await bodyOf(request)) ?? {}
    let answer: Texts = { refused: 'login unknown' }
    if (isKnown) answer = answerTo(books, path, fields, url)
    // #token
    if (isKnown && path === '/token') answer = logins.newToken()
    // #end
    response.writeHead(isKnown ? 200 : 401, { 'content-type': contentType }).end(shown(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  // #events
  const signed = (fields: Texts): Inbound => {
    const body = Buffer.from(shown(fields))
    const headers = { [signatureHeader]: hmac(body, account.notifySecret) }
    return { body, headers, query: {} }
  }
  const known = (key: string): Entry => {
    const entry = books.entries.get(key)
    if (entry === undefined) throw new Error('Acme Bank knows no payment with this key')
    return entry
  }
  // #end
  return {
    url,
    books,
    // #token
    logins,
    // #end
    // #events
    eventOf(key) {
      const entry = known(key)
      return signed({ event: `${entry.id}-${entry.code}`, ...stateOf(entry, url) })
    },
    partOf(key, { minor, currency }) {
      const entry = known(key)
      const part = { code: '10', amount: String(minor), currency }
      return signed({ event: `${entry.id}-10`, ...stateOf(entry, url), ...part })
    },
    chargebackOf(key, { minor, currency }) {
      const dispute = `D${known(key).id}-${minor}`
      const amount = { amount: String(minor), currency }
      return signed({
        event: `${dispute}-opened`,
        reference: key,
        dispute,
        reason: 'fraud',
        ...amount,
      })
    },
    // #end
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

function answerTo(books: Books, path: string, fields: Answer, url: string): Texts {
  const { reference = '', type = '' } = fields
  const known = books.entries.get(reference)
  switch (path) {
    case '/login':
      return { result: 'ok' }
    case '/enquiries':
      return known === undefined ? { reference, code: '25' } : stateOf(known, url)
    case '/reversals':
      return { reference, result: books.undo(reference) }
    case '/payments': {
      const amount = moneyIn(fields)
      if (amount === undefined || reference === '') return { reference, code: '30' }
      const done = books.carryOut({ key: reference, type, amount, fields })
      if (typeof done !== 'string') return stateOf(done, url)
      const money = { amount: String(amount.minor), currency: amount.currency }
      return { reference, id: 'none', code: done, ...money }
    }
    default:
      return { reference, code: '30' }
  }
}

const stateOf = ({ key, id, code, isOpen, amount }: Entry, url: string): Texts => ({
  reference: key,
  id,
  amount: String(amount.minor),
  currency: amount.currency,
  ...(isOpen
    ? { status: 'redirect', redirectUrl: `${url}/confirm/${id}` }
    : { code, text: code === '00' ? 'Approved.' : 'Declined.' }),
})

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

// #redirect
/** The page where the shopper confirms: `?answer=yes` or `?answer=no`. */
function confirm(books: Books, request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://acme-bank.example')
  const isYes = searchParams.get('answer') === 'yes'
  const entry = books.decide(pathname.slice('/confirm/'.length), isYes ? '00' : '05')
  const back = entry?.fields.returnUrl
  if (entry === undefined || back === undefined) {
    response.writeHead(404).end()
    return
  }
  const to = new URL(back)
  to.searchParams.set('payment', entry.id)
  to.searchParams.set('status', isYes ? 'approved' : 'declined')
  response.writeHead(303, { location: to.href }).end()
}
// #end
