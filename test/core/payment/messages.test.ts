/** Incoming messages of acquirers: their proof, their account, and the ids of their events and disputes. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { systemClock } from '../../../core/clock.ts'
import type { Sql } from '../../../core/db/sql.ts'
import type { Engine } from '../../../core/engine.ts'
import { housekeeping } from '../../../core/jobs/housekeeping.ts'
import { maskCardNumbers } from '../../../core/redaction/mask.ts'
import { message, processed, scriptedName, sentAgain } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  card,
  chargeback,
  charged,
  failure,
  forged,
  lost,
  type MessageRun,
  startMessages,
} from './message-run.ts'

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
  let run: MessageRun
  before(async () => {
    run = await startMessages()
  })
  after(() => run.close())

  describe('unproven messages', () => {
    const execute = ({ strings, values }: Sql) =>
      run.sql(
        strings.reduce((all, part, index) => `${all}$${index}${part}`),
        values,
      )

    test('a forged message with the same event id does not suppress a proven chargeback', async () => {
      const { id } = await run.debit('suppressed')
      const key = await run.keyOf(id)
      await run.forge({ eventId: 'evt-1', key: 'guessed', outcome: failure })
      assert.equal(await processed(run, 'evt-1'), 'unknown-key')
      await run.tell(message({ eventId: 'evt-1', key, outcome: chargeback }))
      await until(async () => (await run.rowOf('evt-1'))?.outcome === 'recorded' || undefined)
      const records = await run.sql<{ payment_type: string }>(
        'select payment_type from tollgate.payment where parent_id = $1',
        [id],
      )
      assert.deepEqual(records, [{ payment_type: 'CB' }])
      await run.forge({ eventId: 'evt-1', key: 'guessed', outcome: failure })
      assert.equal((await run.rowOf('evt-1'))?.outcome, 'recorded')
      assert.deepEqual(await run.listed('evt-1'), [], 'unproven messages cannot fill the list')
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
      await run.forge({ eventId: 'evt-2', key, outcome: failure })
      await asked.promise
      await run.tell(message({ eventId: 'evt-2', key, outcome: approval }))
      answer.resolve()
      assert.equal(await processed(run, 'evt-2'), 'settled')
      assert.equal(await run.code(id), charged)
    })

    test('unproven messages are limited for each account, proven ones never', async () => {
      await run.sql(
        `insert into tollgate.inbound_event (connector, account, event_id, claim, processed_at, outcome)
         select $1, $2, 'flood-' || n, '{"key":"x","verified":false}', now(), 'unknown-key'
         from generate_series(1, $3) as n`,
        [scriptedName, run.account, limits.unverifiedEvents],
      )
      const about = { eventId: 'evt-3', key: 'nobody', outcome: failure }
      await assert.rejects(run.tell(forged(about)), (error: { status: number }) => {
        assert.equal(error.status, 429)
        assert.ok('retryAfterSeconds' in error && Number(error.retryAfterSeconds) > 0)
        return true
      })
      assert.equal(await run.rowOf('evt-3'), undefined)
      await run.tell(message(about))
      await until(async () => ((await run.rowOf('evt-3'))!.waits > 0 ? true : undefined))
      await run.sql(
        `update tollgate.inbound_event set received_at = now() - interval '1 hour'
         where event_id like 'flood-%'`,
      )
      await run.forge({ ...about, eventId: 'evt-4', key: 'nobody-else' })
      assert.equal(await processed(run, 'evt-4'), 'unknown-key')
    })

    test('unproven messages are deleted after days, proven ones after years', async () => {
      const old = (days: number) => `now() - interval '${days} days'`
      const made = async (eventId: string, verified: boolean, days: number, outcome: string) => {
        await run.stored(
          eventId,
          { key: eventId, verified, outcome: failure },
          { due: `'infinity'` },
        )
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
      await sentAgain(byOther({ eventId: 'other-0', key, outcome: chargeback }, {}))
      assert.equal(await processed(run, 'other-0'), 'other-account')
      assert.deepEqual(await run.listed('other-0'), [])
      await byOther({ eventId: 'other-1', key, outcome: chargeback })
      assert.equal(await processed(run, 'other-1'), 'other-account')
      const [entry, ...more] = await run.listed('other-1')
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
      await run.tell(message(about))
      const entries = await run.listed('other-2')
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
        await run.tell(message(told))
        assert.equal(await processed(run, `reference-${index}`), 'recorded')
        await run.tell(message({ ...told, eventId: `reference-again-${index}` }))
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

  describe('references of an approval that look like card numbers', () => {
    /** Not the number of the payment's card. */
    const lookalike = luhnWithEnd('8515296550153317', '3317')
    const refsOf = async (id: string) => {
      const [row] = await run.sql<{ refs: unknown }>(
        "select answer -> 'refs' as refs from tollgate.payment where id = $1",
        [id],
      )
      return row?.refs
    }
    const told = (reference: string) => ({
      is: 'approved',
      refs: { reference },
      memo: { of: [reference] },
      networkTxId: reference,
      details: { Shown: reference },
    })

    test('a reference keeps every digit, and goes back to the acquirer with a refund', async () => {
      const { id } = await run.debit('looks-alike', { debit: lost })
      const outcome = told(lookalike)
      await run.tell(message({ eventId: 'looks-alike-1', key: await run.keyOf(id), outcome }))
      assert.equal(await processed(run, 'looks-alike-1'), 'settled')
      assert.deepEqual(await refsOf(id), { reference: lookalike })
      run.acquirer.tell('looks-alike-refund', {})
      await run.gateway.payments.refund(id, {
        amount: '5.00',
        currency: 'EUR',
        merchantTransactionId: 'looks-alike-refund',
      })
      const refund = run.acquirer.calls.find(({ reference }) => reference === 'looks-alike-refund')
      const { refs, memo, networkTxId } = refund!.operation.original!
      assert.deepEqual(
        [refs, memo, networkTxId],
        [{ reference: lookalike }, { of: [lookalike] }, lookalike],
      )
      const [row] = await run.sql<{ answer: { details: unknown } }>(
        'select answer from tollgate.payment where id = $1',
        [id],
      )
      assert.ok(!JSON.stringify(row!.answer.details).includes(lookalike), 'texts are masked')
    })

    test("the number of the payment's own card is stored nowhere, however it is written", async () => {
      const { id } = await run.debit('own-number', { authorize: lost }, { paymentType: 'PA' })
      const spaced = card.replaceAll(/(.{4})(?=.)/g, '$1-')
      for (const [no, written] of [card, spaced].entries()) {
        const outcome = { ...told('r'), refs: { reference: `a ${written}` }, memo: { of: written } }
        await run.tell(message({ eventId: `own-${no}`, key: await run.keyOf(id), outcome }))
        await processed(run, `own-${no}`)
      }
      assert.deepEqual(await refsOf(id), { reference: 'a ************0000' })
      run.acquirer.tell('own-number-capture', { capture: lost })
      const capture = await run.gateway.payments.capture(id, {
        amount: '5.00',
        currency: 'EUR',
        merchantTransactionId: 'own-number-capture',
      })
      await run.tell(
        message({
          eventId: 'own-capture',
          key: await run.keyOf(capture.id),
          minor: '500',
          outcome: { is: 'approved', refs: { reference: card } },
        }),
      )
      assert.equal(await processed(run, 'own-capture'), 'settled')
      assert.deepEqual(await refsOf(capture.id), { reference: '************0000' })
      const kept = JSON.stringify(await run.sql('select claim from tollgate.inbound_event'))
      for (const written of [card, spaced]) assert.ok(!kept.includes(written))
    })

    test('without a payment or a proof, every lookalike is masked', async () => {
      const { id } = await run.debit('looks-alike-forged', { debit: lost })
      const outcome = told(lookalike)
      await run.tell(message({ eventId: 'looks-alike-2', key: 'no-payment', outcome }))
      await run.forge({ eventId: 'looks-alike-3', key: await run.keyOf(id), outcome })
      for (const eventId of ['looks-alike-2', 'looks-alike-3']) {
        const row = await run.rowOf(eventId)
        assert.ok(row !== undefined && !JSON.stringify(row.claim).includes(lookalike))
      }
    })
  })

  describe('repeated event ids', () => {
    test("a stranger's event id suppresses no unproven message of the acquirer", async () => {
      const { id } = await run.debit('taken-id', {
        debit: lost,
        enquire: () => ({ is: 'approved', refs: { reference: 'asked' } }),
      })
      const key = await run.keyOf(id)
      await run.forge({ eventId: 'taken-1', key: 'guessed', outcome: failure })
      assert.equal(await processed(run, 'taken-1'), 'unknown-key')
      await run.forge({ eventId: 'taken-1', key, outcome: approval })
      assert.equal(await processed(run, `taken-1 ${key}`), 'enquired')
      assert.equal(await run.code(id), charged)
      const asked = run.acquirer.of('taken-id').length
      await run.forge({ eventId: 'taken-1', key, outcome: approval })
      const rows = await run.sql('select 1 from tollgate.inbound_event where event_id like $1', [
        'taken-1%',
      ])
      assert.equal(rows.length, 2)
      assert.equal(run.acquirer.of('taken-id').length, asked)
    })

    test('other content under an event id is listed once, the same content changes nothing', async () => {
      const { id } = await run.debit('contents', { debit: lost })
      const key = await run.keyOf(id)
      await run.tell(message({ eventId: 'same-1', key, outcome: approval }))
      await processed(run, 'same-1')
      await run.tell(message({ eventId: 'same-1', key, outcome: approval }))
      assert.deepEqual(await run.listed('same-1'), [])
      const other = { ...failure, text: `card ${card}` }
      await run.tell(message({ eventId: 'same-1', key, outcome: other }))
      const [entry, ...more] = await run.listed('same-1')
      assert.deepEqual(more, [])
      assert.equal(entry?.kind, 'event')
      assert.match(entry!.reference, /^same-1 says [0-9a-f]{16}$/)
      assert.equal(entry?.payment_id, id)
      assert.match(JSON.stringify(entry?.detail), /declined.*0000/)
      assert.doesNotMatch(JSON.stringify(entry?.detail), new RegExp(card))
      await run.sql(
        `update tollgate.attention set resolved_at = now() where detail ->> 'event' = 'same-1'`,
      )
      await run.tell(message({ eventId: 'same-1', key, outcome: other }))
      assert.deepEqual(
        await run.listed('same-1'),
        [],
        'the content stays known after its entry was closed',
      )
      await run.tell(message({ eventId: 'same-1', key, outcome: approval, minor: '1' }))
      assert.equal((await run.listed('same-1')).length, 1, 'a third content has its own entry')
      assert.equal(await run.code(id), charged)
    })
  })
})
