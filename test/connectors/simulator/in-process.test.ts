import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import plugin from '@tollgate/connector-simulator'
import type { Outcome, Records } from '@tollgate/plugin-kit'
import { claimsOf } from '../../../connectors/simulator/event.ts'
import {
  bankAccount,
  businessClock,
  card,
  euros,
  eventReceiver,
  followUp,
  inProcess,
  newKey,
  openRecords,
  payment,
} from './support.ts'

const back = (query: Record<string, string>) =>
  ({ method: 'GET', query, form: {}, refs: {} }) as const

function proofIn(outcome: Outcome): Record<string, string> {
  assert.ok(outcome.is === 'pending' && typeof outcome.next === 'object')
  assert.ok('redirect' in outcome.next)
  const { parameters = [] } = outcome.next.redirect
  return Object.fromEntries(parameters.map(({ name, value }) => [name, value]))
}

it('the package offers the connector `simulator` for testMode=INTERNAL only', () => {
  const [connector] = plugin.connectors ?? []
  assert.equal(plugin.connectors?.length, 1)
  assert.equal(connector?.name, 'simulator')
  assert.deepEqual(connector.supports.modes, ['INTERNAL'])
})

describe('an ordinary payment inside the process', () => {
  const forbidden: Records = {
    get: () => Promise.reject(new Error('records were read')),
    swap: () => Promise.reject(new Error('records were written')),
  }

  it('an ordinary payment stores no record, approved or declined', async (test) => {
    const merchant = inProcess(test)
    for (const number of ['4200000000000000', '4000000000000002']) {
      await merchant.run(payment('debit', { instrument: card(number) }), { records: forbidden })
    }
    assert.equal(merchant.sendings(), 2)
  })

  it('an operation past its deadline moves nothing', async (test) => {
    const merchant = inProcess(test)
    const sending = () => {
      throw new Error('too late')
    }
    for (const number of ['4200000000000000', '4000000000000341']) {
      const instrument = card(number)
      await assert.rejects(merchant.run(payment('debit', { instrument }), { sending }), /too late/)
    }
    assert.equal(merchant.totals().charged, 0n)
    assert.equal(merchant.records.stored.size, 0)
  })

  it('an ordinary payment waits for nothing outside the process', async (test) => {
    const merchant = inProcess(test)
    const context = merchant.context()
    let turns = 0
    setImmediate(() => {
      turns += 1
    })
    for (let done = 0; done < 100; done += 1) {
      await merchant.connector.debit!(payment('debit'), context)
    }
    assert.equal(turns, 0, 'a hundred payments end before the loop turns once')
    assert.equal(merchant.records.stored.size, 0)
  })
})

describe('a restart of the process', () => {
  for (const number of ['4000000000000341', '4000000000000077']) {
    it(`a restart keeps the outcome of a payment by card ${number}`, async (test) => {
      const before = inProcess(test)
      const operation = payment('debit', { instrument: card(number) })
      await before.run(operation)
      const { records, clock } = before
      clock.ms += 30_000
      const after = inProcess(test, { records, clock })
      const found = await after.connector.resolve.enquire!(operation, after.context())
      assert.equal(found.is, 'approved')
      assert.equal((await after.run(followUp('refund', operation, 9201))).is, 'declined')
      assert.equal((await after.run(followUp('refund', operation, 9200))).is, 'approved')
    })
  }

  it('a restart keeps a closed key closed', async (test) => {
    const { records, ...before } = inProcess(test)
    const operation = payment('debit', { amount: euros(9288) })
    await before.connector.resolve.reverseByKey!(operation, before.context())
    const after = inProcess(test, { records })
    assert.equal((await after.run(operation)).is, 'declined')
  })

  it('a restart forgets ordinary payments; their follow-ups rely on the sums of the engine', async (test) => {
    const { records, ...before } = inProcess(test)
    const authorisation = payment('authorize')
    await before.run(authorisation)
    const after = inProcess(test, { records })
    const found = await after.connector.resolve.enquire!(authorisation, after.context())
    assert.equal(found.is, 'notFound')
    assert.equal((await after.run(followUp('capture', authorisation, 9000))).is, 'approved')
    assert.equal((await after.run(followUp('capture', authorisation, 201))).is, 'declined')
  })
})

it('two processes that decide one pending payment move its money once', async (test) => {
  const records = openRecords()
  const clock = businessClock()
  const processes = [1, 2, 3].map(() => inProcess(test, { records, clock }))
  const operation = payment('debit', { instrument: card('4000000000000077') })
  await Promise.all(processes.map((merchant) => merchant.run(operation)))
  clock.ms += 30_000
  const found = await Promise.all(
    processes.map((p) => p.connector.resolve.enquire!(operation, p.context())),
  )
  for (const outcome of found) assert.equal(outcome.is, 'approved')
  const kept = JSON.parse(records.stored.get(`entry/${operation.key}`)!) as { movements: unknown[] }
  assert.equal(kept.movements.length, 1)
})

it('when two processes reverse and finish one key at once, the stored entry decides', async (test) => {
  const records = openRecords()
  const clock = businessClock()
  const [one, two] = [inProcess(test, { records, clock }), inProcess(test, { records, clock })]
  const operation = payment('debit', { instrument: card('4000000000000077') })
  await one.run(operation)
  clock.ms += 30_000
  const [found, reversed] = await Promise.all([
    one.connector.resolve.enquire!(operation, one.context()),
    two.connector.resolve.reverseByKey!(operation, two.context()),
  ])
  assert.ok(found.is === 'approved' || found.is === 'declined')
  assert.equal(reversed.is, 'reversed')
  for (const merchant of [one, two]) {
    const now = await merchant.connector.resolve.enquire!(operation, merchant.context())
    assert.equal(now.is, 'declined')
  }
})

it('a process whose view is out of date decides again', async (test) => {
  const records = openRecords()
  const clock = businessClock()
  const [slow, quick] = [inProcess(test, { records, clock }), inProcess(test, { records, clock })]
  const operation = payment('debit', { instrument: card('4000000000000077') })
  await slow.run(operation)
  clock.ms += 30_000
  let overtaken = false
  const get: Records['get'] = async (key) => {
    const stored = await records.get(key)
    if (!overtaken) {
      overtaken = true
      await quick.connector.resolve.reverseByKey!(operation, quick.context())
    }
    return stored
  }
  const context = slow.context({ records: { ...records, get } })
  const found = await slow.connector.resolve.enquire!(operation, context)
  assert.equal(found.is, 'declined')
  const kept = JSON.parse(records.stored.get(`entry/${operation.key}`)!) as { state: string }
  assert.equal(kept.state, 'closed')
})

describe('a shopper who returns from a redirect', () => {
  const redirected = () =>
    payment('debit', {
      brand: 'PAYPAL',
      instrument: { kind: 'virtualAccount', brand: 'PAYPAL', accountId: 'jane' },
    })
  const returnUrl = 'https://shop.example/back'

  it("a shopper with the redirect's proof pays once, in any process", async (test) => {
    const merchant = inProcess(test)
    const operation = redirected()
    const proof = proofIn(await merchant.run({ ...operation, returnUrl }))
    const other = inProcess(test, { records: merchant.records, clock: merchant.clock })
    for (const _time of [1, 2]) {
      const outcome = await other.connector.complete!(operation, back(proof), other.context())
      assert.equal(outcome.is, 'approved')
    }
    assert.equal(other.totals().charged, 9200n)
  })

  it('a shopper with another proof or none does not pay', async (test) => {
    const merchant = inProcess(test)
    const operation = redirected()
    const proof = proofIn(await merchant.run({ ...operation, returnUrl }))
    const foreign = proofIn(await merchant.run({ ...redirected(), returnUrl }))
    const name = Object.keys(proof)[0]!
    for (const query of [{}, { status: 'approved' }, foreign, { [name]: `${proof[name]}0` }]) {
      const context = merchant.context()
      const outcome = await merchant.connector.complete!(operation, back(query), context)
      assert.equal(outcome.is, 'pending')
    }
    assert.equal(merchant.totals().charged, 0n)
  })
})

describe('events', () => {
  const cases = [
    [9288, 2],
    [9289, 1],
  ] as const
  for (const [minor, copies] of cases) {
    it(`amount ${minor}: ${copies} signed events precede the answer`, async (test) => {
      const merchant = inProcess(test)
      const receiver = await eventReceiver(test)
      const operation = payment('debit', { amount: euros(minor) })
      const outcome = await merchant.run(operation, { notifyUrl: receiver.url })
      assert.equal(outcome.is, 'approved')
      assert.equal(receiver.messages.length, copies)
      const { verify } = merchant.connector.inbound!
      const ids = receiver.messages.map((message) => claimsOf(message)[0]?.eventId)
      assert.equal(new Set(ids).size, 1)
      const [message] = receiver.messages
      assert.equal(await verify(message!, merchant.context()), true)
      const forged = { ...message!, body: Buffer.from(`${message!.body} `) }
      assert.equal(await verify(forged, merchant.context()), false)
      const unsigned = { ...message!, headers: {} }
      assert.equal(await verify(unsigned, merchant.context()), false)
      const [claim] = claimsOf(message!)
      assert.equal(claim?.key, operation.key)
      assert.deepEqual(claim?.outcome, outcome, 'the event agrees with the answer')
    })
  }
  it('an event that cannot be delivered does not hold up its payment', async (test) => {
    const merchant = inProcess(test)
    const operation = payment('debit', { amount: euros(9289) })
    const outcome = await merchant.run(operation, { notifyUrl: 'http://127.0.0.1:1/' })
    assert.equal(outcome.is, 'approved')
  })
})

describe("a chargeback on the merchant's request", () => {
  const reason = '000.100.220'
  const on = (operation: ReturnType<typeof payment>, minor?: number) => {
    const { paymentId, key, amount, original } = followUp('refund', operation, minor)
    return { paymentId, key, amount, reason, original: original! } as const
  }

  it('a requested chargeback arrives as a signed event about the disputed payment', async (test) => {
    const merchant = inProcess(test)
    const operation = payment('debit', { instrument: bankAccount('DE89370400440532013000') })
    await merchant.run(operation)
    const raised = await merchant.simulator.raise('chargeback', on(operation), merchant.context())
    assert.ok('message' in raised)
    const { verify, parse } = merchant.connector.inbound!
    assert.equal(await verify(raised.message, merchant.context()), true)
    const [claim] = await parse(raised.message, merchant.context())
    assert.deepEqual(
      [claim?.key, claim?.outcome.is, claim?.amount],
      [operation.key, 'chargeback', euros(9200)],
    )
    assert.equal(merchant.totals().charged, 0n)
  })

  it('a requested chargeback happens once and is reversed once, also in another process', async (test) => {
    const merchant = inProcess(test)
    const operation = payment('debit')
    await merchant.run(operation)
    const chargeback = on(operation)
    const { simulator } = merchant
    await simulator.raise('chargeback', chargeback, merchant.context())
    const second = await simulator.raise('chargeback', on(operation), merchant.context())
    assert.deepEqual(second, { refused: '700.300.500' })
    const refund = await merchant.run(followUp('refund', operation))
    assert.equal(refund.is === 'declined' && refund.reason, '700.300.600')

    const other = inProcess(test, { records: merchant.records })
    const dispute = {
      ...chargeback,
      key: newKey(),
      original: { ...chargeback.original, key: chargeback.key },
    }
    const raised = await other.simulator.raise('chargebackReversal', dispute, other.context())
    assert.ok('message' in raised)
    const [claim] = await other.connector.inbound!.parse(raised.message, other.context())
    assert.deepEqual([claim?.key, claim?.outcome.is], [operation.key, 'chargebackReversal'])
    const late = { ...dispute, key: newKey() }
    const again = await merchant.simulator.raise('chargebackReversal', late, merchant.context())
    assert.deepEqual(again, { refused: '700.400.410' })
    assert.equal((await other.run(followUp('refund', operation))).is, 'approved')
  })

  it('a chargeback of a payment that charged nothing is refused', async (test) => {
    const merchant = inProcess(test)
    const operation = payment('authorize')
    await merchant.run(operation)
    const raised = await merchant.simulator.raise('chargeback', on(operation), merchant.context())
    assert.deepEqual(raised, { refused: '700.300.100' })
  })
})

it('a malformed event is refused without being quoted', (test) => {
  const { connector, context } = inProcess(test)
  for (const text of ['', 'null', '[]', '{"eventId":"1"}', '4200000000000000']) {
    const message = { body: Buffer.from(text), headers: {}, query: {} }
    assert.throws(
      () => connector.inbound!.parse(message, context()),
      /^Error: the message is not an event/,
    )
  }
})
