/** Two accounts with one merchant number: the acquirer sends each event to both addresses, or to one. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type AcquirerRun, message, scriptedName, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { chargeback, withNumbers } from './shared-number.ts'

describe('accounts with one merchant number', () => {
  let run: AcquirerRun
  const accounts: Record<string, string> = {}
  before(async () => {
    run = await startWithAcquirer({ acquirer: withNumbers() })
    const { entities } = run.gateway
    const at = async (parentId: string, number?: string) => {
      const channelId = await entities.create({ kind: 'channel', name: 'Another', parentId })
      return entities.createAccount({
        channelId,
        connector: scriptedName,
        mode: 'EXTERNAL',
        settings: number === undefined ? {} : { number },
      })
    }
    await run.gateway.accounts.set(run.account, { settings: { number: 'MID-1' } })
    const [division] = await run.sql<{ id: string }>(
      `select replace(parent_id::text, '-', '') as id from tollgate.entity where id = $1`,
      [run.merchant],
    )
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Another merchant',
      parentId: division!.id,
    })
    accounts.same = await at(run.merchant, ' mid-1')
    accounts.other = await at(run.merchant, 'MID-2')
    accounts.unnamed = await at(run.merchant)
    accounts.stranger = await at(merchant, 'MID-1')
  })
  after(() => closeChecked(run))

  /** @returns the outcome at that account. */
  const told = async (account: string, about: Parameters<typeof message>[0]) => {
    await run.gateway.inbound(scriptedName, account, message(about))
    return outcomeAt(account, about.eventId)
  }
  const outcomeAt = (account: string, eventId: string): Promise<string> =>
    until(async () => {
      const [row] = await run.sql<{ outcome: string }>(
        `select outcome from tollgate.inbound_event
         where account = $1 and event_id = $2 and processed_at is not null`,
        [account, eventId],
      )
      return row?.outcome
    })
  const listed = () => run.sql('select 1 from tollgate.attention where resolved_at is null')

  test('a chargeback that came to the other address is recorded, once', async () => {
    const { id } = await run.debit('sold-once')
    const key = await run.keyOf(id)
    const about = { key, outcome: chargeback, reference: 'case-1' }
    assert.equal(await told(accounts.same!, { ...about, eventId: 'to-other' }), 'handed-over')
    assert.equal(await outcomeAt(run.account, 'to-other'), 'recorded')
    assert.equal(await told(run.account, { ...about, eventId: 'to-own' }), 'known')
    await assert.rejects(run.gateway.payments.refund(id, { amount: '5.00', currency: 'EUR' }), {
      code: '700.300.600',
    })
    assert.deepEqual(await listed(), [])
  })

  test('an approval that came to both addresses is no news for the second', async () => {
    const { id } = await run.debit('sold-twice-told')
    const key = await run.keyOf(id)
    const outcome = { is: 'approved', refs: { reference: `at-${key}` } }
    assert.equal(await told(accounts.same!, { eventId: 'twice-1', key, outcome }), 'handed-over')
    assert.equal(await outcomeAt(run.account, 'twice-1'), 'known')
    assert.equal(await told(run.account, { eventId: 'twice-2', key, outcome }), 'known')
    assert.deepEqual(await listed(), [])
  })

  test('an old failure that the other address hears after the later success changes nothing', async () => {
    const { id } = await run.debit('failed-and-stood', {
      debit: (operation) => ({
        is: 'accepted',
        refs: { reference: `at-${operation.key}` },
        finalBy: 'event',
      }),
    })
    const key = await run.keyOf(id)
    const refs = { reference: `at-${key}` }
    const failure = {
      eventId: 'failed',
      key,
      outcome: { is: 'declined', reason: '800.100.100', refs },
    }
    const success = { eventId: 'stood', key, outcome: { is: 'accepted', refs, finalBy: 'event' } }
    await told(run.account, failure)
    await told(run.account, success)
    await run.operator.settle(id, 'approved', {
      by: 'alice',
      reason: 'the acquirer says so',
    })
    assert.equal(await told(accounts.same!, failure), 'handed-over')
    assert.equal((await run.gateway.payments.get(id)).result.code, '000.100.112')
    const [row] = await run.sql('select state from tollgate.payment where id = $1', [id])
    assert.deepEqual(row, { state: 'approved' })
    assert.deepEqual(await listed(), [])
  })

  test('a message to both addresses with two contents is listed for the payment', async () => {
    const { id } = await run.debit('told-in-two-ways')
    const key = await run.keyOf(id)
    const about = {
      eventId: 'two-ways',
      key,
      outcome: { is: 'approved', refs: { reference: `at-${key}` } },
    }
    assert.equal(await told(run.account, about), 'known')
    assert.equal(await told(accounts.same!, { ...about, minor: '9300' }), 'handed-over')
    const entries = await run.sql(
      `select kind, detail ->> 'why' as why from tollgate.attention
       where payment_id = $1 and resolved_at is null`,
      [id],
    )
    assert.deepEqual(entries, [{ kind: 'event', why: 'it came again and says something else' }])
    await run.sql('update tollgate.attention set resolved_at = now() where payment_id = $1', [id])
  })

  test('a chargeback of an undecided payment keeps its instant, and waits at the address of the payment', async () => {
    const { id } = await run.debit('not-decided-yet', {
      debit: () => ({ is: 'unknown', why: 'the answer is lost' }),
      enquire: () => ({ is: 'unknown', why: 'ask later' }),
    })
    const key = await run.keyOf(id)
    const early = { eventId: 'charged-early', key, outcome: chargeback, reference: 'case-early' }
    assert.equal(await told(accounts.same!, early), 'handed-over')
    assert.deepEqual(
      await run.sql(
        `select count(distinct received_at)::integer as instants, count(processed_at)::integer as ended
         from tollgate.inbound_event where event_id = 'charged-early'`,
      ),
      [{ instants: 1, ended: 1 }],
    )
    const outcome = { is: 'approved', refs: { reference: `at-${key}` } }
    assert.equal(await told(run.account, { eventId: 'decided', key, outcome }), 'settled')
    await run.sql(
      `update tollgate.inbound_event set next_at = now()
       where event_id = 'charged-early' and processed_at is null`,
    )
    assert.equal(await outcomeAt(run.account, 'charged-early'), 'recorded')
  })

  test('what the account of the payment reads in its own message counts beside what another one read', async () => {
    const { id } = await run.debit('read-in-two-ways', {
      debit: () => ({ is: 'unknown', why: 'the answer is lost' }),
      enquire: () => ({ is: 'unknown', why: 'ask later' }),
    })
    const key = await run.keyOf(id)
    const about = { eventId: 'read-twice', key }
    const vague = { is: 'unknown', why: 'nothing is known of it here' }
    const clear = { is: 'approved', refs: { reference: `at-${key}` } }
    assert.equal(await told(accounts.same!, { ...about, outcome: vague }), 'handed-over')
    assert.equal(await outcomeAt(run.account, 'read-twice'), 'enquired')
    await run.gateway.inbound(scriptedName, run.account, message({ ...about, outcome: clear }))
    const approved = async () =>
      (await run.gateway.payments.get(id)).result.code === '000.100.112' || undefined
    await until(approved)
    assert.equal(await told(accounts.same!, { ...about, outcome: vague }), 'handed-over')
    const entries = () =>
      run.sql(
        "select kind from tollgate.attention where payment_id = $1 and kind = 'event' and resolved_at is null",
        [id],
      )
    assert.deepEqual(await entries(), [])
  })

  test('an operator retries an event that both accounts gave up, at either of them', async () => {
    const { id } = await run.debit('found-again')
    const key = await run.keyOf(id)
    const renamed = (from: string, to: string) =>
      run.sql(
        `with attempt as (update tollgate.attempt set key = $2 where key = $1)
         update tollgate.payment set attempt_key = $2 where attempt_key = $1`,
        [from, to],
      )
    await renamed(key, `lost-${key}`)
    const about = { eventId: 'given-up', key, outcome: chargeback, reference: 'case-given-up' }
    for (const account of [run.account, accounts.same!])
      await run.gateway.inbound(scriptedName, account, message(about))
    await run.sql(
      `update tollgate.inbound_event set received_at = now() - interval '73 hours', next_at = now()
       where event_id = 'given-up'`,
    )
    for (const account of [run.account, accounts.same!])
      assert.equal(await outcomeAt(account, 'given-up'), 'unknown-key')
    await renamed(`lost-${key}`, key)
    const [entry] = await run.sql<{ id: string }>(
      `select id from tollgate.attention where kind = 'unclaimed' and detail ->> 'account' = $1`,
      [accounts.same],
    )
    await run.gateway.operator.retry(entry!.id, { by: 'alice', reason: 'the payment is back' })
    await until(async () => (await outcomeAt(run.account, 'given-up')) === 'recorded' || undefined)
    await run.sql("update tollgate.attention set resolved_at = now() where kind = 'unclaimed'")
  })

  test('another number, no number and another merchant prove nothing', async () => {
    const { id } = await run.debit('sold-elsewhere')
    const key = await run.keyOf(id)
    for (const name of ['other', 'unnamed', 'stranger']) {
      const about = { eventId: `by-${name}`, key, outcome: chargeback, reference: name }
      assert.equal(await told(accounts[name]!, about), 'other-account')
    }
    assert.deepEqual(
      await run.sql('select 1 from tollgate.chargeback where payment_id = $1', [id]),
      [],
    )
    assert.equal((await listed()).length, 3)
  })
})
