/** Queued payments across a failover that lost their latest commits, and what may happen before they are sent. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, declined, type Operation } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { GatewayError } from '../../../core/index.ts'
import { type AcquirerRun, approvedAs, startWithAcquirer } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Program, programBeside } from '../../rig/program.ts'

const approved = '000.100.112'

describe('queued payments', () => {
  let run: AcquirerRun
  let program: Program

  before(async () => {
    run = await startWithAcquirer({ cardTesting: { number: 3 } } as never)
    program = programBeside(run)
  })
  after(async () => {
    await program.close()
    await closeChecked(run)
  })

  const accept = (reference: string, more: Record<string, unknown> = {}, key?: string) =>
    program.transaction('commit', (client) =>
      run.gateway.payments.accept(program.debit(reference, more), {
        client,
        ...(key === undefined ? {} : { idempotencyKey: key }),
      }),
    )
  const listed = async (id: string) => {
    const rows = await run.sql<{ kind: string }>(
      'select kind from tollgate.attention where payment_id = $1',
      [id],
    )
    return rows.map(({ kind }) => kind)
  }
  const rowOf = (table: string, id: string, of = 'id') =>
    run.sql<Record<string, unknown>>(
      `select to_jsonb(stored) - array['sent_at', 'lease_until', 'created_at'] as row
      from tollgate.${table} stored where ${of} = $1`,
      [id],
    )

  /** The promoted server has none of the payment's rows. */
  const lose = async (id: string) => {
    await run.sql(
      `delete from tollgate.timer
      using tollgate.payment
      where payment.id = $1 and ref in (attempt_key, replace(registration_id::text, '-', ''))`,
      [id],
    )
    for (const table of ['idempotency', 'attempt', 'registration']) {
      await run.sql(`delete from tollgate.${table} where payment_id = $1`, [id])
    }
    for (const table of ['instrument', 'payment_request', 'payment']) {
      await run.sql(`delete from tollgate.${table} where id = $1`, [id])
    }
  }

  test('a payment that is lost while it is sent is written again, with its key and its registration', async () => {
    const before = new Map<string, unknown>()
    const tables = [
      ['payment_request', 'id'],
      ['instrument', 'id'],
      ['idempotency', 'payment_id'],
    ] as const
    run.acquirer.tell('lost-while-sent', {
      debit: async (operation: Operation, context: Context) => {
        context.sending()
        const id = operation.paymentId
        for (const [table, of] of tables) before.set(table, await rowOf(table, id, of))
        await lose(id)
        return approvedAs(operation)
      },
    })
    const { id } = await accept('lost-while-sent', { createRegistration: 'true' }, 'lost-key')
    await until(async () => ((await listed(id)).length > 0 ? true : undefined))
    assert.equal(await program.decided({ id }), approved)
    const payment = await run.gateway.payments.get(id)
    assert.deepEqual(await listed(id), ['recovered'])
    for (const [table, of] of tables) {
      assert.equal((before.get(table) as unknown[]).length, 1, table)
      assert.deepEqual(await rowOf(table, id, of), before.get(table), table)
    }
    const registration = await run.gateway.registrations.get(payment.registrationId as string)
    assert.equal(registration.id, payment.registrationId)
    assert.equal(
      (await accept('lost-while-sent', { createRegistration: 'true' }, 'lost-key')).id,
      id,
    )
    assert.deepEqual(run.acquirer.of('lost-while-sent'), ['debit'])
  })

  test('a refund that is lost while it is sent is written again, and the sums include it', async () => {
    const sale = await run.debit('lost-refund-sale')
    run.acquirer.tell('lost-refund', {
      refund: async (operation: Operation, context: Context) => {
        context.sending()
        await lose(operation.paymentId)
        await run.sql('update tollgate.payment_balance set refunding = 0 where payment_id = $1', [
          sale.id,
        ])
        return approvedAs(operation)
      },
    })
    const { id } = await program.transaction('commit', (client) =>
      run.gateway.payments.acceptFollowUp(
        sale.id,
        {
          paymentType: 'RF',
          amount: '60.00',
          currency: 'EUR',
          merchantTransactionId: 'lost-refund',
        },
        { client },
      ),
    )
    await until(async () => ((await listed(id)).length > 0 ? true : undefined))
    assert.equal(await program.decided({ id }), approved)
    assert.equal((await balanceOf(run, sale.id)).refunded, 6000n)
    assert.deepEqual(run.acquirer.of('lost-refund'), ['refund'])
  })

  /** What a standby has that got the commit of the program, and nothing after it; and then leads. */
  const onlyAccepted = async (id: string) => {
    const key = await run.keyOf(id)
    await run.sql(
      `update tollgate.attempt set state = 'queued', lease = 0, lease_until = null, settled_by = null where key = $1`,
      [key],
    )
    await run.sql(
      `update tollgate.payment set state = 'processing', result_code = '000.200.001', approved_minor = null,
        answer = null, seq = 0 where id = $1`,
      [id],
    )
    await run.sql('delete from tollgate.payment_balance where payment_id = $1', [id])
    await run.sql('delete from tollgate.event where resource = $1', [id])
    await run.sql(
      `insert into tollgate.server_timeline (timeline, system)
      select coalesce(max(timeline), 0) + 1, max(system) from tollgate.server_timeline`,
    )
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref) values (gen_random_uuid(), now(), 'queued', $1)`,
      [key],
    )
  }

  test('a payment that the leader before may have begun is enquired about, not sent again', async () => {
    run.acquirer.tell('begun-before', { enquire: approvedAs })
    const payment = await accept('begun-before')
    assert.equal(await program.decided(payment), approved)
    await onlyAccepted(payment.id)
    assert.equal(await program.decided(payment), approved)
    const [sent, ...later] = run.acquirer.of('begun-before')
    assert.equal(sent, 'debit')
    assert.ok(later.includes('enquire'))
    assert.ok(!later.includes('debit'), 'nobody sends it again')
  })

  test('a payment of a restored copy is enquired about, not sent again, and short ids go on above', async () => {
    run.acquirer.tell('begun-by-original', { enquire: approvedAs })
    const payment = await accept('begun-by-original')
    assert.equal(await program.decided(payment), approved)
    const key = await run.keyOf(payment.id)
    const numbers = 'select last_value as no from tollgate.short_no'
    const [before] = await run.sql<{ no: bigint }>(numbers)
    // What one transaction of psql restores: rows without an order among them, in other tables than before.
    await program.transaction('commit', async (client) => {
      const queued = `update tollgate.attempt set state = 'queued', lease = 0, lease_until = null where key = $1`
      await client.query(queued, [key])
      await client.query('update tollgate.server_timeline set since = since')
      await client.query("update tollgate.server_place set place = 'of the original'")
      const open = `update tollgate.payment set state = 'processing', approved_minor = null, answer = null where id = $1`
      await client.query(open, [payment.id])
      await client.query('delete from tollgate.payment_balance where payment_id = $1', [payment.id])
    })
    await (await run.another()).close()
    const [after] = await run.sql<{ no: bigint }>(numbers)
    assert.ok(after!.no >= before!.no + BigInt(limits.skippedShortNumbers))
    await run.sql(
      `insert into tollgate.timer (id, due_at, kind, ref) values (gen_random_uuid(), now(), 'queued', $1)`,
      [key],
    )
    assert.equal(await program.decided(payment), approved)
    assert.equal(run.acquirer.of('begun-by-original').filter((what) => what === 'debit').length, 1)
  })

  test('a payment that was accepted since is sent at once', async () => {
    const payment = await accept('accepted-since')
    assert.equal(await program.decided(payment), approved)
    assert.deepEqual(run.acquirer.of('accepted-since'), ['debit'])
  })

  test('declines of queued payments count against the card number', async () => {
    const number = '5454545454545454'
    const account = { number, expiryMonth: '05', expiryYear: '2034' }
    const pay = async (no: number) => {
      const reference = `tested-${no}`
      run.acquirer.tell(reference, {
        debit: (_: Operation, context: Context) => {
          context.sending()
          return declined('800.100.151')
        },
      })
      return program.decided(await accept(reference, { card: account, paymentBrand: 'MASTER' }))
    }
    for (const no of [1, 2, 3]) assert.equal(await pay(no), '800.100.151')
    // A decline counts after its commit.
    let no = 3
    const refused = await until(() =>
      pay(++no).then(
        () => undefined,
        (error: GatewayError) => error,
      ),
    )
    assert.equal(refused.code, '800.120.100')
    assert.deepEqual(run.acquirer.of(`tested-${no}`), [])
  })

  test('a registration that is removed before its payment is sent is not charged', async () => {
    const first = await run.debit('removed-first', {}, { createRegistration: 'true' })
    const registrationId = first.registrationId as string
    const {
      card: _card,
      paymentBrand: _brand,
      ...request
    } = program.debit('removed-since') as Record<string, unknown>
    const payment = await program.transaction('commit', async (client) => {
      const accepted = await run.gateway.registrations.accept(registrationId, request as never, {
        client,
      })
      await run.gateway.registrations.remove(registrationId)
      return accepted
    })
    assert.equal(await program.decided(payment), '900.100.600')
    assert.deepEqual(run.acquirer.of('removed-since'), [])
  })
})
