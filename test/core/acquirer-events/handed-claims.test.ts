/** An event that another account of the merchant heard of, and what the payment's account hears under the same id. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Outcome } from '@tollgate/plugin-kit'
import { scriptedName } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approvedOf, chargeback, type SharedRun, startShared, undecided } from './shared-number.ts'

const vague = { is: 'unknown', why: 'nothing is known of it here' }
const waits = { code: '700.300.600' }

describe('claims of both accounts under one event id', () => {
  let run: SharedRun
  before(async () => {
    run = await startShared()
  })
  after(() => closeChecked(run))
  const refund = (id: string) =>
    run.gateway.payments.refund(id, { amount: '5.00', currency: 'EUR' })
  const makeDue = () =>
    run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
  const chargebacksOf = async (id: string) => {
    const rows = await run.sql<{ minor: string }>(
      'select minor::text as minor from tollgate.chargeback where payment_id = $1 order by at',
      [id],
    )
    return rows.map(({ minor }) => minor)
  }

  test('a handed chargeback that waits stays when the account reads nothing in the event', async () => {
    const { id } = await run.debit('vague-beside', undecided)
    const key = await run.keyOf(id)
    const about = { eventId: 'vague-beside', key }
    await run.bring(run.other, { ...about, outcome: chargeback, reference: 'case-vague' })
    assert.equal(await run.outcomeAt(run.other, about.eventId), 'handed-over')
    await run.bring(run.account, { ...about, outcome: vague })
    assert.equal(await run.outcomeOf(run.account, about.eventId, 'unknown'), 'enquired')
    await run.bring(run.account, { eventId: 'vague-decided', key, outcome: approvedOf(key) })
    await run.outcomeAt(run.account, 'vague-decided')
    await makeDue()
    assert.equal(await run.outcomeOf(run.account, about.eventId, 'chargeback'), 'recorded')
    assert.deepEqual(await chargebacksOf(id), ['9200'])
    await assert.rejects(refund(id), waits)
  })

  /** The operator carries out the content that is listed for a payment. */
  const retryListed = async (id: string) => {
    const rows = await run.sql<{ id: string; why: string }>(
      `select id, detail ->> 'why' as why from tollgate.attention
       where payment_id = $1 and kind = 'event' and resolved_at is null`,
      [id],
    )
    assert.deepEqual(
      rows.map(({ why }) => why),
      ['it came again and says something else'],
    )
    await run.gateway.operator.retry(rows[0]!.id, { by: 'alice', reason: 'both are true' })
  }
  const nothingOpen = (keys: readonly string[]) =>
    until(async () => {
      const open = await run.sql(
        `select 1 from tollgate.inbound_event where claim ->> 'key' = any($1) and processed_at is null`,
        [keys],
      )
      return open.length === 0 || undefined
    })

  test('a handed chargeback that waits stays when the account hears its id about another payment', async () => {
    const { id } = await run.debit('id-used-here', undecided)
    const { id: another } = await run.debit('id-used-there')
    const [key, anotherKey] = [await run.keyOf(id), await run.keyOf(another)]
    const there = {
      eventId: '1001',
      key: anotherKey,
      outcome: chargeback,
      reference: 'case-there',
    }
    await run.bring(run.other, { eventId: '1001', key, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.other, '1001'), 'handed-over')
    await run.bring(run.account, there)
    assert.deepEqual(await run.listed(another), ['event'])
    await run.bring(run.account, { eventId: 'id-decided', key, outcome: approvedOf(key) })
    await run.outcomeAt(run.account, 'id-decided')
    await nothingOpen([key, anotherKey])
    await assert.rejects(refund(id), waits)
    // Again, to both addresses: known.
    await run.bring(run.other, { eventId: '1001', key, outcome: chargeback })
    await run.bring(run.account, there)
    assert.deepEqual([await chargebacksOf(id), await chargebacksOf(another)], [['9200'], []])
    assert.deepEqual([await run.listed(id), await run.listed(another)], [[], ['event']])
    await retryListed(another)
    await nothingOpen([key, anotherKey])
    assert.deepEqual([await chargebacksOf(id), await chargebacksOf(another)], [['9200'], ['9200']])
    assert.deepEqual([await run.listed(id), await run.listed(another)], [[], []])
  })

  test('a chargeback that came to another address is listed where the account heard its id about another payment before', async () => {
    const [{ id }, { id: another }] = [
      await run.debit('id-used-late'),
      await run.debit('id-used-early'),
    ]
    const [key, anotherKey] = [await run.keyOf(id), await run.keyOf(another)]
    await run.bring(run.account, { eventId: '1002', key: anotherKey, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.account, '1002'), 'recorded')
    const late = { eventId: '1002', key, outcome: chargeback, reference: 'case-late' }
    await run.bring(run.other, late)
    assert.deepEqual([await chargebacksOf(id), await chargebacksOf(another)], [[], ['9200']])
    await retryListed(id)
    await nothingOpen([key, anotherKey])
    assert.deepEqual([await chargebacksOf(id), await chargebacksOf(another)], [['9200'], ['9200']])
    await assert.rejects(refund(id), waits)
    assert.deepEqual([await run.listed(id), await run.listed(another)], [[], []])
  })

  const third = async () => {
    const { entities } = run.gateway
    const channelId = await entities.create({
      kind: 'channel',
      name: 'Third',
      parentId: run.merchant,
    })
    const account = { channelId, connector: scriptedName, mode: 'EXTERNAL' as const }
    return entities.createAccount({ ...account, settings: { number: 'MID-1' } })
  }

  test('a chargeback about another payment that came to two other addresses is listed once', async () => {
    const [{ id }, { id: another }] = [
      await run.debit('handed-twice'),
      await run.debit('own-first'),
    ]
    const [key, anotherKey] = [await run.keyOf(id), await run.keyOf(another)]
    const heard = await third()
    await run.bring(run.account, { eventId: '1003', key: anotherKey, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.account, '1003'), 'recorded')
    const about = { eventId: '1003', key, minor: '3000', outcome: chargeback }
    for (const account of [run.other, heard]) {
      await run.bring(account, about)
      assert.deepEqual([await chargebacksOf(id), await run.listed(id)], [[], ['event']])
    }
    // Without a reference, one event id is one dispute: refunds wait until an operator has looked.
    await retryListed(id)
    await nothingOpen([key])
    assert.deepEqual([await chargebacksOf(id), await run.listed(id)], [[], ['beyond-sums']])
    await assert.rejects(refund(id), waits)
    await run.sql('update tollgate.attention set resolved_at = now() where payment_id = $1', [id])
  })

  /** A captured authorisation, and the keys by which the addresses read events about it. */
  const captured = async (reference: string) => {
    const { id: authorised } = await run.debit(reference, {}, { paymentType: 'PA' })
    const { id } = await run.gateway.payments.followUp(authorised, {
      paymentType: 'CP',
      amount: '92.00',
      currency: 'EUR',
      merchantTransactionId: `${reference}-captured`,
    })
    return { id, authorised, byFirst: await run.keyOf(authorised), byOwn: await run.keyOf(id!) }
  }
  const factsOf = async (ids: readonly string[]) => {
    const rows = await run.sql<{ fact: string }>(
      `select kind || ' ' || minor as fact from tollgate.chargeback where payment_id = any($1) order by kind`,
      [ids],
    )
    return rows.map(({ fact }) => fact)
  }
  const back = { ...chargeback, is: 'chargebackReversal' }
  for (const isOtherFirst of [true, false]) {
    test(`a chargeback read by the key of the authorisation at the other address is one: ${isOtherFirst ? 'first' : 'second'}`, async () => {
      const name = `two-keys-${isOtherFirst}`
      const { id, authorised, byFirst, byOwn } = await captured(name)
      const about = { eventId: name, minor: '3000', outcome: chargeback }
      const addresses = [
        [run.other, byFirst],
        [run.account, byOwn],
      ] as const
      for (const [account, key] of isOtherFirst ? addresses : addresses.toReversed()) {
        await run.bring(account, { ...about, key })
        await nothingOpen([byFirst, byOwn])
      }
      assert.deepEqual(await factsOf([id!, authorised]), ['chargeback 3000'])
      const entries = [...(await run.listed(id!)), ...(await run.listed(authorised))]
      assert.deepEqual(entries, ['event'])
      // The same event, so the retry of its second reading is no second chargeback.
      await retryListed(isOtherFirst ? id! : authorised)
      await nothingOpen([byFirst, byOwn])
      assert.deepEqual(await factsOf([id!, authorised]), ['chargeback 3000'])
      await run.bring(run.account, {
        eventId: `${name}-back`,
        key: byOwn,
        minor: '3000',
        outcome: back,
      })
      await nothingOpen([byFirst, byOwn])
      await refund(id!)
    })
  }

  test('a reversal that two addresses read by two keys gives back one of two chargebacks', async () => {
    const { id, authorised, byFirst, byOwn } = await captured('back-once')
    for (const eventId of ['back-once-1', 'back-once-2'])
      await run.bring(run.account, { eventId, key: byOwn, minor: '3000', outcome: chargeback })
    await nothingOpen([byFirst, byOwn])
    const about = { eventId: 'back-once', minor: '3000', outcome: back }
    for (const [account, key] of [
      [run.other, byFirst],
      [run.account, byOwn],
    ] as const) {
      await run.bring(account, { ...about, key })
      await nothingOpen([byFirst, byOwn])
    }
    const facts = ['chargeback 3000', 'chargeback 3000', 'reversal 3000']
    assert.deepEqual(await factsOf([id!, authorised]), facts)
    await assert.rejects(refund(id!), waits)
  })

  test('an event that was given up stays so when its id comes about another payment', async () => {
    const { id } = await run.debit('id-given-up')
    const about = { eventId: '1004', outcome: chargeback }
    await run.bring(run.account, { ...about, key: 'nobody-has-it' })
    const row = (what: string) =>
      run.sql<{ waits: number }>(`${what}`, [run.account, about.eventId])
    await until(async () => {
      const rows = await row(
        `update tollgate.inbound_event set received_at = now() - interval '73 hours', next_at = now()
         where account = $1 and event_id = $2 and waits > 0 returning waits`,
      )
      return rows.length === 1 || undefined
    })
    assert.equal(await run.outcomeAt(run.account, about.eventId), 'unknown-key')
    await run.bring(run.other, { ...about, key: await run.keyOf(id) })
    const [kept] = await row(
      'select waits from tollgate.inbound_event where account = $1 and event_id = $2',
    )
    assert.notEqual(kept!.waits, 0)
    assert.deepEqual(await run.listed(id), ['event'])
  })

  test('a handed approval that waits for the answer is a late success, whatever the account reads', async () => {
    const answer = Promise.withResolvers<Outcome>()
    const begun = Promise.withResolvers<void>()
    const paying = run.debit('answer-held', {
      debit: (_, context) => {
        context.sending()
        begun.resolve()
        return answer.promise
      },
      reverseByKey: () => ({ is: 'unknown', why: 'down' }),
    })
    await begun.promise
    const [row] = await run.sql<{ id: string; key: string }>(
      `select id, attempt_key as key from tollgate.payment where merchant_transaction_id = 'answer-held'`,
    )
    const { id, key } = row!
    const about = { eventId: 'answer-held', key }
    await run.bring(run.other, { ...about, outcome: approvedOf(key) })
    assert.equal(await run.outcomeAt(run.other, about.eventId), 'handed-over')
    await run.bring(run.account, { ...about, outcome: vague })
    answer.resolve({ is: 'declined', reason: '800.100.155' })
    await paying
    await makeDue()
    await until(async () => (await run.listed(id)).includes('conflict') || undefined)
  })

  test('a chargeback that only one of the accounts reads with its reference is one', async () => {
    const { id } = await run.debit('named-once')
    const about = { eventId: 'named-once', key: await run.keyOf(id), minor: '4000' }
    await run.bring(run.other, { ...about, outcome: chargeback })
    assert.equal(await run.outcomeAt(run.account, about.eventId), 'recorded')
    await run.bring(run.account, { ...about, outcome: chargeback, reference: 'case-named' })
    const stored = `select count(*)::integer as rows, count(processed_at)::integer as ended
      from tollgate.inbound_event where account = $1 and claim ->> 'key' = $2`
    await until(async () => {
      const [row] = await run.sql<{ rows: number; ended: number }>(stored, [run.account, about.key])
      return (row!.rows === 2 && row!.ended === 2) || undefined
    })
    assert.deepEqual(await chargebacksOf(id), ['4000'])
    assert.deepEqual(await run.listed(id), [])
  })

  test('an event that reaches both addresses at once, several times, counts once', async () => {
    const made = await Promise.all(
      Array.from({ length: 12 }, async (_, no) => {
        const { id } = await run.debit(`at-once-${no}`)
        return { id, no, key: await run.keyOf(id) }
      }),
    )
    await Promise.all(
      made.flatMap(({ no, key }) =>
        [run.account, run.other, run.other, run.account].map((account) =>
          run.bring(account, { eventId: `at-once-${no}`, key, minor: '3000', outcome: chargeback }),
        ),
      ),
    )
    await until(async () => {
      const open = await run.sql(
        `select 1 from tollgate.inbound_event where event_id like 'at-once-%' and processed_at is null`,
      )
      return open.length === 0 || undefined
    })
    for (const { id } of made) {
      assert.deepEqual(await chargebacksOf(id), ['3000'])
      assert.deepEqual(await run.listed(id), [])
    }
    const rows = await run.sql<{ rows: number }>(
      `select count(*)::integer as rows from tollgate.inbound_event where event_id like 'at-once-%'`,
    )
    assert.equal(rows[0]!.rows, 24)
  })
})
