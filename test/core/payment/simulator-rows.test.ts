import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { card, flat, startGateway, type TestGateway } from '../../rig/gateway.ts'

/** Cards that are approved normally: brand and numbers. */
const approvedCards = {
  VISA: ['4200000000000000', '4711100000000000', '4111111111111111'],
  MASTER: ['5454545454545454', '5555555555554444', '2223003122003222'],
  AMEX: ['377777777777770', '378282246310005'],
  DINERS: ['36227206271667', '30569309025904'],
  DISCOVER: ['6011111111111117'],
  JCB: ['3530111333300000'],
  UNIONPAY: ['6200000000000005', '6205500000000000004'],
  MAESTRO: ['6759649826438453'],
}

/** Declines of the issuer and failures of the line, by card number. */
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
}

const answerLost = '4000000000000341'
const pendingFirst = '4000000000000077'
const neverSent = '4000000000000119'

describe('rows of the simulator in the engine', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => run.close())

  const pay = (more: Record<string, string>) =>
    run.send({ ...flat(card('4200000000000000')), entityId: run.channel, ...more })
  const without = (fields: Record<string, string>, beginning: string) =>
    Object.fromEntries(Object.entries(fields).filter(([name]) => !name.startsWith(beginning)))
  const account = (paymentBrand: string, fields: Record<string, string>, brandless = false) =>
    run.send({
      ...without(flat(card('')), 'card.'),
      entityId: run.channel,
      ...fields,
      ...(brandless ? {} : { paymentBrand }),
    })

  for (const [paymentBrand, numbers] of Object.entries(approvedCards)) {
    test(`every listed number of ${paymentBrand} is approved`, async () => {
      for (const number of numbers) {
        const cvv = paymentBrand === 'AMEX' ? '1234' : '123'
        const { status, body } = await pay({ paymentBrand, 'card.number': number, 'card.cvv': cvv })
        assert.equal(body.result.code, '000.100.110', number)
        assert.equal(status, 200)
      }
    })
  }

  for (const [number, code] of Object.entries(declinedCards)) {
    test(`${number} ends with ${code}, for PA, DB and PA.CP alike`, async () => {
      for (const paymentType of ['PA', 'DB', 'PA.CP']) {
        const { status, body } = await pay({ 'card.number': number, paymentType })
        assert.equal(body.result.code, code, paymentType)
        assert.equal(status, 400)
      }
    })
  }

  test('a soft decline is approved once external 3-D Secure values accompany it', async () => {
    const { body } = await pay({
      'card.number': '4000002500003155',
      'threeDSecure.eci': '05',
      'threeDSecure.verificationId': 'AAACAgSRBklmQCFgMpEGAAAAAAA=',
      'threeDSecure.authenticationStatus': 'Y',
    })
    assert.equal(body.result.code, '000.100.110')
  })

  test('a request that never reached the acquirer is 400 900.100.600 and safe to retry', async () => {
    const { status, body } = await pay({ 'card.number': neverSent })
    assert.equal(status, 400)
    assert.equal(body.result.code, '900.100.600')
    assert.equal(body.retrySafe, true)
  })

  test('a holder named after a result code ends the payment with that code', async () => {
    for (const code of ['800.100.151', '100.400.000', '700.100.100', '900.100.300']) {
      const { status, body } = await pay({ 'card.holder': code })
      assert.equal(body.result.code, code)
      assert.equal(status, 400)
    }
    assert.equal((await pay({ 'card.holder': '900.100.600' })).body.retrySafe, true)
    assert.equal((await pay({ 'card.holder': '000.100.110' })).body.result.code, '000.100.110')
  })

  test('a holder named after a pending code leaves the payment open with that code', async () => {
    const { status, body } = await pay({ 'card.holder': '800.400.500' })
    assert.equal(body.result.code, '800.400.500')
    assert.equal(status, 200)
    assert.equal(body.nextActions, undefined)
  })

  test('a lost answer is 200 000.200.001, and an enquiry finds the charge', async () => {
    const { status, body } = await pay({ 'card.number': answerLost })
    assert.equal(status, 200)
    assert.equal(body.result.code, '000.200.001')
    assert.equal((await run.gateway.payments.get(body.id)).result.code, '000.200.001')
    await run.sql(`update tollgate.timer set due_at = now() where kind = 'look'`)
    await run.event(body.id, 'payment.approved')
    const found = await run.gateway.payments.get(body.id)
    assert.equal(found.result.code, '000.100.110')
    assert.deepEqual(found.nextActions, ['RF', 'RV', 'RB', 'CB'])
  })

  test('a follow-up on a lost answer enquires first and succeeds at once', async () => {
    const { body } = await pay({ 'card.number': answerLost })
    const refund = await run.gateway.payments.refund(body.id, { amount: '92.00', currency: 'EUR' })
    assert.equal(refund.result.code, '000.100.110')
  })

  test('a pending card answers 200 000.200.000 and takes no follow-up until its end', async () => {
    const { status, body } = await pay({ 'card.number': pendingFirst })
    assert.equal(status, 200)
    assert.equal(body.result.code, '000.200.000')
    await assert.rejects(run.gateway.payments.reverse(body.id), {
      code: '700.400.570',
      status: 400,
    })
  })

  test('an amount ending in .87 is pending', async () => {
    assert.equal((await pay({ amount: '12.87' })).body.result.code, '000.200.000')
  })

  test('amounts ending in .88 and .89 are approved once, despite their events', async () => {
    for (const amount of ['12.88', '12.89']) {
      const { body } = await pay({ amount })
      assert.equal(body.result.code, '000.100.110')
      const rows = await run.sql<{ n: bigint }>(
        `select count(*) as n from tollgate.event where resource = $1`,
        [body.id],
      )
      assert.equal(rows[0]?.n, 1n)
    }
  })

  test('the postcode decides the AVS answer only', async () => {
    const avs = { '11111': 'A', '22222': 'Z', '33333': 'N', '44444': 'U', '80331': 'F' }
    for (const [postcode, expected] of Object.entries(avs)) {
      const { body } = await pay({ 'billing.postcode': postcode })
      assert.equal(body.result.avsResponse, expected)
      assert.equal(body.result.code, '000.100.110')
    }
    assert.equal((await pay({})).body.result.avsResponse, undefined)
  })

  test('the CVV decides the CVV answer only', async () => {
    const answers = { '200': 'N', '201': 'U', '301': 'P', '302': 'S', '123': 'M' }
    for (const [cvv, expected] of Object.entries(answers)) {
      const { body } = await pay({ 'card.cvv': cvv })
      assert.equal(body.result.cvvResponse, expected)
      assert.equal(body.result.code, '000.100.110')
    }
  })

  test('a holder wins over a number, and a number over an amount', async () => {
    const declined = { 'card.number': '4000000000000002' }
    const both = { ...declined, 'card.holder': '800.100.151' }
    assert.equal((await pay(both)).body.result.code, '800.100.151')
    assert.equal((await pay({ ...declined, amount: '12.87' })).body.result.code, '800.100.152')
  })

  test('IBANs are approved, declined without money, or refused for their check digits', async () => {
    const debit = async (iban: string) => {
      const { body } = await account('DIRECTDEBIT_SEPA', {
        'bankAccount.holder': 'Jane Jones',
        'bankAccount.iban': iban,
        'bankAccount.bic': 'MARKDEF1100',
      })
      return body
    }
    const approved = await debit('DE89370400440532013000')
    assert.equal(approved.result.code, '000.100.110')
    assert.equal((approved.bankAccount as Record<string, string>).last4Digits, '3000')
    assert.doesNotMatch(JSON.stringify(approved), /37040044/)
    assert.equal((await debit('DE62370400440532013001')).result.code, '800.100.203')
    assert.equal((await debit('DE35370400440532013002')).result.code, '000.100.110')
    assert.equal((await debit('DE89370400440532013009')).result.code, '100.100.101')
  })

  test('virtual accounts are approved unless their id begins with decline-', async () => {
    const pays = async (accountId: string) =>
      (await account('NETELLER', { 'virtualAccount.accountId': accountId })).body
    const approved = await pays('jane@example.com')
    assert.equal(approved.result.code, '000.100.110')
    assert.deepEqual({ ...(approved.virtualAccount as object) }, { accountId: 'jane@example.com' })
    assert.equal((await pays('decline-jane@example.com')).result.code, '800.100.195')
  })

  test('token accounts follow the rows of the cards and show four digits at most', async () => {
    const pays = async (number: string) => {
      const { body } = await account('VISA', {
        'tokenAccount.number': number,
        'tokenAccount.type': 'NETWORK',
        'tokenAccount.expiryMonth': '05',
        'tokenAccount.expiryYear': '2034',
        'tokenAccount.cryptogram': 'AgAAAAAABk4DWZ4C28yUQAAAAAA=',
      })
      return body
    }
    const approved = await pays('4200000000000000')
    assert.equal(approved.result.code, '000.100.110')
    assert.equal((approved.tokenAccount as Record<string, string>).last4Digits, '0000')
    assert.doesNotMatch(JSON.stringify(approved), /420000|AgAAAAAA/)
    assert.equal((await pays('4000000000000002')).result.code, '800.100.152')
  })

  test('a lost answer with a late enquiry leaves its authorisation usable', async () => {
    const { body } = await pay({ 'card.number': answerLost, paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(body.id, {
      amount: '40.00',
      currency: 'EUR',
    })
    assert.equal(capture.result.code, '000.100.110')
  })
})
