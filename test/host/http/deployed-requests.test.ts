/** Requests of deployed clients that are easily refused or answered in another way. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

describe('requests of deployed clients', () => {
  let run: Hosted
  before(async () => {
    run = await startHost()
  })
  after(() => closeChecked(run))

  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    ask(run.url, path, { token: run.token, form: { entityId: run.channel, ...fields } })
  const get = (path: string, fields: Readonly<Record<string, string>> = {}) =>
    ask(run.url, `${path}?${new URLSearchParams({ entityId: run.channel, ...fields })}`, {
      token: run.token,
    })
  const errorsOf = (answer: Awaited<ReturnType<typeof post>>) =>
    (answer.body.result.parameterErrors ?? []).map(({ name }: { name: string }) => name)

  test('an IBAN needs neither bank code nor BIC, an account number does', async () => {
    const { 'card.number': _n, 'card.expiryMonth': _m, 'card.expiryYear': _y, ...rest } = debit
    const account = {
      ...rest,
      paymentBrand: 'DIRECTDEBIT_SEPA',
      'bankAccount.holder': 'Jane Jones',
    }
    const { 'card.holder': _h, 'card.cvv': _c, ...sepa } = account as Record<string, string>
    const byIban = await post('/v1/payments', {
      ...sepa,
      'bankAccount.iban': 'DE89370400440532013000',
    })
    assert.equal(byIban.body.result.code, '000.100.110', JSON.stringify(byIban.body))
    const byNumber = await post('/v1/payments', { ...sepa, 'bankAccount.number': '532013000' })
    assert.ok(errorsOf(byNumber).includes('bankAccount.bankCode'))
  })

  test('a brand that redirects to the bank takes a part of the account, a direct debit does not', async () => {
    const order = { amount: '10.00', currency: 'EUR', paymentType: 'DB' }
    const parts = [
      { paymentBrand: 'SOFORTUEBERWEISUNG', 'bankAccount.country': 'AT' },
      { paymentBrand: 'IDEAL', 'bankAccount.bankName': 'ABN_AMRO', 'bankAccount.country': 'NL' },
      { paymentBrand: 'EPS', 'bankAccount.country': 'AT' },
      {
        paymentBrand: 'GIROPAY',
        'bankAccount.country': 'DE',
        'bankAccount.bic': 'TESTDETT421',
        'bankAccount.iban': 'DE89370400440532013000',
      },
    ]
    for (const part of parts) {
      const shopperResultUrl = 'https://shop.example/back'
      const sent = await post('/v1/payments', { ...order, ...part, shopperResultUrl })
      assert.equal(sent.status, 200, JSON.stringify(sent.body))
    }
    const sepa = { paymentBrand: 'DIRECTDEBIT_SEPA', 'bankAccount.country': 'DE' }
    assert.deepEqual(errorsOf(await post('/v1/payments', { ...order, ...sepa })).toSorted(), [
      'bankAccount.bankCode',
      'bankAccount.bic',
      'bankAccount.holder',
      'bankAccount.iban',
      'bankAccount.number',
    ])
  })

  test('a merchantTransactionId may have line breaks, and a search finds it', async () => {
    const merchantTransactionId = 'order 17\r\nsecond line'
    const paid = await post('/v1/payments', { ...debit, merchantTransactionId })
    assert.equal(paid.body.merchantTransactionId, merchantTransactionId)
    const found = await get('/v1/query', { merchantTransactionId })
    assert.deepEqual(
      (found.body.payments as { id: string }[]).map(({ id }) => id),
      [paid.body.id],
    )
    const withNul = await post('/v1/payments', { ...debit, merchantTransactionId: 'order-17\0' })
    assert.deepEqual(errorsOf(withNul), ['merchantTransactionId'])
  })

  test('the link of an app is a result page, and the address of a program or a file is not', async () => {
    const paid = await post('/v1/payments', { ...debit, shopperResultUrl: 'myapp://paid?order=7' })
    assert.equal(paid.status, 200, JSON.stringify(paid.body))
    const wrong = [
      'javascript:alert(1)',
      'JavaScript://x/%0aalert(1)',
      'data:text/html,x',
      'data://text/html,x',
      'file:///etc/passwd',
      'file://host/x',
      'vbscript://x',
      'ftp://shop.example/x',
      'ws://shop.example/x',
      'blob:https://shop.example/1',
      'myapp:paid',
      '//shop.example/x',
    ]
    for (const shopperResultUrl of wrong) {
      const refused = await post('/v1/payments', { ...debit, shopperResultUrl })
      assert.deepEqual(errorsOf(refused), ['shopperResultUrl'], shopperResultUrl)
    }
  })

  test('a wrong check digit is named beside other mistakes, and alone has its own code', async () => {
    const mistyped = { ...debit, 'card.number': '4200000000000001' }
    const several = await post('/v1/payments', { ...mistyped, amount: '9.001' })
    assert.equal(several.body.result.code, '200.300.404')
    assert.deepEqual(errorsOf(several).toSorted(), ['amount', 'card.number'])
    const alone = await post('/v1/payments', mistyped)
    assert.equal(alone.body.result.code, '100.100.101')
  })

  test('SIM_DELAY_MS that is no number is refused by name, and nothing is stored', async () => {
    const name = 'customParameters[SIM_DELAY_MS]'
    const merchantTransactionId = 'no-such-delay'
    for (const value of ['abc', '-1', '1.5', '1e3']) {
      const refused = await post('/v1/payments', { ...debit, merchantTransactionId, [name]: value })
      assert.equal(refused.status, 400)
      assert.deepEqual(errorsOf(refused), [name], value)
    }
    assert.equal((await get('/v1/query', { merchantTransactionId })).status, 404)
    const { body } = await post('/v1/payments', debit)
    const refund = { paymentType: 'RF', amount: '1.00', currency: 'EUR' }
    const path = `/v1/payments/${body.id}`
    assert.deepEqual(errorsOf(await post(path, { ...refund, [name]: 'abc' })), [name])
    assert.equal((await post(path, refund)).status, 200)
  })

  test('SIM_DECLINE takes codes of declines, and one that was never sent may be repeated', async () => {
    const named = (code: string) =>
      post('/v1/payments', { ...debit, 'customParameters[SIM_DECLINE]': code })
    const unsent = await named('900.100.600')
    assert.deepEqual(
      [unsent.status, unsent.body.result.code, unsent.body.retrySafe],
      [400, '900.100.600', true],
    )
    for (const pending of ['800.400.500', '800.400.502', '100.400.500']) {
      assert.deepEqual(errorsOf(await named(pending)), ['customParameters[SIM_DECLINE]'])
    }
  })

  test('SIM_DECLINE declines a refund, which a repeat without it makes', async () => {
    const { body } = await post('/v1/payments', debit)
    const refund = { paymentType: 'RF', amount: '1.00', currency: 'EUR' }
    const path = `/v1/payments/${body.id}`
    const declining = { ...refund, 'customParameters[SIM_DECLINE]': '800.100.159' }
    assert.equal((await post(path, declining)).body.result.code, '800.100.159')
    assert.equal((await post(path, refund)).body.result.code, '000.100.110')
  })

  test('a preauthorisation of nothing offers no capture, in its answer and when it is read', async () => {
    const nothing = { paymentType: 'PA', amount: '0.00', createRegistration: 'true' }
    const { body } = await post('/v1/payments', { ...debit, ...nothing })
    assert.equal(body.result.code, '000.100.110', JSON.stringify(body))
    assert.deepEqual(body.nextActions, ['PA'])
    assert.deepEqual((await get(`/v1/payments/${body.id}`)).body.nextActions, ['PA'])
  })

  test('linked transactions of version 3 stand on one page', async () => {
    const { body } = await post('/v1/payments', debit)
    const linked = await get(`/v3/query/${body.id}`, { includeLinkedTransactions: 'true' })
    assert.equal(linked.body.pages, 1)
    assert.equal((linked.body.records as unknown[]).length, 1)
  })

  test('nextActions of a payment in test end where its amount is charged back', async () => {
    const { body } = await post('/v1/payments', debit)
    const read = async () =>
      ((await get(`/v1/payments/${body.id}`)).body.nextActions ?? []) as string[]
    assert.ok((await read()).includes('CB'))
    const half = { paymentType: 'CB', amount: '1.00', currency: 'EUR' }
    assert.equal((await post(`/v1/payments/${body.id}`, half)).status, 200)
    assert.deepEqual(await read(), ['CB'])
    const { amount } = debit as unknown as { amount: string }
    const rest = { ...half, amount: (Number(amount) - 1).toFixed(2) }
    assert.equal((await post(`/v1/payments/${body.id}`, rest)).status, 200)
    assert.deepEqual(await read(), [])
  })

  test('a preview takes the request of a creation, and needs nothing of it but the job', async () => {
    const {
      'card.number': number,
      'card.expiryMonth': month,
      'card.expiryYear': year,
    } = debit as unknown as Record<string, string>
    const account = { 'card.number': number!, 'card.expiryMonth': month!, 'card.expiryYear': year! }
    const stored = await post('/v1/registrations', { paymentBrand: 'VISA', ...account })
    const job = { 'job.hour': '5', 'job.dayOfMonth': '1', 'job.month': '*' }
    const whole = {
      ...{ amount: '9.00', currency: 'EUR', paymentType: 'DB', registrationId: stored.body.id },
      ...{ merchantTransactionId: 'subscription-7', 'standingInstruction.type': 'RECURRING' },
    }
    const seen = await post('/scheduling/v1/schedules/preview', { ...whole, ...job })
    assert.equal(seen.status, 200, JSON.stringify(seen.body))
    const alone = await post('/scheduling/v1/schedules/preview', job)
    assert.deepEqual(seen.body.nextExecutions, alone.body.nextExecutions)
    const made = await post('/scheduling/v1/schedules', { ...whole, ...job })
    assert.deepEqual(made.body.nextExecutions, seen.body.nextExecutions)
    const listed = await get('/scheduling/v1/schedules', { registrationId: stored.body.id })
    assert.equal(listed.body.result.code, '000.000.100')
  })

  test('lists answer 000.000.100, also empty ones', async () => {
    for (const path of [
      '/v1/webhooks',
      '/v1/events',
      '/v1/testclocks',
      '/v1/reportdestinations',
      '/v1/sftpkeys',
      '/reports/v1/reconciliations/aggregations?date.from=2026-01-01&date.to=2026-01-02&currency=EUR',
    ]) {
      const { status, body } = await ask(run.url, path, { token: run.token })
      assert.equal(status, 200, `${path} ${JSON.stringify(body)}`)
      assert.equal(body.result.code, '000.000.100', path)
    }
  })

  test('a cancellation takes effect at the latest at the end date', async () => {
    const {
      'card.number': number,
      'card.expiryMonth': month,
      'card.expiryYear': year,
    } = debit as unknown as Record<string, string>
    const account = { 'card.number': number!, 'card.expiryMonth': month!, 'card.expiryYear': year! }
    const stored = await post('/v1/registrations', { paymentBrand: 'VISA', ...account })
    const inDays = (days: number) =>
      `${new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)} 00:00:00`
    const made = await post('/scheduling/v1/schedules', {
      ...{ amount: '9.00', currency: 'EUR', paymentType: 'DB', registrationId: stored.body.id },
      ...{ 'job.expression': '0 0 5 * * ?', 'job.endDate': inDays(20) },
      ...{ 'job.noticeNumber': '2', 'job.noticeUnit': 'MONTH' },
    })
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const path = `/scheduling/v1/schedules/${made.body.id}?entityId=${run.channel}`
    const cancelled = await ask(run.url, path, { token: run.token, method: 'DELETE' })
    assert.equal(cancelled.body.state, 'ENDING')
    assert.equal(cancelled.body.effectiveDate, `${inDays(20)}+0000`)
  })
})
