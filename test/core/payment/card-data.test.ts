/** The account number of a request in another of its fields: refused, and written nowhere. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError } from '../../../core/index.ts'
import { passesLuhn } from '../../../core/redaction/card-number.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, startGateway, type TestGateway } from '../../rig/gateway.ts'
import { leavesOf } from '../../rig/leaves.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { charge, goodCard, monthly, scheduling } from '../../rig/schedules.ts'

/** Spellings of numbers in references: alone, among others, with separators, in other digits. */
const spellings = [
  goodCard,
  `order-${goodCard}/2`,
  `7${goodCard}7`,
  '4200_0000_0000_0000',
  '4200/0000.0000 0000',
  '４２００００００００００００００',
  '4200%200000%200000%200000',
  '4200&#45;0000&#45;0000&#45;0000',
  '四二〇〇〇〇〇〇〇〇〇〇〇〇〇〇',
  '肆贰零零零零零零零零零零零零零零',
  '=34=32=30=30=30=30=30=30=30=30=30=30=30=30=30=30',
]
const repeated = {
  standingInstruction: {
    industryPractice: 'INCREMENTAL_AUTH',
    mode: 'REPEATED',
    source: 'MIT',
    type: 'UNSCHEDULED',
  },
}
const wide = '４２００００００００００００００'

describe('account numbers outside their field', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway()
  })
  after(() => closeChecked(run))

  const eur = { amount: '1.00', currency: 'EUR' as const }
  const refused = (name: string) => (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.equal(error.status, 400)
    assert.equal(error.code, '200.300.404')
    assert.deepEqual(
      error.parameterErrors.map((one) => one.name),
      [name],
    )
    assert.ok(!JSON.stringify(error.parameterErrors).includes('0000'))
    return true
  }
  const rows = async () => {
    const [row] = await run.sql<{ rows: bigint }>(
      `select (select count(*) from tollgate.payment) + (select count(*) from tollgate.record)
         + (select count(*) from tollgate.schedule) as rows`,
    )
    return row!.rows
  }
  /** Refused by that field's name, and nothing was written. */
  const refuses = async (name: string, send: () => Promise<unknown>) => {
    const already = await rows()
    await assert.rejects(send, refused(name))
    assert.equal(await rows(), already)
  }

  test('the account number is refused in every reference of its payment', async () => {
    for (const spelled of spellings) {
      await refuses('merchantTransactionId', () => run.pay({ merchantTransactionId: spelled }))
    }
    await refuses('cart.items[0].sku', () => run.pay({ cart: { items: [{ sku: goodCard }] } }))
    await refuses('standingInstruction.initialTransactionId', () =>
      run.pay({ standingInstruction: { initialTransactionId: goodCard } }),
    )
  })

  test("a follow-up, also on a capture, refuses the payment's number by its visible digits", async () => {
    const { id } = await run.pay({ paymentType: 'PA' })
    for (const spelled of spellings) {
      const asReference = { ...eur, merchantTransactionId: spelled }
      await refuses('merchantTransactionId', () => run.gateway.payments.capture(id, asReference))
    }
    const capture = await run.gateway.payments.capture(id, { amount: '92.00', currency: 'EUR' })
    const asReference = { ...eur, merchantTransactionId: spellings[1]! }
    await refuses('merchantTransactionId', () =>
      run.gateway.payments.refund(capture.id, asReference),
    )
    const refund = await run.gateway.payments.refund(capture.id, eur)
    const chargeback = { ...eur, paymentType: 'CB', merchantTransactionId: goodCard }
    const reply = await run.send(chargeback, { id: refund.id })
    assert.deepEqual(
      reply.body.result.parameterErrors?.map(({ name }) => name),
      ['merchantTransactionId'],
    )
  })

  test('the number is refused also where it was stored before merchants had fingerprint keys', async () => {
    const { id } = await run.pay({ paymentType: 'PA' })
    const stored = await scheduling(run).store()
    await run.sql('update tollgate.instrument set fingerprint = null where id = any($1::uuid[])', [
      [id, stored],
    ])
    await run.sql('update tollgate.registration set fingerprint = null where id = $1', [stored])
    for (const spelled of spellings) {
      const asReference = { ...eur, merchantTransactionId: spelled }
      await refuses('merchantTransactionId', () => run.gateway.payments.capture(id, asReference))
      const entity = { entityId: run.channel, merchantTransactionId: spelled }
      await refuses('merchantTransactionId', () =>
        run.gateway.registrations.update(stored, entity as never),
      )
    }
  })

  test('sibling channels of a merchant refuse the number alike, because they share its fingerprints', async () => {
    const sibling = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Sibling',
      parentId: run.merchant,
    })
    const stored = await scheduling(run).store()
    const charged = { entityId: sibling, ...charge, merchantTransactionId: wide }
    await refuses('merchantTransactionId', () =>
      run.gateway.registrations.pay(stored, charged as never),
    )
  })

  test('refusals do not tell the number: another one with the same ends is refused alike, before and after', async () => {
    const { id } = await run.pay()
    const { registrations, payments } = run.gateway
    const stored = await scheduling(run).store()
    const entity = { entityId: run.channel }
    const answers = async (number: string) => {
      const noted = { merchantTransactionId: `7${number}7` }
      const tries = [
        () => payments.refund(id, { amount: '99999.00', currency: 'EUR', ...noted }),
        () => registrations.pay(stored, { ...entity, ...charge, ...noted } as never),
        () => registrations.update(stored, { ...entity, ...noted } as never),
        () =>
          registrations.update(stored, {
            ...entity,
            customer: { browserFingerprint: { value: number } },
          } as never),
      ]
      const told: unknown[] = []
      for (const one of tries) {
        await assert.rejects(one, (error) => {
          assert.ok(error instanceof GatewayError, String(error))
          told.push([error.code, error.message, error.parameterErrors])
          return true
        })
      }
      return told
    }
    const right = await answers(goodCard)
    assert.equal(right.length, 4)
    // The first few of 100,000 numbers with the same ends.
    const alike = Array.from(
      { length: 60 },
      (_, no) => `420000${String(no + 1).padStart(6, '0')}0000`,
    )
    const wrong = alike.filter(passesLuhn)
    assert.ok(wrong.length > 3)
    for (const number of wrong) assert.deepEqual(await answers(number), right)
  })

  test('the number is taken in its own field of a payment that refers to it, and is stored sealed there alone', async () => {
    const { id } = await run.pay({ paymentType: 'PA' })
    const again = { paymentType: 'PA', amount: '8.00', referenceUuid: id, ...repeated }
    const more = await run.pay(again)
    assert.equal(more.result.code, '000.100.110')
    await refuses('merchantTransactionId', () =>
      run.pay({ ...again, merchantTransactionId: goodCard }),
    )
    const rows = await run.sql<{ request: string }>(
      'select request::text from tollgate.payment_request where id = $1',
      [more.id],
    )
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(goodCard))
  })

  test('a follow-up takes and echoes references that only resemble the number', async () => {
    const { id } = await run.pay()
    for (const reference of ['4111111111111111', '5901234123457', '4200000000000018-0000']) {
      const done = await run.gateway.payments.refund(id, {
        ...eur,
        merchantTransactionId: reference,
      })
      assert.equal(done.merchantTransactionId, reference)
    }
  })

  test('requests about a registration and its schedules refuse its number', async () => {
    const scheduler = scheduling(run)
    const id = await scheduler.store()
    const reference = { merchantTransactionId: wide }
    const { registrations, schedules } = run.gateway
    const entity = { entityId: run.channel }
    await refuses('merchantTransactionId', () =>
      registrations.pay(id, { ...entity, ...charge, ...reference } as never),
    )
    await refuses('merchantTransactionId', () =>
      registrations.update(id, { ...entity, ...reference } as never),
    )
    await refuses('merchantTransactionId', () =>
      schedules.create({
        ...entity,
        ...charge,
        registrationId: id,
        job: monthly,
        ...reference,
      } as never),
    )
    const schedule = await scheduler.schedule(id)
    const { id: other } = await run.pay({ createRegistration: 'true' })
    assert.ok(other.length === 32)
    for (const [operation, path] of [
      ['registrations.extend', id],
      ['schedules.reschedule', schedule.id],
    ] as const) {
      const fields = { ...entity, ...reference, 'job.hour': '7' }
      const body = operation === 'registrations.extend' ? { ...entity, ...reference } : fields
      await refuses('merchantTransactionId', () =>
        run.gateway
          .call(
            operation,
            { id: 'test', entityId: null },
            {
              path: { id: path },
              body: Buffer.from(new URLSearchParams(body).toString()),
              contentType: 'application/x-www-form-urlencoded',
              requestId: 'card-data',
            },
          )
          .then((reply) => {
            const { result } = reply.body as { result: { parameterErrors?: never; code: string } }
            if (reply.status === 400) {
              throw new GatewayError(result.code as never, {
                parameterErrors: result.parameterErrors!,
              })
            }
          }),
      )
    }
  })

  test('an IBAN is refused in the other fields of its payment', async () => {
    const bank = {
      ...card(goodCard),
      card: undefined,
      paymentBrand: 'DIRECTDEBIT_SEPA',
      bankAccount: {
        holder: 'Jane Jones',
        iban: 'DE89370400440532013000',
        bic: 'MARKDEF1100',
      },
    }
    for (const merchantMemo of ['DE89 3704 0044 0532 0130 00', 'ref de89370400440532013000']) {
      const { card: _, ...fields } = { ...bank, merchantMemo }
      await refuses('merchantMemo', () =>
        run.gateway.payments.create({ ...fields, entityId: run.channel } as never),
      )
    }
  })

  test('the number is nowhere in the database, not even as an Idempotency-Key', async () => {
    await run.pay({ card: cardOf(goodCard) }, { key: goodCard })
    const leaves = await leavesOf(run)
    assert.ok(leaves.length > 100, 'the scan finds the number')
    const forms = [goodCard, wide, Buffer.from(goodCard).toString('hex')]
    assert.deepEqual(
      leaves.filter(({ text }) => forms.some((form) => text.includes(form))),
      [],
    )
  })
})
