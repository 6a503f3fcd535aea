/**
 * The XML connector with one mistake at a time, as real connectors make them. Beside each are the cases of the suite that
 * must notice it.
 */
import {
  approved,
  type Connector,
  decimalOf,
  declined,
  type Inbound,
  responseMeaning,
  responseOutcome,
  Sensitive,
} from '@tollgate/plugin-kit'
import { readXml, writeXml, type XmlNode, xmlElement, xmlText } from '@tollgate/plugin-kit/xml'
import {
  exponents,
  moneyIn,
  rightParts,
  signatureOf,
  xmlConnector,
} from './xml-acquirer/connector.ts'

type WrongXml = {
  /** The mistake, as the rest of "a connector that …". */
  readonly what: string
  readonly connector: Connector
  readonly noticed: readonly string[]
}

const texts = 'texts arrive as they were sent, whatever characters they have'
const unlisted = 'an approval with an unlisted code leaves the outcome unknown'
const malfunction =
  'a malfunction of the acquirer leaves the outcome unknown, and an enquiry finds the payment'
const currencies = 'amounts keep their minor units in currencies without decimals and with three'
const rounded = 'an amount that the acquirer has no unit for is never rounded'
const credentials = 'refused credentials are no decline of the card, and prove nothing'
const chargeback = 'a chargeback names its own amount and reference'
const otherAmount = 'an approval for another amount or currency names it'

/** The document with its texts changed. */
const changing =
  (change: (text: string) => string) =>
  (root: XmlNode): ReturnType<typeof writeXml> => {
    const within = (content: unknown): unknown => {
      if (typeof content === 'string') return change(content)
      if (typeof content !== 'object' || content === null || Sensitive.is(content)) return content
      return Object.fromEntries(
        Object.entries(content).map(([name, value]) => [name, within(value)]),
      )
    }
    return writeXml(within(root) as XmlNode)
  }

/** A document by string templates, as many programs write it. */
function template(root: XmlNode): string {
  const element = (name: string, content: unknown): string => {
    if (content === undefined) return ''
    const plain = Sensitive.is(content) ? String(content.reveal()) : content
    if (typeof plain !== 'object' || plain === null) return `<${name}>${plain}</${name}>`
    const entries = Object.entries(plain)
    const attributes = entries
      .filter(([key]) => key.startsWith('@'))
      .map(([key, value]) => ` ${key.slice(1)}="${value}"`)
    const inner = entries
      .filter(([key]) => !key.startsWith('@'))
      .map(([key, value]) => (key === '#text' ? String(value) : element(key, value)))
    return `<${name}${attributes.join('')}>${inner.join('')}</${name}>`
  }
  return Object.entries(root)
    .map(([name, content]) => element(name, content))
    .join('')
}

const isSignedBy =
  (test: (given: string, right: string) => boolean) =>
  ({ body, headers }: Inbound, notifySecret: string) =>
    test(headers['x-signature'] ?? '', signatureOf(body, notifySecret))

export const wrongXmlConnectors: readonly WrongXml[] = [
  {
    what: 'writes texts without escaping them',
    connector: xmlConnector({ write: template }),
    noticed: [texts],
  },
  {
    what: 'escapes texts twice',
    connector: xmlConnector({
      write: changing((text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')),
    }),
    noticed: [texts],
  },
  {
    what: 'leaves out characters that it fears',
    connector: xmlConnector({ write: changing((text) => text.replace(/[<>&"']/g, '')) }),
    noticed: [texts],
  },
  {
    what: 'writes its document in Latin-1',
    connector: xmlConnector({
      write: (root) =>
        writeXml(root).map((part) =>
          typeof part === 'string' ? Buffer.from(part, 'latin1').toString('latin1') : part,
        ),
    }),
    noticed: [texts],
  },
  {
    what: 'declines what it cannot read',
    connector: xmlConnector({ unreadable: declined('900.100.200') }),
    noticed: [
      'a fault leaves the outcome unknown: half an answer that looks whole',
      'a fault leaves the outcome unknown: HTTP 200 with a page of HTML',
      'a fault leaves the outcome unknown: JSON that says nothing',
      'a fault leaves the outcome unknown: an empty answer',
    ],
  },
  {
    what: 'approves every code that is no known decline',
    connector: xmlConnector({
      outcomeOf: (code, answer) =>
        responseMeaning(code).is === 'declined'
          ? responseOutcome(code, answer)
          : responseOutcome('00', answer),
    }),
    noticed: [unlisted, malfunction, 'an unknown code is never an approval'],
  },
  {
    what: 'declines every code that is no known approval',
    connector: xmlConnector({
      outcomeOf: (code, answer) =>
        responseMeaning(code).is === 'unknown'
          ? declined('800.100.100', { refs: answer.refs, code })
          : responseOutcome(code, answer),
    }),
    noticed: [unlisted, malfunction],
  },
  {
    what: 'takes a malfunction for a decline',
    connector: xmlConnector({
      outcomeOf: (code, answer) =>
        code === '96' ? declined('900.100.500', { code }) : responseOutcome(code, answer),
    }),
    noticed: [malfunction],
  },
  {
    what: 'writes two decimals in every currency',
    connector: xmlConnector({
      decimalOf: ({ minor }) => `${minor / 100n}.${String(minor % 100n).padStart(2, '0')}`,
    }),
    noticed: [currencies],
  },
  {
    what: 'writes the decimals of ISO 4217 where the acquirer has others',
    connector: xmlConnector({ decimalOf: (money) => decimalOf(money) }),
    noticed: [currencies],
  },
  {
    what: 'rounds what the acquirer has no unit for',
    connector: xmlConnector({
      decimalOf: ({ minor, currency }) =>
        decimalOf(
          { minor: currency === 'HUF' ? minor - (minor % 100n) : minor, currency },
          exponents,
        ),
    }),
    noticed: [rounded],
  },
  {
    what: 'reads two decimals in every currency',
    connector: xmlConnector({
      moneyIn: (amount) => {
        const money = moneyIn(amount)
        const [whole = '', decimals = ''] = (amount?.text ?? '').split('.')
        return money && { ...money, minor: BigInt(whole + decimals.padEnd(2, '0').slice(0, 2)) }
      },
    }),
    noticed: [currencies],
  },
  {
    what: 'ignores the amount in the answer',
    connector: xmlConnector({
      outcomeOf: (code, { amount: _ignored, ...answer }) => responseOutcome(code, answer),
    }),
    noticed: [otherAmount],
  },
  {
    what: 'ignores the currency in the answer',
    connector: xmlConnector({
      outcomeOf: (code, answer) =>
        responseOutcome(code, {
          ...answer,
          amount: answer.amount && { ...answer.amount, currency: answer.asked!.currency },
        }),
    }),
    noticed: [otherAmount],
  },
  {
    what: 'blames the card when its password is wrong',
    connector: xmlConnector({ refusal: declined('800.100.152') }),
    noticed: [credentials],
  },
  {
    what: 'approves what was refused for a wrong password',
    connector: xmlConnector({ refusal: approved({ id: 'none' }) }),
    noticed: [credentials, 'check distinguishes right credentials from wrong ones'],
  },
  {
    what: 'finds no payment when its password is wrong',
    connector: xmlConnector({ refusedEnquiry: { is: 'notFound' } }),
    noticed: [credentials],
  },
  {
    what: 'takes the HTTP 401 of any machine for a refusal',
    connector: xmlConnector({ isRefusal: ({ status }) => status === 401 }),
    noticed: ['a fault leaves the outcome unknown: HTTP 401 with a page of HTML'],
  },
  {
    what: 'charges back the whole payment, whatever is disputed',
    connector: xmlConnector({ disputeAmount: (root) => xmlElement(root, 'Original', 'Amount') }),
    noticed: [chargeback],
  },
  {
    what: "names a chargeback by the payment's transaction",
    connector: xmlConnector({
      disputeReference: (root) => xmlText(root, 'Original', 'Transaction'),
    }),
    noticed: [chargeback],
  },
  {
    what: 'accepts the beginning of a signature',
    connector: xmlConnector({ isSigned: isSignedBy((given, right) => right.startsWith(given)) }),
    noticed: ['a forged event is not proven', 'garbage is never an event'],
  },
  {
    what: 'signs the document that it read in place of the one that came',
    connector: xmlConnector({
      isSigned: ({ headers, body }, notifySecret) => {
        const id = readXml(body).attributes.id ?? ''
        return headers['x-signature'] !== undefined && notifySecret !== '' && id !== ''
      },
    }),
    noticed: ['a forged event is not proven', 'an event for another account is not proven'],
  },
  {
    what: 'replies to a message with a failure',
    connector: xmlConnector({ reply: { status: 500, body: 'no' } }),
    noticed: ['a stored message gets a reply that can be sent'],
  },
  {
    what: 'has its password in the address',
    connector: xmlConnector({ url: (url, { password }) => `${url}?password=${password}` }),
    noticed: ['card data is sent where a transcript can omit it'],
  },
  {
    what: 'writes the card number in base64 where a transcript shows it',
    connector: xmlConnector({
      number: ({ number }) => ({
        '@base64': Buffer.from(String((number as Sensitive).reveal())).toString('base64'),
        '#text': number,
      }),
    }),
    noticed: ['card data is sent where a transcript can omit it'],
  },
  {
    what: 'swaps month and year of the expiry date',
    connector: xmlConnector({
      expiry: ({ expiryYear, expiryMonth }) => expiryMonth + expiryYear.slice(-2),
    }),
    noticed: ['an approval of the acquirer is approved'],
  },
]

export const rightXmlConnector = xmlConnector(rightParts)
