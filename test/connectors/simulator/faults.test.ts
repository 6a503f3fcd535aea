/** Faults of the acquirer behind HTTP: answers that go wrong, delays, and the plan that causes them. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Fault } from '../../../connectors/simulator/faults.ts'
import { control, ended, enquire } from './http-calls.ts'
import { acquirerTime, card, euros, followUp, overHttp, payment, plainCard } from './support.ts'

describe('an answer that goes wrong after the money moved', () => {
  const faults: [Fault, string][] = [
    [{ do: 'drop' }, 'reset, bytes written'],
    [{ do: 'reset' }, 'reset, bytes written'],
    [{ do: 'truncate' }, 'reset, bytes written'],
    [{ do: '500' }, 'unknown'],
    [{ do: 'html' }, 'unknown'],
  ]
  for (const [fault, expected] of faults) {
    it(`${fault.do} leaves the outcome unknown, and the enquiry finds the payment`, async (test) => {
      const merchant = await overHttp(test, { faults: [fault] })
      const operation = payment('debit')
      assert.equal(await ended(merchant, operation), expected)
      assert.equal((await enquire(merchant, operation)).is, 'approved')
      assert.equal(merchant.totals().charged, 9200n)
    })

    it(`${fault.do} before the money moved leaves the outcome unknown, and the enquiry finds nothing`, async (test) => {
      const merchant = await overHttp(test, { faults: [{ ...fault, apply: 'never' }] })
      const operation = payment('debit')
      assert.equal(await ended(merchant, operation), expected)
      assert.equal((await enquire(merchant, operation)).is, 'notFound')
      assert.equal(merchant.totals().charged, 0n)
    })
  }

  it('an answer that arrives byte by byte is read', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'drip', ms: 1 }] })
    assert.equal(await ended(merchant, payment('debit')), 'approved')
  })

  it('an answer with another amount is reported with that amount', async (test) => {
    const amount = { minor: '9100', currency: 'EUR' }
    const merchant = await overHttp(test, { faults: [{ do: 'alterAmount', amount }] })
    const outcome = await merchant.run(payment('debit'))
    assert.deepEqual(outcome.is === 'approved' && outcome.amount, euros(9100))
    const honest = await merchant.run(payment('debit'))
    assert.ok(honest.is === 'approved' && honest.amount === undefined)
  })

  it('an unknown code is a decline with the general reason', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'unknownCode' }] })
    const outcome = await merchant.run(payment('debit'))
    assert.deepEqual(outcome.is === 'declined' && [outcome.reason, outcome.code], [
      '800.100.100',
      'Q7',
    ])
  })

  it('a second copy of an answer is never read as the next answer', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'twice' }] })
    const { http } = merchant.context()
    const outcomes: string[] = []
    for (const number of [plainCard, '4000000000000002', '4000000000000002']) {
      const operation = payment('debit', { instrument: card(number) })
      const outcome = await merchant.run(operation, { http }).catch(() => undefined)
      outcomes.push(outcome?.is ?? 'broken')
    }
    assert.equal(outcomes[0], 'approved')
    assert.ok(!outcomes.slice(1).includes('approved'), outcomes.join())
  })
})

describe('delays of the acquirer', () => {
  const late: Fault = { do: 'delay', ms: 60_000, apply: 'late' }

  it('an operation can be carried out long after its client gave up', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [late] })
    const operation = payment('debit')
    const impatient = new AbortController()
    const lost = merchant.run(operation, { signal: impatient.signal }).catch(() => 'gave up')
    while (merchant.server.plan.left > 0) await new Promise(setImmediate)
    impatient.abort()
    assert.equal(await lost, 'gave up')
    time.advance(59_999)
    assert.equal((await enquire(merchant, operation)).is, 'notFound')
    time.advance(1)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
    assert.equal(merchant.totals().charged, 9200n)
  })

  it('a reversal by key stops an operation that arrives later', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [late] })
    const operation = payment('debit')
    const answer = merchant.run(operation)
    while (merchant.server.plan.left > 0) await new Promise(setImmediate)
    const context = merchant.context()
    const reversed = await merchant.connector.resolve.reverseByKey!(operation, context)
    assert.equal(reversed.is, 'nothing')
    time.advance(60_000)
    assert.equal((await answer).is, 'declined')
    assert.equal(merchant.totals().charged, 0n)
  })

  it('an enquiry can find nothing at first', async (test) => {
    const merchant = await overHttp(test, { faults: [{ do: 'notFound', times: 2 }] })
    const operation = payment('debit')
    await merchant.run(operation)
    const found = []
    for (let time = 0; time < 3; time += 1) found.push((await enquire(merchant, operation)).is)
    assert.deepEqual(found, ['notFound', 'notFound', 'approved'])
  })

  it('an operation can stay invisible for a while', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [{ do: 'hide', ms: 500 }] })
    const operation = payment('debit')
    assert.equal((await merchant.run(operation)).is, 'approved')
    time.advance(499)
    assert.equal((await enquire(merchant, operation)).is, 'notFound')
    time.advance(1)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
  })

  it('an answer can arrive late, after the money moved', async (test) => {
    const time = acquirerTime()
    const merchant = await overHttp(test, { time, faults: [{ do: 'delay', ms: 500 }] })
    const operation = payment('debit')
    const answer = merchant.run(operation)
    while (merchant.totals().charged === 0n) await new Promise(setImmediate)
    assert.equal((await enquire(merchant, operation)).is, 'approved')
    const first = await Promise.race([answer, new Promise((go) => setImmediate(go, 'not yet'))])
    assert.equal(first, 'not yet')
    time.advance(500)
    assert.equal((await answer).is, 'approved')
  })
})

describe('a plan of faults', () => {
  it('a fault plan hits the requests it names, by card, key, kind or position', async (test) => {
    const merchant = await overHttp(test)
    const hit = payment('debit')
    await control(merchant.server.url, {
      plan: [
        { do: '500', when: { number: '4111111111111111' } },
        { do: '500', when: { key: hit.key } },
        { do: '500', when: { kind: 'capture' } },
      ],
    })
    const authorisation = payment('authorize')
    assert.equal(await ended(merchant, authorisation), 'approved')
    assert.equal(await ended(merchant, followUp('capture', authorisation, 1)), 'unknown')
    assert.equal(await ended(merchant, hit), 'unknown')
    assert.equal(
      await ended(merchant, payment('debit', { instrument: card('4111111111111111') })),
      'unknown',
    )
    assert.equal(merchant.server.plan.left, 0)
  })

  it('a wrong fault plan is refused, with the name of the wrong field', async (test) => {
    const { server } = await overHttp(test)
    const wrong: [object, RegExp][] = [
      [{ plan: [{ do: 'explode' }] }, /plan\[0\]\.do must be one of/],
      [{ plan: [{ do: 'drop' }, { do: 'delay', ms: -1 }] }, /plan\[1\]\.ms/],
      [{ plan: [{ do: 'drop', times: 0 }] }, /times must be 1 or more/],
      [{ plan: {} }, /plan must be a list/],
      [{ plann: [] }, /no control named plann/],
      [
        { chargeback: { merchantId: 'm', key: 'k', original: 'o', reason: '800.100.152' } },
        /chargeback code/,
      ],
    ]
    for (const [body, message] of wrong) {
      const { status, json } = await control(server.url, body)
      assert.equal(status, 400)
      assert.match(String(json.refused), message)
    }
    assert.equal(server.plan.left, 0)
  })
})
