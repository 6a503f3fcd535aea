/** Deployed clients send one array of parameters with every request: what is about the purchase is taken everywhere. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Answer, ask, debit, type Hosted, startHost } from './hosted.ts'

const about = {
  taxAmount: '14.69',
  descriptor: 'Two books',
  merchantInvoiceId: 'Order 2041/7',
  promotionCode: 'SPRING26',
  paymentBrand: 'VISA',
  shopperResultUrl: 'https://shop.example/result',
  'customer.givenName': 'Jane',
  'customer.surname': 'Jones',
  'customer.email': 'jane@example.com',
  'billing.country': 'GB',
  'shipping.city': 'Leeds',
  'merchant.name': 'Bookshop',
  'risk.channelId': 'books',
  'cart.items[0].name': 'Book',
  'cart.items[0].quantity': '1',
}

describe('one array of parameters', () => {
  let run: Hosted
  before(async () => {
    run = await startHost({}, { role: 'all' })
  })
  after(() => closeChecked(run))

  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    ask(run.url, path, { token: run.token, form: { entityId: run.channel, ...fields } })
  const get = (path: string) =>
    ask(run.url, `${path}?entityId=${run.channel}`, { token: run.token })
  const errorsOf = ({ body }: Answer) =>
    (body.result.parameterErrors ?? []).map(({ name }: { name: string }) => name)
  const card = Object.fromEntries(
    Object.entries(debit).filter(([name]) => name.startsWith('card.')),
  )
  const money = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
  const job = { 'job.hour': '6', 'job.dayOfMonth': '1', 'job.month': '*' }

  test('pays, stores, follows up, and charges on a schedule', async () => {
    const clock = await post('/v1/testclocks', { time: '2027-01-15 12:00:00' })
    const testClock = clock.body.id
    const stored = await post('/v1/registrations', { ...about, ...card, testClock })
    assert.deepEqual(errorsOf(stored), [])
    assert.equal(stored.body.taxAmount, about.taxAmount)
    const paid = await post(`/v1/registrations/${stored.body.id}/payments`, { ...about, ...money })
    assert.deepEqual(errorsOf(paid), [])
    const refund = { ...about, ...money, paymentType: 'RF' }
    assert.deepEqual(errorsOf(await post(`/v1/payments/${paid.body.id}`, refund)), [])

    const whole = { ...about, ...money, ...job, registrationId: stored.body.id }
    const seen = await post('/scheduling/v1/schedules/preview', whole)
    assert.deepEqual(errorsOf(seen), [])
    const made = await post('/scheduling/v1/schedules', whole)
    assert.deepEqual(errorsOf(made), [])
    const { body: schedule } = await get(`/scheduling/v1/schedules/${made.body.id}`)
    for (const { taxAmount, customer, cart } of [made.body, schedule]) {
      assert.equal(taxAmount, about.taxAmount)
      assert.equal((customer as Record<string, string>).email, about['customer.email'])
      assert.equal((cart as { items: { name: string }[] }).items[0]!.name, 'Book')
    }

    await post(`/v1/testclocks/${testClock}/advance`, { by: 'P1M' })
    const path = `/scheduling/v1/schedules/${made.body.id}/executions`
    type Execution = { paymentId?: string; state: string }
    const executions = async () => ((await get(path)).body.executions ?? []) as Execution[]
    const paymentId = await until(async () => {
      const [first] = await executions()
      return first?.state === 'APPROVED' ? first.paymentId : undefined
    })
    const { body: payment } = await get(`/v1/payments/${paymentId}`)
    assert.equal(payment.result.code, '000.100.110')
    assert.equal(payment.taxAmount, about.taxAmount)
    assert.equal((payment.merchant as Record<string, string>).name, 'Bookshop')
    assert.equal((payment.standingInstruction as Record<string, string>).source, 'MIT')
  })

  test('a schedule refuses what belongs to one payment, and more than it can keep', async () => {
    const stored = await post('/v1/registrations', { paymentBrand: 'VISA', ...card })
    const whole = { ...about, ...money, ...job, registrationId: stored.body.id }
    for (const [name, value] of [
      ['card.cvv', '123'],
      ['createRegistration', 'true'],
      ['threeDSecure.eci', '05'],
      ['recipient.accountNumber', 'DE89370400440532013000'],
      ['paymentBrand', 'MASTER'],
      ['billing.country', 'XX'],
      ['taxAmount', '1.5'],
    ] as const) {
      const refused = await post('/scheduling/v1/schedules', { ...whole, [name]: value })
      assert.deepEqual([refused.status, errorsOf(refused)], [400, [name]])
    }
    const items = Array.from({ length: 500 }, (_, index) => [
      `cart.items[${index}].name`,
      'Books'.repeat(50),
    ])
    const long = { ...whole, ...Object.fromEntries(items) }
    assert.deepEqual(errorsOf(await post('/scheduling/v1/schedules', long)), ['cart'])
  })
})
