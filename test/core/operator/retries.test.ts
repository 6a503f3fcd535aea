/** Messages that operators retry: no entry leaves the list unprocessed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { message, processed, scriptedName } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { chargeback, disputesOf, reversal, waits } from '../../rig/disputes.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  charged,
  failure,
  type LateRun,
  startLateThroughLine,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const alice = { by: 'alice', reason: 'seen in the acquirer’s back office' }

describe('messages that operators retry', () => {
  let run: LateRun
  let line: Line
  before(async () => {
    ;({ run, line } = await startLateThroughLine())
  })
  after(async () => {
    await closeChecked(run)
    await line.close()
  })

  const bring = (about: Parameters<typeof message>[0]) =>
    run.gateway.inbound(scriptedName, run.account, message(about))
  const { refund, aged } = disputesOf(() => run)
  /** The open entries about a message. */
  const listed = (eventId: string) =>
    run.sql<{ id: string; kind: string; why: string | null }>(
      `select id, kind, detail ->> 'why' as why from tollgate.attention
        where detail ->> 'event' = $1 and resolved_at is null order by at, id`,
      [eventId],
    )
  const kinds = async (eventId: string) => (await listed(eventId)).map(({ kind }) => kind)
  const entryOf = async (eventId: string, kind: string) => {
    const [entry, ...more] = (await listed(eventId)).filter((one) => one.kind === kind)
    assert.deepEqual(more, [])
    assert.ok(entry !== undefined, `${eventId} ${kind}`)
    return entry.id
  }
  /** The outcome of other content under a known id. */
  const otherProcessed = (eventId: string) =>
    until(async () => {
      const [row] = await run.sql<{ outcome: string }>(
        `select outcome from tollgate.inbound_event
          where event_id like $1 || ' says %' and processed_at is not null`,
        [eventId],
      )
      return row?.outcome
    })
  const unclaimed = async (eventId: string) => {
    await bring({ eventId, key: `nobody-knows-${eventId}`, outcome: approval })
    await aged(eventId)
    assert.equal(await processed(run, eventId), 'unknown-key')
    return entryOf(eventId, 'unclaimed')
  }
  const putAside = async (eventId: string, id: string) => {
    const claim = { key: await run.keyOf(id), verified: true, outcome: failure, currency: 'EUR' }
    await run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, tries, next_at)
        values ($1, $2, $3, $4, 2, now())`,
      [scriptedName, run.account, eventId, JSON.stringify({ ...claim, minor: 'none' })],
    )
    assert.equal(await processed(run, eventId), 'quarantined')
    return entryOf(eventId, 'event')
  }

  test('a retry processes the newer content of an event id and leaves the older one as recorded', async () => {
    const { id } = await run.debit('again-other')
    const eventId = 'again-other'
    const first = await unclaimed(eventId)
    const key = await run.keyOf(id)
    await bring({ eventId, key, outcome: chargeback, reference: eventId })
    await run.gateway.operator.retry(await entryOf(eventId, 'event'), alice)
    assert.equal(await otherProcessed(eventId), 'recorded')
    assert.deepEqual(await listed(eventId), [{ id: first, kind: 'unclaimed', why: null }])
    await assert.rejects(refund(id), waits)
  })

  test('other content under the id of a quarantined message has its own entry', async () => {
    const { id } = await run.debit('again-aside')
    const eventId = 'again-aside'
    const aside = await putAside(eventId, id)
    const key = await run.keyOf(id)
    await bring({ eventId, key, outcome: chargeback, reference: eventId })
    assert.deepEqual(await kinds(eventId), ['event', 'event'])
    await run.sql(
      `update tollgate.inbound_event set claim = jsonb_set(claim, '{minor}', '"9200"')
        where event_id = $1`,
      [eventId],
    )
    await run.gateway.operator.retry(aside, alice)
    await processed(run, eventId)
    const other = await entryOf(eventId, 'event')
    assert.equal((await listed(eventId))[0]?.why, 'it came again and says something else')
    await run.gateway.operator.retry(other, alice)
    assert.equal(await otherProcessed(eventId), 'recorded')
    assert.deepEqual(await listed(eventId), [])
    await assert.rejects(refund(id), waits)
  })

  test('a chargeback and its reversal under one event id both count', async () => {
    const { id } = await run.debit('again-case')
    const eventId = 'again-case'
    const word = { eventId, reference: eventId }
    assert.equal(await run.tell(id, { ...word, outcome: chargeback }), 'recorded')
    await run.bring(id, { ...word, outcome: reversal })
    await assert.rejects(refund(id), waits)
    await run.gateway.operator.retry(await entryOf(eventId, 'event'), alice)
    assert.equal(await otherProcessed(eventId), 'recorded')
    assert.equal((await refund(id)).result.code, charged)
  })

  test('a malformed claim under the id of a quarantined message cannot be retried', async () => {
    const { id } = await run.debit('again-malformed')
    const eventId = 'again-malformed'
    const aside = await putAside(eventId, id)
    const key = await run.keyOf(id)
    await bring({ eventId, key, outcome: chargeback, minor: '0' })
    assert.equal((await listed(eventId)).length, 2)
    const malformed = (await listed(eventId)).find((entry) => entry.id !== aside)!
    assert.match(malformed.why!, /^malformed: a chargeback or its reversal must be above 0\.00/)
    await assert.rejects(
      run.gateway.operator.retry(malformed.id, alice),
      /is set aside for this entry/,
    )
    assert.equal((await listed(eventId)).length, 2)
  })

  test('money without a payment is listed again, however fast the worker is', async () => {
    const eventId = 'again-quick'
    const entry = await unclaimed(eventId)
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    await holder.query('begin')
    await holder.query('select 1 from tollgate.attention where id = $1 for update', [entry])
    const retried = run.gateway.operator.retry(entry, alice)
    // Other work continues while the decision waits for the entry.
    const { id } = await run.debit('again-beside')
    assert.equal(await run.tell(id, { outcome: approval }), 'known')
    assert.equal(await processed(run, eventId), 'unknown-key')
    await holder.query('commit')
    await holder.end()
    assert.match((await retried).text, /is processed again/)
    const next = await until(async () => (await listed(eventId))[0]?.id)
    assert.notEqual(next, entry)
    assert.deepEqual(await kinds(eventId), ['unclaimed'])
  })

  test('a retry whose answer was lost is reported as made, and a second one names the first operator', async () => {
    const { id } = await run.debit('again-lost')
    const entry = await putAside('again-lost', id)
    const carol = { by: 'Carol of the night', reason: 'the connector is mended' }
    const cut = line.cut(carol.by, 'after')
    const { text } = await run.gateway.operator.retry(entry, carol)
    await cut
    assert.equal(text, 'the message again-lost is processed again')
    await assert.rejects(
      run.gateway.operator.retry(entry, alice),
      /Carol of the night already took/,
    )
    const rows = await run.sql(
      `select actor_kind as kind, actor, action, detail from tollgate.audit
        where detail ->> 'entry' = $1`,
      [entry],
    )
    const detail = { reason: carol.reason, entry, kind: 'event' }
    assert.deepEqual(rows, [
      { kind: 'embedder', actor: carol.by, action: 'attention.resolved', detail },
    ])
  })
})
