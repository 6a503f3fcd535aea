/** Whatever order webhooks come in, an engine that hears each event once ends up with what a small ledger knows. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Claim, Json, Records } from '@tollgate/plugin-kit'
import { claimsOf } from '../../../connectors/adyen/events.ts'
import { notePayment } from '../../../connectors/adyen/payments.ts'
import { type Item, webhook } from '../../../connectors/adyen/sandbox/messages.ts'
import { newAccount } from '../../../connectors/adyen/sandbox/sandbox.ts'
import { undoName } from '../../../connectors/adyen/undo-record.ts'
import { noWords, type Try } from '../../../connectors/adyen/undo-words.ts'
import { orders } from './rules/undo-words.ts'

const key = 'a'.repeat(32)
const amount = { value: 9200, currency: 'EUR' }
const account = newAccount()

const authorisation = (psp: string): Item => ({
  eventCode: 'AUTHORISATION',
  success: true,
  pspReference: psp,
  merchantReference: key,
  amount,
})

/** The end of a cancellation under a name: `undo1.…`, or that of the payment. */
const end = (psp: string, of: string, name: string, success = true): Item => ({
  eventCode: 'CANCEL_OR_REFUND',
  success,
  pspReference: psp,
  originalReference: of,
  merchantReference: name,
  amount,
})
const back = (item: Item, more: Partial<Item> = {}): Item => ({
  ...item,
  eventCode: 'REFUND_FAILED',
  success: true,
  ...more,
})

type Case = {
  readonly items: readonly Item[]
  readonly tries: readonly Try[]
  /** Whether a payment stands in the end. */
  readonly stands: boolean
}

const ours = (round: number): string => `undo${round}.${key}`
const [one, two] = [
  { round: 1, of: 'A', psp: 'T1' },
  { round: 2, of: 'A', psp: 'T2' },
] as const
const t1 = end('T1', 'A', ours(1))
const x = end('X', 'A', key)

const cases: Readonly<Record<string, Case>> = {
  'a try, whose money comes back under the name of nothing': {
    items: [authorisation('A'), t1, back(t1, { merchantReference: 'order 7' })],
    tries: [one],
    stands: true,
  },
  'a try that is returned, and one that is refused': {
    items: [authorisation('A'), t1, back(t1), end('T2', 'A', ours(2), false)],
    tries: [one, two],
    stands: true,
  },
  'a try that is returned, and one that works': {
    items: [authorisation('A'), t1, back(t1), end('T2', 'A', ours(2))],
    tries: [one, two],
    stands: false,
  },
  'a try under the name of the payment, whose money comes back under ours': {
    items: [authorisation('A'), { ...t1, merchantReference: key }, back(t1)],
    tries: [one],
    stands: true,
  },
  'a cancellation by hand that is returned, and a try that works': {
    items: [authorisation('A'), x, back(x), t1],
    tries: [one],
    stands: false,
  },
  'a cancellation by hand of one of two payments, and a try of the other one': {
    items: [authorisation('A'), authorisation('B'), x, end('T1', 'B', ours(1))],
    tries: [{ ...one, of: 'B' }],
    stands: false,
  },
  'a try of one of two payments, and a cancellation by hand that is returned': {
    items: [authorisation('A'), x, back(x, { merchantReference: '' }), end('T1', 'B', ours(1))],
    tries: [{ ...one, of: 'B' }],
    stands: true,
  },
}

/** An account of its own. */
function recordsOf(): Records {
  const known = new Map<string, Json>()
  return {
    get: async (name) => known.get(name),
    async swap(name, before, value) {
      if (JSON.stringify(known.get(name)) !== JSON.stringify(before)) return false
      known.set(name, value)
      return true
    },
  }
}

/** Tells an order of items; the events that an engine hears, each once. */
async function heardIn(order: readonly Item[], tries: readonly Try[]): Promise<Claim[]> {
  const records = recordsOf()
  await notePayment(records, key, { isSale: true })
  const words = { ...noWords, amount: { minor: '9200', currency: 'EUR' }, tries }
  await records.swap(undoName(key), undefined, words as unknown as Json)
  const log = { info() {}, warn() {} }
  const settings = { merchantAccount: account.merchantAccount, hmacKeys: account.hmacKey }
  const heard = new Map<string, Claim>()
  for (const item of order) {
    const message = webhook([item], account)
    for (const claim of await claimsOf(message, { records, log, account: settings } as never)) {
      const { eventId } = claim
      // A second authorisation is listed by its other content.
      if (claim.outcome.is === 'approved') heard.delete(eventId)
      const before = heard.get(eventId) ?? claim
      assert.deepEqual(claim, before, 'an event says the same when it comes again')
      heard.set(eventId, before)
    }
  }
  return [...heard.values()]
}

describe('what webhooks tell of reversals', () => {
  for (const [name, { items, tries, stands }] of Object.entries(cases))
    test(`leaves the engine with the truth in each order, also with repeats: ${name}`, async () => {
      for (const order of orders(items))
        for (const all of [order, order.flatMap((item) => [item, item]), [...order, ...order]]) {
          const heard = await heardIn(all, tries)
          const words = heard.map(({ outcome }) => outcome.is).filter((is) => is !== 'unknown')
          const what = `${all.map((item) => `${item.eventCode} ${item.pspReference}`)}: ${words}`
          // A payment that is told as authorised after the end makes the engine ask again.
          if (stands) assert.notEqual(words.at(-1), 'reversed', what)
          else assert.ok(words.includes('reversed') && words.at(-1) !== 'notReversed', what)
        }
    })
})
