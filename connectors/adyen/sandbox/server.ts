/** Adyen in small: Checkout API version 71, webhooks and report downloads for one merchant account, on this machine. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Inbound } from '@tollgate/plugin-kit'
import { type Books, carryOut, type Json, Refused } from './checkout.ts'
import { type Amount, type Ledger, newReference, openLedger } from './ledger.ts'
import { disputeItem, type Item, itemAbout, type Sender, webhook } from './messages.ts'

export type Account = Sender & {
  readonly apiKey: string
  readonly reportUser: string
  readonly reportPassword: string
}

type Exchange = {
  readonly path: string
  readonly request: unknown
  readonly status: number
  readonly answer: unknown
}

export type RunningAdyen = {
  readonly url: string
  readonly ledger: Ledger
  /** All requests of the API and their answers, without card data in any other place. */
  readonly exchanges: readonly Exchange[]
  /** The signed message about the present state of an operation, by its reference at Adyen. */
  messageAbout(reference: string): Inbound
  message(...items: readonly Item[]): Inbound
  dispute(
    reference: string,
    amount: Amount,
    code?: Parameters<typeof disputeItem>[3],
    pspReference?: string,
  ): Inbound
  readonly reports: Map<string, Buffer>
  close(): Promise<void>
}

const mostBytes = 64 * 1024

type Adyen = Books & {
  readonly account: Account
  readonly reports: Map<string, Buffer>
  readonly answers: Map<string, { readonly status: number; readonly answer: object }>
  readonly exchanges: Exchange[]
  url: string
}

export async function startAdyen(account: Account): Promise<RunningAdyen> {
  const ledger = openLedger()
  const adyen: Adyen = {
    account,
    ledger,
    away: new Map(),
    reports: new Map(),
    answers: new Map(),
    exchanges: [],
    url: '',
  }
  const server = createServer((request, response) => {
    serve(adyen, request, response).catch((error: unknown) => {
      const { status, answer } = errorOf(error)
      send(response, status, answer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  adyen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const message = (...items: readonly Item[]) => webhook(items, account)
  return {
    url: adyen.url,
    ledger,
    exchanges: adyen.exchanges,
    reports: adyen.reports,
    message,
    messageAbout: (reference) => message(itemAbout(ledger, reference)),
    dispute(reference, amount, code = 'CHARGEBACK', pspReference = newReference()) {
      const payment = ledger.byReference(reference)
      if (payment === undefined) throw new Error('the sandbox knows no payment of this reference')
      return message(disputeItem(payment, pspReference, amount, code))
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

function errorOf(error: unknown): { readonly status: number; readonly answer: object } {
  if (!(error instanceof Refused)) {
    const answer = {
      status: 500,
      errorCode: '903',
      message: 'Internal error',
      errorType: 'internal',
    }
    return { status: 500, answer }
  }
  const { status, errorCode, message, errorType } = error
  return { status, answer: { status, errorCode, message, errorType, pspReference: newReference() } }
}

async function serve(
  adyen: Adyen,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', adyen.url)
  if (request.method === 'GET' && pathname.startsWith('/pages/')) {
    return page(adyen, pathname.slice('/pages/'.length), searchParams.get('answer'), response)
  }
  if (request.method === 'GET') return report(adyen, pathname, request, response)
  if (request.headers['x-api-key'] !== adyen.account.apiKey) {
    throw new Refused(401, '000', 'HTTP Status Response - Unauthorized', 'security')
  }
  const body = await readJson(request)
  const key = String(request.headers['idempotency-key'] ?? '')
  const known = key === '' ? undefined : adyen.answers.get(key)
  const done = known ?? carriedOut(adyen, pathname, body)
  if (key !== '') {
    adyen.answers.set(key, done)
    response.setHeader('idempotency-key', key)
  }
  adyen.exchanges.push({ path: pathname, request: body, ...done })
  send(response, done.status, done.answer)
}

function carriedOut(adyen: Adyen, path: string, body: Json) {
  try {
    return carryOut(adyen, path, body)
  } catch (error) {
    return errorOf(error)
  }
}

/** The page on which Adyen authenticates the shopper: `?answer=yes` and `?answer=no`. */
function page(
  { away }: Adyen,
  result: string,
  answer: string | null,
  response: ServerResponse,
): void {
  const known = away.get(result)
  if (known === undefined || answer === null) throw new Refused(404, '404', 'Not found')
  known.isPaid = answer === 'yes'
  const back = new URL(known.returnUrl)
  back.searchParams.set('redirectResult', result)
  response.writeHead(303, { location: back.href }).end()
}

function report(
  { account, reports }: Adyen,
  path: string,
  { headers }: IncomingMessage,
  response: ServerResponse,
): void {
  const { merchantAccount, reportUser, reportPassword } = account
  const login = Buffer.from(`${reportUser}:${reportPassword}`).toString('base64')
  if (headers.authorization !== `Basic ${login}`) {
    throw new Refused(401, '000', 'HTTP Status Response - Unauthorized', 'security')
  }
  const folder = `/reports/download/MerchantAccount/${merchantAccount}/`
  const bytes = path.startsWith(folder) ? reports.get(path.slice(folder.length)) : undefined
  if (bytes === undefined) throw new Refused(404, '404', 'Not found')
  response.writeHead(200, { 'content-type': 'text/csv' }).end(bytes)
}

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw new Refused(413, '413', 'Request entity too large')
    chunks.push(chunk)
  }
  try {
    return Object(JSON.parse(Buffer.concat(chunks).toString('utf8')))
  } catch {
    throw new Refused(400, '702', 'Unexpected input')
  }
}

function send(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}
