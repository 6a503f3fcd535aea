/** Nobody around the card fields learns a number by guessing: not the page, not the merchant. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardFields, newCheckout, press } from './rig.ts'

const number = '4539578763621486'
const other = '4539578763621494'
const jane = { givenName: 'Jane', surname: 'Jones' }

describe('guesses of hidden numbers', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ role: 'api' })
  })
  after(() => run.close())

  /** What the browser learns of a press with this number, and one with another. */
  const told = (id: string, more: object) =>
    Promise.all(
      [number, other].map((typed) =>
        press(run.gateway, id, { card: { ...cardFields(typed), expiryYear: '2020' }, ...more }),
      ),
    )
  const shoppers = (value: string, name = 'SHOPPER_a') => ({ customParameters: { [name]: value } })
  const errorAt = (field: string) => ({ state: 'invalid', errors: [{ field, reason: 'invalid' }] })

  test('rows of digits in free text are refused, whichever number was typed', async () => {
    const id = await newCheckout(run)
    for (const value of [
      '1'.repeat(20) + number,
      number.split('').join('-'),
      '%34%35%33%39%35%37%38%37',
      '４５３９５７８７６',
    ]) {
      for (const reply of await told(id, shoppers(value))) {
        assert.deepEqual(reply, errorAt('customParameters[SHOPPER_a]'))
      }
    }
    for (const [group, name] of [
      ['billing', 'street1'],
      ['billing', 'city'],
      ['customer', 'surname'],
      ['customer', 'companyName'],
    ] as const) {
      for (const reply of await told(id, { [group]: { [name]: `12 ${number}` } })) {
        assert.deepEqual(reply, errorAt(`${group}.${name}`))
      }
    }
    const named = `SHOPPER_${number}`
    assert.equal((await press(run.gateway, id, shoppers('x', named))).state, 'invalid')
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'free' })
  })

  test('names, streets, phones and postcodes of people pass', async () => {
    const id = await newCheckout(run)
    const customer = {
      givenName: 'Jane 2nd',
      surname: 'Jones',
      email: '13812345678@shop.example',
      phone: '+49 89 1234567890',
      browser: { userAgent: 'Mozilla/5.0 AppleWebKit/537.36 Chrome/120.0.6099.216 FBBV/564431005' },
    }
    const billing = { street1: '12345 Highway 67, 3rd floor', postcode: '12345-6789', city: 'Ulm' }
    const more = { customer, billing, ...shoppers('1234567') }
    assert.deepEqual((await press(run.gateway, id, more)).errors, undefined)
  })

  test('a number repeated elsewhere is a decline like any other, and a try', async () => {
    const id = await newCheckout(run)
    const twice = {
      card: cardFields(),
      customer: { ...jane, email: '14200000000000000@shop.example' },
    }
    assert.deepEqual(await press(run.gateway, id, twice), { state: 'declined', attemptsLeft: 9 })
    const rows = await run.sql('select id from tollgate.payment where checkout_id = $1', [id])
    assert.equal(rows.length, 0)
    for (let left = 8; left > 0; left -= 1) await press(run.gateway, id, twice)
    const last = await press(run.gateway, id, twice)
    assert.deepEqual([last.state, last.attemptsLeft], ['declined', 0])
    assert.equal((await run.gateway.checkouts.state(id)).state, 'closed')
  })

  test('a refused press that is sent again is one try, and with another guess one more', async () => {
    const id = await newCheckout(run)
    const guess = (number: string) => ({
      nonce: 'guess-of-one-press',
      card: cardFields(),
      customer: { ...jane, email: `${number}@shop.example` },
    })
    const left = []
    for (const digits of ['14200000000000000', '14200000000000000', '24200000000000000']) {
      left.push((await press(run.gateway, id, guess(digits))).attemptsLeft)
    }
    assert.deepEqual(left, [9, 9, 8])
  })

  test('other faults come first, so that a guess without a try tells nothing', async () => {
    const id = await newCheckout(run)
    for (const email of [`1${number}@shop.example`, 'jane@shop.example']) {
      for (const reply of await told(id, { customer: { ...jane, email } })) {
        assert.deepEqual(reply.errors, [{ field: 'card.expiryYear', reason: 'expired' }])
      }
    }
  })

  test("a merchant's own fields are not compared with the shopper's number", async () => {
    const more = { merchantTransactionId: `guess ${number}` }
    const states = []
    for (const typed of [number, other]) {
      const id = await newCheckout(run, more)
      states.push((await press(run.gateway, id, { card: cardFields(typed) })).state)
    }
    assert.deepEqual(states, ['paid', 'paid'])
  })

  test('sealed account numbers of the merchant cannot be guessed by the browser', async () => {
    const sender = { accountNumber: '87654321099' }
    const id = await newCheckout(run, { sender })
    for (const value of ['12345678087654321099', '12345678087654321098']) {
      const reply = await press(run.gateway, id, shoppers(value))
      assert.deepEqual(reply, errorAt('customParameters[SHOPPER_a]'))
    }
  })

  test('parameters of the browser are few and short', async () => {
    const { most, characters } = limits.shopperParameters
    const many = Object.fromEntries(
      Array.from({ length: most + 1 }, (_, at) => [`SHOPPER_${at}`, 'x']),
    )
    const id = await newCheckout(run)
    const long = { SHOPPER_a: 'x'.repeat(2048), SHOPPER_b: 'x'.repeat(characters - 2048) }
    for (const customParameters of [many, long]) {
      assert.equal((await press(run.gateway, id, { customParameters })).state, 'invalid')
    }
  })
})
