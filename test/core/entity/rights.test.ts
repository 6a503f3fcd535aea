/** Rights hold for every caller and every way to call, and by the type that is carried out. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { type Caller, type GatewayError, newId, rightSet } from '../../../core/index.ts'
import { RequestParser } from '../../../core/request/parse.ts'
import { groups, operationOf, tokenRights } from '../../../schemas/index.ts'
import { card, flat, startGateway, type TestGateway } from '../../rig/gateway.ts'

describe('rights of callers', () => {
  let run: TestGateway
  let registrationId: string
  before(async () => {
    run = await startGateway({ role: 'api', plugins: [fileTransfer] })
    const { amount: _, currency: __, paymentType: ___, ...account } = card('4200000000000000')
    const request = { ...account, entityId: run.channel }
    registrationId = (await run.gateway.registrations.create(request as never)).id
  })
  after(() => run.close())

  const caller = (...rights: string[]): Caller => ({
    id: 'shop',
    entityId: run.channel,
    rights: rightSet(rights),
  })
  const counted = async () =>
    (await run.sql<{ n: bigint }>('select count(*)::int8 as n from tollgate.payment'))[0]!.n
  const ask = async (
    operation: string,
    who: Caller | null,
    body: string,
    more: { id?: string; json?: true; query?: string; key?: string } = {},
  ) => {
    const reply = await run.gateway.call(operation, who, {
      path: { id: more.id ?? '' },
      body: Buffer.from(body),
      contentType: more.json ? 'application/json' : 'application/x-www-form-urlencoded',
      query: more.query ?? '',
      idempotencyKey: more.key,
      requestId: newId(),
    })
    return { status: reply.status, body: reply.body as Record<string, never> }
  }
  const form = (more: Record<string, string> = {}) =>
    new URLSearchParams({ ...flat(card('4200000000000000')), entityId: run.channel, ...more })

  test('a caller who sets up notifications also needs the right to read: configure alone is refused', async () => {
    const url = 'https://hooks.example/in'
    const { id } = await run.gateway.webhooks.create({ entityId: run.channel, url } as never)
    const both = caller('configure', 'read')
    const tries: [operation: string, body: string][] = [
      ['webhooks.create', `url=${url}/mine`],
      ['webhooks.update', `url=${url}/mine`],
      ['webhooks.rotate', ''],
      ['webhooks.rotate', 'key=ENCRYPTION'],
      ['webhooks.replay', 'from=2020-01-01%2000%3A00%3A00'],
    ]
    for (const [operation, body] of tries) {
      const refused = await ask(operation, caller('configure'), body, { id })
      assert.equal(refused.status, 403, operation)
      assert.match(JSON.stringify(refused.body), /needs the right read/)
      assert.equal((await ask(operation, caller('read'), body, { id })).status, 403, operation)
      const done = await ask(operation, both, body, { id })
      assert.equal(done.status, 200, `${operation} ${JSON.stringify(done.body)}`)
    }
    const off = await ask('webhooks.update', caller('configure'), 'active=false', { id })
    assert.equal(off.status, 200, 'a harmless change needs configure alone')
  })

  test('a caller who names where report files go, or as whom, also needs the right to read', async () => {
    const caller = (...rights: string[]): Caller => ({
      id: 'shop',
      entityId: run.merchant,
      rights: rightSet(rights),
    })
    const to = { entityId: run.merchant, folderUrl: 'sftp://files.example/in', raw: 'false' }
    const login = { user: 'shop', password: 'of the shop' }
    const hostKey = `SHA256:${'A'.repeat(43)}`
    const { reportDestinations } = run.gateway
    const { id } = await reportDestinations.create({ ...to, login, hostKey } as never)
    const update = (rights: string[], body: string) =>
      ask('reportDestinations.update', caller(...rights), body, { id })
    for (const body of [
      'folderUrl=sftp://files.example/other',
      'login.user=thief',
      'login.password=of+the+thief',
      'login.user=thief&login.password=of+the+thief',
      'login.privateKey=x',
      `hostKey=SHA256:${'B'.repeat(43)}`,
      'certificate=x',
      'raw=true&login.user=thief',
    ]) {
      const refused = await update(['configure'], body)
      assert.equal(refused.status, 403, body)
      assert.match(JSON.stringify(refused.body), /needs the right read/)
      assert.notEqual((await update(['configure', 'read'], body)).status, 403, body)
    }
    const off = await update(['configure'], 'raw=true&active=false')
    assert.equal(off.status, 200, 'a harmless change needs configure alone')
  })

  test('a caller without a list of rights has those of tokens; a malformed list gives none', async () => {
    const plain: Caller = { id: 'shop', entityId: run.channel }
    assert.equal((await ask('payments.create', plain, form().toString())).status, 200)
    assert.equal(
      (await ask('payments.create', caller(...tokenRights), form().toString())).status,
      200,
    )
    for (const wrong of [[], ['charge'], null, Number.NaN, '31', 0]) {
      const who = { ...plain, rights: wrong as never }
      const { status } = await ask('payments.create', who, form().toString())
      assert.equal(status, 403, JSON.stringify(wrong))
    }
    assert.equal((await ask('payments.create', null, form().toString())).status, 403)
  })

  test('the payment type that is carried out decides the right, wherever else a type is sent', async () => {
    const seller = caller('charge')
    const before = await counted()
    const twice = `${form()}&paymentType=CD`
    const first = `paymentType=CD&${form()}`
    const nested = (paymentType: unknown) =>
      JSON.stringify({ ...card('4200000000000000'), entityId: run.channel, paymentType })
    const tries: readonly (readonly [string, Parameters<typeof ask>[3]?])[] = [
      [form({ paymentType: 'CD' }).toString()],
      [form({ paymentType: 'CD' }).toString(), { query: 'paymentType=DB' }],
      [twice],
      [first],
      [form({ paymentType: 'cd' }).toString()],
      [form({ paymentType: ' CD' }).toString()],
      [form({ paymentType: 'CD\u0000' }).toString()],
      [form({ paymentType: 'RF' }).toString()],
      [form({ paymentType: 'toString' }).toString()],
      [form({ paymentType: '__proto__' }).toString()],
      [form({ 'overridePaymentType[VISA]': 'CD' }).toString()],
      [form({ 'paymentType[]': 'CD' }).toString()],
      [form({ 'paymentType.x': 'CD' }).toString()],
      [`${form().toString().replace('paymentType=DB', 'payment%54ype=CD')}`],
      [nested('CD'), { json: true }],
      [nested(['CD']), { json: true }],
      [nested({ 0: 'CD' }), { json: true }],
      [nested('DB').replace('"DB"', '"DB","paymentType":"CD"'), { json: true }],
      [nested('DB').replace('{', '{"paymentType":"CD",'), { json: true }],
    ]
    for (const [body, more] of tries) {
      const { status } = await ask('payments.create', seller, body, more)
      assert.ok(status === 403 || status === 400, `${status} ${body}`)
    }
    assert.equal(await counted(), before)
    // A type in the wrong place is refused, whatever the rights.
    const { status, body } = await ask('payments.create', seller, form().toString(), {
      query: 'paymentType=CD',
    })
    assert.equal(status, 400)
    assert.match(JSON.stringify(body), /"name":"paymentType"/)
    assert.equal(await counted(), before)
  })

  test('an idempotency key grants no right', async () => {
    const body = form({ paymentType: 'CD' }).toString()
    const all = await ask('payments.create', caller('payout'), body, { key: 'payout-1' })
    assert.equal(all.status, 200)
    const other = await ask('payments.create', caller('charge', 'read'), body, { key: 'payout-1' })
    assert.equal(other.status, 403)
    assert.equal(other.body.id === all.body.id, false)
  })

  test('only a caller who may pay out creates, moves and cancels a schedule of pay-outs', async () => {
    const schedule = (paymentType: string) => ({
      entityId: run.channel,
      amount: '1.00',
      currency: 'EUR',
      paymentType,
      registrationId,
      job: { hour: '6' },
    })
    const { schedules } = run.gateway
    const [seller, payer] = [caller('charge'), caller('payout')].map((one) => ({ caller: one }))
    const lacks = { code: '800.900.301', status: 403 }
    await assert.rejects(schedules.create(schedule('CD') as never, seller), lacks)
    await assert.rejects(schedules.create(schedule('DB') as never, payer), lacks)
    const { id } = await schedules.create(schedule('CD') as never, payer)
    const debit = await schedules.create(schedule('DB') as never, seller)
    const times = { job: { hour: '7' } }
    await assert.rejects(schedules.reschedule(id, times as never, seller), lacks)
    await assert.rejects(schedules.cancel(id, seller), lacks)
    await assert.rejects(schedules.reschedule(debit.id, times as never, payer), lacks)
    const turned = { ...times, paymentType: 'CD' }
    await assert.rejects(schedules.reschedule(debit.id, turned as never, seller), { status: 400 })
    await schedules.reschedule(id, times as never, payer)
    await schedules.cancel(id, payer)
  })

  test('a checkout is changed with the rights to what it is, and to what it becomes', async () => {
    const { checkouts } = run.gateway
    const make = async (more: object) =>
      (await checkouts.create({ entityId: run.channel, ...more } as never)).id
    const whole = { amount: '5.00', currency: 'EUR' }
    const [seller, payer, both] = [caller('charge'), caller('payout'), caller('charge', 'payout')]
    const override = { ...whole, paymentType: 'DB', overridePaymentType: { VISA: 'CD' } }
    const tries = [
      { made: { ...whole, paymentType: 'CD' }, by: seller, change: 'paymentType=DB&amount=900.00' },
      { made: { ...whole, paymentType: 'DB' }, by: payer, change: 'paymentType=CD' },
      {
        made: { createRegistration: 'true' },
        by: payer,
        change: 'paymentType=CD&amount=1.00&currency=EUR',
      },
      { made: override, by: seller, change: 'overridePaymentType[VISA]=DB' },
    ]
    for (const { made, by, change } of tries) {
      const id = await make(made)
      const refused = await ask('checkouts.update', by, change, { id })
      assert.equal(refused.status, 403, `${JSON.stringify(made)}, then ${change}`)
      assert.match(JSON.stringify(refused.body), /needs the right (charge|payout)/)
      const done = await ask('checkouts.update', both, change, { id })
      assert.equal(done.status, 200, JSON.stringify(done.body))
    }
  })

  test('an override for one brand needs the right of its payment type', () => {
    const taking = {
      operation: 'x',
      method: 'POST',
      path: '/x',
      title: 'x',
      accepts: ['basic'],
      answers: [],
      login: 'token',
      right: 'by payment type',
      throttle: 'write',
    } as const
    const parser = new RequestParser(() => operationOf(taking, groups))
    const types = (query: string) => parser.open('x', { query }).paymentTypes()
    assert.deepEqual(types('paymentType=DB&overridePaymentType[VISA]=CD'), ['DB', 'CD'])
    assert.deepEqual(types('overridePaymentType[VISA]=CD&overridePaymentType[AMEX]=PA'), [
      'CD',
      'PA',
    ])
    assert.deepEqual(types('amount=1.00'), [])
  })

  test("an embedding program's caller is held to its rights by every method", async () => {
    const { gateway } = run
    const who = { caller: caller() }
    const id = newId()
    const nothing = {} as never
    const first = (pages: AsyncGenerator<unknown>) => pages.next()
    const tried: Record<string, Record<string, () => Promise<unknown>>> = {
      payments: {
        create: () => gateway.payments.create(nothing, who),
        accept: () => gateway.payments.accept(nothing, { ...who, client: nothing }),
        acceptFollowUp: () =>
          gateway.payments.acceptFollowUp(id, nothing, { ...who, client: nothing }),
        get: () => gateway.payments.get(id, who),
        steps: () => gateway.payments.steps(id, who),
        followUp: () => gateway.payments.followUp(id, nothing, who),
        capture: () => gateway.payments.capture(id, nothing, who),
        refund: () => gateway.payments.refund(id, nothing, who),
        reverse: () => gateway.payments.reverse(id, nothing, who),
        rebill: () => gateway.payments.rebill(id, nothing, who),
      },
      registrations: {
        create: () => gateway.registrations.create(nothing, who),
        get: () => gateway.registrations.get(id, who),
        steps: () => gateway.registrations.steps(id, who),
        pay: () => gateway.registrations.pay(id, nothing, who),
        accept: () => gateway.registrations.accept(id, nothing, { ...who, client: nothing }),
        update: () => gateway.registrations.update(id, nothing, who),
        extend: () => gateway.registrations.extend(id, who),
        remove: () => gateway.registrations.remove(id, who),
        sameAccount: () => gateway.registrations.sameAccount(id, who),
      },
      schedules: {
        create: () => gateway.schedules.create(nothing, who),
        get: () => gateway.schedules.get(id, who),
        steps: () => gateway.schedules.steps(id, who),
        list: () => gateway.schedules.list(nothing, who),
        executions: () => gateway.schedules.executions(id, nothing, who),
        preview: () => gateway.schedules.preview(nothing, who),
        reschedule: () => gateway.schedules.reschedule(id, nothing, who),
        cancel: () => gateway.schedules.cancel(id, who),
      },
      query: {
        get: () => gateway.query.get(id, who),
        linked: () => gateway.query.linked(id, who),
        search: () => gateway.query.search(nothing, who),
        all: () => first(gateway.query.all(nothing, who)),
      },
      events: {
        list: () => gateway.events.list(nothing, who),
        get: () => gateway.events.get(id, who),
      },
      testClocks: {
        create: () => gateway.testClocks.create(nothing, who),
        get: () => gateway.testClocks.get(id, who),
        advance: () => gateway.testClocks.advance(id, nothing, who),
      },
      webhooks: {
        create: () => gateway.webhooks.create(nothing, who),
        list: () => gateway.webhooks.list(nothing, who),
        get: () => gateway.webhooks.get(id, who),
        update: () => gateway.webhooks.update(id, nothing, who),
        remove: () => gateway.webhooks.remove(id, who),
        rotate: () => gateway.webhooks.rotate(id, who),
        test: () => gateway.webhooks.test(id, who),
        replay: () => gateway.webhooks.replay(id, nothing, who),
        deliveries: () => gateway.webhooks.deliveries(id, nothing, who),
      },
    }
    for (const [noun, methods] of Object.entries(tried)) {
      const there = gateway[noun as 'payments']
      const names = [
        ...Object.keys(there),
        ...Object.getOwnPropertyNames(Object.getPrototypeOf(there)),
      ].filter((name) => !(name in Object.prototype) && isMethod(there, name))
      assert.deepEqual(Object.keys(methods).sort(), names.sort(), `${noun}: a method is not tested`)
      for (const [name, call] of Object.entries(methods)) {
        await assert.rejects(call(), (error: GatewayError) => {
          assert.deepEqual([error.status, error.code], [403, '800.900.301'], `${noun}.${name}`)
          return true
        })
      }
    }
  })
})

/** Getters of the engine are not methods. */
function isMethod(of: object, name: string): boolean {
  const own = Object.getOwnPropertyDescriptor(of, name)
  const inherited = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(of), name)
  return typeof (own ?? inherited)?.value === 'function'
}
