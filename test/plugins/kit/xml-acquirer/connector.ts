/**
 * A small connector to an acquirer that speaks XML: sales and refunds by card, HTTP Basic, response codes of ISO 8583
 * and signed messages. Its parts can be replaced, for connectors with mistakes.
 */
import {
  basicAuthorization,
  type Connector,
  type Context,
  decimalOf as decimal,
  declined,
  defineConnector,
  type HttpAnswer,
  hmac,
  type Inbound,
  type InboundReply,
  isHmac,
  MissingReference,
  type Money,
  moneyOfDecimal,
  none,
  type Operation,
  type Outcome,
  R,
  type Reversed,
  reasonTable,
  request,
  responseOutcome,
  type SettingsOf,
  secret,
  settings,
  unknown,
} from '@tollgate/plugin-kit'
import {
  readXml,
  writeXml,
  type XmlElement,
  type XmlNode,
  xmlElement,
  xmlText,
} from '@tollgate/plugin-kit/xml'

const config = settings('Example XML', [
  ['url', { kind: 'url', max: 200 }, R, request, none, 'Address of the gateway.'],
])
const text = { kind: 'text', min: 1, max: 64 } as const
const account = settings('Account at Example XML', [
  ['user', text, R, request, none, 'User of HTTP Basic.'],
  ['password', text, R, request, secret, 'Password of HTTP Basic.'],
  ['notifySecret', text, R, request, secret, 'Proves their messages.'],
])
export type XmlContext = Context<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

export const signatureHeader = 'x-signature'

/** "Amounts in ISK have two decimals, and amounts in HUF none." */
export const exponents = { ISK: 2, HUF: 0 }
export const decimalOf = (money: Money): string => decimal(money, exponents)

/** The money of an element `<Amount currency="EUR">92.00</Amount>`; undefined unless it is written as agreed. */
export const moneyIn = (amount: XmlElement | undefined): Money | undefined =>
  moneyOfDecimal(amount?.text ?? '', amount?.attributes.currency ?? '', exponents)

const disputeReasonFor = reasonTable(
  { '4837': '000.100.222', '4853': '000.100.223' },
  '000.100.200',
)

/** The parts of the connector; each has a right form. */
export const rightParts = {
  write: writeXml as (root: XmlNode) => ReturnType<typeof writeXml> | string,
  read: (body: Buffer): XmlElement => readXml(body),
  decimalOf,
  moneyIn,
  number: ({ number }: { readonly number: unknown }): unknown => number,
  expiry: ({
    expiryYear,
    expiryMonth,
  }: {
    readonly expiryYear: string
    readonly expiryMonth: string
  }) => expiryYear.slice(-2) + expiryMonth,
  outcomeOf: responseOutcome,
  /** The acquirer's own statement that it did nothing: HTTP 401 with its own XML. */
  isRefusal: ({ status }: HttpAnswer, root: XmlElement | undefined): boolean =>
    status === 401 && root?.name === 'Error',
  unreadable: unknown('the answer is unreadable, or about another payment') as Outcome,
  refusal: declined('900.100.200', { text: 'user or password unknown' }) as Outcome,
  refusedEnquiry: unknown('user or password unknown') as Outcome | { is: 'notFound' },
  url: (url: string, _account: XmlContext['account']): string => url,
  isSigned: ({ body, headers }: Inbound, notifySecret: string): boolean =>
    isHmac(headers[signatureHeader], body, notifySecret, { encoding: 'base64' }),
  disputeAmount: (chargeback: XmlElement): XmlElement | undefined =>
    xmlElement(chargeback, 'Amount'),
  disputeReference: (chargeback: XmlElement): string | undefined => xmlText(chargeback, 'Case'),
  reply: { body: '[accepted]' } as InboundReply,
}
export type XmlParts = typeof rightParts

export const signatureOf = (body: Buffer, notifySecret: string): string =>
  hmac(body, notifySecret, { encoding: 'base64' })

export function xmlConnector(replaced: Partial<XmlParts> = {}): Connector {
  const parts = { ...rightParts, ...replaced }

  const amountOf = (money: Money): XmlNode => ({
    '@currency': money.currency,
    '#text': parts.decimalOf(money),
  })

  function cardOf(operation: Operation): XmlNode | undefined {
    const { instrument } = operation
    if (instrument?.kind !== 'card') return undefined
    const { holder, cvv } = instrument
    return {
      Number: parts.number(instrument) as XmlNode,
      Expiry: parts.expiry(instrument),
      Holder: holder,
      Cvv: cvv,
    }
  }

  const ask = ({ http, config, account }: XmlContext, root: XmlNode, moves: boolean) =>
    http.request('POST', parts.url(config.url.replace(/\/$/, ''), account), {
      moves,
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        authorization: basicAuthorization(account.user, account.password),
      },
      body: parts.write({ Request: root }),
    })

  function rootOf({ body }: HttpAnswer): XmlElement | undefined {
    try {
      return parts.read(body)
    } catch {
      return undefined
    }
  }

  function read(answer: HttpAnswer, { key, amount: asked }: Operation): Outcome {
    const root = rootOf(answer)
    if (parts.isRefusal(answer, root)) return parts.refusal
    if (answer.status !== 200) return unknown(`the acquirer answered with HTTP ${answer.status}`)
    if (root?.name !== 'Response' || xmlText(root, 'Reference') !== key) {
      return parts.unreadable
    }
    const [id, code] = [xmlText(root, 'Transaction'), xmlText(root, 'Code')]
    const amount = parts.moneyIn(xmlElement(root, 'Amount'))
    if (id === undefined || code === undefined || amount === undefined) {
      return unknown('the answer has no transaction, code or amount')
    }
    return parts.outcomeOf(code, { refs: { id }, amount, asked, text: xmlText(root, 'Text') })
  }

  async function debit(operation: Operation, context: XmlContext): Promise<Outcome> {
    const { key, amount, merchantTransactionId, descriptor } = operation
    const sale = {
      Reference: key,
      Amount: amountOf(amount),
      Card: cardOf(operation),
      Order: merchantTransactionId,
      Descriptor: descriptor,
    }
    return read(await ask(context, { '@version': '2', Sale: sale }, true), operation)
  }

  return defineConnector({
    name: 'example-xml',
    title: 'Example XML',
    contract: 1,
    config,
    account,
    supports: {
      brands: ['VISA', 'MASTER'],
      currencies: 'any',
      methods: ['card'],
      refund: { partial: true },
      key: { by: 'key', ttlMs: 30 * 86_400_000 },
      enquiryVisibleAfterMs: 60_000,
      modes: ['EXTERNAL', 'LIVE'],
    },
    debit,
    async refund(operation, context) {
      const { key, amount, original } = operation
      const id = original?.refs.id
      if (id === undefined) throw new MissingReference('id')
      const refund = { Reference: key, Original: id, Amount: amountOf(amount) }
      return read(await ask(context, { '@version': '2', Refund: refund }, true), operation)
    },
    resolve: {
      async enquire(operation, context) {
        const answer = await ask(context, { Enquiry: { Reference: operation.key } }, false)
        const root = rootOf(answer)
        if (parts.isRefusal(answer, root)) return parts.refusedEnquiry
        const isUnknown = root?.name === 'Response' && xmlText(root, 'Code') === '25'
        if (isUnknown && xmlText(root, 'Reference') === operation.key) return { is: 'notFound' }
        return read(answer, operation)
      },
      async reverseByKey({ key }, context): Promise<Reversed> {
        const answer = await ask(context, { Cancel: { Reference: key } }, true)
        const root = rootOf(answer)
        if (answer.status !== 200 || root === undefined || xmlText(root, 'Reference') !== key) {
          return { is: 'unknown', why: `the acquirer answered with HTTP ${answer.status}` }
        }
        switch (xmlText(root, 'Result')) {
          case 'reversed':
            return { is: 'reversed' }
          case 'blocked':
            return { is: 'nothing' }
          default:
            return { is: 'unknown', why: 'the answer is unreadable' }
        }
      },
    },
    inbound: {
      verify: (message, { account }) => parts.isSigned(message, account.notifySecret),
      parse({ body }) {
        const root = parts.read(body)
        const [eventId, key] = [root.attributes.id, xmlText(root, 'Reference')]
        if (eventId === undefined || key === undefined)
          throw new Error('this is no message of Example XML')
        if (root.name === 'Chargeback') {
          const amount = parts.moneyIn(parts.disputeAmount(root))
          const reference = parts.disputeReference(root)
          if (amount === undefined || reference === undefined) {
            throw new Error('the chargeback has no amount or case')
          }
          const reason = disputeReasonFor(xmlText(root, 'Reason') ?? '')
          const outcome = { is: 'chargeback', reason, refs: { case: reference } } as const
          return [{ eventId, key, outcome, amount, reference }]
        }
        const [id, code] = [xmlText(root, 'Transaction'), xmlText(root, 'Code')]
        const amount = parts.moneyIn(xmlElement(root, 'Amount'))
        if (
          root.name !== 'Notification' ||
          id === undefined ||
          code === undefined ||
          amount === undefined
        ) {
          throw new Error('this is no message of Example XML')
        }
        const outcome = parts.outcomeOf(code, { refs: { id }, asked: amount })
        return [{ eventId, key, outcome, amount }]
      },
      reply: () => parts.reply,
    },
    async check(context) {
      const { status } = await ask(context, { Login: '' }, false)
      if (status === 200) return { ok: true }
      return { ok: false, why: `the acquirer answered with HTTP ${status} to user and password` }
    },
  })
}
