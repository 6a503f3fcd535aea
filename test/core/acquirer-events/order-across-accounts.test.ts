/** Events about one payment that reach two accounts of its merchant, one after the other. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accepted } from '@tollgate/plugin-kit'
import { type Gateway, onFaultPoint } from '../../../core/index.ts'
import { message, scriptedName } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approvedOf, chargeback, type SharedRun, startShared, undecided } from './shared-number.ts'

describe('order across the accounts of one merchant number', () => {
  let run: SharedRun
  let second: Gateway
  before(async () => {
    run = await startShared()
    second = await run.another({ plugins: [run.acquirer.plugin] })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => run.close())

  /** A refund of a whole sale, accepted, and what the acquirer says of it. */
  const refunded = async (reference: string) => {
    const { id: sale } = await run.debit(`${reference}-sale`)
    run.acquirer.tell(reference, {
      refund: (operation) => accepted({ reference: `at-${operation.key}` }, 'event'),
      reverseByKey: () => ({ is: 'refused', why: 'it stands' }),
    })
    const again = (merchantTransactionId: string) =>
      run.gateway.payments.followUp(sale, {
        paymentType: 'RF',
        amount: '92.00',
        currency: 'EUR',
        merchantTransactionId,
      })
    const { id } = await again(reference)
    const key = await run.keyOf(id)
    const refs = { reference: `at-${key}` }
    const outcome = { is: 'declined', reason: '800.100.100', refs }
    return {
      id,
      key,
      failed: { eventId: `${reference}-failed`, key, outcome },
      stood: { eventId: `${reference}-stood`, key, outcome: { ...accepted(refs, 'event') } },
      refundAgain: () => again(`${reference}-again`),
    }
  }
  const settled = (eventId: string) => run.outcomeAt(run.account, eventId)
  const makeDue = () =>
    run.sql('update tollgate.inbound_event set next_at = now() where processed_at is null')
  /** An event about another payment that came later than all others is carried out. */
  const laterEvent = async (reference: string) => {
    const { key } = await refunded(reference)
    const outcome = { ...accepted({ reference: `at-${key}` }, 'event') }
    await run.bring(run.account, { eventId: `${reference}-mark`, key, outcome })
    await settled(`${reference}-mark`)
  }
  /** Where the failure came first and the success after it, the refund counts. */
  const isInOrder = async ({ id, refundAgain, ...one }: Awaited<ReturnType<typeof refunded>>) => {
    for (const { eventId } of [one.failed, one.stood]) await settled(eventId)
    const { ended } = (
      await run.sql<{ ended: string[] }>(
        `select array_agg(event_id order by processed_at) as ended
         from tollgate.inbound_event where account = $1 and claim ->> 'key' = $2`,
        [run.account, one.key],
      )
    )[0]!
    assert.deepEqual(ended, [one.failed.eventId, one.stood.eventId])
    await assert.rejects(refundAgain())
    assert.deepEqual(await run.listed(id), ['conflict'])
  }
  /** Keeps the failure from its way to the account of the payment. */
  const holdHandOver = (eventId: string) => {
    const held = Promise.withResolvers<void>()
    let times = 0
    onFaultPoint(async (point, ref) => {
      if (point === 'before-event' && ref === eventId && ++times === 2) await held.promise
    })
    return held.resolve
  }

  test('a failure at the other address comes before a success that came later, on two processes', async () => {
    for (let no = 0; no < 10; no += 1) {
      const one = await refunded(`two-hosts-${no}`)
      await run.bring(run.other, one.failed)
      await second.inbound(scriptedName, run.account, message(one.stood))
      await isInOrder(one)
    }
  })

  test('a failure that is being handed over holds up the success, and no event about another payment', async () => {
    const one = await refunded('held-back')
    const release = holdHandOver(one.failed.eventId)
    await run.bring(run.other, one.failed)
    await run.bring(run.account, one.stood)
    await laterEvent('held-back-mark')
    release()
    await isInOrder(one)
  })

  test('a failure whose hand-over broke off comes first, too', async () => {
    const one = await refunded('broken-off')
    let times = 0
    onFaultPoint(async (point, ref) => {
      if (point === 'before-event' && ref === one.failed.eventId && ++times === 2)
        throw new Error('the process ends here')
    })
    await run.bring(run.other, one.failed)
    await until(async () => {
      const [row] = await run.sql<{ tries: number }>(
        'select tries from tollgate.inbound_event where event_id = $1',
        [one.failed.eventId],
      )
      return row!.tries === 1 || undefined
    })
    await run.bring(run.account, one.stood)
    await laterEvent('broken-off-mark')
    await makeDue()
    await isInOrder(one)
  })

  test('both events waited for the record of the payment', async () => {
    const one = await refunded('record-late')
    const renamed = (from: string, to: string) =>
      run.sql(
        `with attempt as (update tollgate.attempt set key = $2 where key = $1)
         update tollgate.payment set attempt_key = $2 where attempt_key = $1`,
        [from, to],
      )
    await renamed(one.key, `lost-${one.key}`)
    await run.bring(run.other, one.failed)
    await until(async () => {
      const rows = await run.sql(
        `update tollgate.inbound_event set next_at = now() + interval '1 hour'
         where event_id = $1 and waits > 0 returning 1`,
        [one.failed.eventId],
      )
      return rows.length === 1 || undefined
    })
    await run.bring(run.account, one.stood)
    await renamed(`lost-${one.key}`, one.key)
    await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
      one.stood.eventId,
    ])
    await laterEvent('record-late-mark')
    await makeDue()
    await isInOrder(one)
  })

  test('a success at the other address comes after a failure at the own one', async () => {
    const one = await refunded('own-first')
    const held = Promise.withResolvers<void>()
    onFaultPoint(async (point, ref) => {
      if (point === 'after-event' && ref === one.failed.eventId) held.resolve()
    })
    await run.bring(run.account, one.failed)
    await held.promise
    await run.bring(run.other, one.stood)
    await isInOrder(one)
  })

  test('a failure that came to both addresses has the place of the first one', async () => {
    const one = await refunded('place-kept')
    const release = holdHandOver(one.failed.eventId)
    await run.bring(run.other, one.failed)
    await run.bring(run.account, one.stood)
    onFaultPoint(undefined)
    await run.bring(run.account, one.failed)
    release()
    await isInOrder(one)
  })

  test('an event of a stranger about the same key holds up nobody', async () => {
    const one = await refunded('strangers-key')
    const renamed = `lost-${one.key}`
    await run.bring(run.stranger, {
      eventId: 'strangers-claim',
      key: renamed,
      outcome: one.failed.outcome,
    })
    await run.sql(
      `update tollgate.inbound_event set claim = jsonb_set(claim, '{key}', to_jsonb($1::text)),
         next_at = now() + interval '1 hour'
       where event_id = 'strangers-claim'`,
      [one.key],
    )
    await run.bring(run.account, one.stood)
    assert.equal(await settled(one.stood.eventId), 'known')
    await run.bring(run.other, one.failed)
    assert.equal(await settled(one.failed.eventId), 'settled')
    await run.sql(
      `delete from tollgate.inbound_event where event_id = 'strangers-claim' and processed_at is null`,
    )
  })

  test('an unproven or quarantined event at the other address holds up nobody', async () => {
    const one = await refunded('no-proof-here')
    await run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, processed_at, outcome, next_at)
       select $1, $2, 'idle-' || verified, jsonb_set($3::jsonb, '{verified}', to_jsonb(verified)),
         case when verified then now() end, case when verified then 'quarantined' end, now() + interval '1 hour'
       from unnest(array[true, false]) as verified`,
      [
        scriptedName,
        run.other,
        JSON.stringify({ ...one.failed, eventId: undefined, minor: '9200', currency: 'EUR' }),
      ],
    )
    await run.bring(run.account, one.stood)
    assert.equal(await settled(one.stood.eventId), 'known')
  })

  test('a chargeback that waits at the other address holds up no approval of its payment', async () => {
    const { id } = await run.debit('chargeback-waits', {
      debit: () => ({ is: 'unknown', why: 'the answer is lost' }),
      enquire: () => ({ is: 'unknown', why: 'ask later' }),
    })
    const key = await run.keyOf(id)
    await run.sql(
      `insert into tollgate.inbound_event (connector, account, event_id, claim, waits, next_at)
       values ($1, $2, 'waits-there', $3, 3, now() + interval '1 hour')`,
      [
        scriptedName,
        run.other,
        JSON.stringify({
          key,
          verified: true,
          outcome: chargeback,
          minor: '9200',
          currency: 'EUR',
        }),
      ],
    )
    const outcome = { is: 'approved', refs: { reference: `at-${key}` } }
    await run.bring(run.account, { eventId: 'approved-here', key, outcome })
    assert.equal(await settled('approved-here'), 'settled')
    await makeDue()
    assert.equal(await settled('waits-there'), 'recorded')
  })

  /** An open payment whose own account waits with its chargeback. */
  const chargedBack = async (reference: string, minor: string) => {
    const { id } = await run.debit(reference, undecided)
    const key = await run.keyOf(id)
    const about = { eventId: `${reference}-cb`, key, minor, outcome: chargeback }
    const first = { ...about, reference: `case-${reference}` }
    await run.bring(run.account, first)
    await until(async () => {
      const rows = await run.sql(
        'select 1 from tollgate.inbound_event where event_id = $1 and waits > 0',
        [first.eventId],
      )
      return rows.length === 1 || undefined
    })
    return { id, key, first }
  }
  type First = Awaited<ReturnType<typeof chargedBack>>['first']
  const reversal = { ...chargeback, is: 'chargebackReversal' }
  const behind = {
    'the same chargeback': {
      minor: '9200',
      of: (first: First) => first,
      facts: ['chargeback 9200'],
    },
    'its reversal': {
      minor: '9200',
      of: (first: First) => ({ ...first, eventId: `${first.eventId}-back`, outcome: reversal }),
      facts: ['chargeback 9200', 'reversal 9200'],
    },
    'another chargeback': {
      minor: '1000',
      of: (first: First) => ({
        ...first,
        eventId: `${first.eventId}-2`,
        reference: `${first.reference}-2`,
      }),
      facts: ['chargeback 1000', 'chargeback 1000'],
    },
  }
  for (const [what, { minor, of, facts }] of Object.entries(behind)) {
    for (const address of ['account', 'other'] as const) {
      test(`${what} at the other address, behind a chargeback that waits, holds up no word: ${address}`, async () => {
        const name = `behind-${Object.keys(behind).indexOf(what)}-${address}`
        const { id, key, first } = await chargedBack(name, minor)
        await run.bring(run.other, of(first))
        const word = { eventId: `${name}-word`, key, outcome: approvedOf(key) }
        await run.bring(run[address], word)
        assert.equal(await settled(word.eventId), 'settled')
        await until(async () => {
          const open = await run.sql(
            `select 1 from tollgate.inbound_event where claim ->> 'key' = $1 and processed_at is null`,
            [key],
          )
          return open.length === 0 || undefined
        })
        const recorded = await run.sql<{ fact: string }>(
          `select kind || ' ' || minor as fact from tollgate.chargeback where payment_id = $1 order by kind`,
          [id],
        )
        assert.deepEqual(
          recorded.map(({ fact }) => fact),
          facts,
        )
        assert.equal((await run.gateway.payments.get(id)).result.code, '000.100.112')
        assert.deepEqual(await run.listed(id), [])
      })
    }
  }
})
