/** Example XML on this machine: its books and its HTTP server. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { basicAuthorization, type Inbound, type Money } from '@tollgate/plugin-kit'
import {
  readXml,
  writeXml,
  type XmlElement,
  type XmlNode,
  xmlElement,
  xmlText,
} from '@tollgate/plugin-kit/xml'
import { decimalOf, moneyIn, signatureHeader, signatureOf } from './connector.ts'

export type XmlAccount = {
  readonly user: string
  readonly password: string
  readonly notifySecret: string
}

type Entry = {
  readonly id: string
  readonly key: string
  readonly type: 'Sale' | 'Refund'
  readonly amount: Money
  readonly order: XmlElement
  readonly original?: Entry
  code: string
}

export const numbers = { approved: '4200000000000000', declined: '4000000000000002' }

const same = (one: XmlElement, other: XmlElement): boolean =>
  JSON.stringify(one) === JSON.stringify(other)

/** The books: an order is carried out once for each key. */
class Books {
  readonly entries = new Map<string, Entry>()
  readonly #blocked = new Set<string>()

  carryOut(type: Entry['type'], order: XmlElement): Entry | string {
    const key = xmlText(order, 'Reference') ?? ''
    const amount = moneyIn(xmlElement(order, 'Amount'))
    if (!/^[0-9a-f]{32}$/.test(key) || amount === undefined) return '30'
    const known = this.entries.get(key)
    if (known !== undefined) return same(known.order, order) ? known : '94'
    if (this.#blocked.has(key)) return '12'
    const original = [...this.entries.values()].find(({ id }) => id === xmlText(order, 'Original'))
    const code = type === 'Sale' ? saleCode(order) : this.#refundCode(amount, original)
    const id = `T${this.entries.size + 1000}`
    const entry = { id, key, type, amount, order, code, ...(original && { original }) }
    this.entries.set(key, entry)
    return entry
  }

  #refundCode({ minor, currency }: Money, original: Entry | undefined): string {
    if (original?.type !== 'Sale' || original.code !== '00') return '12'
    const refunds = [...this.entries.values()].filter(
      (entry) => entry.original === original && entry.code === '00',
    )
    const sum = refunds.reduce((total, { amount }) => total + amount.minor, minor)
    return sum > original.amount.minor || currency !== original.amount.currency ? '13' : '00'
  }

  /** Undoes the order of a key, and blocks the key. */
  cancel(key: string): 'reversed' | 'blocked' {
    this.#blocked.add(key)
    const entry = this.entries.get(key)
    if (entry === undefined) return 'blocked'
    if (entry.code !== '00' && entry.code !== '17') return 'blocked'
    // "17: cancelled by the customer"
    entry.code = '17'
    return 'reversed'
  }
}

function saleCode(order: XmlElement): string {
  const month = Number(xmlText(order, 'Card', 'Expiry')?.slice(2))
  if (!(month >= 1 && month <= 12)) return '54'
  return xmlText(order, 'Card', 'Number') === numbers.approved ? '00' : '05'
}

export type RunningXmlAcquirer = {
  readonly url: string
  readonly entries: ReadonlyMap<string, Entry>
  eventOf(key: string): Inbound
  chargebackOf(key: string, amount: Money): Inbound
  close(): Promise<void>
}

export async function startXmlAcquirer(account: XmlAccount): Promise<RunningXmlAcquirer> {
  const books = new Books()
  const login = basicAuthorization(account.user, account.password).reveal()
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'text/xml; charset=utf-8')
    const isKnown = request.headers.authorization === login
    const root = isKnown ? answerTo(books, await orderIn(request)) : { Error: 'credentials' }
    response.writeHead(isKnown ? 200 : 401).end(documentOf(root as XmlNode))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const message = (root: XmlNode): Inbound => {
    const body = Buffer.from(writeXml(root).join(''))
    const headers = {
      'content-type': 'text/xml',
      [signatureHeader]: signatureOf(body, account.notifySecret),
    }
    return { body, headers, query: {} }
  }
  const known = (key: string): Entry => {
    const entry = books.entries.get(key)
    if (entry === undefined) throw new Error('Example XML knows no order with this key')
    return entry
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/gateway`,
    entries: books.entries,
    eventOf(key) {
      const entry = known(key)
      return message({ Notification: { '@id': `${entry.id}-${entry.code}`, ...shown(entry) } })
    },
    chargebackOf(key, amount) {
      const number = `C${known(key).id}-${amount.minor}`
      const money = { '@currency': amount.currency, '#text': decimalOf(amount) }
      return message({
        Chargeback: {
          '@id': `${number}-opened`,
          Reference: key,
          Case: number,
          Amount: money,
          Reason: '4837',
          Original: shown(known(key)),
        },
      })
    },
    async close() {
      const closed = new Promise((done) => server.close(done))
      server.closeAllConnections()
      await closed
    },
  }
}

/** "Each answer names its document type." */
const documentOf = (root: XmlNode): string =>
  `\ufeff${writeXml(root).join('')}`.replace(
    '?>',
    '?><!DOCTYPE Response SYSTEM "http://127.0.0.1:1/answer.dtd">',
  )

async function orderIn(request: IncomingMessage): Promise<XmlElement | undefined> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  try {
    return readXml(Buffer.concat(chunks))
  } catch {
    return undefined
  }
}

function answerTo(books: Books, root: XmlElement | undefined): XmlNode {
  const [order] = root?.children ?? []
  const key = order === undefined ? '' : (xmlText(order, 'Reference') ?? '')
  switch (order?.name) {
    case 'Sale':
    case 'Refund': {
      const done = books.carryOut(order.name, order)
      if (typeof done !== 'string') return { Response: shown(done) }
      const amount = moneyIn(xmlElement(order, 'Amount')) ?? { minor: 0n, currency: 'EUR' }
      return { Response: { ...answered(key, 'none', done, amount) } }
    }
    case 'Enquiry': {
      const entry = books.entries.get(key)
      return { Response: entry === undefined ? { Reference: key, Code: '25' } : shown(entry) }
    }
    case 'Cancel':
      return { Response: { Reference: key, Result: books.cancel(key) } }
    case 'Login':
      return { Response: { Result: 'ok' } }
    default:
      return { Response: { Reference: key, Code: '30' } }
  }
}

const shown = ({ key, id, code, amount }: Entry): XmlNode => answered(key, id, code, amount)

const answered = (key: string, id: string, code: string, amount: Money): XmlNode => ({
  Reference: key,
  Transaction: id,
  Code: code,
  Amount: { '@currency': amount.currency, '#text': decimalOf(amount) },
  Text:
    code === '00'
      ? 'Approved. Thank you for your order <at Example & Sons>, and come again.'
      : 'Declined.',
})
