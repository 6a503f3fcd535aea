/** Tries of a checkout that hold money after others followed them, or that lost their slot. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import pg from 'pg'
import { onFaultPoint } from '../../../core/fault-point.ts'
import type { Script } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  challenge,
  confirmed,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approval, charged, lose, notCharged, refuse, refusedFor } from '../../rig/late-words.ts'
import { cardFields, newCheckout, pageOf, press } from './rig.ts'

/** An acquirer that cannot take money back yet. */
const stuck: Script = { reverseByKey: () => ({ is: 'unknown', why: 'not yet' }) }
const yielding: Script = { reverseByKey: () => ({ is: 'reversed', refs: {} }) }

/** The first commit of a card that no authenticator knows is the last one before the acquirer. */
const entries = {
  'an authenticated card': {},
  'another card': { card: { ...cardFields('377777777777770'), cvv: '1234' } },
}

describe('earlier tries of a checkout', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  const made = (reference: string, script: Script = {}) => {
    run.acquirer.tell(reference, script)
    return newCheckout(run, { merchantTransactionId: reference, testMode: 'EXTERNAL' })
  }
  const debits = (reference: string) =>
    run.acquirer.of(reference).filter((what) => what === 'debit').length
  const paymentsOf = async (id: string) =>
    (
      await run.sql<{ id: string }>(
        'select id from tollgate.payment where checkout_id = $1 order by id',
        [id],
      )
    ).map((row) => row.id)
  /** A checkout after declined tries. */
  const afterTries = async (reference: string, tries: number) => {
    const id = await made(reference, { debit: refuse, ...stuck })
    for (let no = 1; no <= tries; no += 1) {
      assert.equal((await press(run.gateway, id)).state, 'declined')
    }
    run.acquirer.tell(reference, stuck)
    return { id, first: (await paymentsOf(id))[0]! }
  }
  const takenBack = (reference: string, payment: string) => {
    run.acquirer.tell(reference, yielding)
    return until(async () => {
      await run.sql('update tollgate.attempt set lease_until = null where payment_id = $1', [
        payment,
      ])
      await run.dueNow(payment)
      return (await run.kinds(payment)).includes('(conflict)') ? true : undefined
    })
  }
  const wayBack = (reference: string) => {
    const call = run.authenticator.calls.filter((one) => one.reference === reference).at(-1)!
    const [id = '', token = ''] = call.request.returnUrl!.split('/').slice(-2)
    return { id, token }
  }

  test('an operator decides about none of them by the number of the checkout', async () => {
    const { id, first } = await afterTries('by-checkout', 1)
    run.acquirer.tell('by-checkout', {
      debit: lose,
      enquire: () => ({ is: 'unknown', why: 'busy' }),
      ...stuck,
    })
    await press(run.gateway, id)
    const [, second] = await paymentsOf(id)
    const by = { by: 'alice', reason: 'the first one went back by hand' }
    await run.operator.enquire(second!, by)
    const several = refusedFor(new RegExp(`several payments.*${first}.*${second}`))
    await assert.rejects(run.gateway.operator.settle(id, 'declined', by), several)
    await run.operator.settle(second!, 'declined', by)
  })

  test('nobody can pay while a late success of the try before the last is there', async () => {
    const { id, first } = await afterTries('late-before-last', 2)
    await run.tell(first, { outcome: approval })
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'busy' })
    assert.deepEqual(await press(run.gateway, id), { state: 'busy' })
    await assert.rejects(run.gateway.checkouts.update(id, { amount: '93.00' } as never))
    assert.equal(debits('late-before-last'), 2)
    await takenBack('late-before-last', first)
    assert.deepEqual(await press(run.gateway, id), { state: 'paid', resultUrl: pageOf(id) })
  })

  for (const [what, entry] of Object.entries(entries)) {
    test(`such a success between the read and the commit of ${what}: nothing is sent`, async () => {
      const reference = `late before ${what}`
      const { id, first } = await afterTries(reference, 2)
      onFaultPoint(async (point) => {
        if (point !== 'before-T1') return
        onFaultPoint(undefined)
        await run.tell(first, { outcome: approval })
      })
      assert.deepEqual(await press(run.gateway, id, entry), { state: 'busy' })
      assert.equal(debits(reference), 2)
      assert.equal((await paymentsOf(id)).length, 2)
      await takenBack(reference, first)
    })
  }

  /** A late success of the payment whose commit is under way during the work. */
  async function duringLate(payment: string, work: (commit: () => Promise<void>) => Promise<void>) {
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(`update tollgate.attempt set state = 'late' where payment_id = $1`, [
        payment,
      ])
      await work(async () => {
        await until(async () => {
          const [row] = await run.sql(
            `select from pg_stat_activity
              where datname = current_database() and wait_event_type = 'Lock'`,
          )
          return row
        })
        await holder.query('commit')
      })
    } finally {
      await holder.end()
      await run.sql(`update tollgate.attempt set state = 'declined' where payment_id = $1`, [
        payment,
      ])
    }
  }

  for (const [what, entry] of Object.entries(entries)) {
    test(`a success whose commit is under way at the commit of ${what}: nothing is sent`, async () => {
      const reference = `late at ${what}`
      const { id, first } = await afterTries(reference, 2)
      await duringLate(first, async (commit) => {
        const [reply] = await Promise.all([press(run.gateway, id, entry), commit()])
        assert.deepEqual(reply, { state: 'busy' })
      })
      assert.equal(debits(reference), 2)
      assert.equal((await paymentsOf(id)).length, 2)
    })
  }

  /** A challenge in the try after a declined one. */
  const challenged = async (reference: string) => {
    const { id, first } = await afterTries(reference, 1)
    run.authenticator.tell(reference, { authenticate: challenge })
    assert.equal((await press(run.gateway, id)).state, 'waiting')
    return { id, first, back: wayBack(reference) }
  }

  test('a late success during the challenge of the next try keeps it from taking money', async () => {
    const { id, first, back } = await challenged('late-in-challenge')
    await run.tell(first, { outcome: approval })
    await run.back(back.id, back.token)
    assert.equal(await run.code(back.id), notCharged)
    assert.equal(debits('late-in-challenge'), 1)
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'busy' })
    await takenBack('late-in-challenge', first)
    assert.deepEqual(await run.gateway.checkouts.state(id), { state: 'free' })
  })

  test('a success whose commit is under way when the challenge ends: nothing is sent', async () => {
    const { first, back } = await challenged('late-at-return')
    await duringLate(first, async (commit) => {
      await Promise.all([run.back(back.id, back.token), commit()])
      assert.equal(await run.code(back.id), notCharged)
    })
    assert.equal(debits('late-at-return'), 1)
  })

  test('a payment that lost its slot in a failover takes no money after its challenge', async () => {
    const told = Promise.withResolvers<ReturnType<typeof challenge>>()
    const begun = Promise.withResolvers<string>()
    run.authenticator.tell('slot-lost', {
      authenticate: (request) => {
        begun.resolve(request.paymentId)
        return told.promise
      },
    })
    const id = await made('slot-lost')
    const reply = press(run.gateway, id)
    const payment = await begun.promise
    const { token } = wayBack('slot-lost')
    for (const [table, column] of [
      ['attempt', 'payment_id'],
      ['payment_request', 'id'],
      ['instrument', 'id'],
      ['payment', 'id'],
    ]) {
      await run.sql(`delete from tollgate.${table} where ${column} = $1`, [payment])
    }
    await run.sql(`update tollgate.checkout set payment_id = null, nonces = '{}' where id = $1`, [
      id,
    ])
    run.authenticator.tell('slot-lost', { authenticate: () => confirmed() })
    assert.equal((await press(run.gateway, id)).state, 'paid')
    told.resolve(challenge())
    await reply
    await run.back(payment, token)
    assert.equal(await run.code(payment), notCharged)
    assert.equal(debits('slot-lost'), 1)
    assert.equal((await run.gateway.checkouts.payment(id)).result.code, charged)
  })
})
