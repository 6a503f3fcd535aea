/** What one client of the embedding program carries: calls at once, repeats, subscriptions, jobs. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { GatewayError, type ProgramClient, type TransactionClient } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { createDatabase } from '../../rig/database.ts'
import { until } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'
import { type Program, programBeside } from '../../rig/program.ts'

const approved = '000.100.112'

const refused =
  (...names: string[]) =>
  (error: unknown) => {
    assert.ok(error instanceof GatewayError, String(error))
    assert.deepEqual(
      error.parameterErrors.map(({ name }) => name),
      names,
    )
    return true
  }

describe('a client of the embedding program', () => {
  let run: AcquirerRun
  let program: Program
  const done: string[] = []

  before(async () => {
    const mail = {
      name: 'mail',
      async run({ to }: { to: string }) {
        done.push(to)
      },
    }
    run = await startWithAcquirer({ pool: {}, jobs: [mail as never] })
    program = programBeside(run)
  })
  after(async () => {
    await program.close()
    await closeChecked(run)
  })

  const accept = (reference: string, client: TransactionClient, idempotencyKey?: string) =>
    run.gateway.payments.accept(program.debit(reference), {
      client,
      ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    })
  const follow = (
    [id, paymentType, amount]: [string, 'RF' | 'CP', string],
    client: TransactionClient,
    idempotencyKey?: string,
  ) =>
    run.gateway.payments.acceptFollowUp(
      id,
      { paymentType, amount, currency: 'EUR', merchantTransactionId: `${paymentType} of ${id}` },
      { client, ...(idempotencyKey === undefined ? {} : { idempotencyKey }) },
    )

  test('calls at once stand or fall each by itself', async () => {
    const sale = await run.debit('at-once-sale')
    const old = await run.gateway.payments.create(program.debit('at-once-old'), {
      idempotencyKey: 'used-before',
    })
    // The key is free again, and the attempt still has it at the acquirer.
    await run.sql('delete from tollgate.idempotency where payment_id = $1', [old.id])
    for (let round = 0; round < 3; round += 1) {
      const ends = await program.transaction('commit', (client) =>
        Promise.allSettled([
          accept(`at-once-${round}-a`, client),
          accept(`at-once-${round}-b`, client),
          follow([sale.id, 'RF', '92.01'], client),
          accept(`at-once-${round}-c`, client, round === 0 ? 'used-before' : undefined),
          follow([sale.id, 'RF', '1.00'], client),
          accept(`at-once-${round}-d`, client),
        ]),
      )
      const codes = await Promise.all(
        ends.map((end) =>
          end.status === 'fulfilled' ? program.decided(end.value) : end.reason.code,
        ),
      )
      assert.deepEqual(codes, [approved, approved, '700.400.200', approved, approved, approved])
      for (const name of ['a', 'b', 'c', 'd']) {
        assert.deepEqual(run.acquirer.of(`at-once-${round}-${name}`), ['debit'])
      }
    }
    assert.equal((await balanceOf(run, sale.id)).refunded, 300n)
  })

  test('a refund of everything is repeated under its key, in one transaction', async () => {
    const { id } = await run.debit('repeated-sale')
    const [first, second] = await program.transaction('commit', async (client) => [
      await follow([id, 'RF', '92.00'], client, 'refund-all'),
      await follow([id, 'RF', '92.00'], client, 'refund-all'),
    ])
    assert.equal(second!.id, first!.id)
    assert.equal(await program.decided(first!), approved)
    const later = await program.transaction('commit', (client) =>
      follow([id, 'RF', '92.00'], client, 'refund-all'),
    )
    assert.equal(later.id, first!.id)
    assert.equal((await balanceOf(run, id)).refunded, 9200n)
  })

  test('the formats and the time zone of a session are its own', async () => {
    const client = await program.pool.connect()
    await client.query("set time zone 'Asia/Tokyo'; set datestyle = 'German'")
    await client.query('begin')
    const payment = await accept('other-formats', client)
    await client.query('commit')
    client.release(true)
    assert.equal(await program.decided(payment), approved)
  })

  test('the client of a subscription takes payments and follow-ups, and their repeats', async () => {
    const authorised = await run.debit('in-handler-authorised', {}, { paymentType: 'PA' })
    await olderTransactionsEnd(run)
    const ids: string[][] = []
    await using subscription = await run.gateway.subscribe('pays', async (event, { client }) => {
      if (event.payload.id !== sale.id) return
      const once = async (made: Promise<{ readonly id: string }>) => (await made).id
      const debit = () => once(accept('in-handler', client, 'handler-1'))
      const capture = () =>
        once(follow([authorised.id, 'CP', '5.00'], client, `handler-${authorised.id}`))
      ids.push([await debit(), await debit()], [await capture(), await capture()])
    })
    assert.ok(subscription)
    const sale = await run.debit('in-handler-sale')
    await until(async () => (ids.length === 2 ? true : undefined))
    for (const [id, again] of ids) {
      assert.equal(again, id)
      // The payment exists from the commit on.
      const code = await until(() => program.decided({ id: id! }).catch(() => undefined))
      assert.equal(code, approved)
    }
    assert.deepEqual(run.acquirer.of('in-handler'), ['debit'])
    assert.equal((await balanceOf(run, authorised.id)).captured, 500n)
    assert.deepEqual(
      run.logs.filter(({ fields }) => fields.subscription === 'pays'),
      [],
    )
  })

  test('a payment of a handler that fails afterwards does not exist', async () => {
    await olderTransactionsEnd(run)
    const ids: string[] = []
    let kept: ProgramClient | undefined
    await using subscription = await run.gateway.subscribe('fails', async (event, { client }) => {
      if (event.payload.id !== sale.id) return
      kept ??= client
      ids.push((await accept('failed-handler', client)).id)
      if (ids.length === 1) throw new Error('the shop is closed')
    })
    assert.ok(subscription)
    const sale = await run.debit('failed-handler-sale')
    await until(async () => (ids.length === 2 ? true : undefined))
    const code = await until(() => program.decided({ id: ids[1]! }).catch(() => undefined))
    assert.equal(code, approved)
    await assert.rejects(run.gateway.payments.get(ids[0]!), { status: 404 })
    await assert.rejects(accept('failed-handler', kept!), { name: 'TransactionOver' })
    assert.deepEqual(run.acquirer.of('failed-handler'), ['debit'])
  })

  test('a job needs a client that can hold it, and a refusal leaves the transaction usable', async () => {
    const { gateway } = run
    const send = (client: unknown, name = 'mail') =>
      gateway.sendJob(name, { to: 'nobody' }, { client: client as TransactionClient })
    await assert.rejects(send(null), refused('client'))
    await assert.rejects(send(undefined), refused('client'))
    await assert.rejects(send(program.pool), refused('client'))
    const client = await program.pool.connect()
    await assert.rejects(send(client), refused('client'))
    await client.query('begin read only')
    await assert.rejects(send(client), refused('client'))
    await assert.rejects(accept('only-reads', client), refused('client'))
    assert.deepEqual((await client.query('select 1 as one')).rows, [{ one: 1 }])
    await client.query('rollback')
    await client.query('begin')
    await gateway.sendJob('mail', { to: 'somebody' }, { client })
    await client.query('commit')
    client.release()
    await until(async () => (done.length > 0 ? true : undefined))
    assert.deepEqual(done, ['somebody'])
  })

  test('a client whose user has too few rights is refused by name', async () => {
    const client = await program.pool.connect()
    try {
      await client.query('begin')
      await client.query('set local role pg_read_all_stats')
      await assert.rejects(accept('no-rights', client), refused('client'))
    } finally {
      await client.query('rollback')
      client.release()
    }
  })

  test('an option that a call does not take is refused by name, and nothing is sent', async () => {
    const { payments, registrations, subscribe, sendJob } = run.gateway
    const client = program.pool as never
    const misspelt = { idempotencykey: 'x' } as never
    const debit = program.debit('misspelt')
    const sale = await run.debit('misspelt-sale')
    await assert.rejects(payments.create(debit, misspelt), refused('idempotencykey'))
    await assert.rejects(payments.create(debit, { client } as never), refused('client'))
    await assert.rejects(payments.accept(debit, { client, key: 'x' } as never), refused('key'))
    await assert.rejects(registrations.pay('x', debit, misspelt), refused('idempotencykey'))
    await assert.rejects(
      payments.refund(sale.id, { amount: '1.00', currency: 'EUR', paymentType: 'CP' } as never),
      refused('paymentType'),
    )
    await assert.rejects(
      subscribe('misspelt', () => {}, { form: 'now' } as never),
      refused('form'),
    )
    await assert.rejects(sendJob('mail', {}, { kee: 'x' } as never), refused('kee'))
    const { checkouts, schedules, query, webhooks, events } = run.gateway
    const calls = [
      () => checkouts.create({} as never, misspelt),
      () => checkouts.remove('x', misspelt),
      () => schedules.create({} as never, misspelt),
      () => schedules.preview({} as never, misspelt),
      () => schedules.cancel('x', misspelt),
      () => query.get('x', misspelt),
      () => query.search({} as never, misspelt),
      () => query.all({} as never, misspelt).next(),
      () => webhooks.create({} as never, misspelt),
      () => events.list({}, misspelt),
      () => payments.steps('x', misspelt),
      () => registrations.sameAccount('x', misspelt),
    ]
    for (const call of calls) await assert.rejects(call, refused('idempotencykey'), String(call))
    assert.deepEqual(run.acquirer.of('misspelt'), [])
  })

  test('a call that waits for another transaction ends, and says so', async () => {
    const [holds, waits] = [await program.pool.connect(), await program.pool.connect()]
    try {
      await holds.query('begin')
      await accept('held-key', holds, 'held-1')
      await waits.query('begin')
      const told = (reason: RegExp) => (error: unknown) => {
        assert.ok(error instanceof GatewayError, String(error))
        assert.equal(error.code, '999.999.888')
        assert.match(error.message, reason)
        return true
      }
      await waits.query("set local lock_timeout = '50ms'")
      await assert.rejects(accept('held-key', waits, 'held-1'), told(/^Another transaction holds/))
      await waits.query("set local lock_timeout = 0; set local statement_timeout = '200ms'")
      await assert.rejects(accept('held-key', waits, 'held-1'), told(/^The time limit/))
      await waits.query('set local statement_timeout = 0')
      await assert.rejects(accept('held-key', waits, 'held-1'), told(/^Another transaction holds/))
      await accept('held-key', waits, 'held-2')
      const limit = "select current_setting('lock_timeout') as own"
      assert.deepEqual((await waits.query(limit)).rows, [{ own: '0' }], 'later waits are yours')
    } finally {
      await holds.query('rollback')
      await waits.query('rollback')
      holds.release()
      waits.release()
    }
  })

  test('a job goes into no other database', async () => {
    const elsewhere = await createDatabase()
    const other = new pg.Client({ connectionString: elsewhere.url })
    try {
      await other.connect()
      await other.query('begin')
      const sent = run.gateway.sendJob('mail', { to: 'elsewhere' }, { client: other })
      await assert.rejects(sent, refused('client'))
    } finally {
      await other.end()
      await elsewhere.drop()
    }
  })
})
