import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, pending } from '@tollgate/plugin-kit'
import { type Caller, GatewayError, newId } from '../../../core/index.ts'
import {
  type AcquirerRun,
  message,
  processed,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { scheduling } from '../../rig/schedules.ts'

const good = '4200000000000000'
const done = '000.100.110'
const amount = { amount: '12.00', currency: 'EUR', paymentType: 'DB' } as const

const refusal =
  (code: string, status: number, ...names: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.code, code)
    assert.equal(error.status, status)
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    return true
  }

describe('registrations', { concurrency: true }, () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer()
  })
  after(() => closeChecked(run))

  const store = (more: object = {}) =>
    run.gateway.registrations.create({
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf(good),
      ...more,
    } as never)
  const pay = (id: string, more: object = {}) =>
    run.gateway.registrations.pay(id, { entityId: run.channel, ...amount, ...more } as never)
  const count = async (text: string, ...values: unknown[]) =>
    Number((await run.sql<{ n: bigint }>(text, values))[0]!.n)
  const sealedOf = (id: string) =>
    count('select count(*) as n from tollgate.instrument where id = $1', id)

  test('an account is stored, read masked, paid with and removed', async () => {
    const made = await store({ customer: { givenName: 'Jane', surname: 'Jones' } })
    assert.equal(made.result.code, done)
    assert.equal(made.paymentType, 'RG')
    for (const name of ['amount', 'currency', 'registrationId', 'descriptor', 'nextActions']) {
      assert.equal(made[name], undefined, name)
    }
    const read = await run.gateway.registrations.get(made.id)
    assert.equal(read.paymentBrand, 'VISA')
    assert.deepEqual(read.card, {
      holder: 'Jane Jones',
      expiryMonth: '05',
      expiryYear: '2034',
      bin: '420000',
      last4Digits: '0000',
    })
    assert.deepEqual(read.customer, { givenName: 'Jane', surname: 'Jones' })
    assert.doesNotMatch(JSON.stringify([made, read]), /4200000000000000|"123"/)

    const payment = await pay(made.id)
    assert.equal(payment.result.code, done)
    assert.equal(payment.registrationId, made.id)
    assert.equal(payment.paymentBrand, 'VISA')
    assert.deepEqual(payment.card, read.card)
    const refund = await run.gateway.payments.refund(payment.id, {
      amount: '12.00',
      currency: 'EUR',
    })
    assert.equal(refund.result.code, done)

    const removed = await run.gateway.registrations.remove(made.id)
    assert.equal(removed.id, made.id)
    assert.equal(await sealedOf(made.id), 0, 'the number of the removed registration is erased')
    await assert.rejects(run.gateway.registrations.get(made.id), refusal('100.150.202', 400))
    await assert.rejects(pay(made.id), refusal('100.150.202', 400))
    await assert.rejects(run.gateway.registrations.remove(made.id), refusal('100.150.202', 400))
    const records = await run.sql('select type from tollgate.record where resource = $1', [made.id])
    assert.deepEqual(records, [{ type: 'DR' }])
  })

  test('the stored number decides the outcome of a registration as of a payment', async () => {
    const declined = await store({ card: cardOf('4000000000000002') })
    assert.equal(declined.result.code, '800.100.152')
    assert.equal(await sealedOf(declined.id), 0, 'the number of a refused registration is erased')
    await assert.rejects(run.gateway.registrations.get(declined.id), refusal('100.150.203', 400))
    await assert.rejects(pay(declined.id), refusal('100.150.203', 400))
  })

  test('a payment stores its account if it is approved', async () => {
    const payment = await run.pay({ createRegistration: 'true' })
    const id = payment.registrationId as string
    assert.deepEqual(payment.registration, { id })
    assert.notEqual(id, payment.id)
    assert.equal((await run.gateway.registrations.get(id)).paymentBrand, 'VISA')
    assert.equal((await pay(id)).result.code, done)
    await run.gateway.registrations.remove(id)
    assert.equal(await sealedOf(payment.id), 1, 'the payment keeps the number for its refund')

    const declined = await run.pay({ ...card('4000000000000002'), createRegistration: 'true' })
    assert.equal(declined.result.code, '800.100.152')
    assert.equal(declined.registrationId, undefined)
    const [row] = await run.sql<{ registration_id: string }>(
      'select registration_id from tollgate.payment where id = $1',
      [declined.id],
    )
    await assert.rejects(pay(row!.registration_id), refusal('100.150.203', 400))
  })

  test('a pending payment answers its registration at once, usable after the approval', async () => {
    const reference = `pending-${newId()}`
    run.acquirer.tell(reference, {
      debit: (_: Operation, context: Context) => {
        context.sending()
        return pending('event', { refs: { reference } })
      },
    })
    const payment = await run.pay({
      testMode: 'EXTERNAL',
      merchantTransactionId: reference,
      createRegistration: 'true',
    })
    assert.equal(payment.result.code, '000.200.000')
    const id = payment.registrationId as string
    await assert.rejects(run.gateway.registrations.get(id), refusal('100.150.201', 400))
    await assert.rejects(pay(id), refusal('100.150.201', 400))
    const eventId = `paid-${reference}`
    const outcome = { is: 'approved', refs: { reference } }
    const about = { eventId, key: await run.keyOf(payment.id), outcome }
    await run.gateway.inbound(scriptedName, run.account, message(about))
    await processed(run, eventId)
    assert.equal((await pay(id)).result.code, done)
  })

  test('a payment on a registration takes a security code, the same brand and a holder, and no other account field', async () => {
    const { id } = await store({ card: { ...cardOf(good), holder: undefined } })
    const paid = await pay(id, {
      paymentBrand: 'VISA',
      card: { cvv: '200', holder: 'Somebody Else' },
    })
    assert.equal(paid.result.cvvResponse, 'N', 'the code went to the acquirer')
    assert.equal((paid.card as { holder?: string }).holder, undefined)
    const filled = await pay(id, { overrideHolder: 'true', card: { holder: 'Somebody Else' } })
    assert.equal((filled.card as { holder?: string }).holder, 'Somebody Else')
    const held = await store()
    const kept = await pay(held.id, { overrideHolder: 'true', card: { holder: 'Somebody Else' } })
    assert.equal((kept.card as { holder?: string }).holder, 'Jane Jones')
    await assert.rejects(
      pay(id, { paymentBrand: 'MASTER' }),
      refusal('700.100.400', 400, 'paymentBrand'),
    )
    await assert.rejects(
      pay(id, { card: { number: good } }),
      refusal('200.300.404', 400, 'card.number'),
    )
    await assert.rejects(
      pay(id, { customParameters: { note: `paid with ${good}` } }),
      refusal('200.300.404', 400, 'customParameters[note]'),
    )
  })

  test('expiry, holder and owner can be changed, and an expired card cannot be stored', async () => {
    const { id } = await store()
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
    assert.equal(((await pay(id)).card as { expiryYear: string }).expiryYear, '2036')
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
      await store(onClock),
      await store(onClock),
      await store(onClock),
    ]
    const paid = await run.pay({ ...onClock, createRegistration: 'true' })
    const declined = await store({ ...onClock, card: cardOf('4000000000000002') })
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

  test('bank, virtual and token accounts are stored like cards', async () => {
    const bank = await store({
      paymentBrand: 'DIRECTDEBIT_SEPA',
      card: undefined,
      bankAccount: {
        holder: 'Jane Jones',
        iban: 'DE89370400440532013000',
        bic: 'COBADEFFXXX',
        country: 'DE',
      },
    })
    const shown = (await run.gateway.registrations.get(bank.id)).bankAccount
    assert.deepEqual(shown, {
      holder: 'Jane Jones',
      bic: 'COBADEFFXXX',
      country: 'DE',
      last4Digits: '3000',
    })
    assert.equal((await pay(bank.id)).result.code, done)
    const token = await store({
      card: undefined,
      tokenAccount: { number: good, type: 'NETWORK', expiryMonth: '05', expiryYear: '2034' },
    })
    assert.equal((await pay(token.id)).result.code, done)
    const virtual = await store({
      paymentBrand: 'PAYPAL',
      card: undefined,
      virtualAccount: { accountId: 'jane@example.com' },
    })
    assert.equal(await sealedOf(virtual.id), 0, 'there is no number to seal')
    assert.match(virtual.result.code, /^000\.200/, 'the shopper confirms it at the wallet')
    await assert.rejects(run.gateway.registrations.get(virtual.id), refusal('100.150.201', 400))
    await assert.rejects(
      store({ paymentBrand: 'DIRECTDEBIT_SEPA', card: undefined }),
      (error) => error instanceof GatewayError && error.code.startsWith('100.150'),
    )
  })

  test('a merchant-initiated payment refers to the first one of its agreement by itself', async () => {
    const first = await run.pay({
      paymentType: 'PA',
      createRegistration: 'true',
      standingInstruction: {
        mode: 'INITIAL',
        source: 'CIT',
        type: 'RECURRING',
        agreementId: 'A-1',
      },
    })
    const reference = (first.standingInstruction as Record<string, string>).initialTransactionId
    assert.match(reference ?? '', /\S/)
    const repeated = { mode: 'REPEATED', source: 'MIT', type: 'RECURRING' }
    const id = first.registrationId as string
    const later = await pay(id, { standingInstruction: repeated })
    assert.deepEqual(later.standingInstruction, {
      ...repeated,
      initialTransactionId: reference,
      agreementId: 'A-1',
    })
    const own = await pay(id, {
      standingInstruction: { ...repeated, initialTransactionId: 'of-the-merchant' },
    })
    assert.equal(
      (own.standingInstruction as Record<string, string>).initialTransactionId,
      'of-the-merchant',
    )
    const other = await pay(id, { standingInstruction: { ...repeated, agreementId: 'A-2' } })
    assert.deepEqual(other.standingInstruction, { ...repeated, agreementId: 'A-2' })
    const moved = await store({
      recurringMigration: { paymentType: 'DB', connectorTxId1: 'from-elsewhere' },
    })
    const next = await pay(moved.id, { standingInstruction: repeated })
    assert.equal(
      (next.standingInstruction as Record<string, string>).initialTransactionId,
      'from-elsewhere',
    )
  })

  test('malformed, unknown and foreign ids get the same answer', async () => {
    const { id } = await store()
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Other',
      parentId: merchant,
    })
    const stranger: Caller = { id: 'stranger', entityId: channel }
    const { registrations } = run.gateway
    await assert.rejects(registrations.get('short'), refusal('100.150.101', 400))
    for (const unknown of [newId(), 'Z'.repeat(32), id]) {
      const asStranger = { caller: stranger }
      await assert.rejects(registrations.get(unknown, asStranger), refusal('100.150.200', 404))
      await assert.rejects(registrations.remove(unknown, asStranger), refusal('100.150.200', 404))
      await assert.rejects(
        registrations.update(unknown, {} as never, asStranger),
        refusal('100.150.200', 404),
      )
      await assert.rejects(
        registrations.pay(unknown, amount as never, asStranger),
        refusal('100.150.200', 404),
      )
    }
    // Even a caller above both merchants cannot charge one merchant's customer for the other.
    await assert.rejects(pay(id, { entityId: channel }), refusal('100.150.200', 400, 'entityId'))
    const sibling = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Second shop',
      parentId: run.merchant,
    })
    assert.equal((await pay(id, { entityId: sibling })).result.code, done)
  })

  test('a fingerprint identifies the same account again', async () => {
    const number = '4711100000000000'
    const [one, two] = [
      await store({ card: cardOf(number) }),
      await store({ card: cardOf(number) }),
    ]
    await store()
    const found = await run.gateway.registrations.sameAccount(one.id)
    assert.deepEqual(found, [one.id, two.id])
    // Other tests use the merchant's first channel and its settings.
    const entityId = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Shows fingerprints',
      parentId: run.merchant,
      settings: { showFingerprint: true },
    })
    const [three, four] = [
      await store({ entityId, card: cardOf(number) }),
      await store({ entityId }),
    ]
    const shown = async (id: string) => (await run.gateway.registrations.get(id)).fingerprint
    assert.match(String(await shown(three.id)), /^[0-9a-f]{32}$/)
    assert.notEqual(await shown(three.id), await shown(four.id))
    assert.equal(await shown(one.id), undefined, 'a channel without the setting shows none')
    assert.deepEqual(await run.gateway.registrations.sameAccount(three.id), [
      one.id,
      two.id,
      three.id,
    ])
  })

  test('the fingerprints of two merchants have nothing in common, even for a guessed number', async () => {
    const number = '4711100000000000'
    const prints = new Set<string>()
    for (const name of ['Victim', 'Attacker']) {
      const parentId = await run.gateway.entities.create({
        kind: 'merchant',
        name,
        parentId: run.division,
        settings: { showFingerprint: true },
      })
      const entityId = await run.gateway.entities.create({ kind: 'channel', name, parentId })
      const { id } = await store({ entityId, card: cardOf(number) })
      prints.add((await run.gateway.registrations.get(id)).fingerprint as string)
      assert.deepEqual(await run.gateway.registrations.sameAccount(id), [id])
    }
    assert.equal(prints.size, 2)
    const stored = await run.sql<{ n: bigint }>(
      `select count(distinct instrument.fingerprint) as n
       from tollgate.instrument
       join tollgate.registration on registration.instrument_id = instrument.id
       where left(encode(registration.fingerprint, 'hex'), 32) = any($1)`,
      [[...prints]],
    )
    assert.equal(stored[0]?.n, 2n)
  })

  test('one key sent a hundred times at once over two processes makes one registration', async () => {
    const other = await run.another()
    const request = { entityId: run.channel, paymentBrand: 'VISA', card: cardOf(good) } as never
    const made = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        (index % 2 === 0 ? run.gateway : other).registrations
          .create(request, { idempotencyKey: 'one-registration' })
          .catch((error: unknown) => {
            assert.ok(error instanceof GatewayError && error.code === '200.300.405', String(error))
            return undefined
          }),
      ),
    )
    const ids = new Set(made.flatMap((one) => (one === undefined ? [] : [one.id])))
    assert.equal(ids.size, 1)
    const [id] = ids
    assert.equal(
      await count('select count(*) as n from tollgate.registration where id = $1', id),
      1,
    )
  })

  test('simultaneous changes and one removal are each recorded once, and no change follows the removal', async () => {
    const { id } = await store()
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
