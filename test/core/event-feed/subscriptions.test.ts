/** A subscription hands every event to its handler once, in order, over any number of processes and starts. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type EventView,
  GatewayError,
  type Subscription,
  type SubscriptionHandler,
} from '../../../core/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { olderTransactionsEnd } from '../../rig/older-transactions.ts'

describe('subscriptions', () => {
  let run: TestGateway

  before(async () => {
    run = await startGateway({ pool: {} })
    await run.sql('create table shop_event (name text, event_id text, payment_id text, no serial)')
  })
  after(() => run.close())

  /** Writes each event with the client of its transaction. */
  const noted =
    (name: string): SubscriptionHandler =>
    async (event, { client }) => {
      await client.query(
        'insert into shop_event (name, event_id, payment_id) values ($1, $2, $3)',
        [name, event.id, event.payload.id],
      )
    }

  async function paymentsOf(name: string): Promise<string[]> {
    const rows = await run.sql<{ payment_id: string }>(
      'select payment_id from shop_event where name = $1 order by no',
      [name],
    )
    return rows.map(({ payment_id: id }) => id)
  }

  const heard = (name: string, count: number) =>
    until(async () => {
      const payments = await paymentsOf(name)
      return payments.length >= count ? payments : undefined
    })

  async function pay(count: number): Promise<string[]> {
    const ids: string[] = []
    for (let no = 0; no < count; no += 1) ids.push((await run.pay()).id)
    return ids
  }

  test('a handler gets the events from its start on, in order, with their payload', async () => {
    await pay(1)
    await olderTransactionsEnd(run)
    const events: EventView[] = []
    await using subscription = await run.gateway.subscribe('orders', (event) => {
      events.push(event)
    })
    assert.ok(subscription)
    const paid = await pay(3)
    await until(async () => (events.length >= 3 ? true : undefined))
    assert.deepEqual(
      events.map(({ type, payload }) => [type, payload.id]),
      paid.map((id) => ['PAYMENT', id]),
    )
  })

  test('events from the time without a process come later, and none comes twice', async () => {
    const first = await run.gateway.subscribe('later', noted('later'))
    const before = await pay(2)
    await heard('later', 2)
    await first.close()
    const between = await pay(3)
    assert.deepEqual(await paymentsOf('later'), before)
    await using second = await run.gateway.subscribe('later', noted('later'), { from: 'now' })
    assert.ok(second)
    const afterwards = await pay(1)
    assert.deepEqual(await heard('later', 6), [...before, ...between, ...afterwards])
  })

  test('a new subscription can begin with the first event of all', async () => {
    const [first] = await run.sql<{ resource: string }>(
      "select resource from tollgate.event where type like 'payment.%' order by txid, seq, id limit 1",
    )
    await using all = await run.gateway.subscribe('all', noted('all'), { from: 'beginning' })
    assert.ok(all)
    assert.equal((await heard('all', 1))[0], first!.resource)
  })

  test('a failed handler writes nothing and gets the same event again, before the next one', async () => {
    const tries: string[] = []
    let broken = 2
    await using subscription = await run.gateway.subscribe('broken', async (event, context) => {
      tries.push(event.payload.id)
      await noted('broken')(event, context)
      if (broken > 0) {
        broken -= 1
        if (broken === 1) throw new Error('no order has card 4200000000000000')
        await context.client.query(`select 'a value of a row'::integer`)
      }
    })
    assert.ok(subscription)
    const [one, two] = await pay(2)
    assert.deepEqual(await heard('broken', 2), [one, two])
    assert.deepEqual(tries, [one, one, one, two])
    const lines = run.logs.filter(({ fields }) => fields.subscription === 'broken')
    assert.deepEqual(
      lines.map(({ level, fields }) => [level, fields.error, fields.attempt, fields.reason]),
      [
        ['warn', 'Error', 1, 'no order has card ************0000'],
        ['warn', 'error', 2, undefined],
      ],
    )
    for (const { fields } of lines) {
      assert.equal(fields.type, 'PAYMENT')
      const event = await run.gateway.events.get(String(fields.event))
      assert.equal((event.payload as { id: string }).id, one)
    }
    assert.doesNotMatch(JSON.stringify(run.logs), /a value of a row|42000000/)
  })

  /** Resolves when another process has tried to handle an event since `at`. */
  const otherTried = (pid: number, at: Date) =>
    until(async () => {
      const [row] = await run.sql(
        `select pid from pg_stat_activity
        where application_name = 'tollgate program' and datname = current_database() and pid <> $1
          and query_start >= $2`,
        [pid, at],
      )
      return row
    })

  test('of two processes with one name, one handles each event while the other waits', async () => {
    const other = await run.another()
    const entered: string[] = []
    const handler: SubscriptionHandler = async (event, context) => {
      entered.push(event.payload.id)
      const { rows } = await context.client.query(
        'select pg_backend_pid() as pid, clock_timestamp() as at',
      )
      if (entered.length === 1) await otherTried(rows[0].pid, rows[0].at)
      await noted('shared')(event, context)
    }
    const running: Subscription[] = []
    for (const gateway of [run.gateway, other]) {
      running.push(await gateway.subscribe('shared', handler))
    }
    const paid = await pay(6)
    assert.deepEqual(await heard('shared', 6), paid)
    for (const subscription of running) await subscription.close()
    assert.deepEqual(entered, paid)
    assert.deepEqual(await paymentsOf('shared'), paid)
    await other.close()
  })

  test('each name gets all events', async () => {
    await using first = await run.gateway.subscribe('first-name', noted('first-name'))
    await using second = await run.gateway.subscribe('second-name', noted('second-name'))
    assert.ok(first !== second)
    const paid = await pay(3)
    assert.deepEqual(await heard('first-name', 3), paid)
    assert.deepEqual(await heard('second-name', 3), paid)
  })

  test('a subscription of some types gets only these', async () => {
    const types: string[] = []
    await using subscription = await run.gateway.subscribe(
      'registrations',
      ({ type }) => {
        types.push(type)
      },
      { types: ['REGISTRATION'] },
    )
    assert.ok(subscription)
    await run.pay()
    await run.pay({ createRegistration: 'true' })
    await until(async () => (types.length > 0 ? true : undefined))
    assert.deepEqual(types, ['REGISTRATION'])
  })

  test('statements that a failed handler left to themselves write nothing', async () => {
    const left: Promise<unknown>[] = []
    let tries = 0
    await using subscription = await run.gateway.subscribe('left', async (event, { client }) => {
      tries += 1
      const note = (id: string) =>
        client.query('insert into shop_event (name, event_id) values ($1, $2)', ['left', id])
      if (tries > 1) return void (await note(event.id))
      for (let no = 0; no < 20; no += 1) left.push(note(`left ${no}`))
      const all = Promise.all(left)
      all.catch(() => {})
      await Promise.all([all, Promise.reject(new Error('another branch failed'))])
    })
    assert.ok(subscription)
    await pay(1)
    await heard('left', 1)
    const ends = await Promise.allSettled(left)
    assert.ok(
      ends.some((end) => end.status === 'rejected' && end.reason.name === 'TransactionOver'),
    )
    const rows = await run.sql<{ event_id: string }>(
      "select event_id from shop_event where name = 'left'",
    )
    assert.equal(rows.length, 1)
    assert.doesNotMatch(rows[0]!.event_id, /^left/)
  })

  test('a handler that ends before its statements fails, and the log says so', async () => {
    let tries = 0
    const left: Promise<unknown>[] = []
    await using subscription = await run.gateway.subscribe('unfinished', async (event, context) => {
      tries += 1
      const noting = Promise.all([
        noted('unfinished')(event, context),
        noted('unfinished')(event, context),
      ])
      if (tries > 1) return void (await noting)
      left.push(noting.catch((error) => error.name))
    })
    assert.ok(subscription)
    const [id] = await pay(1)
    assert.deepEqual(await heard('unfinished', 1), [id, id])
    assert.deepEqual(await Promise.all(left), ['TransactionOver'])
    const lines = run.logs.filter(({ fields }) => fields.subscription === 'unfinished')
    assert.deepEqual(
      lines.map(({ fields }) => fields.error),
      ['UnfinishedStatements'],
    )
  })

  /** A handler that takes `count` events, and then none any more. */
  const stopsAfter = (name: string, count: number): SubscriptionHandler => {
    let taken = 0
    return async (event, context) => {
      if (taken === count) throw new Error('the process stops here')
      await noted(name)(event, context)
      taken += 1
    }
  }

  /** Four payments on one page behind the start of a subscription; the third one stores its account. */
  async function pageOf(name: string): Promise<string[]> {
    await olderTransactionsEnd(run)
    await (await run.gateway.subscribe(name, () => {})).close()
    const paid = await pay(2)
    paid.push((await run.pay({ createRegistration: 'true' })).id, ...(await pay(1)))
    await olderTransactionsEnd(run)
    return paid
  }

  test('other types in the middle of a page repeat no event and skip none', async () => {
    for (const taken of [1, 3, 4]) {
      const name = `types-after-${taken}`
      const paid = await pageOf(name)
      const first = await run.gateway.subscribe(name, stopsAfter(name, taken))
      const before = await heard(name, taken)
      await first.close()
      await using second = await run.gateway.subscribe(name, noted(name), { types: ['PAYMENT'] })
      assert.ok(second)
      const last = await run.pay()
      await until(async () => ((await paymentsOf(name)).includes(last.id) ? true : undefined))
      const left = [...paid, last.id].filter((id) => !before.includes(id))
      assert.deepEqual(await paymentsOf(name), [...before, ...left])
      const handled = await run.sql('select event_id from shop_event where name = $1', [name])
      assert.equal(new Set(handled.map((row) => row.event_id)).size, handled.length)
    }
  })

  test('a registration comes although its payment was the last event of a stopped process', async () => {
    const paid = await pageOf('within')
    const first = await run.gateway.subscribe('within', stopsAfter('within', 3))
    await heard('within', 3)
    await first.close()
    await using second = await run.gateway.subscribe('within', noted('within'))
    assert.ok(second)
    const handled = await heard('within', 5)
    assert.equal(new Set(handled).size, 5)
    assert.deepEqual([handled[0], handled[1], handled[2], handled[4]], paid)
  })

  test('the position of an earlier version continues behind the event that it names', async () => {
    const paid = await pageOf('older')
    const [start] = await run.sql<{ cursor: string }>(
      "select cursor from tollgate.subscription where name = 'older'",
    )
    const first = await run.gateway.subscribe('older', stopsAfter('older', 2))
    await heard('older', 2)
    await first.close()
    const [second] = await run.sql<{ event_id: string }>(
      "select event_id from shop_event where name = 'older' order by no desc limit 1",
    )
    await run.sql(
      "update tollgate.subscription set cursor = $1, handled = $2 where name = 'older'",
      [start!.cursor, second!.event_id],
    )
    await using next = await run.gateway.subscribe('older', noted('older'), { types: ['PAYMENT'] })
    assert.ok(next)
    assert.deepEqual(await heard('older', 4), paid)
  })

  test('a second close leaves a newer subscription of the name alone', async () => {
    const first = await run.gateway.subscribe('closed-twice', () => {})
    await first.close()
    await using second = await run.gateway.subscribe('closed-twice', () => {})
    assert.ok(second)
    await first.close()
    await assert.rejects(
      run.gateway.subscribe('closed-twice', () => {}),
      { code: '200.300.404' },
    )
  })

  test('a closing gateway lets the handler of the running event finish', async () => {
    const other = await run.another()
    const entered = Promise.withResolvers<void>()
    const free = Promise.withResolvers<void>()
    await other.subscribe('closing', async (event, context) => {
      entered.resolve()
      await free.promise
      await noted('closing')(event, context)
    })
    const [id] = await pay(2)
    await entered.promise
    const closed = other.close()
    free.resolve()
    await closed
    assert.deepEqual(await paymentsOf('closing'), [id])
    await using next = await run.gateway.subscribe('closing', noted('closing'))
    assert.ok(next)
    assert.equal((await heard('closing', 2)).length, 2)
  })

  test('a handler that gives up when its gateway closes is no failure in the log', async () => {
    const other = await run.another()
    const entered = Promise.withResolvers<void>()
    await other.subscribe('gives-up', async (_, { signal }) => {
      entered.resolve()
      await new Promise((_done, fail) =>
        signal.addEventListener('abort', () => fail(signal.reason)),
      )
    })
    await pay(1)
    await entered.promise
    await other.close()
    assert.deepEqual(
      run.logs.filter(({ fields }) => fields.subscription === 'gives-up'),
      [],
    )
  })

  test('a closing gateway tells the handler of the running event', async () => {
    const other = await run.another()
    const entered = Promise.withResolvers<void>()
    const told: boolean[] = []
    await other.subscribe('told', async (_, { signal }) => {
      entered.resolve()
      await new Promise<void>((done) => {
        signal.addEventListener('abort', () => {
          told.push(true)
          done()
        })
      })
    })
    await pay(1)
    await entered.promise
    await other.close()
    assert.deepEqual(told, [true])
  })

  test('an outage does not slow down the tries after it', async () => {
    let tries = 0
    let began = 0
    await using subscription = await run.gateway.subscribe('outage', async (_, { client }) => {
      tries += 1
      began ||= performance.now()
      if (tries <= 4) await client.query('select pg_terminate_backend(pg_backend_pid())')
    })
    assert.ok(subscription)
    await pay(1)
    await until(async () => (tries === 5 ? true : undefined))
    // Growing pauses would take 15 s.
    assert.ok(performance.now() - began < 12_000, `${performance.now() - began} ms`)
  })

  test('the transaction of a handler is not its own to end', async () => {
    let tries = 0
    const refusals: string[] = []
    await using subscription = await run.gateway.subscribe(
      'ends-itself',
      async (event, context) => {
        tries += 1
        await noted('ends-itself')(event, context)
        const { client } = context
        const texts = [
          ...[
            'commit',
            ' COMMIT and chain',
            'begin',
            'start transaction',
            'rollback',
            'END',
            'abort',
          ],
          "insert into shop_event (name) values ('ends-itself'); commit",
          '-- a comment\n/* and another */ commit',
          "prepare transaction 'x'",
        ]
        for (const text of texts) {
          await client.query(text).catch((error: Error) => refusals.push(error.name))
          await client.query({ text }).catch((error: Error) => refusals.push(error.name))
        }
        if (tries === 1) throw new Error('the shop is closed')
        await client.query("select 'x; commit', $$; rollback; end$$, e'\\'; commit' /* ; commit */")
        await client.query('savepoint mine; rollback to savepoint mine; rollback work to mine')
        await client.query('release savepoint mine')
      },
    )
    assert.ok(subscription)
    const [id] = await pay(1)
    assert.deepEqual(await heard('ends-itself', 1), [id])
    assert.equal(tries, 2)
    assert.equal(refusals.length, 40)
    assert.deepEqual(new Set(refusals), new Set(['NotYourTransaction']))
  })

  test('wrong arguments are refused by name', async () => {
    const { gateway } = run
    const handler = () => {}
    const refused = (name: string) => (error: unknown) =>
      error instanceof GatewayError && error.parameterErrors[0]?.name === name
    await assert.rejects(gateway.subscribe('', handler), refused('name'))
    await assert.rejects(gateway.subscribe('a name', handler), refused('name'))
    await assert.rejects(gateway.subscribe('x', 'no' as never), refused('handler'))
    await assert.rejects(gateway.subscribe('x', handler, { types: [] }), refused('types'))
    await assert.rejects(
      gateway.subscribe('x', handler, { types: ['PAYMENTS' as never] }),
      refused('types'),
    )
    await assert.rejects(
      gateway.subscribe('x', handler, { from: 'then' as never }),
      refused('from'),
    )
    await using once = await gateway.subscribe('once', handler)
    assert.ok(once)
    await assert.rejects(gateway.subscribe('once', handler), refused('name'))
  })
})
