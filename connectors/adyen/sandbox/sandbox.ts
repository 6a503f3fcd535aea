import { randomBytes } from 'node:crypto'
import { type Instrument, Sensitive } from '@tollgate/plugin-kit'
import type { Acquirer, Sandbox } from '@tollgate/plugin-kit/testing'
import { amountFor, moneyOf } from '../money.ts'
import { cards, declinedHolder } from './checkout.ts'
import { type RunningAdyen, startAdyen } from './server.ts'

export { cards, declinedHolder } from './checkout.ts'
export { type Account, type RunningAdyen, startAdyen } from './server.ts'

/** Credentials of a test, new for every case. */
export const newAccount = () => ({
  merchantAccount: 'TestMerchant',
  apiKey: `AQE${randomBytes(24).toString('hex')}`,
  hmacKey: randomBytes(32).toString('hex'),
  reportUser: 'report@Company.TestCompany',
  reportPassword: randomBytes(12).toString('hex'),
})

/** The settings of an account at the sandbox. */
export const settingsOf = ({ hmacKey, ...account }: ReturnType<typeof newAccount>) => ({
  ...account,
  hmacKeys: hmacKey,
})

/**
 * The contract suite's view of Adyen: its test data, the changes of its answers, its start. Failures are left to the
 * suite.
 */
export const sandbox: Sandbox = {
  approved: [{ instrument: card(cards.approved) }],
  declined: { instrument: card(cards.approved, declinedHolder), reason: '800.100.152' },
  redirect: {
    instrument: card(cards.redirect),
    forged: { redirectResult: 'X6XtfGC3!Y2FzaGVk', resultCode: 'Authorised' },
  },
  reversedLater: { instrument: card(cards.approved) },
  repeatsAnswers: true,
  takesLatecomers: true,
  answers: {
    alterAmount: (body, amount) => change(body, { amount: amountFor(amount) }),
    alterCode: (body) => change(body, { resultCode: 'Sanctioned' }),
    malfunction: (body) =>
      change(body, {
        resultCode: 'Error',
        refusalReason: 'Acquirer Error',
        refusalReasonCode: '4',
      }),
    nameTheKey: true,
  },
  chargebacks: true,
  messages: ['unlisted'],
  texts: ['merchantTransactionId', 'holder'],
  async open() {
    const account = newAccount()
    return acquirerOf(await startAdyen(account), account)
  },
}

/** The sandbox as the suite sees it. */
export function acquirerOf(adyen: RunningAdyen, account: ReturnType<typeof newAccount>): Acquirer {
  const { ledger } = adyen
  const settings = settingsOf(account)
  /** The suite names operations by their keys, and Adyen by our references. */
  const referenceIn = (key: string) =>
    ledger.modifications.find(({ reference }) => reference.endsWith(`.${key}`))?.reference ?? key
  return {
    url: adyen.url,
    settings: (url) => ({ config: { url: `${url}/v71`, reportUrl: url }, account: settings }),
    wrongAccount: { ...settings, apiKey: `AQE${'f'.repeat(48)}`, hmacKeys: 'f'.repeat(64) },
    async bookings() {
      const booked = [
        ...ledger.payments
          .filter(
            ({ state, isUndone, amount }) =>
              state === 'authorised' && !isUndone && amount.value > 0,
          )
          .map(({ reference, amount }) => ({ key: reference, amount })),
        ...ledger.modifications
          .filter(({ success }) => success)
          .map(({ reference, amount, booked: value }) => ({
            key: reference.slice(reference.indexOf('.') + 1),
            amount: { ...amount, value },
          })),
      ]
      return booked.map(({ key, amount }) => ({ key, amount: moneyOf(amount)! }))
    },
    // Adyen carries out what it takes, and tells so later.
    finish: async () => {},
    endReversal: async (key, as) => void ledger.endUndo(key, as === 'reversed' ? 'done' : 'failed'),
    async shopper(_key, { url }) {
      const answer = await fetch(`${url}?answer=yes`, { redirect: 'manual' })
      return Object.fromEntries(new URL(answer.headers.get('location') ?? '').searchParams)
    },
    event: async (key) => adyen.messageAbout(referenceIn(key)),
    chargeback: async (key, amount) => adyen.dispute(key, amountFor(amount)),
    async message(_what, key, amount) {
      const names = {
        pspReference: 'a:b\\c/d é"<',
        originalReference: ' :',
        merchantReference: key,
      }
      return adyen.message({
        ...{ eventCode: 'news:2', success: true, ...names },
        amount: amountFor(amount),
      })
    },
    async received(key) {
      const sent = adyen.exchanges.find(({ request }) => Object(request).reference === key)
      const { merchantOrderReference, paymentMethod } = Object(sent?.request) as {
        merchantOrderReference?: string
        paymentMethod?: { holderName?: string }
      }
      return {
        merchantTransactionId: merchantOrderReference,
        holder: paymentMethod?.holderName,
      }
    },
    close: () => adyen.close(),
  }
}

/** A test number with a security code and a holder, which the suite searches where they must not be. */
export function card(number: string, holder = 'Jane Jones'): Instrument {
  return {
    kind: 'card',
    brand: 'VISA',
    number: new Sensitive(number),
    bin: number.slice(0, 6),
    last4: number.slice(-4),
    expiryMonth: '03',
    expiryYear: '2030',
    holder,
    cvv: new Sensitive('737'),
  }
}

const change = (body: string, fields: object): string =>
  JSON.stringify({ ...JSON.parse(body), ...fields })
