/** Every operation of the API once over HTTP: its answer is exactly what the OpenAPI document says. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { endpoints } from '../../../schemas/index.ts'
import { answerCheck } from '../../rig/documented-answers.ts'
import { until } from '../../rig/gateway.ts'
import { type Receiver, startReceiver } from '../../rig/notification-receiver.ts'
import { newSshKey } from '../../rig/ssh-keys.ts'
import { type Body, debit, type Hosted, startHost } from './hosted.ts'

/** Answers of these are checked by tests of their own, which make what the operation needs. */
const elsewhere: Readonly<Record<string, string>> = {
  'reports.aggregation': 'reports.test.ts',
  'reports.records': 'reports.test.ts',
  'threeDSecure.create': 'authentication.test.ts',
  'threeDSecure.get': 'authentication.test.ts',
  'checkouts.walletSession': 'wallet-session.test.ts',
  'connectors.event': 'process.test.ts of the simulator',
  'connectors.eventByGet': 'asking-messages.test.ts',
}

type Sent = {
  readonly ids?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  readonly token?: string
}

describe('every operation answers as documented', () => {
  let host: Hosted
  let ofMerchant: string
  let receiver: Receiver
  const seen = new Set<string>()

  before(async () => {
    receiver = await startReceiver()
    host = await startHost({}, { plugins: [fileTransfer], publicUrl: 'https://pay.example' })
    ofMerchant = (await host.gateway.entities.createToken(host.merchant, 'owner')).token
  })
  after(async () => {
    await host.close()
    await receiver.close()
  })

  /** One request to an operation, by its row in the table. Its answer has status 200. */
  async function done(operation: string, { ids = {}, form, query, token }: Sent = {}) {
    const row = endpoints.find((one) => one.operation === operation)!
    const path = row.path.replaceAll(/\{([^{}]+)\}/g, (_, name: string) => ids[name]!)
    const search = query === undefined ? '' : `?${new URLSearchParams(query)}`
    const response = await fetch(host.url + path + search, {
      method: row.method,
      headers: row.login === 'token' ? { Authorization: `Bearer ${token ?? host.token}` } : {},
      ...(row.method === 'POST' ? { body: new URLSearchParams(form ?? {}) } : {}),
    })
    const text = await response.text()
    assert.equal(response.status, 200, `${operation}: ${text.slice(0, 500)}`)
    const check = await answerCheck()
    const header = (name: string) => response.headers.get(name)
    check.answer({ method: row.method, path }, { status: 200, header, text })
    seen.add(operation)
    return JSON.parse(text) as Body
  }

  test('payments, and searches for them', async () => {
    const paid = await done('payments.create', {
      form: {
        ...debit,
        createRegistration: 'true',
        merchantTransactionId: 'documented-1',
        // Stored, and not returned.
        merchantInvoiceId: 'invoice-2041',
        'customer.givenName': 'Jane',
        'customer.surname': 'Jones',
        'customer.email': 'jane@shop.example',
        'cart.items[0].name': 'Book',
        'customParameters[abc]': 'x',
      },
    })
    const ids = { id: paid.id }
    await done('payments.followUp', {
      ids,
      form: { paymentType: 'RF', amount: '2.00', currency: 'EUR', sequence: 'FINAL' },
    })
    await done('payments.get', { ids })
    await done('payments.steps', { ids })
    await done('query.search', { query: { merchantTransactionId: 'documented-1' } })
    await done('query.get', { ids })
    const linked = await done('query.get', { ids, query: { includeLinkedTransactions: 'true' } })
    assert.equal((linked.payments as object[]).length, 2)
    // The feed shows an event after all transactions of the server that began before it.
    const first = await until(async () => {
      const { events } = await done('events.list')
      return (events as Body[])[0]
    })
    await done('events.get', { ids: { id: first.id } })
  })

  test('registrations and schedules', async () => {
    const { amount: _, currency: _currency, paymentType: _type, ...account } = debit
    const { id } = await done('registrations.create', { form: account })
    await done('registrations.get', { ids: { id } })
    await done('registrations.update', { ids: { id }, form: { 'card.holder': 'Jane Doe' } })
    await done('registrations.extend', { ids: { id } })
    await done('registrations.steps', { ids: { id } })
    const money = { amount: '9.00', currency: 'EUR', paymentType: 'DB' }
    await done('registrations.pay', { ids: { id }, form: money })
    const job = {
      'job.dayOfMonth': '1',
      'job.startDate': '2090-01-01 00:00:00',
      'job.endDate': '2091-01-01 00:00:00',
    }
    await done('schedules.preview', { form: job })
    const form = { ...money, registrationId: id, ...job }
    const schedule = await done('schedules.create', { form })
    assert.equal(typeof (schedule.job as { startDate: unknown }).startDate, 'number')
    const ids = { id: schedule.id }
    await done('schedules.get', { ids })
    await done('schedules.list', { query: { registrationId: id } })
    await done('schedules.reschedule', { ids, form: { 'job.dayOfMonth': '2' } })
    await done('schedules.executions', { ids })
    await done('schedules.steps', { ids })
    await done('schedules.remove', { ids })
    await done('registrations.remove', { ids: { id } })
  })

  test('checkouts, for merchants and for browsers', async () => {
    const basket = { amount: '92.00', currency: 'EUR', paymentType: 'DB' }
    const shopperResultUrl = 'https://shop.example/thanks'
    const { id } = await done('checkouts.create', { form: { ...basket, shopperResultUrl } })
    const ids = { id }
    await done('checkouts.update', { ids, form: { amount: '93.00' } })
    await done('checkouts.payment', { ids })
    await done('checkouts.widget', { ids })
    await done('checkouts.state', { ids })
    const card = Object.fromEntries(
      Object.entries(debit).filter(([name]) => name.startsWith('card.')),
    )
    const press = { nonce: 'documented-press-1', ...card }
    const { state } = await done('checkouts.pay', { ids, form: press })
    assert.equal(state, 'paid')
    await done('checkouts.state', { ids })
    await done('checkouts.payment', { ids })
    const store = { createRegistration: 'true', shopperResultUrl }
    const kept = { id: (await done('checkouts.create', { form: store })).id }
    await done('checkouts.widget', { ids: kept })
    await done('checkouts.register', { ids: kept, form: { ...press, nonce: 'documented-press-2' } })
    await done('checkouts.registration', { ids: kept })
    const other = { id: (await done('checkouts.create', { form: basket })).id }
    await done('checkouts.remove', { ids: other })
  })

  test('webhooks and test clocks', async () => {
    const token = ofMerchant
    const url = `${receiver.url}hooks`
    const hook = await done('webhooks.create', {
      token,
      form: { url, types: 'PAYMENT,REGISTRATION,SCHEDULE' },
    })
    receiver.trust(
      { secrets: [String(hook.signingSecret)], key: String(hook.encryptionKey) },
      '/hooks',
    )
    const ids = { id: hook.id }
    await done('webhooks.get', { token, ids })
    await done('webhooks.list', { token })
    await done('webhooks.update', { token, ids, form: { active: 'true' } })
    await done('webhooks.test', { token, ids })
    const { received } = receiver
    assert.deepEqual(
      [received.at(-1)?.problem, received.at(-1)?.notification?.type],
      [undefined, 'test'],
    )
    await done('webhooks.replay', { token, ids, form: { from: '2026-01-01 00:00:00' } })
    await done('webhooks.deliveries', { token, ids })
    await done('webhooks.rotate', { token, ids })
    await done('webhooks.remove', { token, ids })
    const clock = await done('testClocks.create', { token, form: { name: 'one' } })
    await done('testClocks.get', { token, ids: { id: clock.id } })
    await done('testClocks.list', { token })
    await done('testClocks.advance', { token, ids: { id: clock.id }, form: { by: 'P1D' } })
  })

  test('report files, their destinations and keys', async () => {
    const token = ofMerchant
    const query = { 'date.from': '2026-03-01', 'date.to': '2026-03-31', currency: 'EUR' }
    await done('reports.aggregations', { token, query })
    await done('reports.files', { token })
    const destination = await done('reportDestinations.create', {
      token,
      form: {
        folderUrl: 'sftp://127.0.0.1:1/reports',
        'login.user': 'reports',
        'login.password': 'a long and secret password',
        hostKey: `SHA256:${'k'.repeat(43)}`,
      },
    })
    const ids = { id: destination.id }
    await done('reportDestinations.get', { token, ids })
    await done('reportDestinations.list', { token })
    await done('reportDestinations.update', { token, ids, form: { raw: 'true' } })
    await done('reportDestinations.test', { token, ids })
    await done('reportDestinations.replay', { token, ids, form: { fromNo: '1' } })
    await done('reportDestinations.deliveries', { token, ids })
    await done('reportDestinations.remove', { token, ids })
    const key = await done('sftpKeys.create', { token, form: { publicKey: newSshKey().public } })
    await done('sftpKeys.list', { token })
    await done('sftpKeys.remove', { token, ids: { id: key.id } })
  })

  test('operations without a token', async () => {
    await done('resultCodes.list')
    await done('health.live')
    await done('health.ready')
    await done('openapi.get')
  })

  test('no operation with a JSON answer is left out', () => {
    const left = endpoints
      .filter(({ media }) => media === undefined)
      .map(({ operation }) => operation)
      .filter((operation) => !seen.has(operation) && elsewhere[operation] === undefined)
    assert.deepEqual(left, [])
  })
})
