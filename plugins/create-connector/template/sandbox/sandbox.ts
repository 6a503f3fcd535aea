/** Acme Bank in the words of the contract suite: its test data, changes of its answers, its start. */
import { randomBytes } from 'node:crypto'
import { type Instrument, Sensitive } from '@tollgate/plugin-kit'
import type { Sandbox } from '@tollgate/plugin-kit/testing'
import { read } from '../src/wire.ts'
import { cards } from './books.ts'
import { startBank } from './server.ts'
import { shown } from './wire.ts'

const change = (body: string, fields: Readonly<Record<string, string | undefined>>): string =>
  shown({ ...read(Buffer.from(body)), ...fields })

export const sandbox: Sandbox = {
  approved: [{ instrument: card(cards.approved) }],
  declined: { instrument: card(cards.declined), reason: '800.100.152' },
  // #redirect
  redirect: {
    instrument: card(cards.redirect),
    // Anybody can write such a return.
    forged: { payment: 'T1', status: 'approved' },
  },
  // #end
  answers: {
    alterAmount: (body, { minor, currency }) => change(body, { amount: String(minor), currency }),
    alterCode: (body) => change(body, { code: 'Q7' }),
    malfunction: (body) => change(body, { code: '96' }),
    partialCode: (body) => change(body, { code: '10' }),
    withoutCode: (body) => change(body, { code: undefined }),
    refusedReversal: (body) => change(body, { result: 'refused' }),
    failedReversal: (body) => change(body, { result: 'failed', code: '96' }),
    nameTheKey: true,
  },
  // DECIDE(delay): how long can an enquiry miss a payment, by the manual?
  enquiryLagMs: 10_000,
  // #events
  chargebacks: true,
  messages: ['partialApproval'],
  // DECIDE(messages): does the acquirer tell what fails later, or that a chargeback is reversed? See `messages`.
  // #end
  texts: ['merchantTransactionId', 'descriptor', 'holder', 'expiry'],
  async open() {
    const account = {
      user: 'shop-1',
      password: randomBytes(16).toString('hex'),
      // #events
      notifySecret: randomBytes(16).toString('hex'),
      // #end
    }
    const bank = await startBank(account)
    const { entries } = bank.books
    return {
      url: bank.url,
      settings: (url) => ({ config: { url }, account }),
      wrongAccount: {
        ...account,
        password: 'f'.repeat(32),
        // #events
        notifySecret: 'f'.repeat(32),
        // #end
      },
      bookings: async () =>
        [...entries.values()]
          .filter(({ code }) => code === '00')
          .map(({ key, amount }) => ({ key, amount })),
      // #redirect
      async shopper(_key, { url }) {
        const page = await fetch(`${url}?answer=yes`, { redirect: 'manual' })
        return Object.fromEntries(new URL(page.headers.get('location') ?? '').searchParams)
      },
      // #end
      // #events
      event: async (key) => bank.eventOf(key),
      chargeback: async (key, amount) => bank.chargebackOf(key, amount),
      message: async (_what, key, amount) => bank.partOf(key, amount),
      // #end
      async received(key) {
        const { order, descriptor, cardHolder, cardExpiry } = entries.get(key)?.fields ?? {}
        return { merchantTransactionId: order, descriptor, holder: cardHolder, expiry: cardExpiry }
      },
      close: () => bank.close(),
    }
  },
}

/** A security code and a holder, which the suite looks for where they must not be. */
function card(number: string): Instrument {
  return {
    kind: 'card',
    brand: 'VISA',
    number: new Sensitive(number),
    bin: number.slice(0, 6),
    last4: number.slice(-4),
    expiryMonth: '12',
    expiryYear: '2034',
    holder: 'Jane Jones',
    cvv: new Sensitive('837'),
  }
}
