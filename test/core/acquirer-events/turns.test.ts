/** Turns of events whose acquirer takes its time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, type Found, pending, unknown } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { message, processed, sentAgain } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, charged, type LateRun, lose, startLate } from '../../rig/late-words.ts'

/** An acquirer that is down, and once slow, answers each enquiry when the test says so. */
function slowAcquirer() {
  const answers: ((found: Found) => void)[] = []
  return {
    isSlow: false,
    enquire(): Found | Promise<Found> {
      if (!this.isSlow) return unknown('it is down')
      const { promise, resolve } = Promise.withResolvers<Found>()
      answers.push(resolve)
      return promise
    },
    asked: () => answers.length,
    answer(count = answers.length) {
      for (const resolve of answers.slice(0, count)) resolve(unknown('it was down'))
    },
  }
}

type Heard = {
  readonly eventId: string
  readonly at?: Record<string, unknown>
  readonly of: ReturnType<typeof slowAcquirer>
}

/** Unproven events about open payments, processed: enquiries found nothing. Then all are due, and a tick takes them. */
async function dueAgain(run: LateRun, events: readonly Heard[]): Promise<void> {
  // A process that hears of an event works on it, so an own one hears of these and has ended before they are due.
  const hearing = await run.another({ role: 'api', plugins: [run.acquirer.plugin] })
  for (const { eventId, of, at = {} } of events) {
    const { id } = await run.debit(eventId, { debit: lose, enquire: () => of.enquire() }, at)
    await run.dueLater(id)
    const [row] = await run.sql<{ connector: string; account_id: string }>(
      'select connector, account_id from tollgate.payment where id = $1',
      [id],
    )
    const forged = message({ eventId, key: await run.keyOf(id), outcome: approval }, {})
    await sentAgain(hearing.inbound(row!.connector, row!.account_id, forged))
    await processed(run, eventId)
  }
  await hearing.close()
  for (const { of } of events) of.isSlow = true
  await run.sql(
    'update tollgate.inbound_event set processed_at = null, outcome = null, next_at = now()',
  )
}

const some = (count: number, of: Heard['of'], named: string): readonly Heard[] =>
  Array.from({ length: count }, (_, no) => ({ eventId: `${named}-${no}`, of }))

describe('an event that waits for its acquirer', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => run.close())

  test('holds up no other due work, and is worked on once', async () => {
    const slow = slowAcquirer()
    const eventId = 'of-the-slow-one'
    await dueAgain(run, [{ eventId, of: slow }])
    await until(async () => slow.asked() > 0 || undefined)

    const other = await run.debit('quick-acquirer', {
      debit: lose,
      enquire: () => unknown('not yet'),
    })
    run.acquirer.tell('quick-acquirer', { enquire: () => approved({ reference: 'found' }) })
    await run.age(other.id)
    await run.dueNow(other.id)
    await until(async () => (await run.code(other.id)) === charged || undefined)
    assert.equal(slow.asked(), 1)

    slow.answer()
    assert.equal(await processed(run, eventId), 'enquired')
  })

  test('leaves places to other connectors, and gives its own to the next', async () => {
    const several = await startLate({ other: (connector) => connector })
    try {
      const slow = slowAcquirer()
      const other = slowAcquirer()
      const many = limits.eventsOfOneConnector + 2
      await dueAgain(several, [
        ...some(many, slow, 'of-the-slow'),
        { eventId: 'of-another', of: other, at: several.at('other') },
      ])
      await until(async () => other.asked() === 1 || undefined)
      await until(async () => slow.asked() >= limits.eventsOfOneConnector || undefined)
      assert.equal(slow.asked(), limits.eventsOfOneConnector)
      slow.answer(1)
      await until(async () => slow.asked() > limits.eventsOfOneConnector || undefined)
      assert.equal(slow.asked(), limits.eventsOfOneConnector + 1)
      other.answer()
      slow.answer()
      await until(async () => slow.asked() === many || undefined)
      slow.answer()
    } finally {
      await several.close()
    }
  })

  for (const [name, headers] of [
    ['proven', undefined],
    ['unproven', {}],
  ] as const) {
    test(`that comes while the engine asks leads to a question of its own: ${name}`, async () => {
      const reference = `while-it-asks-${name}`
      const answer = Promise.withResolvers<Found>()
      let asked = 0
      const { id } = await run.debit(reference, {
        debit: (_, context) => {
          context.sending()
          return pending('event', { refs: { reference: 'open' } })
        },
        enquire: () => {
          asked += 1
          return asked === 1 ? answer.promise : approved({ reference: 'open' })
        },
      })
      const key = await run.keyOf(id)
      await run.sql(
        `insert into tollgate.timer (id, due_at, kind, ref) values (gen_random_uuid(), now(), 'look', $1)
         on conflict (kind, ref) do update set due_at = now()`,
        [key],
      )
      await until(async () => asked === 1 || undefined)
      // The acquirer's answer is fixed. Now the shopper pays, and the acquirer says that something happened.
      const said = name === 'proven' ? unknown('it says nothing of the outcome') : approval
      const eventId = `event-${reference}`
      const told = message({ eventId, key, outcome: said }, headers)
      const bringing = run.gateway.inbound('scripted', run.account, told)
      await (name === 'proven' ? bringing : sentAgain(bringing))
      await until(async () => {
        const [row] = await run.sql<{ waits: number }>(
          'select waits from tollgate.inbound_event where event_id = $1',
          [eventId],
        )
        return row!.waits > 0 || undefined
      })
      answer.resolve(pending('event', { refs: { reference: 'open' } }))
      assert.equal(await processed(run, eventId), 'enquired')
      assert.equal(await run.code(id), charged)
    })
  }

  test('does not fail by a database that has no room, and comes back', async () => {
    const slow = slowAcquirer()
    const eventId = 'without-any-room'
    await run.sql(`create function no_room() returns trigger language plpgsql as $$
      begin raise exception 'no room' using errcode = '53100'; end $$`)
    await dueAgain(run, [{ eventId, of: slow }])
    await until(async () => slow.asked() === 1 || undefined)
    await run.sql(`create trigger no_room before update on tollgate.inbound_event for each row
      when (new.event_id = '${eventId}' and new.processed_at is not null)
      execute function no_room()`)
    const tracked = run.acquirer.of(eventId).length
    slow.answer()
    // The turn of the event is over when it can be taken again.
    await until(async () => {
      await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
        eventId,
      ])
      slow.answer()
      return run.acquirer.of(eventId).length > tracked || undefined
    })
    await run.sql('drop trigger no_room on tollgate.inbound_event; drop function no_room()')
    await until(async () => {
      slow.answer()
      await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
        eventId,
      ])
      const [row] = await run.sql<{ outcome: string | null; tries: number }>(
        'select outcome, tries from tollgate.inbound_event where event_id = $1',
        [eventId],
      )
      if (row!.outcome !== null) assert.deepEqual(row, { outcome: 'enquired', tries: 0 })
      return row!.outcome === null ? undefined : true
    })
  })

  test('of many that are due, a process that ends takes no further ones', async () => {
    const ending = await startLate()
    try {
      const slow = slowAcquirer()
      await dueAgain(ending, some(2 * limits.eventsOfOneConnector, slow, 'at-the-end'))
      await until(async () => slow.asked() === limits.eventsOfOneConnector || undefined)
      const ended = ending.gateway.close()
      await until(() =>
        ending.pay().then(
          () => undefined,
          ({ status }) => status === 503 || undefined,
        ),
      )
      slow.answer()
      await ended
      assert.equal(slow.asked(), limits.eventsOfOneConnector)
    } finally {
      await ending.close()
    }
  })
})
