/** Further presses around authentications: payments past theirs, and second tries that have none. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { type Connector, declined, pending } from '@tollgate/plugin-kit'
import pg from 'pg'
import { onFaultPoint } from '../../../core/index.ts'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  challenge,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { approval } from '../../rig/late-words.ts'
import { cardFields, newCheckout, nonce, press } from './rig.ts'

const hour = 3_600_000

describe('another press after an authentication', () => {
  let run: AuthenticatingRun
  let verifications = 0
  const verifying = (connector: Connector): Connector => ({
    ...connector,
    verify: async (_, context) => {
      context.sending()
      verifications += 1
      return declined('300.100.100')
    },
  })
  before(async () => {
    run = await startAuthenticating({ variants: { verifying } })
    const { entityId } = run.at('verifying')
    await run.gateway.entities.configure(entityId, { threeDSecure: 'on' })
    await run.gateway.entities.createAccount({
      channelId: entityId,
      connector: authenticatorName,
      mode: 'EXTERNAL',
      settings: {},
    })
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  const made = (reference: string, script: Script, more: object = {}) => {
    run.acquirer.tell(reference, script)
    return newCheckout(run, { merchantTransactionId: reference, testMode: 'EXTERNAL', ...more })
  }
  const paymentOf = async (checkoutId: string) => {
    const [row] = await run.sql<{ id: string }>(
      'select payment_id as id from tollgate.checkout where id = $1',
      [checkoutId],
    )
    return row!.id
  }
  const review: Script = {
    debit: (_, context) => {
      context.sending()
      return pending({ poll: hour }, { refs: { review: 'yes' } })
    },
    enquire: () => ({ is: 'pending', next: { poll: hour } }),
    reverseByKey: () => ({ is: 'reversed', refs: {} }),
  }

  test('a payment that the acquirer reviews is left in peace, and counts', async () => {
    const id = await made('in-review', review)
    assert.equal((await press(run.gateway, id)).state, 'waiting')
    assert.equal((await press(run.gateway, id)).state, 'busy')
    assert.deepEqual(run.acquirer.of('in-review'), ['debit'])
    await run.tell(await paymentOf(id), { outcome: approval })
    assert.equal((await run.gateway.checkouts.state(id)).state, 'paid')
  })

  test('so is one whose process died on the way to the acquirer', async () => {
    const id = await made('died-on-the-way', review)
    await new Promise<void>((reached, failed) => {
      onFaultPoint((at) => {
        if (at !== 'gone-on') return
        onFaultPoint(undefined)
        reached()
        return new Promise<void>(() => {})
      })
      press(run.gateway, id).catch(failed)
    })
    const payment = await paymentOf(id)
    await run.sql(
      "update tollgate.attempt set lease_until = now() - interval '1 second' where payment_id = $1",
      [payment],
    )
    assert.equal((await press(run.gateway, id)).state, 'busy')
    // A look of the engine may have found the review already.
    assert.ok(['000.200.000', '000.200.001'].includes(await run.code(payment)))
    assert.ok(!run.acquirer.of('died-on-the-way').includes('reverseByKey'))
  })

  /** A press during which another process, to which the shopper came back, goes on with the payment. */
  const pressWhileItGoesOn = async (id: string, payment: string, state: 'pending' | 'unknown') => {
    const holder = new pg.Client({ connectionString: run.database.url })
    await holder.connect()
    try {
      await holder.query('begin')
      await holder.query(
        `update tollgate.attempt set stage = 'money', state = $2 where payment_id = $1`,
        [payment, state],
      )
      await holder.query(
        `update tollgate.payment set answer = answer - 'redirect', state = $2 where id = $1`,
        [payment, state],
      )
      const reply = press(run.gateway, id)
      await until(async () => {
        const [waiting] = await run.sql(
          `select from pg_stat_activity
            where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return waiting
      })
      await holder.query('commit')
      return await reply
    } finally {
      await holder.end()
    }
  }

  test('so is one that went on to the acquirer between the press and its lease', async () => {
    const id = await made('went-on-meanwhile', review)
    run.authenticator.tell('went-on-meanwhile', { authenticate: challenge })
    assert.equal((await press(run.gateway, id)).state, 'waiting')
    const payment = await paymentOf(id)
    assert.equal((await pressWhileItGoesOn(id, payment, 'pending')).state, 'busy')
    assert.deepEqual(run.acquirer.of('went-on-meanwhile'), [])
    assert.equal(await run.stateOf(payment), 'pending')
  })

  test('one that got no answer then is asked about and listed at once, and not reversed', async () => {
    const enquire = () => ({ is: 'unknown', why: 'busy' }) as const
    const id = await made('lost-meanwhile', { ...review, enquire })
    run.authenticator.tell('lost-meanwhile', { authenticate: challenge })
    assert.equal((await press(run.gateway, id)).state, 'waiting')
    const payment = await paymentOf(id)
    assert.equal((await pressWhileItGoesOn(id, payment, 'unknown')).state, 'busy')
    assert.deepEqual(run.acquirer.of('lost-meanwhile'), ['enquire'])
    const listed = await run.sql(
      'select kind from tollgate.attention where payment_id = $1 and resolved_at is null',
      [payment],
    )
    assert.deepEqual(listed, [{ kind: 'undecided' }])
    await run.tell(payment, { outcome: approval })
    assert.equal((await run.gateway.checkouts.state(id)).state, 'paid')
  })

  const softDeclines: Script = {
    debit: (_, context) => {
      context.sending()
      return declined('300.100.100')
    },
  }

  test('a soft decline of a card that no authenticator knows is final', async () => {
    const id = await made('soft-unknown-card', softDeclines)
    const card = { ...cardFields('377777777777770'), cvv: '1234' }
    const one = { nonce: nonce() }
    assert.equal((await press(run.gateway, id, { ...one, card })).state, 'declined')
    // The merchant may have read the decline: the same press pays no more, whatever it brings.
    for (const more of [{ card }, {}]) {
      assert.equal((await press(run.gateway, id, { ...one, ...more })).state, 'declined')
    }
    assert.deepEqual(run.acquirer.of('soft-unknown-card'), ['debit'])
    assert.deepEqual(run.authenticator.of('soft-unknown-card'), [])
  })

  test('so is that of a verification', async () => {
    const { id } = await run.gateway.checkouts.create({
      ...run.at('verifying'),
      createRegistration: 'true',
      merchantTransactionId: 'soft-verification',
      testMode: 'EXTERNAL',
    } as never)
    assert.equal((await press(run.gateway, id)).state, 'declined')
    assert.equal(verifications, 1)
  })

  test('a process that died after a soft decline: the press goes on with the same card alone', async () => {
    let no = 0
    const id = await made('soft-died', {
      debit: (operation, context) => {
        context.sending()
        no += 1
        return no === 1 ? declined('300.100.100') : approvedAs(operation)
      },
    })
    let commits = 0
    onFaultPoint((at) => {
      if (at !== 'before-T1') return
      commits += 1
      if (commits === 2) throw new Error('the process died')
    })
    const one = { nonce: nonce() }
    await assert.rejects(press(run.gateway, id, one), /died/)
    onFaultPoint(undefined)
    const other = { ...one, card: cardFields('5454545454545454') }
    assert.equal((await press(run.gateway, id, other)).state, 'declined')
    assert.deepEqual(run.acquirer.of('soft-died'), ['debit'])
    assert.equal((await press(run.gateway, id, one)).state, 'paid')
  })
})
