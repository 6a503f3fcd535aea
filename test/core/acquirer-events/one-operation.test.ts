/** An event id counts for one operation per merchant number: what it says of another one waits for an operator. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Gateway, onFaultPoint } from '../../../core/index.ts'
import { message, scriptedName } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approvedOf, chargeback, type SharedRun, startShared, undecided } from './shared-number.ts'

const waits = { code: '700.300.600' }
const done = '000.100.112'
const again = 'it came again and says something else'

describe('event ids that come again about another operation', () => {
  let run: SharedRun
  let second: Gateway
  before(async () => {
    run = await startShared()
    second = await run.another({ plugins: [run.acquirer.plugin] })
  })
  afterEach(() => onFaultPoint(undefined))
  after(() => closeChecked(run))

  const made = async (reference: string, more: Record<string, unknown> = {}) => {
    const { id } = await run.debit(reference, {}, more)
    return { id, key: await run.keyOf(id) }
  }
  /** A payment of each account. */
  const ofBoth = async (reference: string) => {
    const [channel] = await run.sql<{ id: string }>(
      'select channel_id as id from tollgate.merchant_account where id = $1::uuid',
      [run.other],
    )
    return [
      await made(`${reference}-1`),
      await made(`${reference}-2`, { entityId: channel!.id }),
    ] as const
  }
  const refund = (id: string, amount = '5.00') =>
    run.gateway.payments.refund(id, { amount, currency: 'EUR' })
  const chargebacksOf = async (id: string) => {
    const rows = await run.sql<{ minor: string }>(
      'select minor::text as minor from tollgate.chargeback where payment_id = $1 order by at',
      [id],
    )
    return rows.map(({ minor }) => minor)
  }
  const nothingOpen = (keys: readonly string[]) =>
    until(async () => {
      const open = await run.sql(
        `select 1 from tollgate.inbound_event where claim ->> 'key' = any($1) and processed_at is null`,
        [keys],
      )
      return open.length === 0 || undefined
    })
  const entriesOf = (eventId: string) =>
    run.sql<{ id: string; payment_id: string | null; why: string }>(
      `select id, payment_id, detail ->> 'why' as why
       from tollgate.attention where detail ->> 'event' = $1 and kind = 'event' and resolved_at is null
       order by at, id`,
      [eventId],
    )
  const by = { by: 'alice', reason: 'looked' }

  for (const to of ['account', 'other'] as const) {
    test(`a chargeback under a used id holds back the refunds of its payment until an operator retries it: ${to}`, async () => {
      const eventId = `used-${to}`
      const [first, charged] = [await made(`${eventId}-first`), await made(`${eventId}-charged`)]
      const about = { eventId, outcome: chargeback }
      await run.bring(run[to], { ...about, key: first.key, reference: `case-first-${to}` })
      await nothingOpen([first.key])
      await run.bring(run[to], { ...about, key: charged.key, reference: `case-${to}` })
      const [entry, ...others] = await entriesOf(eventId)
      assert.deepEqual([entry?.payment_id, entry?.why, others], [charged.id, again, []])
      await assert.rejects(refund(charged.id), waits)
      await run.gateway.operator.retry(entry!.id, by)
      await nothingOpen([charged.key])
      assert.deepEqual(
        [await chargebacksOf(charged.id), await run.listed(charged.id)],
        [['9200'], []],
      )
      const outcome = { ...chargeback, is: 'chargebackReversal' }
      const back = {
        eventId: `${eventId}-back`,
        key: charged.key,
        outcome,
        reference: `case-${to}`,
      }
      await run.bring(run.account, back)
      await nothingOpen([charged.key])
      assert.equal((await refund(charged.id)).result.code, done)
    })
  }

  test('a chargeback that came to another address holds refunds back where its id is about a key of nobody', async () => {
    const { id, key } = await made('key-of-nobody')
    const about = { eventId: 'key-of-nobody', outcome: chargeback }
    await run.bring(run.account, { ...about, key: 'nobody-has-this' })
    await run.bring(run.other, { ...about, key })
    const [entry] = await entriesOf(about.eventId)
    assert.equal(entry?.payment_id, id)
    await assert.rejects(refund(id), waits)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund(id)).result.code, done)
  })

  test('a chargeback under a used id that names an authorisation holds back its captures and their refunds', async () => {
    const { key: used } = await made('used-by-capture')
    const { id } = await run.debit('authorised', {}, { paymentType: 'PA' })
    const capture = () => run.gateway.payments.capture(id, { amount: '10.00', currency: 'EUR' })
    const captured = await capture()
    const about = { eventId: 'used-by-capture', outcome: chargeback }
    await run.bring(run.account, { ...about, key: used })
    await run.bring(run.account, { ...about, key: await run.keyOf(id), minor: '1000' })
    await assert.rejects(refund(captured.id), waits)
    await assert.rejects(capture(), waits)
    const [entry] = await entriesOf(about.eventId)
    await run.gateway.operator.resolve(entry!.id, by)
    assert.equal((await refund(captured.id)).result.code, done)
    assert.equal((await capture()).result.code, done)
    await nothingOpen([used])
  })

  test('a chargeback under a used id holds refunds back although its payment was undecided', async () => {
    const { key: used } = await made('used-while-open')
    const { id } = await run.debit('open-then', undecided)
    const key = await run.keyOf(id)
    const about = { eventId: 'used-while-open', outcome: chargeback }
    await run.bring(run.account, { ...about, key: used })
    await run.bring(run.account, { ...about, key })
    await run.bring(run.account, { eventId: 'open-decided', key, outcome: approvedOf(key) })
    await nothingOpen([used, key])
    await assert.rejects(refund(id), waits)
  })

  test('a return under a used id holds refunds back, and an approval does not', async () => {
    const { key: used } = await made('used-by-return')
    const [returned, told] = [await made('returned'), await made('told-again')]
    const outcome = { is: 'reversed', refs: {} }
    await run.bring(run.account, { eventId: 'by-return', key: used, outcome: approvedOf(used) })
    await run.bring(run.account, { eventId: 'by-return', key: returned.key, outcome })
    const approval = { eventId: 'by-return', key: told.key, outcome: approvedOf(told.key) }
    await run.bring(run.account, approval)
    assert.deepEqual(
      [await run.listed(returned.id), await run.listed(told.id)],
      [['event'], ['event']],
    )
    await assert.rejects(refund(returned.id), waits)
    assert.equal((await refund(told.id)).result.code, done)
  })

  test('a message for an account of another merchant holds nothing back', async () => {
    const { id, key } = await made('of-a-stranger')
    const about = { eventId: 'of-a-stranger', outcome: chargeback }
    await run.bring(run.stranger, { ...about, key: 'key-of-the-stranger' })
    await run.bring(run.stranger, { ...about, key })
    const [entry] = await entriesOf(about.eventId)
    assert.deepEqual([entry?.payment_id, entry?.why], [null, again])
    assert.equal((await refund(id)).result.code, done)
  })

  /** Exactly one of the two payments is charged back; the other one is listed, and waits. */
  const isOne = async (eventId: string, both: Awaited<ReturnType<typeof ofBoth>>) => {
    await nothingOpen(both.map(({ key }) => key))
    const facts = await Promise.all(both.map(({ id }) => chargebacksOf(id)))
    assert.deepEqual(facts.flat(), ['9200'], eventId)
    const listed = both[facts.findIndex(({ length }) => length === 0)]!
    const entries = await entriesOf(eventId)
    assert.deepEqual(
      entries.map(({ payment_id }) => payment_id),
      [listed.id],
    )
    for (const { id } of both) await assert.rejects(refund(id), waits)
    return listed
  }
  for (const way of ['its own payment', 'the payment of the other one'] as const) {
    test(`one of two chargebacks counts where each account hears one id about ${way}`, async () => {
      const eventId = `each-${way.length}`
      const both = await ofBoth(eventId)
      const [first, last] = way === 'its own payment' ? both : both.toReversed()
      await run.bring(run.account, { eventId, key: first!.key, outcome: chargeback })
      await run.bring(run.other, { eventId, key: last!.key, outcome: chargeback })
      const listed = await isOne(eventId, both)
      assert.equal(listed.id, last!.id, 'the first one counts')
      const [entry] = await entriesOf(eventId)
      await run.gateway.operator.retry(entry!.id, by)
      await nothingOpen([listed.key])
      // One id without a reference is one dispute at one account only.
      assert.deepEqual([await chargebacksOf(listed.id), await entriesOf(eventId)], [['9200'], []])
    })

    test(`one of two chargebacks counts that come at once to two hosts about ${way}`, async () => {
      for (let no = 0; no < 8; no += 1) {
        const eventId = `at-once-${way.length}-${no}`
        const both = await ofBoth(eventId)
        const [first, last] = way === 'its own payment' ? both : both.toReversed()
        const arrived = Promise.withResolvers<void>()
        let times = 0
        onFaultPoint(async (point, ref) => {
          if (point !== 'before-event' || ref !== eventId) return
          times += 1
          if (times === 2) arrived.resolve()
          if (times <= 2) await arrived.promise
        })
        await Promise.all([
          run.bring(run.account, { eventId, key: first!.key, outcome: chargeback }),
          second.inbound(
            scriptedName,
            run.other,
            message({ eventId, key: last!.key, outcome: chargeback }),
          ),
        ])
        await isOne(eventId, both)
      }
    })

    test(`one of two chargebacks counts when the process ends behind any statement, about ${way}`, async () => {
      for (const point of ['before-event', 'after-event'] as const) {
        for (const times of [1, 2, 3]) {
          const eventId = `ended-${way.length}-${point}-${times}`
          const both = await ofBoth(eventId)
          const [first, last] = way === 'its own payment' ? both : both.toReversed()
          let left = times
          onFaultPoint(async (reached, ref) => {
            if (reached !== point || ref !== eventId) return
            left -= 1
            if (left === 0) throw new Error('the process ends here')
          })
          const bring = async (account: string, key: string) => {
            const about = { eventId, key, outcome: chargeback }
            // The acquirer sends again what nobody acknowledged.
            await run.bring(account, about).catch(() => run.bring(account, about))
          }
          await bring(run.account, first!.key)
          await bring(run.other, last!.key)
          await until(async () => {
            const open = await run.sql(
              `update tollgate.inbound_event set next_at = now()
               where event_id = $1 and processed_at is null returning 1`,
              [eventId],
            )
            return open.length === 0 || undefined
          })
          await isOne(eventId, both)
        }
      }
    })
  }

  test('one id counts at each account where they have different numbers', async () => {
    const eventId = 'two-numbers'
    await run.gateway.accounts.set(run.other, { settings: { number: 'MID-2' } })
    try {
      const both = await ofBoth(eventId)
      await run.bring(run.account, { eventId, key: both[0].key, outcome: chargeback })
      await run.bring(run.other, { eventId, key: both[1].key, outcome: chargeback })
      await nothingOpen(both.map(({ key }) => key))
      for (const { id } of both) assert.deepEqual(await chargebacksOf(id), ['9200'])
      assert.deepEqual(await entriesOf(eventId), [])
    } finally {
      await run.gateway.accounts.set(run.other, { settings: { number: 'MID-1' } })
    }
  })

  const third = async () => {
    const { entities } = run.gateway
    const channel = { kind: 'channel', name: 'Third', parentId: run.merchant } as const
    const channelId = await entities.create(channel)
    const account = { channelId, connector: scriptedName, mode: 'EXTERNAL' as const }
    return entities.createAccount({ ...account, settings: { number: 'MID-1' } })
  }

  test('a content that the account of the payment read itself is known when it comes by another address', async () => {
    const heard = await third()
    const { id, key } = await made('read-itself')
    const says = (text: string) => ({
      eventId: 'read-itself',
      key,
      outcome: { ...approvedOf(key), text },
    })
    await run.bring(run.other, says('x'))
    await nothingOpen([key])
    await run.bring(run.account, says('y'))
    await nothingOpen([key])
    await run.bring(heard, says('y'))
    await nothingOpen([key])
    assert.deepEqual(await run.listed(id), [])
  })

  for (const isBeside of [true, false]) {
    test(`a chargeback that counts at the account of the payment is known when another address that heard something else tells it: ${isBeside ? 'beside' : 'first'}`, async () => {
      const eventId = `counts-there-${isBeside}`
      const { id, key } = await made(eventId)
      const said = { eventId, key, outcome: approvedOf(key) }
      const charged = { eventId, key, outcome: chargeback, reference: eventId }
      const told = [
        [run.other, said],
        [run.account, charged],
      ] as const
      for (const [account, about] of isBeside ? told : told.toReversed()) {
        await run.bring(account, about)
        await nothingOpen([key])
      }
      const before = await run.listed(id)
      assert.deepEqual(before, isBeside ? [] : ['event'], 'the approval')
      for (const account of [run.other, run.account]) await run.bring(account, charged)
      assert.deepEqual([await chargebacksOf(id), await run.listed(id)], [['9200'], before])
      const outcome = { ...chargeback, is: 'chargebackReversal' }
      await run.bring(run.other, { ...charged, eventId: `${eventId}-back`, outcome })
      await nothingOpen([key])
      assert.equal((await refund(id)).result.code, done, 'nothing holds it back')
    })
  }

  test('a content that was listed when another address told it is carried out once, and its entry ends', async () => {
    const heard = await third()
    const { id, key } = await made('listed-before')
    const says = (text: string) => ({
      eventId: 'listed-before',
      key,
      outcome: { ...approvedOf(key), text },
    })
    await run.bring(run.other, says('x'))
    await nothingOpen([key])
    await run.bring(heard, says('y'))
    await nothingOpen([key])
    assert.deepEqual(await run.listed(id), ['event'])
    await run.bring(run.account, says('y'))
    await nothingOpen([key])
    assert.deepEqual(await run.listed(id), [])
    const stored = await run.sql(
      `select 1 from tollgate.inbound_event where claim ->> 'key' = $1 and event_id like '% says %'`,
      [key],
    )
    assert.equal(stored.length, 1)
  })
})
