/** Changes of a registration, their records, and the expiry of its account. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { GatewayError } from '../../../core/index.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { scheduling } from '../../rig/schedules.ts'
import { good, type RegistrationRun, refusal, startRegistrations } from './registration-run.ts'

describe('changes of registrations', { concurrency: true }, () => {
  let run: RegistrationRun
  before(async () => {
    run = await startRegistrations()
  })
  after(() => run.close())

  test('expiry, holder and owner can be changed, and an expired card cannot be stored', async () => {
    const { id } = await run.store()
    const changed = await run.gateway.registrations.update(id, {
      card: { expiryMonth: '11', expiryYear: '2036' },
      customer: { givenName: 'Jane', surname: 'Jones', email: 'jane@example.com' },
    } as never)
    assert.deepEqual(
      { ...(changed.card as object), ...(changed.customer as object) },
      {
        holder: 'Jane Jones',
        expiryMonth: '11',
        expiryYear: '2036',
        bin: '420000',
        last4Digits: '0000',
        givenName: 'Jane',
        surname: 'Jones',
        email: 'jane@example.com',
      },
    )
    assert.equal(((await run.payWith(id)).card as { expiryYear: string }).expiryYear, '2036')
    await assert.rejects(
      run.gateway.registrations.update(id, { card: { expiryYear: '2019' } } as never),
      refusal('100.100.303', 400, 'card.expiryYear'),
    )
    await assert.rejects(
      run.gateway.registrations.update(id, { card: { number: good } } as never),
      refusal('200.300.404', 400, 'card.number'),
    )
    await run.gateway.registrations.extend(id)
    const rows = await run.sql('select type from tollgate.record where resource = $1 order by id', [
      id,
    ])
    assert.deepEqual(rows, [{ type: 'RR' }, { type: 'TE' }])
    const events = await run.sql(
      "select seq, type from tollgate.event where resource = $1 and type like 'registration.%' order by seq",
      [id],
    )
    assert.deepEqual(events, [
      { seq: 1, type: 'registration.updated' },
      { seq: 2, type: 'registration.updated' },
    ])
  })

  test('the expiry of an account is reported once, in its last month, wherever the account is by then', async () => {
    const tools = scheduling(run)
    const clock = await tools.clockAt('2034-03-15 00:00:00')
    const onClock = { testClock: clock.id }
    const [told, moved, removed] = [
      await run.store(onClock),
      await run.store(onClock),
      await run.store(onClock),
    ]
    const paid = await run.pay({ ...onClock, createRegistration: 'true' })
    const declined = await run.store({ ...onClock, card: cardOf('4000000000000002') })
    await run.gateway.registrations.update(moved.id, {
      card: { expiryMonth: '07', expiryYear: '2034' },
    } as never)
    await run.gateway.registrations.remove(removed.id)
    const noticesOf = async (id: string) =>
      run.sql(
        "select seq, data from tollgate.event where resource = $1 and type = 'registration.expiring'",
        [id],
      )
    await tools.advance(clock.id, { to: '2034-04-30 23:59:59' })
    assert.deepEqual(await noticesOf(told.id), [])
    await tools.advance(clock.id, { to: '2034-05-01 00:00:00' })
    const may = [{ seq: 1, data: { expiryMonth: '05', expiryYear: '2034' } }]
    assert.deepEqual(await noticesOf(told.id), may)
    assert.deepEqual(await noticesOf(paid.registrationId as string), may)
    assert.deepEqual(await noticesOf(moved.id), [])
    await tools.advance(clock.id, { to: '2034-12-31 00:00:00' })
    const july = [{ seq: 2, data: { expiryMonth: '07', expiryYear: '2034' } }]
    assert.deepEqual(await noticesOf(moved.id), july)
    assert.deepEqual(await noticesOf(told.id), may)
    for (const { id } of [removed, declined]) assert.deepEqual(await noticesOf(id), [])
    const left = await run.sql(
      "select ref from tollgate.timer where kind = 'expiring' and ref = any($1::text[])",
      [[told.id, moved.id, removed.id, declined.id, paid.registrationId]],
    )
    assert.deepEqual(left, [])
  })

  test('the bank of a stored account cannot be changed, because another bank makes another account', async () => {
    const bankAccount = {
      holder: 'Jo Doe',
      number: '1234567890',
      bankCode: '37040044',
      country: 'DE',
    }
    const request = { entityId: run.channel, paymentBrand: 'DIRECTDEBIT_SEPA', bankAccount }
    const { id } = await run.gateway.registrations.create(request as never)
    for (const [name, value] of [
      ['bankCode', '10000000'],
      ['bankName', 'Another Bank'],
      ['bic', 'MARKDEF1100'],
      ['country', 'AT'],
    ] as const) {
      const change = { bankAccount: { [name]: value } }
      await assert.rejects(
        run.gateway.registrations.update(id, change as never),
        (error: GatewayError) => {
          assert.equal(error.code, '200.300.404')
          assert.deepEqual(
            error.parameterErrors?.map((one) => one.name),
            [`bankAccount.${name}`],
          )
          return true
        },
      )
    }
    const change = { bankAccount: { holder: 'Joanne' } }
    await run.gateway.registrations.update(id, change as never)
    const shown = (await run.gateway.registrations.get(id)).bankAccount
    const { holder: _, number: __, ...bank } = bankAccount
    assert.deepEqual(shown, { ...bank, holder: 'Joanne', last4Digits: '7890' })
  })

  test('simultaneous changes and one removal are each recorded once, and no change follows the removal', async () => {
    const { id } = await run.store()
    const other = await run.another()
    const results = await Promise.allSettled([
      ...Array.from({ length: 20 }, (_, index) =>
        (index % 2 === 0 ? run.gateway : other).registrations.update(id, {
          customer: { givenName: `Jane ${index}`, surname: 'Jones' },
        } as never),
      ),
      other.registrations.remove(id),
      run.gateway.registrations.remove(id),
    ])
    for (const result of results) {
      if (result.status === 'rejected') refusal('100.150.202', 400)(result.reason)
    }
    const fulfilled = results.filter(({ status }) => status === 'fulfilled').length
    const records = await run.sql<{ type: string }>(
      'select type from tollgate.record where resource = $1 order by id',
      [id],
    )
    assert.equal(records.length, fulfilled)
    assert.equal(records.filter(({ type }) => type === 'DR').length, 1)
    const sequence = await run.sql<{ seq: number; type: string }>(
      "select seq, type from tollgate.event where resource = $1 and type like 'registration.%' order by seq",
      [id],
    )
    assert.deepEqual(
      sequence.map(({ seq }) => seq),
      sequence.map((_, index) => index + 1),
    )
    assert.equal(sequence.at(-1)?.type, 'registration.removed')
  })
})
