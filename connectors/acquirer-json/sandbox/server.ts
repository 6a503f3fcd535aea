/** Example Bank: its JSON API version 3 over HTTP, for one merchant, on this machine. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hmac, type Inbound, type Money } from '@tollgate/plugin-kit'
import { signatureHeader } from '../events.ts'
import { type Entry, type Ledger, openLedger } from './ledger.ts'
import { followUpOrder, paymentOrder, Refused } from './order.ts'

export type BankAccount = {
  readonly merchantId: string
  readonly apiKey: string
  readonly eventSecret: string
}

/** Texts of the merchant and of the shopper. */
export type Texts = Readonly<
  Record<'order' | 'descriptor' | 'holder' | 'expiry', string | undefined>
>

export type RunningBank = {
  readonly url: string
  readonly ledger: Ledger
  /** The signed message about the present state of a key. */
  eventOf(key: string): Inbound
  /** The signed message that a payment is disputed, or that the dispute was won. */
  disputeOf(key: string, amount: Money, state?: 'opened' | 'won'): Inbound
  /** A signed message of a type that the manual does not list. */
  noticeOf(key: string): Inbound
  /** Texts of an order as they arrived. */
  textsOf(key: string): Texts
  close(): Promise<void>
}

const mostBytes = 64 * 1024

/** @param queued types of orders that the bank takes at once and carries out later */
export async function startBank(
  account: BankAccount,
  queued: Parameters<typeof openLedger>[0] = [],
): Promise<RunningBank> {
  const ledger = openLedger(queued)
  const returnUrls = new Map<string, string>()
  const texts = new Map<string, Texts>()
  const server = createServer((request, response) => {
    serve({ account, ledger, returnUrls, texts, url }, request, response).catch(
      (error: unknown) => {
        if (error instanceof Refused) {
          send(response, error.status, { refused: true, code: error.code, text: error.message })
        } else {
          send(response, 500, { code: 'internal-error' })
        }
      },
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    ledger,
    eventOf(key) {
      const entry = ledger.byKey(key)
      if (entry === undefined) throw new Error('the bank knows no payment with this key')
      const news = entry.reversal ?? entry.status
      return signed({ id: `${entry.id}-${news}`, payment: describe(entry, url) }, account)
    },
    disputeOf(key, { minor, currency }, state = 'opened') {
      const id = `dispute-${key.slice(0, 12)}-${minor}`
      const amount = { value: String(minor), currency }
      const dispute = { id, reference: key, reason: 'fraud', state, amount }
      return signed({ id: `${id}-${state}`, dispute }, account)
    },
    noticeOf: (key) => signed({ id: `notice-${key}`, notice: { reference: key } }, account),
    textsOf: (key) => texts.get(key) ?? textsIn({}),
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

function signed(event: object, { eventSecret }: BankAccount): Inbound {
  const body = Buffer.from(JSON.stringify(event))
  const signature = hmac(body, eventSecret)
  const headers = { 'content-type': 'application/json', [signatureHeader]: signature }
  return { body, headers, query: {} }
}

type Bank = {
  readonly account: BankAccount
  readonly ledger: Ledger
  /** Addresses for the return of shoppers, by payment. */
  readonly returnUrls: Map<string, string>
  readonly texts: Map<string, Texts>
  readonly url: string
}

async function serve(
  bank: Bank,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', bank.url)
  const route = `${request.method} ${pathname}`
  const [, top, id, collection] = pathname.split('/')
  if (top === 'confirm') return confirm(bank, id ?? '', searchParams.get('answer'), response)
  if (!isAuthorised(bank.account, request)) {
    throw new Refused(401, 'bad-credentials', 'merchant or key unknown')
  }
  if (route === 'GET /account') return send(response, 200, { merchant: bank.account.merchantId })
  if (route === 'GET /payments') {
    const entry = bank.ledger.byKey(searchParams.get('reference') ?? '')
    if (entry === undefined) throw new Refused(404, 'unknown-reference', 'no such payment')
    return send(response, 200, describe(entry, bank.url))
  }
  const key = String(request.headers['idempotency-key'] ?? '')
  if (!/^[0-9a-f]{32}$/.test(key)) {
    throw new Refused(400, 'bad-request', 'the header idempotency-key must be 32 hex characters')
  }
  if (route === 'POST /reversals') {
    return send(response, 200, { reference: key, ...bank.ledger.undo(key) })
  }
  if (request.method !== 'POST' || top !== 'payments') {
    throw new Refused(404, 'bad-request', 'no resource at this path')
  }
  const body = await readJson(request)
  const order =
    id === undefined ? paymentOrder(key, body) : followUpOrder(key, id, collection ?? '', body)
  const done = bank.ledger.carryOut(order)
  if ('refused' in done)
    throw new Refused(409, done.refused, 'the request was refused and nothing was done')
  if (typeof body.returnUrl === 'string') bank.returnUrls.set(done.id, body.returnUrl)
  bank.texts.set(key, textsIn(body))
  send(response, 200, describe(done, bank.url))
}

function textsIn({
  order,
  descriptor,
  card,
  bankAccount,
}: Readonly<Record<string, unknown>>): Texts {
  const { holder, expiry } = Object(card ?? bankAccount) as {
    readonly holder?: unknown
    readonly expiry?: unknown
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined)
  return {
    order: text(order),
    descriptor: text(descriptor),
    holder: text(holder),
    expiry: text(expiry),
  }
}

/** The bank's confirmation page with its two buttons: `?answer=yes` and `?answer=no`. */
function confirm(
  { ledger, returnUrls }: Bank,
  id: string,
  answer: string | null,
  response: ServerResponse,
): void {
  const isYes = answer === 'yes'
  const decision = {
    status: isYes ? 'approved' : 'declined',
    code: isYes ? '00' : 'cancelled',
  } as const
  const back = returnUrls.get(id)
  if (answer === null || back === undefined || ledger.end(id, decision) === undefined) {
    throw new Refused(404, 'bad-request', 'this page needs answer=yes or answer=no')
  }
  const url = new URL(back)
  url.searchParams.set('payment', id)
  url.searchParams.set('status', isYes ? 'approved' : 'declined')
  response.writeHead(303, { location: url.href }).end()
}

/** A payment as the API describes it. */
function describe({ id, key, status, code, amount, type, reversal }: Entry, url: string): object {
  const isCard = type === 'authorisation' || type === 'sale'
  return {
    id,
    reference: key,
    status,
    code,
    amount: { value: String(amount.minor), currency: amount.currency },
    ...(status === 'approved' && isCard ? { networkReference: `EB${id.slice(0, 13)}` } : {}),
    ...(reversal === undefined ? {} : { reversal }),
    ...(status === 'confirm' ? { confirmUrl: `${url}/confirm/${id}` } : {}),
  }
}

const isAuthorised = ({ merchantId, apiKey }: BankAccount, { headers }: IncomingMessage): boolean =>
  headers.authorization === `Bearer ${apiKey}` && headers['x-merchant'] === merchantId

async function readJson(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > mostBytes) throw new Refused(413, 'bad-request', 'the body is too large')
    chunks.push(chunk)
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw new Refused(400, 'bad-request', 'the body must be JSON')
  }
}

function send(response: ServerResponse, status: number, json: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
}
