/**
 * Late successes for another amount, kept or undone: later follow-ups never exceed the completed
 * amount.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { approvedAs } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  type LateRun,
  lose,
  refuse,
  startLate,
  withoutAnyReversal,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const acceptance = { is: 'accepted', refs: { reference: 'by-event' }, finalBy: 'event' }

describe('late successes for another amount', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate({ 'by-reversal': withoutKeyReversal, 'by-nobody': withoutAnyReversal })
  })
  after(() => closeChecked(run))

  /** The engine has given up, and its lease has ended. */
  const stands = (id: string) =>
    until(async () => {
      const [attempt] = await run.sql<{ is_free: boolean }>(
        'select lease_until is null as is_free from tollgate.attempt where payment_id = $1',
        [id],
      )
      return (
        ((await run.audited(id)).includes('late-success-stands') && attempt!.is_free) || undefined
      )
    })
  const keep = async (id: string) => {
    await stands(id)
    await run.operator.settle(id, 'approved', by)
  }

  for (const [type, refused] of [
    ['DB', '700.400.200'],
    ['PA', '700.400.100'],
  ] as const) {
    const followUp = (id: string, amount: string) =>
      type === 'DB'
        ? run.gateway.payments.refund(id, eur(amount))
        : run.gateway.payments.capture(id, eur(amount))

    for (const [name, minor, amount, more] of [
      ['less', '5000', '50.00', '50.01'],
      ['more', '15000', '150.00', '150.01'],
    ] as const) {
      test(`${type} accepted, failed, then completed for ${name}: the completed amount is kept`, async () => {
        const handler = type === 'DB' ? 'debit' : 'authorize'
        const { id } = await run.debit(
          `failed-${type}-${name}`,
          { [handler]: accept },
          { paymentType: type, ...run.at('by-nobody') },
        )
        await run.tell(id, { outcome: failure })
        await run.tell(id, { outcome: approval, minor })
        await keep(id)
        const { authorised, captured } = await balanceOf(run, id)
        assert.equal(type === 'DB' ? captured : authorised, BigInt(minor))
        await assert.rejects(followUp(id, more), { code: refused })
        assert.equal((await followUp(id, amount)).result.code, charged)
      })
    }
  }

  test('a smaller accepted amount is reversed, and no more', async () => {
    const { id } = await run.debit('accepted-less', { debit: refuse }, run.at('by-reversal'))
    await run.tell(id, { outcome: acceptance, minor: '5000' })
    await until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))
    const [undo] = await run.sql(
      "select amount_minor from tollgate.payment where referenced_id = $1 and effect = 'undo'",
      [id],
    )
    assert.deepEqual(undo, { amount_minor: 5000n })
  })

  test('an amount accepted in another currency is neither reversed nor kept', async () => {
    const { id } = await run.debit('accepted-jpy', { debit: refuse }, run.at('by-reversal'))
    await run.tell(id, { outcome: acceptance, minor: '9200', currency: 'JPY' })
    await stands(id)
    assert.deepEqual(run.acquirer.of('accepted-jpy'), ['debit'])
    await assert.rejects(run.operator.settle(id, 'approved', by), { code: '700.400.570' })
    await run.operator.settle(id, 'declined', by)
  })

  test('a smaller accepted amount that is kept can be refunded, and no more', async () => {
    const { id } = await run.debit('accepted-kept', { debit: refuse }, run.at('by-nobody'))
    await run.tell(id, { outcome: acceptance, minor: '5000' })
    await keep(id)
    assert.equal((await run.gateway.payments.get(id)).amount, '50.00')
    await assert.rejects(run.gateway.payments.refund(id, eur('50.01')), { code: '700.400.200' })
  })

  test('an approved sale that is accepted for another amount waits for an operator', async () => {
    const { id } = await run.debit('accepted-beside')
    assert.equal(await run.tell(id, { outcome: acceptance, minor: '5000' }), 'conflict')
    const [entry] = await run.listed(id)
    assert.equal(entry!.detail.minor, '5000')
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.300.600' })
  })

  test('a second amount of a late success freezes kept money', async () => {
    const { id } = await run.debit('second-amount', { debit: refuse }, run.at('by-nobody'))
    await run.tell(id, { outcome: approval })
    await stands(id)
    await run.tell(id, { outcome: approval, minor: '5000' })
    await keep(id)
    await assert.rejects(run.gateway.payments.refund(id, eur('92.00')), { code: '700.300.600' })
    const entry = (await run.listed(id)).find(({ open }) => open)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await run.gateway.payments.refund(id, eur('92.00'))).result.code, charged)
  })

  test('a refund that succeeds late beyond the remaining amount is listed when it is kept', async () => {
    const { id } = await run.debit('beyond-left', {}, run.at('by-nobody'))
    const late = await run.follow(id, 'RF', 'beyond-rf', eur('92.00'), { refund: refuse })
    await run.gateway.payments.refund(id, eur('92.00'))
    await run.tell(late.id, { outcome: approval })
    await keep(late.id)
    const open = (await run.listed(late.id)).filter((entry) => entry.open)
    assert.deepEqual(
      open.map(({ kind, detail }) => [kind, detail.beyondMinor]),
      [['beyond-sums', '9200']],
    )
  })

  test('partial returns are listed one by one, with their amounts', async () => {
    const { id } = await run.debit('partial-returns')
    await run.tell(id, { outcome: failure, minor: '3000' })
    await run.tell(id, { outcome: failure, minor: '4000' })
    const listed = await run.listed(id)
    assert.deepEqual(
      listed.map(({ kind, detail }) => [kind, detail.minor]),
      [
        ['return', '3000'],
        ['return', '4000'],
      ],
    )
    await run.gateway.operator.resolve(listed[0]!.id, by)
    await assert.rejects(run.gateway.payments.refund(id, eur('1.00')), { code: '700.300.600' })
  })

  test('a return that names an authorisation freezes its captures', async () => {
    const { id } = await run.debit('returned', {}, { paymentType: 'PA' })
    const capture = await run.gateway.payments.capture(id, eur('92.00'))
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    await assert.rejects(run.gateway.payments.refund(capture.id, eur('1.00')), {
      code: '700.300.600',
    })
    const [entry] = await run.listed(id)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await run.gateway.payments.refund(capture.id, eur('1.00'))).result.code, charged)
  })

  test('a capture found after the return of its authorisation is frozen too', async () => {
    const { id } = await run.debit('returned-early', {}, { paymentType: 'PA' })
    const capture = await run.follow(id, 'CP', 'found-late', eur('92.00'), { capture: lose })
    assert.equal(capture.result.code, '000.200.001')
    await run.tell(id, { outcome: failure })
    await run.tell(capture.id, { outcome: approval })
    const refund = () => run.gateway.payments.refund(capture.id, eur('1.00'))
    await assert.rejects(refund(), { code: '700.300.600' })
    const [entry] = await run.listed(id)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund()).result.code, charged)
  })
})

test('a capture confirmed at the moment of the return is frozen whichever commits first', async () => {
  const run = await startLate()
  try {
    // Within one process, words about one authorisation take turns.
    const other = await run.another({ plugins: [run.acquirer.plugin] })
    for (let turn = 0; turn < 6; turn += 1) {
      const { id } = await run.debit(`returned-now-${turn}`, {}, { paymentType: 'PA' })
      const name = `found-now-${turn}`
      const script = { capture: lose, enquire: approvedAs }
      const capture = await run.follow(id, 'CP', name, eur('92.00'), script)
      // Both wait for the authorisation's balance, so that neither statement sees the other's rows.
      const holder = new pg.Client(run.database.url)
      await holder.connect()
      const waiting = (count: number) =>
        until(async () => {
          const rows = await run.sql(
            `select from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
          )
          return rows.length >= count ? true : undefined
        })
      await holder.query('begin')
      await holder.query('select from tollgate.payment_balance where payment_id = $1 for update', [
        id,
      ])
      const words = [
        () => run.tell(id, { outcome: failure }),
        () => other.operator.enquire(capture.id, by),
      ]
      const [first, second] = turn % 2 === 0 ? words : words.toReversed()
      const told = [first!()]
      await waiting(1)
      told.push(second!())
      await waiting(2)
      await holder.query('commit')
      await holder.end()
      await Promise.all(told)
      await assert.rejects(run.gateway.payments.refund(capture.id, eur('1.00')), {
        code: '700.300.600',
      })
    }
  } finally {
    await closeChecked(run)
  }
})
