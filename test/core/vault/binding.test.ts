/**
 * An attacker who writes rows and has no keys cannot charge one merchant's card through another.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { GatewayError, KeyAdministration, localKeys } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { card, startGateway, type TestGateway, testKey, until } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'
import { scheduling } from '../../rig/schedules.ts'
import { sealAsBefore } from './old-rows.ts'

const ours = '4200000000000000'
const theirs = '4711100000000000'
const debit = { amount: '12.00', currency: 'EUR', paymentType: 'DB' } as const

/** A second merchant with a channel. */
async function anotherMerchant({ gateway: { entities }, division }: TestGateway): Promise<string> {
  const name = 'Other'
  const merchant = await entities.create({ kind: 'merchant', name, parentId: division })
  return entities.create({ kind: 'channel', name, parentId: merchant })
}

const staysShut = (error: unknown) => {
  assert.ok(error instanceof GatewayError, String(error))
  assert.deepEqual([error.code, error.status], ['600.100.100', 500])
  assert.match(error.message, /cannot be opened/)
  return true
}

describe('sealed numbers', () => {
  let run: AcquirerRun
  let other: string
  before(async () => {
    run = await startWithAcquirer()
    other = await anotherMerchant(run)
  })
  after(() => run.close())

  const store = async (entityId: string, number: string) => {
    const account = { entityId, paymentBrand: 'VISA', card: cardOf(number) }
    return (await run.gateway.registrations.create(account as never)).id
  }
  const pay = (id: string, entityId: string) =>
    run.gateway.registrations.pay(id, { entityId, ...debit } as never)
  const rebill = (id: string) =>
    run.gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' })
  /** Payments other than verifications and those made on purpose. */
  const charges = async () => {
    const [row] = await run.sql<{ n: bigint }>(
      `select count(*) as n from tollgate.payment where payment_type <> 'RG'`,
    )
    return row!.n
  }
  /** A change by an attacker opens nothing and charges nothing. */
  const harmless = async (change: [string, ...unknown[]], work: () => Promise<unknown>) => {
    const before = await charges()
    await run.sql(change[0], change.slice(1))
    await assert.rejects(work(), staysShut)
    assert.equal(await charges(), before)
    const last = run.logs.findLast(({ message }) => message.startsWith('a sealed value'))
    assert.match(last?.message ?? '', /belongs to another row, channel or registration/)
    assert.doesNotMatch(JSON.stringify(run.logs), new RegExp(`${ours}|${theirs}`))
  }

  test('the number of another merchant is not charged through a registration that points at it', async () => {
    const [own, foreign] = [await store(run.channel, ours), await store(other, theirs)]
    await harmless(
      ['update tollgate.registration set instrument_id = $2 where id = $1', own, foreign],
      () => pay(own, run.channel),
    )
    assert.equal((await pay(foreign, other)).result.code, '000.100.110')
  })

  test('the number of another customer of the same channel is not charged through it either', async () => {
    const [own, sibling] = [await store(run.channel, ours), await store(run.channel, theirs)]
    await harmless(
      ['update tollgate.registration set instrument_id = $2 where id = $1', own, sibling],
      () => pay(own, run.channel),
    )
  })

  test('a number does not open when its registration is moved to another channel', async () => {
    const foreign = await store(other, theirs)
    await harmless(
      ['update tollgate.registration set channel_id = $2 where id = $1', foreign, run.channel],
      () => pay(foreign, run.channel),
    )
  })

  test('a number is not charged on a channel moved below its merchant', async () => {
    const foreign = await store(other, theirs)
    const [{ parent_id: home }] = (await run.sql(
      'select parent_id from tollgate.entity where id = $1',
      [other],
    )) as [{ parent_id: string }]
    const before = await charges()
    const move = (parent: string) =>
      run.sql('update tollgate.entity set parent_id = $2 where id = $1', [other, parent])
    await move(run.merchant)
    // A new process, which reads the tables anew.
    const misled = await run.another()
    const isForeign = (error: unknown) => {
      assert.ok(error instanceof GatewayError, String(error))
      assert.equal(error.code, '100.150.200')
      return true
    }
    const charge = () =>
      misled.registrations.pay(foreign, { entityId: run.channel, ...debit } as never)
    await assert.rejects(charge(), isForeign)
    await run.sql('update tollgate.registration set fingerprint = null where id = $1', [foreign])
    await assert.rejects(charge(), isForeign)
    assert.equal(await charges(), before)
    await misled.close()
    await move(home)
  })

  test('a number does not open in the place of another row', async () => {
    const [own, foreign] = [await store(run.channel, ours), await store(other, theirs)]
    await run.sql('delete from tollgate.instrument where id = $1', [own])
    await harmless(['update tollgate.instrument set id = $1 where id = $2', own, foreign], () =>
      pay(own, run.channel),
    )
  })

  test('a number does not open when its payment is moved to another channel or registration', async () => {
    const paid = await run.gateway.payments.create({ ...card(theirs), entityId: other } as never)
    await harmless(
      ['update tollgate.payment set channel_id = $2 where id = $1', paid.id, run.channel],
      () => rebill(paid.id),
    )
    const second = await run.pay()
    const registration = await store(run.channel, theirs)
    await harmless(
      ['update tollgate.payment set registration_id = $2 where id = $1', second.id, registration],
      () => rebill(second.id),
    )
  })

  test('a number opens in its own place: for a rebill, and for a payment on a registration', async () => {
    const registration = await store(run.channel, ours)
    const paid = await pay(registration, run.channel)
    for (const id of [paid.id, (await run.pay()).id]) {
      const again = await rebill(id)
      assert.equal(again.result.code, '000.100.110')
    }
  })

  test('a schedule that points at a foreign number is refused, and the rightful one beside it is charged', async () => {
    const tools = scheduling(run)
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const own = await tools.store({ testClock: clock.id })
    const victim = await tools.store({ testClock: clock.id, card: cardOf(theirs) })
    const [forged, rightful] = [await tools.schedule(own), await tools.schedule(victim)]
    await run.sql('update tollgate.registration set instrument_id = $2 where id = $1', [
      own,
      victim,
    ])
    await tools.advance(clock.id, { to: '2027-02-02 00:00:00' })
    const states = async (id: string) => (await tools.history(id)).map((one) => one.split(' ')[2])
    const [bad, good] = await until(async () => {
      const both = [await states(forged.id), await states(rightful.id)]
      return both.every((one) => one.length > 0 && !one.includes('DUE')) ? both : undefined
    })
    assert.doesNotMatch(String(bad), /APPROVED|SUCCEEDED|PAID/)
    const paid = (id: string) =>
      run.sql(`select id from tollgate.payment where schedule_id = $1 and state = 'approved'`, [id])
    assert.equal((await paid(forged.id)).length, 0, String(bad))
    assert.equal((await paid(rightful.id)).length, 1, String(good))
  })

  test("a schedule that points at another merchant's registration charges nothing", async () => {
    const tools = scheduling(run)
    const clock = await tools.clockAt('2027-01-15 00:00:00')
    const foreign = await store(other, theirs)
    const { id } = await tools.schedule(await tools.store({ testClock: clock.id }))
    await run.sql('update tollgate.schedule set registration_id = $2 where id = $1', [id, foreign])
    await tools.advance(clock.id, { to: '2027-02-02 00:00:00' })
    await until(async () => ((await tools.history(id)).length > 0 ? true : undefined))
    const paid = await run.sql('select id from tollgate.payment where schedule_id = $1', [id])
    assert.deepEqual(paid, [])
  })
})

test('a registration is charged on every channel of its merchant, also after a new digest key', async () => {
  const run = await startGateway()
  try {
    const { entities, registrations } = run.gateway
    const sibling = await entities.create({
      kind: 'channel',
      name: 'Sibling',
      parentId: run.merchant,
    })
    const account = { entityId: run.channel, paymentBrand: 'VISA', card: cardOf(ours) }
    const { id } = await registrations.create(account as never)
    const request = { entityId: sibling, ...debit } as never
    assert.equal((await registrations.pay(id, request)).result.code, '000.100.110')
    await run.gateway.close()
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    await keys.renewMac()
    const later = await run.another()
    assert.equal((await later.registrations.pay(id, request)).result.code, '000.100.110')
  } finally {
    await run.close()
  }
})

describe('numbers sealed by an earlier version', () => {
  const rotate = async (run: TestGateway) => {
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    return await keys.rotate({ graceMs: 100 })
  }
  const rebill = async ({ gateway }: TestGateway, id: string) =>
    (await gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' })).result.code
  const approved = '000.100.110'

  for (const format of [1, 2] as const) {
    test(`numbers in format ${format} open until they are resealed, and not when they are restored later`, async () => {
      const run = await startGateway()
      try {
        const { id } = await run.pay()
        const before = await sealAsBefore(run, id, ours, format)
        const running = await run.another()
        assert.equal(await rebill({ ...run, gateway: running }, id), approved)
        const [old] = await run.sql<{ data_key_id: string }>(
          'select data_key_id from tollgate.instrument where id = $1',
          [id],
        )
        assert.equal((await rotate(run)).moved, 1)
        assert.equal(await rebill(run, id), approved)
        // Restored from a backup by somebody who may change tables.
        await run.sql(
          `alter table tollgate.instrument drop constraint "not_under_${old!.data_key_id}"`,
        )
        await run.sql(
          'update tollgate.instrument set sealed = $2, data_key_id = $3 where id = $1',
          [id, before, old!.data_key_id],
        )
        const late = await run.another()
        for (const gateway of [late, running]) {
          await until(async () =>
            gateway.payments.rebill(id, { amount: '1.00', currency: 'EUR' }).then(
              () => undefined,
              (error: unknown) => staysShut(error),
            ),
          )
        }
      } finally {
        await run.close()
      }
    })
  }

  test('a changed format column weakens neither sealing nor opening', async () => {
    const run = await startGateway()
    try {
      const [first, second] = [await run.pay(), await run.pay(card('4111111111111111'))]
      for (const format of [1, 2]) {
        await run.sql('update tollgate.data_key set format = $1', [format])
        const fresh = await run.another()
        const paid = await run.pay({}, { on: fresh })
        // Still bound to its registration, channel and row.
        await run.sql('update tollgate.payment set channel_id = $2 where id = $1', [
          paid.id,
          await anotherMerchant(run),
        ])
        await assert.rejects(
          fresh.payments.rebill(paid.id, { amount: '1.00', currency: 'EUR' }),
          staysShut,
        )
        assert.equal(await rebill({ ...run, gateway: fresh }, first.id), approved)
      }
      assert.equal(await rebill(run, second.id), approved)
    } finally {
      await run.close()
    }
  })
})
