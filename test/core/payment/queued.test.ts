/** A payment in a transaction of the embedding program exists, and is sent, if and only if that commits. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import pg from 'pg'
import {
  type Gateway,
  GatewayError,
  onFaultPoint,
  type PaymentView,
  type TransactionClient,
} from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { balanceOf, checkBooks, closeChecked } from '../../rig/books.ts'
import { createDatabase } from '../../rig/database.ts'
import { queueEngineJob } from '../../rig/engine-jobs.ts'
import { card, until } from '../../rig/gateway.ts'

const approved = '000.100.112'
const open = '000.200.001'

type Job = { readonly name: string; readonly state: string }

describe('payments in a transaction of the embedding program', () => {
  let run: AcquirerRun
  let pool: pg.Pool

  before(async () => {
    run = await startWithAcquirer()
    await run.sql('create table shop_order (reference text primary key, payment_id text)')
    pool = new pg.Pool({ connectionString: run.database.url, max: 4 })
    pool.on('error', () => {})
  })
  after(async () => {
    await pool.end()
    await closeChecked(run)
  })

  /** A debit without the values that must not be stored. */
  const debit = (reference: string, more: Record<string, unknown> = {}) => {
    const { card: account, ...fields } = card('4200000000000000')
    const { cvv: _cvv, ...stored } = account
    return {
      ...fields,
      card: stored,
      testMode: 'EXTERNAL',
      entityId: run.channel,
      merchantTransactionId: reference,
      ...more,
    } as never
  }

  /** Runs `work` in a transaction of the program. */
  async function transaction<T>(
    end: 'commit' | 'rollback',
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      const result = await work(client)
      await client.query(end)
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  /** An order and its payment, together. */
  const order =
    (reference: string, on: Gateway = run.gateway) =>
    async (client: pg.PoolClient): Promise<PaymentView> => {
      const payment = await on.payments.accept(debit(reference), { client })
      await client.query('insert into shop_order values ($1, $2)', [reference, payment.id])
      return payment
    }

  const decided = ({ id }: { readonly id: string }) =>
    until(async () => {
      const payment = await run.gateway.payments.get(id)
      return payment.result.code === open ? undefined : payment
    })

  const jobsOf = (id: string) =>
    run.sql<Job>(
      `select name, state::text from tollgate_boss.job
      where data->>'attemptKey' = (select attempt_key from tollgate.payment where id = $1)`,
      [id],
    )

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

  test('the commit charges the payment once, and nothing is sent before it', async () => {
    const accepted = await transaction('commit', async (client) => {
      const payment = await order('committed')(client)
      assert.equal(payment.result.code, open)
      await assert.rejects(run.gateway.payments.get(payment.id), { status: 404 })
      assert.deepEqual(run.acquirer.of('committed'), [])
      return payment
    })
    const payment = await decided(accepted)
    assert.equal(payment.result.code, approved)
    assert.equal(payment.amount, '92.00')
    assert.deepEqual(run.acquirer.of('committed'), ['debit'])
    const [{ operation }] = run.acquirer.calls.filter(
      ({ reference }) => reference === 'committed',
    ) as [(typeof run.acquirer.calls)[number]]
    const { instrument } = operation
    assert.equal(
      instrument?.kind === 'card' && instrument.number.reveal(),
      '4200000000000000',
      'the card comes from the vault',
    )
    assert.deepEqual(
      await run.sql('select payment_id from shop_order where reference = $1', ['committed']),
      [{ payment_id: payment.id }],
    )
    assert.deepEqual(await run.sql("select ref from tollgate.timer where kind = 'queued'"), [])
  })

  test('a rollback leaves no trace of the payment, and nothing is sent', async () => {
    const gone = await transaction('rollback', order('rolled-back'))
    const later = await transaction('commit', order('after-the-rollback'))
    await decided(later)
    assert.deepEqual(run.acquirer.of('rolled-back'), [])
    for (const table of ['payment', 'payment_request', 'instrument']) {
      const rows = await run.sql(`select id from tollgate.${table} where id = $1`, [gone.id])
      assert.deepEqual(rows, [], table)
    }
    const attempts = await run.sql('select key from tollgate.attempt where payment_id = $1', [
      gone.id,
    ])
    assert.deepEqual(attempts, [])
    assert.deepEqual(await jobsOf(gone.id), [])
    assert.deepEqual(await run.sql("select ref from tollgate.timer where kind = 'queued'"), [])
  })

  test('a refusal leaves the transaction usable', async () => {
    const payment = await transaction('commit', async (client) => {
      const wrong = debit('refused-inside', { currency: 'ZZZ' })
      await assert.rejects(run.gateway.payments.accept(wrong, { client }), GatewayError)
      return order('after-a-refusal')(client)
    })
    assert.equal((await decided(payment)).result.code, approved)
  })

  test('values that must not be stored are refused by name', async () => {
    const withCode = debit('with-code', { card: card('4200000000000000').card })
    const { card: _none, ...noCard } = debit('with-token') as Record<string, unknown>
    await transaction('rollback', async (client) => {
      const accept = (request: unknown) => run.gateway.payments.accept(request as never, { client })
      await assert.rejects(accept(withCode), refused('card.cvv'))
      await assert.rejects(
        accept({ ...noCard, googlePay: { paymentToken: '{"signature":"x"}' } }),
        refused('googlePay.paymentToken'),
      )
      await assert.rejects(
        accept(debit('with-proof', { threeDSecure: { eci: '05', verificationId: 'AAAB' } })),
        refused('threeDSecure.verificationId'),
      )
    })
  })

  test('a client that cannot hold the payment is refused by name', async () => {
    const { payments } = run.gateway
    const nobody = undefined as unknown as TransactionClient
    await assert.rejects(payments.accept(debit('no-client'), { client: nobody }), refused('client'))
    await assert.rejects(
      payments.accept(debit('no-options'), undefined as never),
      refused('client'),
    )
    const client = await pool.connect()
    try {
      await assert.rejects(payments.accept(debit('no-begin'), { client }), refused('client'))
      await client.query('begin')
      await assert.rejects(client.query('select 1 / 0'))
      await assert.rejects(payments.accept(debit('failed-one'), { client }), refused('client'))
      await client.query('rollback')
    } finally {
      client.release()
    }
    const elsewhere = await createDatabase()
    const other = new pg.Client({ connectionString: elsewhere.url })
    try {
      await other.connect()
      await other.query('begin')
      await assert.rejects(
        payments.accept(debit('elsewhere'), { client: other }),
        refused('client'),
      )
    } finally {
      await other.end()
      await elsewhere.drop()
    }
  })

  test('a key makes one payment, in one transaction and across others', async () => {
    const keyed = (client: pg.PoolClient, reference = 'by-one-key') =>
      run.gateway.payments.accept(debit(reference), { client, idempotencyKey: 'order-17' })
    const first = await transaction('commit', async (client) => {
      const accepted = await keyed(client)
      assert.equal((await keyed(client)).id, accepted.id)
      return accepted
    })
    await decided(first)
    const again = await transaction('commit', (client) => keyed(client))
    assert.equal(again.id, first.id)
    assert.equal(again.result.code, approved)
    const created = await run.gateway.payments.create(debit('by-one-key'), {
      idempotencyKey: 'order-17',
    })
    assert.equal(created.id, first.id)
    await assert.rejects(
      transaction('rollback', (client) => keyed(client, 'another-one')),
      { code: '200.300.405' },
    )
    assert.deepEqual(run.acquirer.of('by-one-key'), ['debit'])
  })

  test('a key of a transaction that was rolled back is free', async () => {
    const keyed = (client: pg.PoolClient) =>
      run.gateway.payments.accept(debit('freed-key'), { client, idempotencyKey: 'freed-key' })
    const gone = await transaction('rollback', keyed)
    const payment = await decided(await transaction('commit', keyed))
    assert.notEqual(payment.id, gone.id)
    assert.equal(payment.result.code, approved)
    assert.deepEqual(run.acquirer.of('freed-key'), ['debit'])
  })

  test('a lost connection before the commit leaves no trace', async () => {
    const client = await pool.connect()
    client.on('error', () => {})
    await client.query('begin')
    const { id } = await order('lost-connection')(client)
    const [row] = (await client.query('select pg_backend_pid() as pid')).rows as [{ pid: number }]
    await run.sql('select pg_terminate_backend($1)', [row.pid])
    await assert.rejects(client.query('commit'))
    client.release(true)
    await decided(await transaction('commit', order('after-the-loss')))
    assert.deepEqual(await run.sql('select id from tollgate.payment where id = $1', [id]), [])
    assert.deepEqual(run.acquirer.of('lost-connection'), [])
  })

  test('a payment that commits more than an hour after its transaction began is declined, not sent', async () => {
    const accepted = await transaction('commit', async (client) => {
      const payment = await order('too-old-one')(client)
      await client.query(
        `update tollgate.attempt set sent_at = sent_at - interval '61 minutes' where payment_id = $1`,
        [payment.id],
      )
      return payment
    })
    const payment = await decided(accepted)
    assert.equal(payment.result.code, '900.100.600')
    assert.equal(payment.retrySafe, true)
    assert.deepEqual(run.acquirer.of('too-old-one'), [])
  })

  test('two processes with two jobs for one payment send it once', async () => {
    const other = await run.another({ plugins: [run.acquirer.plugin] })
    const references = Array.from({ length: 8 }, (_, no) => `sent-twice-${no}`)
    const payments = await Promise.all(
      references.map((reference) =>
        transaction('commit', async (client) => {
          const payment = await order(reference)(client)
          const [row] = (
            await client.query('select key from tollgate.attempt where payment_id = $1', [
              payment.id,
            ])
          ).rows as [{ key: string }]
          const again = { attemptKey: row.key, why: 'queued' }
          await queueEngineJob(run, 'charge', again, { key: `again ${row.key}`, client })
          return payment
        }),
      ),
    )
    for (const payment of payments) {
      assert.equal((await decided(payment)).result.code, approved)
      await until(async () =>
        (await jobsOf(payment.id)).every(({ state }) => state === 'completed') ? true : undefined,
      )
    }
    for (const reference of references) assert.deepEqual(run.acquirer.of(reference), ['debit'])
    await other.close()
  })

  test('a process that dies after it began the payment leaves it to an enquiry, and nobody sends it', async () => {
    const died = new Promise<string>((resolve) => {
      onFaultPoint((point, ref) => {
        if (point !== 'after-lease') return
        onFaultPoint(undefined)
        resolve(ref)
        return new Promise<void>(() => {})
      })
    })
    const accepted = await transaction('commit', order('died-begun'))
    assert.equal(await died, accepted.id)
    // The queue gives up the job of a dead process by itself, after the heartbeat.
    await run.sql(
      `delete from tollgate_boss.job
      where data->>'attemptKey' = (select attempt_key from tollgate.payment where id = $1)`,
      [accepted.id],
    )
    // As if the lease had ended, and whatever was on the way were visible at the acquirer.
    await run.sql(
      `update tollgate.attempt set lease_until = now(), sent_at = sent_at - interval '1 minute'
      where payment_id = $1`,
      [accepted.id],
    )
    const payment = await decided(accepted)
    assert.equal(payment.result.code, '900.100.400')
    assert.deepEqual(run.acquirer.of('died-begun'), ['enquire', 'reverseByKey'])
  })

  test('a registration pays in a transaction', async () => {
    const stored = await run.debit('stored-first', {}, { createRegistration: 'true' })
    const {
      card: _card,
      paymentBrand: _brand,
      ...request
    } = debit('by-registration') as Record<string, unknown>
    const accepted = await transaction('commit', (client) =>
      run.gateway.registrations.accept(stored.registrationId as string, request as never, {
        client,
      }),
    )
    const inTwoSteps = await transaction('commit', (client) =>
      run.gateway.registrations.accept(
        stored.registrationId as string,
        { ...request, paymentType: 'PA.CP', merchantTransactionId: 'two-steps-stored' } as never,
        { client },
      ),
    )
    assert.equal((await decided(inTwoSteps)).paymentType, 'CP')
    const payment = await decided(accepted)
    assert.equal(payment.result.code, approved)
    assert.equal(payment.registrationId, stored.registrationId)
    assert.deepEqual(run.acquirer.of('by-registration'), ['debit'])
  })

  test('a payment in two steps is captured too', async () => {
    const accepted = await transaction('commit', (client) =>
      run.gateway.payments.accept(debit('two-steps', { paymentType: 'PA.CP' }), { client }),
    )
    assert.equal(accepted.paymentType, 'CP')
    const done = await decided(accepted)
    assert.equal(done.result.code, approved)
    assert.equal(done.paymentType, 'CP')
    assert.deepEqual(run.acquirer.of('two-steps'), ['authorize', 'capture'])
  })

  test('a payment in two steps tells the decline of its capture, also to a repeat', async () => {
    const asked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    run.acquirer.tell('two-steps-declined', {
      capture: async (_, context) => {
        context.sending()
        asked.resolve()
        await answered.promise
        return declined('800.100.152', { code: '05' })
      },
    })
    const accept = (client: pg.PoolClient) =>
      run.gateway.payments.accept(debit('two-steps-declined', { paymentType: 'PA.CP' }), {
        client,
        idempotencyKey: 'two-steps-1',
      })
    const accepted = await transaction('commit', async (client) => {
      const first = await accept(client)
      assert.equal((await accept(client)).id, first.id)
      return first
    })
    await asked.promise
    const authorised = await run.gateway.payments.get(accepted.referencedId as string)
    assert.equal(authorised.result.code, approved)
    assert.equal(authorised.nextActions, undefined)
    const during = await transaction('commit', accept)
    assert.deepEqual([during.id, during.result.code], [accepted.id, open])
    answered.resolve()
    assert.equal((await decided(accepted)).result.code, '800.100.152')
    const later = await transaction('commit', accept)
    assert.deepEqual([later.id, later.result.code], [accepted.id, '800.100.152'])
    assert.equal(later.nextActions, undefined)
    await until(async () =>
      run.acquirer.of('two-steps-declined').includes('reverse') ? true : undefined,
    )
  })

  describe('follow-ups', () => {
    const refund = (id: string, reference: string, client: pg.PoolClient, amount = '92.00') =>
      run.gateway.payments.acceptFollowUp(
        id,
        { paymentType: 'RF', amount, currency: 'EUR', merchantTransactionId: reference },
        { client },
      )

    test('a refund reserves the amount with the transaction, and gives it back with a rollback', async () => {
      const { id } = await run.debit('refunded')
      await transaction('rollback', (client) => refund(id, 'refund-gone', client))
      assert.equal((await balanceOf(run, id)).refunding, 0n)
      const accepted = await transaction('commit', async (client) => {
        const first = await refund(id, 'refund-kept', client)
        await assert.rejects(refund(id, 'refund-beyond', client), { code: '700.400.200' })
        return first
      })
      assert.equal(accepted.result.code, open)
      const done = await decided(accepted)
      assert.equal(done.result.code, approved)
      assert.equal(done.referencedId, id)
      assert.equal((await balanceOf(run, id)).refunded, 9200n)
      assert.deepEqual(run.acquirer.of('refund-gone'), [])
      assert.deepEqual(run.acquirer.of('refund-kept'), ['refund'])
      await checkBooks(run)
    })

    test('a key makes one refund', async () => {
      const { id } = await run.debit('refunded-by-key')
      const keyed = (client: pg.PoolClient) =>
        run.gateway.payments.acceptFollowUp(
          id,
          {
            paymentType: 'RF',
            amount: '10.00',
            currency: 'EUR',
            merchantTransactionId: 'keyed-rf',
          },
          { client, idempotencyKey: 'refund-1' },
        )
      const first = await transaction('commit', async (client) => {
        const accepted = await keyed(client)
        assert.equal((await keyed(client)).id, accepted.id)
        return accepted
      })
      await decided(first)
      assert.equal((await transaction('commit', keyed)).id, first.id)
      assert.deepEqual(run.acquirer.of('keyed-rf'), ['refund'])
    })
  })
})

describe('a process that was killed between the commit and the send', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer({ role: 'api' })
  })
  after(() => closeChecked(run))

  test('another process sends the payment later, once, although its job was lost', async () => {
    const client = new pg.Client({ connectionString: run.database.url })
    await client.connect()
    await client.query('begin')
    const { card: account, ...fields } = card('4200000000000000')
    const { cvv: _cvv, ...stored } = account
    const request = {
      ...{ ...fields, card: stored, entityId: run.channel },
      ...{ testMode: 'EXTERNAL', merchantTransactionId: 'was-killed' },
    }
    const { id } = await run.gateway.payments.accept(request as never, { client })
    await client.query('commit')
    await client.end()
    assert.deepEqual(run.acquirer.of('was-killed'), [])
    await run.sql("delete from tollgate_boss.job where name = 'charge'")
    await run.sql("update tollgate.timer set due_at = now() where kind = 'queued'")
    await run.another({ role: 'worker' })
    const payment = await until(async () => {
      const now = await run.gateway.payments.get(id)
      return now.result.code === open ? undefined : now
    })
    assert.equal(payment.result.code, approved)
    assert.deepEqual(run.acquirer.of('was-killed'), ['debit'])
    assert.deepEqual(await run.sql("select ref from tollgate.timer where kind = 'queued'"), [])
  })
})

describe('jobs in a transaction of the embedding program', () => {
  test('a job is queued with the commit, and not with a rollback', async () => {
    const done: string[] = []
    const run = await startWithAcquirer({
      jobs: [
        {
          name: 'mail',
          async run({ to }: { to: string }) {
            done.push(to)
          },
        } as never,
      ],
    })
    try {
      const client = new pg.Client({ connectionString: run.database.url })
      await client.connect()
      for (const [to, end] of [
        ['nobody', 'rollback'],
        ['somebody', 'commit'],
      ] as const) {
        await client.query('begin')
        await run.gateway.sendJob('mail', { to }, { client })
        await client.query(end)
      }
      await client.end()
      await until(async () => (done.length > 0 ? true : undefined))
      assert.deepEqual(done, ['somebody'])
    } finally {
      await run.close()
    }
  })
})
