import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type Operation, type Outcome, Sensitive } from '@tollgate/plugin-kit'
import {
  bankAccount,
  card,
  euros,
  type Merchant,
  payment,
  plainCard,
  transports,
} from './support.ts'

/** Approved cards from the merchants' documentation. */
const approvedCards = `4200000000000000 4711100000000000 4111111111111111 5454545454545454
  5555555555554444 2223003122003222 377777777777770 378282246310005 36227206271667 30569309025904
  6011111111111117 3530111333300000 6200000000000005 6205500000000000004 6759649826438453
  4000000000000259 4000000000002685 4000000000005423 4200000000000091 4012001037141112
  4532497088771651 4000000000000010`.split(/\s+/)

const declinedCards = {
  '4000000000000002': '800.100.152',
  '4000000000009995': '800.100.155',
  '4000000000009987': '800.100.165',
  '4000000000009979': '800.100.159',
  '4000000000000069': '800.100.157',
  '4000000000000127': '800.100.153',
  '4000000000006975': '800.100.162',
  '4100000000000019': '800.300.401',
  '4000002500003155': '300.100.100',
  '4000008400001629': '800.100.152',
  '4000008260003178': '800.100.155',
}

const redirectBrands = ['PAYPAL', 'IDEAL', 'SOFORTUEBERWEISUNG']
const kinds = ['authorize', 'debit', 'credit', 'verify'] as const

async function ask(merchant: Merchant, operation: Operation) {
  return merchant.connector.resolve.enquire!(operation, merchant.context())
}
const codeOf = (outcome: Outcome) => (outcome.is === 'declined' ? outcome.reason : outcome.is)

for (const [transport, open] of transports) {
  describe(`the simulator ${transport}`, () => {
    it('approved cards, and numbers outside the table, are approved', async (test) => {
      const merchant = await open(test)
      for (const number of approvedCards) {
        const outcome = await merchant.run(payment('debit', { instrument: card(number) }))
        assert.equal(outcome.is, 'approved', number)
      }
      assert.equal(merchant.totals().charged, 9200n * BigInt(approvedCards.length))
    })

    it('each declined card is declined with its code, for every kind of operation', async (test) => {
      const merchant = await open(test)
      for (const [number, reason] of Object.entries(declinedCards)) {
        for (const kind of kinds) {
          const outcome = await merchant.run(payment(kind, { instrument: card(number) }))
          assert.equal(codeOf(outcome), reason, `${kind} ${number}`)
        }
      }
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 0n })
    })

    it("a decline carries the acquirer's own code and the advice for a retry", async (test) => {
      const merchant = await open(test)
      const funds = card('4000000000009995')
      const outcome = await merchant.run(payment('debit', { instrument: funds }))
      assert.equal(outcome.is === 'declined' && outcome.code, '51')
      assert.equal(outcome.is === 'declined' && outcome.advice, 'later')
    })

    it('a holder named after a result code is declined with that code', async (test) => {
      const merchant = await open(test)
      for (const holder of ['800.100.171', '100.400.325', '900.100.400', '900.100.300']) {
        const instrument = card(plainCard, { holder })
        assert.equal(codeOf(await merchant.run(payment('authorize', { instrument }))), holder)
      }
    })

    it('a holder named after a pending code leaves the payment open', async (test) => {
      const merchant = await open(test)
      const instrument = card(plainCard, { holder: '800.400.501' })
      const operation = payment('debit', { instrument })
      const outcome = await merchant.run(operation)
      assert.equal(outcome.is === 'pending' && outcome.reason, '800.400.501')
      merchant.clock.ms += 30 * 24 * 3_600_000
      assert.equal((await ask(merchant, operation)).is, 'pending')
    })

    it('4000000000000119 never reaches the acquirer', async (test) => {
      const merchant = await open(test)
      for (const instrument of [
        card('4000000000000119'),
        card(plainCard, { holder: '900.100.600' }),
      ]) {
        const operation = payment('debit', { instrument })
        assert.equal((await merchant.run(operation)).is, 'notSent')
        assert.equal((await ask(merchant, operation)).is, 'notFound')
      }
      assert.equal(merchant.sendings(), 0)
    })

    it('4000002500003155 is approved only with a 3-D Secure proof', async (test) => {
      const merchant = await open(test)
      const instrument = card('4000002500003155')
      const proofs: [Operation['threeDSecure'], string][] = [
        [{ eci: '05', authenticationStatus: 'Y' }, 'approved'],
        [{ eci: '06', authenticationStatus: 'A' }, 'approved'],
        [{ eci: '02' }, 'approved'],
        [{ eci: '07' }, '300.100.100'],
        [{ eci: '05', authenticationStatus: 'N' }, '300.100.100'],
        [{}, '300.100.100'],
      ]
      for (const [threeDSecure, expected] of proofs) {
        const outcome = await merchant.run(
          payment('debit', { instrument, threeDSecure: threeDSecure! }),
        )
        assert.equal(codeOf(outcome), expected, JSON.stringify(threeDSecure))
      }
    })

    it('4000000000000341 is charged and its answer lost: only an enquiry finds it', async (test) => {
      const merchant = await open(test)
      const operation = payment('debit', { instrument: card('4000000000000341') })
      for (const _time of ['the first time', 'and when the same key is sent again']) {
        assert.equal(await outcomeOrLost(merchant, operation), 'unknown')
      }
      assert.equal((await ask(merchant, operation)).is, 'approved')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it('4000000000000077 is approved after thirty seconds and not before', async (test) => {
      await endsAfterThirtySeconds(test, payment('debit', { instrument: card('4000000000000077') }))
    })

    it('an amount ending in .87 is declined after thirty seconds and not before', async (test) => {
      await endsAfterThirtySeconds(test, payment('debit', { amount: euros(9287) }))
    })

    async function endsAfterThirtySeconds(test: TestContext, operation: Operation) {
      const merchant = await open(test)
      const outcome = await merchant.run(operation)
      assert.deepEqual(outcome.is === 'pending' && outcome.next, { poll: 30_000 })
      merchant.clock.ms += 29_999
      assert.equal((await ask(merchant, operation)).is, 'pending')
      assert.equal(merchant.totals().charged, 0n)
      merchant.clock.ms += 1
      const declines = operation.amount.minor % 100n === 87n
      const found = await ask(merchant, operation)
      assert.equal(
        found.is === 'declined' ? found.reason : found.is,
        declines ? '800.100.152' : 'approved',
      )
      assert.equal(merchant.totals().charged, declines ? 0n : 9200n)
      assert.deepEqual(await ask(merchant, operation), found, 'a repeat changes nothing')
    }

    it('bank, virtual and token accounts follow their rows', async (test) => {
      const merchant = await open(test)
      const virtual = (accountId: string) =>
        ({ kind: 'virtualAccount', brand: 'WALLET', accountId }) as const
      const token = (number: string) =>
        ({
          kind: 'tokenAccount',
          brand: 'VISA',
          number: new Sensitive(number),
          type: 'NETWORK',
          last4: number.slice(-4),
        }) as const
      const rows = [
        [bankAccount('DE89370400440532013000'), 'approved'],
        [bankAccount('DE62 3704 0044 0532 0130 01'), '800.100.203'],
        [bankAccount('DE35370400440532013002'), 'approved'],
        [virtual('decline-jane'), '800.100.195'],
        [virtual('jane'), 'approved'],
        [token(plainCard), 'approved'],
        [token('4000000000009979'), '800.100.159'],
      ] as const
      for (const [instrument, expected] of rows) {
        const outcome = await merchant.run(payment('debit', { instrument }))
        assert.equal(codeOf(outcome), expected)
      }
    })

    it("redirect brands send the shopper to the acquirer's page and wait for thirty minutes", async (test) => {
      const merchant = await open(test)
      const returnUrl = 'https://shop.example/back'
      for (const brand of redirectBrands) {
        const instrument = { kind: 'virtualAccount', brand, accountId: 'jane' } as const
        const operation = payment('debit', { instrument, brand })
        const outcome = await merchant.run({ ...operation, returnUrl })
        assert.ok(outcome.is === 'pending' && typeof outcome.next === 'object')
        assert.ok('redirect' in outcome.next)
        assert.equal(outcome.expiresAt?.getTime(), merchant.clock.ms + 30 * 60_000)
        assert.equal((await ask(merchant, operation)).is, 'pending')
        merchant.clock.ms += 30 * 60_000
        const found = await ask(merchant, operation)
        assert.equal(found.is === 'declined' && found.reason, '100.396.103')
      }
      assert.equal(merchant.totals().charged, 0n)
    })

    it('the postcode decides the address check, the CVV the CVV check', async (test) => {
      const merchant = await open(test)
      const postcodes = { 11111: 'A', 22222: 'Z', 33333: 'N', 44444: 'U', 80331: 'F' }
      for (const [postcode, avs] of Object.entries(postcodes)) {
        const outcome = await merchant.run(payment('debit', { request: { billing: { postcode } } }))
        assert.equal(outcome.is === 'approved' && outcome.avs, avs)
      }
      for (const [cvv, answer] of Object.entries({
        200: 'N',
        201: 'U',
        301: 'P',
        302: 'S',
        123: 'M',
      })) {
        const outcome = await merchant.run(
          payment('debit', { instrument: card(plainCard, { cvv }) }),
        )
        assert.equal(outcome.is === 'approved' && outcome.cvv, answer)
      }
      const plain = await merchant.run(payment('debit'))
      assert.ok(plain.is === 'approved' && !('avs' in plain) && !('cvv' in plain))
    })

    it('SIM_DECLINE declines with its code and moves no money', async (test) => {
      const merchant = await open(test)
      const request = { customParameters: { SIM_DECLINE: '800.100.159' } }
      const outcome = await merchant.run(payment('debit', { request }))
      assert.equal(codeOf(outcome), '800.100.159')
      assert.equal(merchant.totals().charged, 0n)
    })

    it('SIM_DECLINE with 900.100.600 means that the request never reached the acquirer', async (test) => {
      const merchant = await open(test)
      const request = { customParameters: { SIM_DECLINE: '900.100.600' } }
      assert.equal((await merchant.run(payment('debit', { request }))).is, 'notSent')
    })

    it('neither answers nor records hold a card number or CVV', async (test) => {
      const merchant = await open(test)
      const number = '4000000000000341'
      const operation = payment('debit', { instrument: card(number, { cvv: '987' }) })
      await outcomeOrLost(merchant, operation)
      const found = JSON.stringify(await ask(merchant, operation), (_name, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      const kept = [...merchant.records.stored.values()].join('\n')
      for (const text of [found, kept]) {
        assert.ok(!text.includes(number))
        assert.doesNotMatch(text, /"987"/)
      }
    })
  })
}

/** A lost answer is `unknown`, or a connection error after bytes were written. */
async function outcomeOrLost(merchant: Merchant, operation: Operation): Promise<string> {
  try {
    return (await merchant.run(operation)).is
  } catch (error) {
    assert.equal((error as { wroteBytes?: boolean }).wroteBytes, true)
    return 'unknown'
  }
}
