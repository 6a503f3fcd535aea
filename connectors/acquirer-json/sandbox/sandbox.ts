import { randomBytes } from 'node:crypto'
import { type Instrument, type Money, Sensitive } from '@tollgate/plugin-kit'
import type { Acquirer, Sandbox } from '@tollgate/plugin-kit/testing'
import { isDone } from './ledger.ts'
import { cards, ibans } from './order.ts'
import { startBank } from './server.ts'

export { cards, ibans } from './order.ts'
export { type BankAccount, type RunningBank, startBank } from './server.ts'

/**
 * The contract suite's view of Example Bank: its test data, the changes of its answers, its start.
 * Failures are left to the suite.
 */
export const sandbox: Sandbox = {
  approved: [
    { instrument: card(cards.approved) },
    { instrument: bankAccount(ibans.approved), kinds: ['debit', 'credit'] },
  ],
  declined: { instrument: card(cards.declined), reason: '800.100.152' },
  pending: { instrument: card(cards.review), kinds: ['authorize', 'debit', 'credit'] },
  redirect: {
    instrument: card(cards.confirm),
    // The return of the bank's page, which any reader of the page can forge.
    forged: { payment: '00000000-0000-4000-8000-000000000000', status: 'approved' },
  },
  reversedLater: { instrument: card(cards.reversedLater), kinds: ['authorize', 'debit', 'credit'] },
  answers: {
    alterAmount: (body, amount) => change(body, { amount: amountOf(amount) }),
    alterCode: (body) => change(body, { code: 'Q7' }),
    malfunction: (body) => change(body, { status: 'declined', code: '96' }),
    withoutCode: (body) => change(body, { code: undefined }),
    partialCode: (body) => change(body, { code: '10' }),
    refusedReversal: (body) => change(body, { result: 'refused', code: 'not-possible' }),
    failedReversal: (body) => change(body, { result: 'failed', code: '96' }),
    nameTheKey: true,
  },
  // "Look-ups may lag behind by some seconds."
  enquiryLagMs: 10_000,
  chargebacks: true,
  messages: ['chargebackReversal', 'failure', 'unlisted'],
  texts: ['merchantTransactionId', 'descriptor', 'holder', 'expiry'],
  open: () => openBank(),
}

/** The same bank, which carries captures and refunds out at its end of day. */
export const queueingSandbox: Sandbox = {
  ...sandbox,
  open: () => openBank(['capture', 'refund']),
}

async function openBank(queued: Parameters<typeof startBank>[1] = []): Promise<Acquirer> {
  const account = {
    merchantId: 'shop-1',
    apiKey: randomBytes(16).toString('hex'),
    eventSecret: randomBytes(16).toString('hex'),
  }
  const bank = await startBank(account, queued)
  const { ledger } = bank
  const approve = { status: 'approved', code: '00' } as const
  return {
    url: bank.url,
    settings: (url) => ({ config: { url }, account }),
    wrongAccount: { ...account, apiKey: 'f'.repeat(32), eventSecret: 'f'.repeat(32) },
    bookings: async () =>
      ledger
        .entries()
        .filter((entry) => isDone(entry) && entry.type !== 'check')
        .map(({ key, amount }) => ({ key, amount })),
    finish: async (key) => void ledger.end(ledger.byKey(key)!.id, approve),
    endReversal: async (key, as) => ledger.endReversal(key, as === 'reversed' ? 'done' : 'failed'),
    async shopper(_key, { url }) {
      const page = await fetch(`${url}?answer=yes`, { redirect: 'manual' })
      const back = new URL(page.headers.get('location') ?? '')
      return Object.fromEntries(back.searchParams)
    },
    event: async (key) => bank.eventOf(key),
    chargeback: async (key, amount) => bank.disputeOf(key, amount),
    async message(what, key, amount) {
      switch (what) {
        case 'chargebackReversal':
          return bank.disputeOf(key, amount, 'won')
        case 'failure':
          ledger.giveBack(key)
          return bank.eventOf(key)
        default:
          return bank.noticeOf(key)
      }
    },
    async received(key) {
      const { order, ...texts } = bank.textsOf(key)
      return { merchantTransactionId: order, ...texts }
    },
    close: () => bank.close(),
  }
}

/**
 * Test numbers with a security code and a holder, which the suite searches where they must not be.
 */
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

function bankAccount(iban: string): Instrument {
  return {
    kind: 'bankAccount',
    brand: 'DIRECTDEBIT_SEPA',
    holder: 'Jane Jones',
    iban: new Sensitive(iban),
    last4: iban.slice(-4),
  }
}

const amountOf = ({ minor, currency }: Money) => ({ value: String(minor), currency })

const change = (body: string, fields: object): string =>
  JSON.stringify({ ...JSON.parse(body), ...fields })
