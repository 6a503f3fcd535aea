/** Incoming messages of acquirers: their proof, their storage and their order. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type Connector,
  type Context,
  definePlugin,
  type Inbound,
  type Operation,
  Sensitive,
  unknown,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { systemClock } from '../../../core/clock.ts'
import type { Sql } from '../../../core/db/sql.ts'
import type { Engine } from '../../../core/engine.ts'
import { housekeeping } from '../../../core/jobs/housekeeping.ts'
import { maskCardNumbers } from '../../../core/redaction/mask.ts'
import {
  type AcquirerRun,
  message,
  processed,
  proof,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'

const charged = '000.100.112'
const card = '4200000000000000'
const approval = { is: 'approved', refs: { reference: 'by-event' } }
const failure = { is: 'declined', reason: '800.100.203', refs: {} }
const chargeback = { is: 'chargeback', reason: '000.100.220', refs: { case: 'c-1' } }

const lost = (_: Operation, context: Context) => {
  context.sending()
  return unknown('the line went dead')
}

type Reads = NonNullable<Connector['inbound']>
type Row = { tries: number; waits: number; outcome: string | null; open: boolean; claim: unknown }
type Entry = {
  id: string
  kind: string
  reference: string
  payment_id: string | null
  detail: object
}

/** A number that begins with `from`, ends with `end` and has a valid check digit. */
function luhnWithEnd(from: string, end: string): string {
  const head = from.slice(0, 11)
  for (let digit = 0; digit < 10; digit += 1) {
    const number = `${head}${digit}${end}`
    if (maskCardNumbers(number) !== number) return number
  }
  throw new Error('no digit fits')
}

describe('messages of acquirers', () => {
  let run: AcquirerRun
  /** Overrides of the connector for its next messages. */
  let wrong: Partial<Reads> = {}
  before(async () => {
    const acquirer = scriptedAcquirer()
    const [connector] = acquirer.plugin.connectors!
    const { verify, parse } = connector!.inbound!
    const inbound: Reads = {
      verify: (one, context) => (wrong.verify ?? verify)(one, context),
      parse: (one) => (wrong.parse ?? parse)(one),
    }
    const plugin = definePlugin({ ...acquirer.plugin, connectors: [{ ...connector!, inbound }] })
    run = await startWithAcquirer({
      acquirer: { ...acquirer, plugin },
      connectorTimeoutMs: 1_000,
    })
  })
  after(() => closeChecked(run))

  const tell = (one: Inbound) => run.gateway.inbound(scriptedName, run.account, one)
  const forged = (about: Parameters<typeof message>[0]) => message(about, {})
  const doing = async (instead: Partial<Reads>, work: () => Promise<unknown>) => {
    wrong = instead
    try {
      await work()
    } finally {
      wrong = {}
    }
  }
  const rowOf = async (eventId: string): Promise<Row | undefined> => {
    const [row] = await run.sql<Row>(
      `select tries, waits, outcome, processed_at is null as open, claim
       from tollgate.inbound_event where event_id = $1`,
      [eventId],
    )
    return row
  }
  const listed = async (eventId: string): Promise<Entry[]> =>
    run.sql<Entry>(
      `select id, kind, reference, payment_id, detail from tollgate.attention
       where detail ->> 'event' = $1 and resolved_at is null`,
      [eventId],
    )
  /** Stores a claim like a process that ended before it processed the claim. */
  const stored = (
    eventId: string,
    claim: object,
    { received = 'now()', due = 'now()', waits = 0 } = {},
  ) =>
    run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, received_at, next_at, waits)
       values ($1, $2, $3, $4, ${received}, ${due}, $5)`,
      [
        scriptedName,
        run.account,
        eventId,
        JSON.stringify({ verified: true, minor: '9200', currency: 'EUR', ...claim }),
        waits,
      ],
    )
  const due = (eventId: string) =>
    run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [eventId])
  const execute = ({ strings, values }: Sql) =>
    run.sql(
      strings.reduce((all, part, index) => `${all}$${index}${part}`),
      values,
    )
  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code

  describe('unproven messages', () => {
    test('a forged message with the same event id does not suppress a proven chargeback', async () => {
      const { id } = await run.debit('suppressed')
      const key = await run.keyOf(id)
      await tell(forged({ eventId: 'evt-1', key: 'guessed', outcome: failure }))
      assert.equal(await processed(run, 'evt-1'), 'unknown-key')
      await tell(message({ eventId: 'evt-1', key, outcome: chargeback }))
      await until(async () => (await rowOf('evt-1'))?.outcome === 'recorded' || undefined)
      const records = await run.sql<{ payment_type: string }>(
        'select payment_type from tollgate.payment where parent_id = $1',
        [id],
      )
      assert.deepEqual(records, [{ payment_type: 'CB' }])
      await tell(forged({ eventId: 'evt-1', key: 'guessed', outcome: failure }))
      assert.equal((await rowOf('evt-1'))?.outcome, 'recorded')
      assert.deepEqual(await listed('evt-1'), [], 'unproven messages cannot fill the list')
    })

    test('an unproven message under way does not close a proven one that arrives meanwhile', async () => {
      const asked = Promise.withResolvers<void>()
      const answer = Promise.withResolvers<void>()
      const { id } = await run.debit('overtaken', {
        debit: lost,
        enquire: async () => {
          asked.resolve()
          await answer.promise
          return unknown('it is down')
        },
      })
      const key = await run.keyOf(id)
      await tell(forged({ eventId: 'evt-2', key, outcome: failure }))
      await asked.promise
      await tell(message({ eventId: 'evt-2', key, outcome: approval }))
      answer.resolve()
      assert.equal(await processed(run, 'evt-2'), 'settled')
      assert.equal(await code(id), charged)
    })

    test('unproven messages are limited for each account, proven ones never', async () => {
      await run.sql(
        `insert into tollgate.inbound_event (connector, account, event_id, claim, processed_at, outcome)
         select $1, $2, 'flood-' || n, '{"key":"x","verified":false}', now(), 'unknown-key'
         from generate_series(1, $3) as n`,
        [scriptedName, run.account, limits.unverifiedEvents],
      )
      const about = { eventId: 'evt-3', key: 'nobody', outcome: failure }
      await assert.rejects(tell(forged(about)), (error: { status: number }) => {
        assert.equal(error.status, 429)
        assert.ok('retryAfterSeconds' in error && Number(error.retryAfterSeconds) > 0)
        return true
      })
      assert.equal(await rowOf('evt-3'), undefined)
      await tell(message(about))
      assert.equal(await processed(run, 'evt-3'), 'unknown-key')
      await run.sql(
        `update tollgate.inbound_event set received_at = now() - interval '1 hour'
         where event_id like 'flood-%'`,
      )
      await tell(forged({ ...about, eventId: 'evt-4' }))
      assert.equal(await processed(run, 'evt-4'), 'unknown-key')
    })

    test('unproven messages are deleted after days, proven ones after years', async () => {
      const old = (days: number) => `now() - interval '${days} days'`
      const made = async (eventId: string, verified: boolean, days: number, outcome: string) => {
        await stored(eventId, { key: eventId, verified, outcome: failure }, { due: `'infinity'` })
        await run.sql(
          `update tollgate.inbound_event
           set received_at = ${old(days)}, processed_at = ${old(days)}, outcome = $2
           where event_id = $1`,
          [eventId, outcome],
        )
      }
      await made('purge-forged', false, 4, 'known')
      await made('purge-fresh', false, 2, 'known')
      await made('purge-known', true, 1_000, 'settled')
      await made('purge-old', true, 1_200, 'settled')
      await made('purge-aside', true, 1_200, 'quarantined')
      const lanes = { single: execute, upkeep: execute }
      await housekeeping.run({}, {
        lanes,
        steps: { days: 90 },
        clock: systemClock,
      } as unknown as Engine)
      const left = await run.sql<{ event_id: string }>(
        `select event_id from tollgate.inbound_event where event_id like 'purge-%' order by 1`,
      )
      assert.deepEqual(
        left.map((row) => row.event_id),
        ['purge-aside', 'purge-fresh', 'purge-known'],
      )
    })
  })

  describe('messages of another account', () => {
    let other: string
    before(async () => {
      const channelId = await run.gateway.entities.create({
        kind: 'channel',
        name: 'Other',
        parentId: run.merchant,
      })
      other = await run.gateway.entities.createAccount({
        channelId,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
    })
    const byOther = (about: Parameters<typeof message>[0], headers?: Record<string, string>) =>
      run.gateway.inbound(scriptedName, other, message(about, headers))

    test("a message that names another account's payment changes nothing, and a proven one is listed", async () => {
      const { id } = await run.debit('of-another', { debit: lost })
      const key = await run.keyOf(id)
      await byOther({ eventId: 'other-0', key, outcome: chargeback }, {})
      assert.equal(await processed(run, 'other-0'), 'other-account')
      assert.deepEqual(await listed('other-0'), [])
      await byOther({ eventId: 'other-1', key, outcome: chargeback })
      assert.equal(await processed(run, 'other-1'), 'other-account')
      const [entry, ...more] = await listed('other-1')
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.equal(entry?.payment_id, null)
      assert.equal(entry?.reference, `${scriptedName} ${other} other-1`)
      assert.deepEqual(entry?.detail, {
        connector: scriptedName,
        account: other,
        event: 'other-1',
        key,
        why: 'it names a payment of another account',
        said: 'chargeback',
        minor: '9200',
        currency: 'EUR',
      })
    })

    test('a message of another account adds no entry to the payment and suppresses no genuine one', async () => {
      const { id } = await run.debit('attached-to')
      const about = { eventId: 'other-2', key: await run.keyOf(id), outcome: 'nonsense' }
      await byOther(about)
      await tell(message(about))
      const entries = await listed('other-2')
      assert.deepEqual(
        entries.map((entry) => [entry.payment_id, entry.reference.replace(/ says .*$/, '')]),
        [
          [null, `${scriptedName} ${other} other-2`],
          [id, 'other-2'],
        ],
      )
    })
  })

  describe('a reference that looks like a card number', () => {
    test('a reference is stored masked and stays distinct from similar ones', async () => {
      const one = await run.debit('reference-one')
      const two = await run.debit('reference-two')
      // Both have valid check digits and the same end.
      const references = ['4200000000000000', '5500000000000000'].map((from) =>
        luhnWithEnd(from, '0000'),
      )
      for (const [index, { id }] of [one, two].entries()) {
        const told = {
          eventId: `reference-${index}`,
          key: await run.keyOf(id),
          outcome: chargeback,
          reference: references[index]!,
        }
        await tell(message(told))
        assert.equal(await processed(run, `reference-${index}`), 'recorded')
        await tell(message({ ...told, eventId: `reference-again-${index}` }))
        assert.equal(await processed(run, `reference-again-${index}`), 'known')
      }
      const stored = await run.sql<{ reference: string }>(
        `select reference from tollgate.chargeback where payment_id = any($1)`,
        [[one.id, two.id]],
      )
      assert.equal(stored.length, 2)
      for (const { reference } of stored) assert.match(reference, /^\*{12}0000#[0-9a-f]{64}$/)
      const kept = JSON.stringify(await run.sql('select claim from tollgate.inbound_event'))
      for (const reference of references) assert.ok(!kept.includes(reference))
    })
  })

  describe('repeated event ids', () => {
    test("a stranger's event id suppresses no unproven message of the acquirer", async () => {
      const { id } = await run.debit('taken-id', {
        debit: lost,
        enquire: () => ({ is: 'approved', refs: { reference: 'asked' } }),
      })
      const key = await run.keyOf(id)
      await tell(forged({ eventId: 'taken-1', key: 'guessed', outcome: failure }))
      assert.equal(await processed(run, 'taken-1'), 'unknown-key')
      await tell(forged({ eventId: 'taken-1', key, outcome: approval }))
      assert.equal(await processed(run, `taken-1 ${key}`), 'enquired')
      assert.equal(await code(id), charged)
      const asked = run.acquirer.of('taken-id').length
      await tell(forged({ eventId: 'taken-1', key, outcome: approval }))
      const rows = await run.sql('select 1 from tollgate.inbound_event where event_id like $1', [
        'taken-1%',
      ])
      assert.equal(rows.length, 2)
      assert.equal(run.acquirer.of('taken-id').length, asked)
    })

    test('other content under an event id is listed once, the same content changes nothing', async () => {
      const { id } = await run.debit('contents', { debit: lost })
      const key = await run.keyOf(id)
      await tell(message({ eventId: 'same-1', key, outcome: approval }))
      await processed(run, 'same-1')
      await tell(message({ eventId: 'same-1', key, outcome: approval }))
      assert.deepEqual(await listed('same-1'), [])
      const other = { ...failure, text: `card ${card}` }
      await tell(message({ eventId: 'same-1', key, outcome: other }))
      const [entry, ...more] = await listed('same-1')
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.match(entry!.reference, /^same-1 says [0-9a-f]{16}$/)
      assert.equal(entry?.payment_id, id)
      assert.match(JSON.stringify(entry?.detail), /declined.*0000/)
      assert.doesNotMatch(JSON.stringify(entry?.detail), new RegExp(card))
      await run.sql(
        `update tollgate.attention set resolved_at = now() where detail ->> 'event' = 'same-1'`,
      )
      await tell(message({ eventId: 'same-1', key, outcome: other }))
      assert.deepEqual(
        await listed('same-1'),
        [],
        'the content stays known after its entry was closed',
      )
      await tell(message({ eventId: 'same-1', key, outcome: approval, minor: '1' }))
      assert.equal((await listed('same-1')).length, 1, 'a third content has its own entry')
      assert.equal(await code(id), charged)
    })
  })

  describe('the order of processing', () => {
    test('an event that fails blocks no other, is quarantined, and can be retried', async () => {
      const bad = await run.debit('with-poison')
      const good = await run.debit('beside-poison', { debit: lost })
      const broken = { key: await run.keyOf(bad.id), outcome: chargeback, minor: 'none' }
      await stored('poison-1', broken, { received: `now() - interval '1 hour'` })
      await stored('beside-1', { key: await run.keyOf(good.id), outcome: approval })
      assert.equal(await processed(run, 'beside-1'), 'settled')
      const failed = (tries: number) =>
        until(async () => ((await rowOf('poison-1'))?.tries === tries ? true : undefined))
      await failed(1)
      await due('poison-1')
      await failed(2)
      assert.deepEqual(await listed('poison-1'), [])
      await due('poison-1')
      await failed(3)
      assert.equal((await rowOf('poison-1'))?.outcome, 'quarantined')
      const [entry, ...more] = await listed('poison-1')
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.equal(entry?.reference, 'poison-1')
      assert.equal(entry?.payment_id, bad.id)
      await run.sql(
        `update tollgate.inbound_event set claim = jsonb_set(claim, '{minor}', '"9200"')
         where event_id = 'poison-1'`,
      )
      const alice = { by: 'alice', reason: 'the connector is mended' }
      await run.gateway.operator.retry(entry!.id, alice)
      await until(async () => (await rowOf('poison-1'))?.outcome === 'recorded' || undefined)
      await assert.rejects(
        run.gateway.operator.retry(entry!.id, alice),
        /^GatewayError: alice already took this entry/,
      )
      assert.equal((await rowOf('poison-1'))?.open, false, 'a processed event is not retried')
    })

    test('pauses between waits grow, and a wait is not a failure', async () => {
      const { id } = await run.debit('event-waits', {
        debit: async (operation, context) => {
          context.sending()
          await tell(message({ eventId: 'waits-1', key: operation.key, outcome: approval }))
          const waited = (most: number) =>
            until(async () => {
              const [row] = await run.sql<{ pause: number; tries: number }>(
                `select extract(epoch from next_at - now())::double precision as pause, tries
                 from tollgate.inbound_event where event_id = 'waits-1' and waits = ${most}`,
              )
              return row
            })
          const first = await waited(1)
          assert.ok(first.pause > 0 && first.pause <= 1, String(first.pause))
          await run.sql(
            `update tollgate.inbound_event set waits = 12, next_at = now() where event_id = 'waits-1'`,
          )
          // Each arrival about an operation also processes its due events.
          await tell(message({ eventId: 'waits-2', key: operation.key, outcome: approval }))
          const later = await waited(13)
          assert.ok(later.pause > 60, String(later.pause))
          assert.equal(later.tries, 0)
          await due('waits-1')
          return { is: 'approved', refs: { id: '1' } }
        },
      })
      assert.equal(await code(id), charged)
      assert.equal(await processed(run, 'waits-1'), 'known')
    })

    test('events of one operation are processed in order of arrival, and others do not wait', async () => {
      const one = await run.debit('in-order', { debit: lost })
      const other = await run.debit('out-of-order', { debit: lost })
      const key = await run.keyOf(one.id)
      const earlier = { received: `now() - interval '1 minute'`, due: `now() + interval '1 hour'` }
      await stored('order-1', { key, outcome: approval }, { ...earlier, waits: 1 })
      await stored('order-2', { key, outcome: failure })
      await tell(message({ eventId: 'order-3', key, outcome: failure }))
      await stored('order-4', { key: await run.keyOf(other.id), outcome: approval })
      assert.equal(await processed(run, 'order-4'), 'settled')
      assert.equal((await rowOf('order-2'))?.open, true)
      assert.equal((await rowOf('order-3'))?.open, true)
      await due('order-1')
      assert.equal(await processed(run, 'order-1'), 'settled')
      assert.notEqual(await processed(run, 'order-2'), 'settled')
      assert.notEqual(await processed(run, 'order-3'), 'settled')
      assert.equal(await code(one.id), charged)
    })

    test('unproven events and reversals without their chargeback let later events pass', async () => {
      const { id } = await run.debit('let-pass-by')
      const key = await run.keyOf(id)
      const waiting = { received: `now() - interval '1 minute'`, due: `now() + interval '1 hour'` }
      const back = { ...chargeback, is: 'chargebackReversal' }
      await stored('pass-1', { key, outcome: failure, verified: false }, waiting)
      await stored('pass-2', { key, outcome: back }, { ...waiting, waits: 1 })
      await tell(message({ eventId: 'pass-3', key, outcome: chargeback }))
      assert.equal(await processed(run, 'pass-3'), 'recorded')
      assert.equal((await rowOf('pass-1'))?.open, true)
      assert.equal((await rowOf('pass-2'))?.open, true)
    })
  })

  describe('malformed messages', () => {
    const money = { minor: 9200n, currency: 'EUR' }
    const whole = { key: 'malformed', outcome: approval, amount: money }
    const malformed: Record<string, unknown> = {
      nothing: undefined,
      'no claim': `paid with ${card}`,
      'an amount that is null': { ...whole, amount: null },
      'an amount that is a number': { ...whole, amount: { minor: 9200, currency: 'EUR' } },
      'a negative amount': { ...whole, amount: { minor: -1n, currency: 'EUR' } },
      'an amount beyond any': { ...whole, amount: { minor: 2n ** 63n, currency: 'EUR' } },
      'no currency': { ...whole, amount: { minor: 9200n } },
      'a currency that is none': { ...whole, amount: { minor: 9200n, currency: 'EURO' } },
      'a currency without money': { ...whole, amount: { minor: 9200n, currency: 'XAU' } },
      'no key': { ...whole, key: undefined },
      'a key that is too long': { ...whole, key: 'k'.repeat(256) },
      'a key that nobody can see': { ...whole, key: ' ' },
      'no outcome': { ...whole, outcome: null },
      'an outcome that does not exist': { ...whole, outcome: { is: 'perhaps' } },
      'an approval without references': { ...whole, outcome: { is: 'approved' } },
      'an approval of no amount': { ...whole, outcome: { ...approval, amount: null } },
      'references that are numbers': { ...whole, outcome: { ...chargeback, refs: { id: 1 } } },
      'a secret in a reference': {
        ...whole,
        outcome: { ...approval, refs: { card: new Sensitive(card) } },
      },
      'a secret far inside': {
        ...whole,
        outcome: { ...approval, memo: { deep: [new Sensitive(card)] } },
      },
      'a memo that is no JSON': { ...whole, outcome: { ...approval, memo: { big: 1n } } },
      'a memo that is too long': { ...whole, outcome: { ...approval, memo: 'm'.repeat(70_000) } },
      'an acquirer reference that is none': { ...whole, reference: '' },
      'a chargeback of nothing': { ...whole, outcome: chargeback, amount: { ...money, minor: 0n } },
      'a card number in a name': { ...whole, amount: null, [card]: card },
    }

    test('malformed claims are quarantined in one entry, and the other claims of the message count', async () => {
      const { id } = await run.debit('beside-malformed', { debit: lost })
      const bad = Object.entries(malformed).map(([what, claim]) =>
        typeof claim === 'object' ? { ...claim, eventId: what.replaceAll(' ', '-') } : claim,
      )
      const throwing = { ...whole, eventId: 'throws' }
      Object.defineProperty(throwing, 'amount', {
        enumerable: true,
        get: () => {
          throw new Error(card)
        },
      })
      const good = { eventId: 'well', key: await run.keyOf(id), outcome: approval, amount: money }
      const parse = () => [...bad, throwing, good] as never
      const before = await run.sql('select 1 from tollgate.attention')
      const unproven = { parse: () => [...bad, throwing] as never }
      await doing(unproven, () =>
        assert.rejects(tell(forged({ eventId: '-', key: '-', outcome: approval })), {
          status: 400,
        }),
      )
      const unchanged = await run.sql('select 1 from tollgate.attention')
      assert.equal(unchanged.length, before.length, 'unproven messages cannot fill the list')
      await doing({ parse }, () => tell(message({ eventId: '-', key: '-', outcome: approval })))
      assert.equal(await processed(run, 'well'), 'settled')
      const entries = await run.sql<Entry>(
        `select kind, reference, payment_id, detail from tollgate.attention
         where detail ->> 'why' like 'malformed: % claims of one message'`,
      )
      const [entry, ...more] = entries as [Entry, ...Entry[]]
      assert.deepEqual(more, [])
      assert.deepEqual([entry.kind, entry.payment_id], ['event', null])
      const { why, claims, others } = entry.detail as {
        why: string
        claims: { eventId: string | null; content: string }[]
        others: [string | null, string | null][]
      }
      assert.equal(why, `malformed: ${bad.length + 1} claims of one message`)
      assert.equal(claims.length, limits.eventEchoes)
      assert.equal(claims.length + others.length, bad.length + 1)
      const named = new Set([...claims.map(({ eventId }) => eventId), ...others.map(([id]) => id)])
      for (const [what, claim] of Object.entries(malformed)) {
        if (typeof claim !== 'object') continue
        const eventId = what.replaceAll(' ', '-')
        assert.ok(named.has(eventId), eventId)
        assert.equal(await rowOf(eventId), undefined)
      }
      await doing({ parse }, () => tell(message({ eventId: '-', key: '-', outcome: approval })))
      const all = JSON.stringify([
        entries,
        run.logs,
        await run.sql('select claim from tollgate.inbound_event'),
      ])
      assert.doesNotMatch(all, new RegExp(card))
      const after = await run.sql('select 1 from tollgate.attention')
      assert.equal(after.length, before.length + entries.length)
    })

    test('messages are limited in bytes and in claims', async () => {
      const say = (outcome: object, headers?: Record<string, string>) =>
        tell(message({ eventId: 'too-much', key: 'too-much', outcome }, headers))
      const huge = { ...approval, text: '4 '.repeat(limits.messageBytes / 2) }
      await assert.rejects(say(huge), { status: 400, code: '200.300.404' })
      const parse = () => Array.from({ length: limits.claimsPerMessage + 1 }, () => whole) as never
      await doing({ parse }, () =>
        assert.rejects(say(approval), { status: 400, code: '200.100.103' }),
      )
      const long = { ...chargeback, text: `${'4 '.repeat(limits.claimCharacters)}${card}` }
      await say(long)
      const [entry, ...more] = await listed('too-much')
      assert.deepEqual(more, [])
      const { why, content } = entry!.detail as { why: string; content: string }
      assert.equal(why, 'malformed: it is too long')
      assert.equal(content.length, limits.eventEchoCharacters)
      assert.equal(await rowOf('too-much'), undefined)
    })

    test('unproven claims are limited, although none of them is stored', async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      const say = (headers: Record<string, string>) =>
        run.gateway.inbound(
          scriptedName,
          account,
          message({ eventId: 'flooded', key: 'flooded', outcome: null }, headers),
        )
      const parse = () => Array.from({ length: limits.claimsPerMessage }, () => null) as never
      await doing({ parse }, async () => {
        for (let left = limits.unverifiedEvents; left > 0; left -= limits.claimsPerMessage) {
          await assert.rejects(say({}), { status: 400 })
        }
      })
      let parsed = 0
      const reading = () => {
        parsed += 1
        return []
      }
      await doing({ parse: reading }, () => assert.rejects(say({}), { status: 429 }))
      assert.equal(parsed, 0, 'a message beyond the limit is not read')
      await say(proof)
    })

    test("one address uses up its own share of unproven messages, and no other's", async () => {
      const account = await run.gateway.entities.createAccount({
        channelId: run.channel,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: {},
      })
      let no = 0
      const say = (address: string, headers: Record<string, string> = {}) => {
        no += 1
        const about = { eventId: `from-${address}-${no}`, key: 'nobody', outcome: failure }
        return run.gateway.inbound(scriptedName, account, message(about, headers), address)
      }
      const parse = () => Array.from({ length: limits.unverifiedEventsPerAddress }, () => null)
      await doing({ parse: parse as never }, () =>
        assert.rejects(say('203.0.113.1'), { status: 400 }),
      )
      await assert.rejects(say('203.0.113.1'), { status: 429 })
      await say('203.0.113.1', proof)
      await say('203.0.113.2')
    })

    test('a message for an unknown account is not read', async () => {
      const read = async (): Promise<Inbound> => assert.fail('it was read')
      const nul = String.fromCharCode(0)
      for (const account of ['nobody', 'f'.repeat(32), nul, `a${nul}`, 'x'.repeat(11_000)]) {
        await assert.rejects(run.gateway.inbound(scriptedName, account, read), { status: 404 })
        await assert.rejects(run.gateway.inbound(account, run.account, read), { status: 404 })
      }
    })

    test('event ids have 1 to 255 visible characters', async () => {
      const key = 'f'.repeat(32)
      for (const eventId of ['', ' ', 'a b', 'a\u0000', '\ud800', '\u202e', 'x'.repeat(256)]) {
        await tell(message({ eventId, key, outcome: failure }))
        await assert.rejects(tell(forged({ eventId, key, outcome: failure })), {
          status: 400,
          message: /its event id must have 1 to 255 visible characters/,
        })
      }
      const rows = await run.sql('select 1 from tollgate.inbound_event where claim ->> $1 = $2', [
        'key',
        key,
      ])
      assert.deepEqual(rows, [])
      await tell(message({ eventId: 'x'.repeat(255), key, outcome: failure }))
      assert.equal(await processed(run, 'x'.repeat(255)), 'unknown-key')
    })

    test('an approved amount that differs from the requested one causes an enquiry', async () => {
      const { id } = await run.debit('done-partly', { debit: lost })
      const key = await run.keyOf(id)
      const outcome = { ...approval, amount: { minor: 100n, currency: 'EUR' } }
      const parse = () => [{ eventId: 'partly-1', key, outcome, amount: money }] as never
      await doing({ parse }, () => tell(message({ eventId: '-', key: '-', outcome: approval })))
      assert.equal(await processed(run, 'partly-1'), 'enquired')
      assert.notEqual(await code(id), charged)
    })
  })

  describe('connectors that misread messages', () => {
    const some = (eventId: string) => message({ eventId, key: 'k', outcome: failure })
    const unreadable = { status: 400, code: '200.100.103' }
    const later = (error: { status: number; retryAfterSeconds?: number }) => {
      assert.equal(error.status, 503)
      assert.ok(Number(error.retryAfterSeconds) > 0)
      return true
    }

    test('an unreadable message is 400 and not stored', async () => {
      const boom = () => {
        throw new Error('boom')
      }
      for (const parse of [boom, () => undefined, () => 'text', () => ({}), async () => boom()]) {
        await doing({ parse: parse as never }, () => assert.rejects(tell(some('no-1')), unreadable))
      }
      assert.equal(await rowOf('no-1'), undefined)
    })

    test('a message whose proof cannot be checked is 503, so that the acquirer repeats it, and is not read', async () => {
      let parsed = 0
      const parse = () => {
        parsed += 1
        return []
      }
      const boom = () => {
        throw new Error('the key server is down')
      }
      for (const verify of [boom, async () => boom(), () => new Promise<boolean>(() => {})]) {
        await doing({ verify, parse }, () => assert.rejects(tell(some('no-2')), later))
      }
      assert.equal(parsed, 0)
      const checking = Promise.withResolvers<boolean>()
      await doing({ verify: () => checking.promise, parse }, async () => {
        const told = tell(some('no-2'))
        await new Promise(setImmediate)
        assert.equal(parsed, 0, 'an unproven message is not read')
        checking.resolve(true)
        await told
      })
      assert.equal(parsed, 1)
      assert.equal(await rowOf('no-2'), undefined)
    })
  })

  describe('events about an unknown operation', () => {
    const nobody = (n: number) => `${n}`.repeat(32)

    test('an event about money waits for the record of its operation, then settles it', async () => {
      await tell(message({ eventId: 'late-1', key: nobody(1), outcome: approval }))
      await until(async () => ((await rowOf('late-1'))!.waits > 0 ? true : undefined))
      const { id } = await run.debit('late-record', { debit: lost })
      await run.sql('update tollgate.attempt set key = $2 where payment_id = $1', [id, nobody(1)])
      await run.sql('update tollgate.payment set attempt_key = $2 where id = $1', [id, nobody(1)])
      await due('late-1')
      assert.equal(await processed(run, 'late-1'), 'settled')
      assert.equal(await code(id), charged)
    })

    test('an event about money is listed after 72 hours as money without a payment', async () => {
      const kept = { is: 'notReversed', why: 'too late', refs: { ConnectorTxId1: 'kept' } }
      const said = [approval, { ...approval, is: 'accepted', finalBy: 'event' }, chargeback, kept]
      for (const [index, outcome] of said.entries()) {
        const eventId = `unclaimed-${index}`
        await tell(message({ eventId, key: nobody(index + 2), outcome, currency: 'KWD' }))
        await until(async () => ((await rowOf(eventId))!.waits > 0 ? true : undefined))
        assert.deepEqual(await listed(eventId), [])
        await run.sql(
          `update tollgate.inbound_event
           set received_at = now() - interval '73 hours', next_at = now() where event_id = $1`,
          [eventId],
        )
        assert.equal(await processed(run, eventId), 'unknown-key')
        const [entry, ...more] = await listed(eventId)
        assert.deepEqual(more, [])
        assert.equal(entry?.kind, 'unclaimed')
        assert.equal(entry?.payment_id, null)
        assert.match(JSON.stringify(entry?.detail), /"minor":"9200"/)
        assert.match(JSON.stringify(entry?.detail), /"currency":"KWD"/)
        assert.match(JSON.stringify(entry?.detail), /"refs":\{"/)
      }
    })

    test('an event without money or proof does not wait', async () => {
      await tell(message({ eventId: 'at-once-1', key: nobody(8), outcome: failure }))
      await tell(forged({ eventId: 'at-once-2', key: nobody(9), outcome: approval }))
      assert.equal(await processed(run, 'at-once-1'), 'unknown-key')
      assert.equal(await processed(run, 'at-once-2'), 'unknown-key')
    })
  })
})
