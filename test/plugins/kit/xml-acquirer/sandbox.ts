/** Example XML as the contract suite sees it. */
import { randomBytes } from 'node:crypto'
import type { Money } from '@tollgate/plugin-kit'
import type { Sandbox } from '@tollgate/plugin-kit/testing'
import { xmlText } from '@tollgate/plugin-kit/xml'
import { card } from '../card-instrument.ts'
import { numbers, startXmlAcquirer } from './acquirer.ts'
import { decimalOf, exponents } from './connector.ts'

const withCode = (body: string, code: string) =>
  body.replace(/<Code>[^<]*<\/Code>/, `<Code>${code}</Code>`)

export const xmlSandbox: Sandbox = {
  approved: [{ instrument: card(numbers.approved) }],
  declined: { instrument: card(numbers.declined), reason: '800.100.152' },
  chargebacks: true,
  exponents,
  texts: ['merchantTransactionId', 'descriptor', 'holder'],
  answers: {
    alterAmount: (body, amount: Money) =>
      body.replace(
        /<Amount[^>]*>[^<]*<\/Amount>/,
        `<Amount currency="${amount.currency}">${decimalOf(amount)}</Amount>`,
      ),
    alterCode: (body) => withCode(body, 'Q7'),
    malfunction: (body) => withCode(body, '96'),
    nameTheKey: true,
  },
  async open() {
    const account = {
      user: 'shop-1',
      password: randomBytes(16).toString('hex'),
      notifySecret: randomBytes(16).toString('hex'),
    }
    const acquirer = await startXmlAcquirer(account)
    return {
      url: acquirer.url,
      settings: (url) => ({ config: { url }, account }),
      wrongAccount: { ...account, password: 'f'.repeat(32), notifySecret: 'f'.repeat(32) },
      bookings: async () =>
        [...acquirer.entries.values()]
          .filter(({ code }) => code === '00')
          .map(({ key, amount }) => ({ key, amount })),
      event: async (key) => acquirer.eventOf(key),
      chargeback: async (key, amount) => acquirer.chargebackOf(key, amount),
      async received(key) {
        const { order } = acquirer.entries.get(key)!
        return {
          merchantTransactionId: xmlText(order, 'Order'),
          descriptor: xmlText(order, 'Descriptor'),
          holder: xmlText(order, 'Card', 'Holder'),
        }
      },
      close: acquirer.close,
    }
  },
}
