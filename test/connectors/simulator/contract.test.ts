import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Operation } from '@tollgate/plugin-kit'
import { card, euros, followUp, type Merchant, payment, plainCard, transports } from './support.ts'

const reverseByKey = (merchant: Merchant, operation: Operation) =>
  merchant.connector.resolve.reverseByKey!(operation, merchant.context())
const enquire = (merchant: Merchant, operation: Operation) =>
  merchant.connector.resolve.enquire!(operation, merchant.context())

for (const [transport, open] of transports) {
  describe(`a merchant of the simulator ${transport}`, () => {
    it('one key sent two hundred times at once charges the card once', async (test) => {
      const merchant = await open(test)
      for (const number of [plainCard, '4000000000000077']) {
        const operation = payment('debit', { instrument: card(number) })
        const all = await Promise.all(Array.from({ length: 200 }, () => merchant.run(operation)))
        for (const outcome of all) assert.deepEqual(outcome, all[0])
        merchant.clock.ms += 30_000
        await Promise.all(Array.from({ length: 20 }, () => enquire(merchant, operation)))
      }
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 2n * 9200n })
    })

    it('two hundred captures at once take no more than the authorised amount', async (test) => {
      const merchant = await open(test)
      const authorisation = payment('authorize')
      await merchant.run(authorisation)
      const captures = Array.from({ length: 200 }, () => followUp('capture', authorisation, 100))
      const outcomes = await Promise.all(captures.map((capture) => merchant.run(capture)))
      assert.equal(outcomes.filter(({ is }) => is === 'approved').length, 92)
      assert.ok(
        outcomes.every(
          (o) => o.is === 'approved' || (o.is === 'declined' && o.reason === '700.400.100'),
        ),
      )
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 9200n })
    })

    it('a key that is used again for another operation is refused', async (test) => {
      const merchant = await open(test)
      const operation = payment('debit')
      await merchant.run(operation)
      const outcome = await merchant.run({ ...operation, amount: euros(9300) })
      assert.equal(outcome.is === 'declined' && outcome.reason, '200.300.405')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it('a repeat without CVV counts as the same request, because the CVV is erased after an interruption', async (test) => {
      const merchant = await open(test)
      const operation = payment('debit', { instrument: card(plainCard, { cvv: '123' }) })
      await merchant.run(operation)
      const repeated = await merchant.run({ ...operation, instrument: card(plainCard) })
      assert.equal(repeated.is, 'approved')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it('captures, refunds and reversals take parts, and never more than the sums allow', async (test) => {
      const merchant = await open(test)
      const authorisation = payment('authorize')
      await merchant.run(authorisation)
      const capture = followUp('capture', authorisation, 5000)
      const steps: [Operation, string][] = [
        [capture, 'approved'],
        [followUp('capture', authorisation, 4201), '700.400.100'],
        [followUp('reverse', authorisation, 4200), 'approved'],
        [followUp('refund', capture, 2000), 'approved'],
        [followUp('refund', capture, 3001), '700.400.200'],
        [followUp('reverse', capture, 1), '700.400.300'],
        [followUp('increment', authorisation, 1), '700.300.300'],
      ]
      for (const [operation, expected] of steps) {
        const outcome = await merchant.run(operation)
        assert.equal(outcome.is === 'declined' ? outcome.reason : outcome.is, expected)
      }
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 3000n })
    })

    it('a reauthorisation replaces its authorisation', async (test) => {
      const merchant = await open(test)
      const old = payment('authorize')
      await merchant.run(old)
      const again = followUp('authorize', old, 5000, {
        instrument: card(plainCard),
        request: { standingInstruction: { industryPractice: 'REAUTHORIZATION' } },
      })
      assert.equal((await merchant.run(again)).is, 'approved')
      assert.deepEqual(merchant.totals(), { held: 5000n, charged: 0n })
    })

    it('a reversal by key undoes the operation and closes the key for good', async (test) => {
      const merchant = await open(test)
      const operation = payment('debit')
      await merchant.run(operation)
      assert.equal((await reverseByKey(merchant, operation)).is, 'reversed')
      assert.equal((await merchant.run(operation)).is, 'declined')
      assert.equal((await enquire(merchant, operation)).is, 'declined')
      assert.equal((await reverseByKey(merchant, operation)).is, 'reversed')
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 0n })
    })

    it('a reversal by key that arrives first closes the key: the late operation charges nothing', async (test) => {
      const merchant = await open(test)
      const operation = payment('debit')
      assert.equal((await enquire(merchant, operation)).is, 'notFound')
      assert.equal((await reverseByKey(merchant, operation)).is, 'nothing')
      const outcome = await merchant.run(operation)
      assert.equal(outcome.is === 'declined' && outcome.reason, '900.100.400')
      assert.deepEqual(merchant.totals(), { held: 0n, charged: 0n })
    })

    it('the reversal by key of an authorisation with a capture is refused', async (test) => {
      const merchant = await open(test)
      const authorisation = payment('authorize')
      await merchant.run(authorisation)
      await merchant.run(followUp('capture', authorisation))
      const reversed = await reverseByKey(merchant, authorisation)
      assert.equal(reversed.is === 'refused' && reversed.reason, '700.400.300')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it('an approved card payment gets a scheme reference, the same one on every repeat', async (test) => {
      const merchant = await open(test)
      const operation = payment('authorize')
      const outcome = await merchant.run(operation)
      assert.ok(outcome.is === 'approved' && /^SIM[0-9A-F]{12}$/.test(outcome.networkTxId ?? ''))
      assert.deepEqual(await enquire(merchant, operation), outcome)
    })

    it('SIM_DELAY_MS delays the answer until after the money moved', async (test) => {
      const merchant = await open(test)
      const deadline = new AbortController()
      const request = { customParameters: { SIM_DELAY_MS: '99999999' } }
      const operation = payment('debit', { request })
      const context = { signal: deadline.signal }
      const late = merchant.run(operation, context).then(
        ({ is }) => is,
        () => 'unknown',
      )
      while (merchant.totals().charged === 0n) await new Promise(setImmediate)
      deadline.abort()
      assert.equal(await late, 'unknown')
      assert.equal((await enquire(merchant, operation)).is, 'approved')
    })
  })
}
