/** The simulated acquirer in the form of the contract suite, over each transport. */
import { type Connector, type Instrument, type Money, Sensitive } from '@tollgate/plugin-kit'
import type { Booking, Sandbox } from '@tollgate/plugin-kit/testing'
import { type Entry, entryFromJson } from '../../../connectors/simulator/entry.ts'
import { messageOf } from '../../../connectors/simulator/event.ts'
import { createSimulator } from '../../../connectors/simulator/in-process.ts'
import { secretOf } from '../../../connectors/simulator/keep.ts'
import { apply, enquire, entriesOf, openLedger } from '../../../connectors/simulator/ledger.ts'
import { pendingSeconds } from '../../../connectors/simulator/rules.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import { card } from './card-instrument.ts'

const iban = 'DE89370400440532013000'

const scenes = {
  approved: [
    { instrument: card('4200000000000000') },
    {
      instrument: {
        kind: 'bankAccount',
        brand: 'DIRECTDEBIT_SEPA',
        holder: 'Jane Jones',
        iban: new Sensitive(iban),
        last4: iban.slice(-4),
      },
    },
    { instrument: { kind: 'virtualAccount', brand: 'KLARNA_PAYLATER', accountId: 'jane' } },
    {
      instrument: {
        kind: 'tokenAccount',
        brand: 'MASTER',
        number: new Sensitive('5454545454545454'),
        type: 'NETWORK',
        last4: '5454',
      },
    },
  ],
  declined: { instrument: card('4000000000000002'), reason: '800.100.152' },
  pending: { instrument: card('4000000000000077'), kinds: ['authorize', 'debit', 'credit'] },
} as const satisfies Partial<Sandbox>

const paypal: Instrument = { kind: 'virtualAccount', brand: 'PAYPAL', accountId: 'jane' }
const forged = { status: 'approved', simulatorProof: '0'.repeat(64) }

const moving = ['authorize', 'debit', 'credit', 'capture', 'refund', 'reverse', 'increment']
const bookingsOf = (entries: readonly Entry[]): readonly Booking[] =>
  entries
    .filter(({ state, kind }) => state === 'approved' && moving.includes(kind))
    .map(({ key, amount }) => ({ key, amount }))

/** The acquirer inside the process, and a connector to it. */
export function simulatorInProcess(): { connector: Connector; sandbox: Sandbox } {
  const ledger = openLedger()
  const entry = (key: string) => [...entriesOf(ledger)].find((known) => known.key === key)!
  const sandbox: Sandbox = {
    ...scenes,
    lost: { instrument: card('4000000000000341') },
    redirect: { instrument: paypal, kinds: ['authorize', 'debit', 'credit'], forged },
    async open({ records, clock }) {
      const before = new Set([...entriesOf(ledger)].map(({ key }) => key))
      return {
        settings: () => ({ config: {}, account: {} }),
        bookings: async () =>
          bookingsOf([...entriesOf(ledger)].filter(({ key }) => !before.has(key))),
        async finish(key) {
          clock.ms += pendingSeconds * 1000
          apply(ledger, enquire(ledger, key, clock.ms).writes)
        },
        // Without a page the redirect itself holds the proof of payment.
        shopper: async (_key, { parameters = [] }) =>
          Object.fromEntries(parameters.map(({ name, value }) => [name, value])),
        event: async (key) => messageOf(entry(key), await secretOf(records), clock.ms),
        async close() {},
      }
    },
  }
  return { connector: createSimulator(ledger), sandbox }
}

const secret = 'simulator-secret-of-a-test'
const account = { merchantId: 'shop', secret }

/** The acquirer behind HTTP. */
export const simulatorOverHttp: Sandbox = {
  ...scenes,
  redirect: { instrument: paypal, kinds: ['authorize', 'debit', 'credit'], forged },
  answers: {
    alterAmount: (body, { minor, currency }: Money) =>
      JSON.stringify({ ...JSON.parse(body), amount: { minor: String(minor), currency } }),
    alterCode: (body) => JSON.stringify({ ...JSON.parse(body), code: 'Q7' }),
    nameTheKey: true,
  },
  async open({ clock }) {
    const server = await startSimulator({ secret })
    const entries = () => server.ledger().entries.map(entryFromJson)
    return {
      url: server.url,
      settings: (url) => ({ config: { url }, account }),
      wrongAccount: { ...account, secret: 'another-secret-of-a-test' },
      bookings: async () => bookingsOf(entries()),
      async finish(key) {
        await fetch(`${server.url}/control`, {
          method: 'POST',
          headers: { authorization: `Bearer ${secret}` },
          body: JSON.stringify({ finish: { merchantId: account.merchantId, key, code: '00' } }),
        })
      },
      async shopper(_key, { url }) {
        const back = await fetch(`${url}/approve`, { method: 'POST', redirect: 'manual' })
        const target = back.headers.get('location') ?? ''
        return Object.fromEntries(new URL(target).searchParams)
      },
      event: async (key) =>
        messageOf(entries().find((known) => known.key === key)!, secret, clock.ms),
      close: () => server.close(),
    }
  },
}
