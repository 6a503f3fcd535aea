/** Transaction searches over HTTP, as deployed clients send them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { queryPaymentMethods, queryPaymentTypes } from '../../../schemas/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { type Answer, ask, debit, type Hosted, startHost } from './hosted.ts'

type Listed = { readonly id: string; readonly paymentType: string; [field: string]: unknown }

const today = {
  'date.from': `${new Date(Date.now() - 86_400_000).toISOString().slice(0, 10)} 00:00:00`,
  'date.to': `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)} 23:59:59`,
}

describe('the query', () => {
  let run: Hosted
  const find = (path: string, fields: Readonly<Record<string, string>> = {}, token = run.token) =>
    ask(run.url, `${path}?${new URLSearchParams(fields)}`, { token })
  const recordsOf = ({ body }: Answer) => (body.records ?? body.payments) as Listed[]
  /** Alphabetical, because records of one millisecond are in the order of their ids. */
  const typesOf = (answer: Answer) => {
    const times = recordsOf(answer).map(({ timestamp }) => String(timestamp))
    assert.deepEqual(times, times.toSorted().reverse())
    return recordsOf(answer)
      .map(({ paymentType }) => paymentType)
      .sort()
  }
  const byId = (ids: readonly string[]) => ids.toSorted().reverse()
  const pay = async (fields: Readonly<Record<string, string>> = {}, id?: string) => {
    const path = id === undefined ? '/v1/payments' : `/v1/payments/${id}`
    const form = { entityId: run.channel, ...(id === undefined ? debit : {}), ...fields }
    const answer = await ask(run.url, path, { token: run.token, form })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }

  before(async () => {
    run = await startHost()
  })
  after(() => closeChecked(run))

  test('a payment is found by its id, flat and as a read returns it, in both versions', async () => {
    const { id } = await pay({ merchantTransactionId: 'query-0001' })
    const read = await ask(run.url, `/v1/payments/${id}`, { token: run.token })
    for (const path of [`/v1/query/${id}`, `/v3/query/${id}`]) {
      const found = await find(path, { entityId: run.channel })
      assert.equal(found.status, 200)
      assert.deepEqual({ ...found.body, ndc: '' }, { ...read.body, ndc: '' })
    }
  })

  test('a declined payment is returned with 200, because the read succeeded', async () => {
    const form = { entityId: run.channel, ...debit, 'card.number': '4000000000000002' }
    const declined = await ask(run.url, '/v1/payments', { token: run.token, form })
    assert.equal(declined.status, 400)
    const found = await find(`/v1/query/${declined.body.id}`)
    assert.equal(found.status, 200)
    assert.equal(found.body.result.code, declined.body.result.code)
  })

  test('a search by reference lists payments in version 1, records and pages in version 3', async () => {
    const reference = { merchantTransactionId: 'query-0002' }
    const older = await pay(reference)
    const newer = await pay(reference)
    const first = await find('/v1/query', { entityId: run.channel, ...reference })
    assert.equal(first.status, 200)
    assert.equal(first.body.result.code, '000.000.100')
    assert.match(first.body.result.description, /successful request/)
    assert.deepEqual(
      (first.body.payments as Listed[]).map(({ id }) => id),
      byId([newer.id, older.id]),
    )
    assert.equal(first.body.records, undefined)
    assert.equal(first.body.pages, undefined)
    const third = await find('/v3/query', { entityId: run.channel, ...reference })
    assert.deepEqual(
      (third.body.records as Listed[]).map(({ id }) => id),
      byId([newer.id, older.id]),
    )
    assert.equal(third.body.payments, undefined)
    assert.equal(third.body.pages, 1)
    assert.equal(third.body.nextCursor, undefined)
    for (const field of ['buildNumber', 'timestamp', 'ndc'] as const) {
      assert.equal(typeof third.body[field], 'string')
    }
  })

  test('a short id finds its payment, and an unknown or malformed one nothing', async () => {
    const { id, shortId } = await pay()
    const found = await find('/v3/query', { shortId: String(shortId) })
    assert.deepEqual(
      recordsOf(found).map((one) => one.id),
      [id],
    )
    for (const other of ['0000.0000.0001', 'no short id']) {
      const { status, body } = await find('/v3/query', { shortId: other })
      assert.deepEqual([status, body.result.code], [404, '700.400.580'])
    }
  })

  test('a search takes every documented code, and unused ones find nothing', async () => {
    const { id } = await pay()
    const all = await find('/v3/query', {
      ...today,
      paymentTypes: queryPaymentTypes.join(),
      paymentMethods: queryPaymentMethods.join(),
    })
    assert.ok(recordsOf(all).some((one) => one.id === id))
    const none = await find('/v3/query', { ...today, paymentTypes: 'IV,GK' })
    assert.equal(none.status, 404)
    const wrong = await find('/v3/query', { ...today, paymentTypes: 'DB,QQ' })
    assert.deepEqual(namesIn(wrong), ['paymentTypes'])
  })

  const refusals: readonly [why: string, fields: Record<string, string>, names: string[]][] = [
    ['no criterion', {}, ['merchantTransactionId', 'date.from', 'date.to', 'shortId']],
    ['the first half of a time frame', { 'date.from': '2026-01-01 00:00:00' }, ['date.to']],
    ['the second half', { 'date.to': '2026-01-01 00:00:00' }, ['date.from']],
    [
      'a reference with a time frame',
      { merchantTransactionId: 'query-0002', ...today },
      ['merchantTransactionId', 'date.from', 'date.to'],
    ],
    ['a limit below 100', { ...today, limit: '99' }, ['limit']],
    ['a limit above 500', { ...today, limit: '501' }, ['limit']],
    ['page 0', { ...today, pageNo: '0' }, ['pageNo']],
    ['page 101', { ...today, pageNo: '101' }, ['pageNo']],
    ['a cursor with a page', { ...today, pageNo: '2', cursor: 'x' }, ['cursor', 'pageNo']],
    ['a cursor of nobody', { ...today, cursor: 'x' }, ['cursor']],
    [
      'a frame that ends before it begins',
      { 'date.from': '2026-01-02 00:00:00', 'date.to': '2026-01-01 00:00:00' },
      ['date.from'],
    ],
    [
      'a day that is none',
      { 'date.from': '2026-02-30 00:00:00', 'date.to': '2026-03-01 00:00:00' },
      ['date.from'],
    ],
  ]
  const namesIn = ({ body }: Answer) => body.result.parameterErrors?.map(({ name }) => name)

  for (const [why, fields, names] of refusals) {
    test(`a search with ${why} is refused by name`, async () => {
      const answer = await find('/v3/query', { entityId: run.channel, ...fields })
      assert.equal(answer.status, 400)
      assert.equal(answer.body.result.code, '200.300.404')
      const told = namesIn(answer) ?? []
      assert.ok(told.length > 0)
      for (const name of told)
        assert.ok(names.includes(name), `${name}: ${JSON.stringify(answer.body)}`)
    })
  }

  test('a search finds a whole second, both ends included, in UTC', async () => {
    const { id, timestamp } = await pay()
    const second = timestamp.slice(0, 19)
    const found = await find('/v3/query', { 'date.from': second, 'date.to': second })
    assert.ok(recordsOf(found).some((one) => one.id === id))
    const before = new Date(Date.parse(`${second.replace(' ', 'T')}Z`) - 1000).toISOString()
    const earlier = before.slice(0, 19).replace('T', ' ')
    const other = await find('/v3/query', { 'date.from': earlier, 'date.to': earlier })
    assert.ok(!(recordsOf(other) ?? []).some((one) => one.id === id))
  })

  test('any member of a chain lists the whole chain, newest first', async () => {
    const authorised = await pay({ paymentType: 'PA' })
    const money = { amount: '10.00', currency: 'EUR' }
    const captured = await pay({ paymentType: 'CP', ...money }, authorised.id)
    const refunded = await pay({ paymentType: 'RF', ...money }, captured.id)
    await pay()
    const chain = byId([refunded.id, captured.id, authorised.id])
    for (const id of chain) {
      const found = await find(`/v3/query/${id}`, { includeLinkedTransactions: 'true' })
      assert.deepEqual(
        recordsOf(found).map((one) => one.id),
        chain,
      )
      assert.deepEqual(typesOf(found), ['CP', 'PA', 'RF'])
    }
    const listed = await find(`/v1/query/${captured.id}`, { includeLinkedTransactions: 'true' })
    assert.equal((listed.body.payments as Listed[]).length, 3)
    const refersTo = new Map(recordsOf(listed).map(({ id, referencedId }) => [id, referencedId]))
    assert.equal(refersTo.get(refunded.id), captured.id)
    assert.equal(refersTo.get(captured.id), authorised.id)
    assert.equal(refersTo.get(authorised.id), undefined)
    const alone = await find(`/v3/query/${captured.id}`, { includeLinkedTransactions: 'false' })
    assert.equal(alone.body.id, captured.id)
  })

  test('linked transactions are added to a search, each once', async () => {
    const reference = { merchantTransactionId: 'query-0003' }
    const authorised = await pay({ paymentType: 'PA', ...reference })
    const money = { amount: '10.00', currency: 'EUR', paymentType: 'CP' }
    await pay({ ...money, ...reference }, authorised.id)
    await pay(money, authorised.id)
    const plain = await find('/v3/query', reference)
    assert.deepEqual(typesOf(plain), ['CP', 'PA'])
    const linked = await find('/v3/query', { ...reference, includeLinkedTransactions: 'true' })
    assert.deepEqual(typesOf(linked), ['CP', 'CP', 'PA'])
  })

  test('chargebacks are listed, and each payment has its next actions', async () => {
    const paid = await pay()
    await pay({ paymentType: 'CB', amount: '92.00', currency: 'EUR' }, paid.id)
    const found = await find(`/v3/query/${paid.id}`, { includeLinkedTransactions: 'true' })
    assert.deepEqual(typesOf(found), ['CB', 'DB'])
    const next = recordsOf(found).map(({ paymentType, nextActions }) => [paymentType, nextActions])
    assert.deepEqual(Object.fromEntries(next), { CB: ['CR'], DB: undefined })
    const byType = await find('/v3/query', { ...today, paymentTypes: 'CB' })
    assert.deepEqual(typesOf(byType), ['CB'])
  })

  test('changes of registrations and schedules are listed as records of their own', async () => {
    const { gateway, channel } = run
    const owned = { entityId: channel, merchantTransactionId: 'query-0004' }
    const card = cardOf('4200000000000000')
    const registered = await gateway.registrations.create({
      ...owned,
      paymentBrand: 'VISA',
      card,
    } as never)
    await gateway.registrations.update(registered.id, {
      card: { expiryMonth: '06', expiryYear: '2035' },
    } as never)
    await gateway.registrations.extend(registered.id)
    const schedule = await gateway.schedules.create({
      ...owned,
      amount: '12.00',
      currency: 'EUR',
      paymentType: 'DB',
      registrationId: registered.id,
      job: { hour: '6' },
    } as never)
    await gateway.schedules.reschedule(schedule.id, { job: { hour: '7' } } as never)
    await gateway.schedules.cancel(schedule.id)
    await gateway.registrations.remove(registered.id)
    const linked = await find(`/v3/query/${registered.id}`, { includeLinkedTransactions: 'true' })
    assert.deepEqual(typesOf(linked), ['DR', 'DS', 'RG', 'RR', 'RS', 'SD', 'TE'])
    for (const record of recordsOf(linked)) {
      const { id, paymentType } = record
      assert.match(String(record.shortId), /^\d{4}\.\d{4}\.\d{4}$/)
      assert.match(String(record.timestamp), /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\+0000$/)
      assert.equal((record.result as { code: string }).code, '000.100.110')
      const refersTo = { RG: undefined, RS: schedule.id, DS: schedule.id }
      const expected = paymentType in refersTo ? refersTo[paymentType as 'RG'] : registered.id
      assert.equal(record.referencedId, expected, paymentType)
      const found = await find(`/v3/query/${id}`)
      assert.equal(found.body.paymentType, paymentType)
      // A schedule and its record share one id and one short id, as do a registration and its own.
      const byShortId = await find('/v3/query', { shortId: String(record.shortId) })
      assert.ok(
        recordsOf(byShortId).some((one) => one.id === id),
        paymentType,
      )
    }
    const made = recordsOf(linked).find(({ paymentType }) => paymentType === 'SD')
    assert.deepEqual([made?.id, made?.amount], [schedule.id, '12.00'])
    const ends = await find('/v3/query', { ...today, paymentTypes: 'DS,DR', paymentMethods: 'CC' })
    assert.deepEqual(typesOf(ends), ['DR', 'DS'])
    const named = await find('/v3/query', { merchantTransactionId: 'query-0004' })
    assert.deepEqual(typesOf(named), ['RG', 'SD'])
  })

  test('pages are read by number and by cursor, and a page behind the last is empty', async () => {
    const { entities } = run.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Many',
      parentId: run.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Many', parentId: merchant })
    const { token } = await entities.createToken(merchant, 'many')
    const ids: string[] = []
    for (let no = 0; no < 205; no += 1) ids.push((await run.pay({ entityId: channel })).id)
    const list = (more: Record<string, string>) => find('/v3/query', { ...today, ...more }, token)
    const idsOf = (answer: Answer) => recordsOf(answer).map(({ id }) => id)
    const newestFirst = byId(ids)
    const first = await list({})
    assert.equal(first.body.pages, 3)
    assert.deepEqual(idsOf(first), newestFirst.slice(0, 100))
    const second = await list({ pageNo: '2' })
    const next = await list({ cursor: String(first.body.nextCursor) })
    assert.deepEqual(idsOf(second), newestFirst.slice(100, 200))
    assert.deepEqual(idsOf(next), idsOf(second))
    const last = await list({ pageNo: '3' })
    assert.deepEqual(idsOf(last), newestFirst.slice(200))
    assert.deepEqual([last.body.pages, last.body.nextCursor], [3, undefined])
    assert.equal((await list({ limit: '500' })).body.pages, 1)
    const behind = await list({ pageNo: '4' })
    assert.deepEqual([behind.status, behind.body.result.code], [404, '700.400.580'])
    // The node above sees the payments; another merchant sees none and may not name this one.
    await pay()
    const { token: psp } = await entities.createToken(run.psp, 'psp')
    assert.equal((await find('/v3/query', { ...today, entityId: merchant }, psp)).body.pages, 3)
    assert.ok(!idsOf(await find('/v3/query', { ...today, limit: '500' })).includes(ids[0]!))
    const foreign = await find('/v3/query', { ...today, entityId: channel })
    assert.deepEqual([foreign.status, foreign.body.result.code], [403, '800.900.300'])
  })
})
