/** The events of the acquirer behind HTTP: their signature, their order and their ids. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claimsOf } from '../../../connectors/simulator/event.ts'
import { control, ended } from './http-calls.ts'
import {
  account,
  acquirerTime,
  card,
  euros,
  eventReceiver,
  newKey,
  overHttp,
  payment,
  plainCard,
} from './support.ts'

describe('events of the HTTP acquirer', () => {
  it('a signed event precedes the answer for amounts ending in .89 and follows it for .88', async (test) => {
    const merchant = await overHttp(test)
    const receiver = await eventReceiver(test)
    for (const [minor, before] of [
      [9289, 1],
      [9288, 1],
    ] as const) {
      const operation = payment('debit', { amount: euros(minor) })
      const outcome = await merchant.run(operation, { notifyUrl: receiver.url })
      assert.ok(receiver.messages.length >= before)
      const message = (await receiver.received(minor === 9289 ? 1 : 2)).at(-1)!
      const { verify } = merchant.connector.inbound!
      assert.equal(await verify(message, merchant.context()), true)
      const stranger = merchant.context({ account: { ...account, secret: 'another-secret' } })
      assert.equal(await verify(message, stranger), false)
      assert.deepEqual(
        claimsOf(message).map(({ key, outcome, amount }) => ({ key, outcome, amount })),
        [{ key: operation.key, outcome, amount: euros(minor) }],
      )
    }
  })

  it("a pending payment's end is told by an event, and again with the same id on request", async (test) => {
    const merchant = await overHttp(test, { time: acquirerTime() })
    const receiver = await eventReceiver(test)
    const operation = payment('debit', { instrument: card(plainCard, { holder: '800.400.500' }) })
    assert.equal(await ended(merchant, operation), 'pending')
    const at = { merchantId: account.merchantId, key: operation.key }
    const { url } = merchant.server
    await control(url, { events: receiver.url, finish: { ...at, code: '00' } })
    const again = await control(url, { tell: at })
    assert.equal(again.json.told, true)
    const ids = receiver.messages.map((m) => claimsOf(m)[0]?.eventId)
    assert.equal(ids.length, 2)
    assert.equal(new Set(ids).size, 1)
    assert.equal(merchant.totals().charged, 9200n)
  })

  it('events tell of chargebacks and of their reversals', async (test) => {
    const merchant = await overHttp(test)
    const receiver = await eventReceiver(test)
    const operation = payment('debit')
    await merchant.run(operation)
    const { url } = merchant.server
    const { merchantId } = account
    const amount = { minor: '9200', currency: 'EUR' }
    const dispute = { merchantId, amount, reason: '000.100.221' }
    const [chargeback, reversal] = [newKey(), newKey()]
    await control(url, { events: receiver.url })
    await control(url, { chargeback: { ...dispute, key: chargeback, original: operation.key } })
    assert.equal(merchant.totals().charged, 0n)
    const undone = { ...dispute, key: reversal, original: chargeback }
    await control(url, { chargebackReversal: undone })
    assert.equal(merchant.totals().charged, 9200n)
    const claims = receiver.messages.flatMap((m) => claimsOf(m))
    assert.deepEqual(
      claims.map(({ key, outcome }) => [key, outcome.is]),
      [
        [operation.key, 'chargeback'],
        [operation.key, 'chargebackReversal'],
      ],
    )
  })
})
