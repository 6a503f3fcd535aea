/**
 * Money around an authentication: returns at once, dying processes, lost answers, words out of
 * order. An acquirer hears of a payment once, after a proven authentication, or never.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, afterEach, before, describe, test } from 'node:test'
import {
  type Authentication,
  type AuthenticationRequest,
  type AuthenticatorContext,
  declined,
  unknown,
} from '@tollgate/plugin-kit'
import { type FaultPoint, type Gateway, GatewayError, onFaultPoint } from '../../../core/index.ts'
import { limits } from '../../../schemas/index.ts'
import { message } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  challenge,
  confirmed,
  resultPage,
  secretProof,
  startAuthenticating,
  testCode,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { queueEngineJob } from '../../rig/engine-jobs.ts'
import { until } from '../../rig/gateway.ts'
import { approval, charged, notCharged } from '../../rig/late-words.ts'
import { leavesOf } from '../../rig/leaves.ts'

const abandoned = '100.380.501'
const publicUrl = 'https://pay.example'

/** Runs work up to a fault point, where its process stops for good. */
function dieAt(point: FaultPoint, work: () => Promise<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    onFaultPoint((at) => {
      if (at !== point) return
      onFaultPoint(undefined)
      resolve()
      return new Promise<void>(() => {})
    })
    work().then(() => reject(new Error(`${point} was not reached`)), reject)
  })
}

describe('money around an authentication', () => {
  let run: AuthenticatingRun
  let other: Gateway
  before(async () => {
    run = await startAuthenticating()
    other = await run.another({ role: 'api', publicUrl, shutdownGraceMs: 100 })
  })
  after(async () => {
    await other.close()
    await closeChecked(run)
  })
  afterEach(() => onFaultPoint(undefined))

  const changeAttempt = (id: string, what: string) =>
    run.sql(`update tollgate.attempt set ${what} where payment_id = $1`, [id])
  /** Another process finds the attempt of the dead one: its lease is over, and its timers are due. */
  const foundDead = async (id: string, returnedAgo = '0 s') => {
    await changeAttempt(
      id,
      `lease_until = now() - interval '1 second', returned_at = returned_at - interval '${returnedAgo}'`,
    )
    await dueNow(id, 'look')
  }
  const dueNow = (id: string, kind: string) =>
    run.sql(
      `update tollgate.timer set due_at = now() where kind = $2
         and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id, kind],
    )
  const leaseEnds = async (id: string) => {
    const [row] = await run.sql<{ at: Date | null }>(
      'select lease_until as at from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.at
  }
  const ended = (id: string) =>
    until(async () => {
      const code = await run.code(id)
      return code.startsWith('000.200') ? undefined : code
    })

  test('a challenge returned twice on two hosts at once is one authorisation', async () => {
    const told = Promise.withResolvers<Authentication>()
    const { id, token } = await run.away('twice-at-once', { complete: () => told.promise })
    const returns = [run.back(id, token), run.back(id, token, other), run.back(id, token)]
    await until(async () => (run.authenticator.of('twice-at-once').length > 1 ? true : undefined))
    told.resolve(confirmed())
    await Promise.all(returns)
    assert.equal(await run.code(id), charged)
    assert.deepEqual(run.acquirer.of('twice-at-once'), ['debit'])
    assert.deepEqual(run.authenticator.of('twice-at-once'), ['authenticate', 'complete'])
    await run.back(id, token, other)
    assert.deepEqual(run.acquirer.of('twice-at-once'), ['debit'])
  })

  test('a shopper who came back too often at once is asked about after a pause', async () => {
    let isConfirmed = false
    const { id, token } = await run.away('often-at-once', {
      complete: () => (isConfirmed ? confirmed() : challenge()),
      enquire: () => (isConfirmed ? confirmed() : challenge()),
    })
    for (let count = 0; count < limits.shopperQuestions.atOnce; count += 1)
      await run.back(id, token)
    isConfirmed = true
    await run.back(id, token)
    assert.equal(run.authenticator.of('often-at-once').includes('enquire'), false)
    assert.equal(await ended(id), charged)
    assert.deepEqual(run.acquirer.of('often-at-once'), ['debit'])
  })

  test('killed after the return and before the money, a job goes on within five minutes', async () => {
    const { id, token } = await run.away('killed-within', {})
    await dieAt('authenticated', () => run.back(id, token, other))
    assert.deepEqual(run.acquirer.of('killed-within'), [])
    await foundDead(id, '4 minutes')
    assert.equal(await ended(id), charged)
    assert.deepEqual(run.acquirer.of('killed-within'), ['debit'])
    const [call] = run.acquirer.calls.filter(({ reference }) => reference === 'killed-within')
    assert.equal(call!.operation.threeDSecure?.verificationId?.reveal(), secretProof)
    assert.deepEqual(run.authenticator.of('killed-within'), ['authenticate', 'complete', 'enquire'])
  })

  test('killed after the return, and found beyond five minutes, the payment is over', async () => {
    const { id, token } = await run.away('killed-beyond', {})
    await dieAt('authenticated', () => run.back(id, token, other))
    await foundDead(id, '6 minutes')
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('killed-beyond'), [])
    assert.deepEqual(run.authenticator.of('killed-beyond'), ['authenticate', 'complete'])
  })

  for (const point of ['after-lease', 'before-going-on'] as const) {
    test(`killed at ${point} of a return, a job finishes the payment once`, async () => {
      const { id, token } = await run.away(`return-dies-${point}`, {})
      await dieAt(point, () => run.back(id, token, other))
      await foundDead(id)
      assert.equal(await ended(id), charged)
      assert.deepEqual(run.acquirer.of(`return-dies-${point}`), ['debit'])
    })
  }

  test('a process that wakes up before the money finds it done by another', async () => {
    const { id, token } = await run.away('woken-up-late', {})
    const woken = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    onFaultPoint((at) => {
      if (at !== 'before-going-on') return
      onFaultPoint(undefined)
      reached.resolve()
      return woken.promise
    })
    const back = run.back(id, token, other)
    await reached.promise
    await foundDead(id)
    assert.equal(await ended(id), charged)
    woken.resolve()
    assert.equal(((await back) as { to: string }).to, 'merchant')
    assert.deepEqual(run.acquirer.of('woken-up-late'), ['debit'])
    assert.equal(await run.code(id), charged)
  })

  test('a process that wakes up after the time is over charges nothing', async () => {
    const { id, token } = await run.away('woken-too-late', {})
    const woken = Promise.withResolvers<void>()
    const reached = Promise.withResolvers<void>()
    onFaultPoint((at) => {
      if (at !== 'before-going-on') return
      onFaultPoint(undefined)
      reached.resolve()
      return woken.promise
    })
    const back = run.back(id, token, other)
    await reached.promise
    await foundDead(id, '6 minutes')
    assert.equal(await ended(id), abandoned)
    woken.resolve()
    await back
    assert.deepEqual(run.acquirer.of('woken-too-late'), [])
    assert.equal(await run.code(id), abandoned)
  })

  test('killed between going on and sending, it is undone by key', async () => {
    const { id, token } = await run.away('killed-at-the-door', {})
    await dieAt('gone-on', () => run.back(id, token, other))
    assert.deepEqual(await run.attempt(id), { stage: 'money', state: 'sending', lease: 3 })
    assert.deepEqual(await run.timers(id), [])
    await run.age(id)
    assert.equal(await ended(id), notCharged)
    assert.deepEqual(run.acquirer.of('killed-at-the-door'), ['enquire', 'reverseByKey'])
  })

  test('killed after the acquirer has it, the enquiry finds it', async () => {
    const { id, token } = await run.away('killed-after-send', {})
    run.acquirer.tell('killed-after-send', {
      enquire: () => ({ is: 'approved', refs: { reference: 'found' } }),
    })
    await dieAt('after-send', () => run.back(id, token, other))
    await run.age(id)
    assert.equal(await ended(id), charged)
    assert.deepEqual(run.acquirer.of('killed-after-send'), ['debit', 'enquire'])
  })

  for (const point of ['after-T1', 'before-authentication', 'authenticated'] as const) {
    test(`killed at ${point} of the first request, nothing was charged`, async () => {
      const reference = `first-dies-${point}`
      run.acquirer.tell(reference, {})
      const fields = { entityId: run.channel, merchantTransactionId: reference }
      await dieAt(point, () => run.authenticated(reference, {}, fields))
      const [row] = await run.sql<{ id: string }>(
        'select id from tollgate.payment where merchant_transaction_id = $1',
        [reference],
      )
      await foundDead(row!.id)
      assert.equal(await ended(row!.id), abandoned)
      assert.deepEqual(run.acquirer.of(reference), [])
    })
  }

  test('an abandoned authentication leaves nothing at the acquirer', async () => {
    const { id, token } = await run.away('abandoned', {})
    await run.dueNow(id)
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('abandoned'), [])
    assert.equal(((await run.back(id, token)) as { to: string }).to, 'merchant')
    assert.deepEqual(run.authenticator.of('abandoned'), ['authenticate'])
    assert.deepEqual(await run.timers(id), [])
  })

  test('an expiry that races a return waits for it', async () => {
    const told = Promise.withResolvers<Authentication>()
    const { id, token } = await run.away('races-expiry', { complete: () => told.promise })
    const back = run.back(id, token, other)
    await until(async () => (run.authenticator.of('races-expiry').length > 1 ? true : undefined))
    await run.dueNow(id)
    await until(async () => {
      const [timer] = await run.sql<{ step: number }>(
        `select step from tollgate.timer where kind = 'expire'
           and ref = (select attempt_key from tollgate.payment where id = $1)`,
        [id],
      )
      return timer?.step === 0 ? undefined : true
    })
    told.resolve(confirmed())
    await back
    assert.equal(await run.code(id), charged)
    assert.deepEqual(run.acquirer.of('races-expiry'), ['debit'])
    assert.deepEqual(await run.timers(id), [])
  })

  test('the time of the authentication does not end an operation that the acquirer has open', async () => {
    const { id, token } = await run.away('stale-expiry', {})
    run.acquirer.tell('stale-expiry', {
      debit: (_, context) => {
        context.sending()
        return { is: 'pending', next: 'event', refs: { reference: 'open' } }
      },
      enquire: () => ({ is: 'pending', next: 'event', refs: { reference: 'open' } }),
    })
    await run.back(id, token)
    assert.equal(await run.stateOf(id), 'pending')
    // A look at an open operation asks, and undoes nothing.
    await assert.rejects(
      run.gateway.payments.refund(id, { amount: '1.00', currency: 'EUR' }),
      GatewayError,
    )
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(run.acquirer.of('stale-expiry'), ['debit', 'enquire'])
    // A job that was sent for the end of the authentication, and comes late.
    const attemptKey = await run.keyOf(id)
    await queueEngineJob(run, 'charge', { attemptKey, why: 'expiry' }, { key: attemptKey })
    await until(async () => (run.acquirer.of('stale-expiry').length > 2 ? true : undefined))
    assert.deepEqual(run.acquirer.of('stale-expiry'), ['debit', 'enquire', 'enquire'])
    const isFree = async () => ((await leaseEnds(id)) === null ? true : undefined)
    await until(isFree)
    assert.equal(await run.stateOf(id), 'pending')
    await dueNow(id, 'expire')
    assert.equal(await ended(id), '100.396.103')
    assert.deepEqual(run.acquirer.of('stale-expiry').slice(-1), ['reverseByKey'])
  })

  test('the lost answer of a return leaves it pending, and a job finishes it', async () => {
    const { id, token } = await run.away('answer-lost', {
      complete: () => {
        throw new Error('no line')
      },
    })
    await run.back(id, token)
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(await run.timers(id), ['expire', 'look'])
    await dueNow(id, 'look')
    assert.equal(await ended(id), charged)
    assert.deepEqual(run.acquirer.of('answer-lost'), ['debit'])
  })

  test('a follow-up of a payment in its authentication asks no acquirer', async () => {
    const { id } = await run.away('reversed-early', {})
    await assert.rejects(run.gateway.payments.reverse(id), GatewayError)
    assert.deepEqual(run.acquirer.of('reversed-early'), [])
    assert.equal(await run.stateOf(id), 'pending')
  })

  test("an acquirer's word about a payment in its authentication waits, then is taken back", async () => {
    const { id, token } = await run.away('early-word', {
      complete: () => ({ is: 'failed', status: 'N' }),
    })
    run.acquirer.tell('early-word', { reverseByKey: () => ({ is: 'reversed' }) })
    const eventId = await run.bring(id, { outcome: approval })
    await until(async () => {
      const [event] = await run.sql<{ waits: number; processed_at: Date | null }>(
        'select waits, processed_at from tollgate.inbound_event where event_id = $1',
        [eventId],
      )
      assert.equal(event!.processed_at, null)
      return event!.waits > 0 ? true : undefined
    })
    assert.equal(await run.stateOf(id), 'pending')
    assert.deepEqual(run.acquirer.of('early-word'), [])
    await run.back(id, token)
    assert.equal(await run.code(id), '100.380.401')
    await until(async () =>
      run.acquirer.of('early-word').includes('reverseByKey') ? true : undefined,
    )
    await until(async () => ((await run.kinds(id)).includes('(conflict)') ? true : undefined))
  })

  test("an authenticator's event makes the engine ask, and never pays by itself", async () => {
    run.authenticator.tell('by-event', {
      authenticate: () => ({ is: 'decoupled', poll: 3_600_000 }),
    })
    const { id } = await run.debit('by-event', {}, { ...(await presentFields()) })
    const key = await run.keyOf(id)
    await run.gateway.inbound(
      authenticatorName,
      run.authenticatorAccount,
      message({ eventId: 'rreq-1', key, outcome: null }),
    )
    assert.equal(await ended(id), charged)
    assert.deepEqual(run.authenticator.of('by-event'), ['authenticate', 'enquire'])
    const { id: away } = await run.away('away-by-event', {})
    await run.gateway.inbound(
      authenticatorName,
      run.authenticatorAccount,
      message({ eventId: 'rreq-2', key: await run.keyOf(away), outcome: null }),
    )
    await until(async () => {
      const [event] = await run.sql<{ outcome: string | null }>(
        `select outcome from tollgate.inbound_event where event_id = 'rreq-2'`,
      )
      return event?.outcome ?? undefined
    })
    assert.equal(await run.stateOf(away), 'pending')
    assert.deepEqual(run.acquirer.of('away-by-event'), [])
    assert.deepEqual(run.authenticator.of('away-by-event'), ['authenticate', 'enquire'])
    const failed = await run.away('away-and-failed', {
      enquire: () => ({ is: 'failed', status: 'N' }),
    })
    await run.gateway.inbound(
      authenticatorName,
      run.authenticatorAccount,
      message({ eventId: 'rreq-3', key: await run.keyOf(failed.id), outcome: null }),
    )
    assert.equal(await ended(failed.id), '100.380.401')
    assert.deepEqual(run.acquirer.of('away-and-failed'), [])
  })

  const presentFields = async () => {
    const { browser } = await import('../../rig/authenticator.ts')
    return { shopperResultUrl: resultPage, ...browser }
  }

  test('an operator cannot approve a payment that no acquirer knows', async () => {
    const { id } = await run.away('by-operator', {})
    await assert.rejects(
      run.operator.settle(id, 'approved', { by: 'Ann', reason: 'test' } as never),
    )
    assert.deepEqual(run.acquirer.of('by-operator'), [])
  })

  test('a soft decline and an unclear answer after a challenge are as without one', async () => {
    const soft = await run.away('soft-decline', {})
    run.acquirer.tell('soft-decline', {
      debit: (_, context) => {
        context.sending()
        return declined('300.100.100')
      },
    })
    await run.back(soft.id, soft.token)
    assert.equal(await run.code(soft.id), '300.100.100')
    const unclear = await run.away('unclear-answer', {})
    run.acquirer.tell('unclear-answer', {
      debit: (_, context) => {
        context.sending()
        return unknown('lost')
      },
    })
    await run.back(unclear.id, unclear.token)
    assert.equal(await run.code(unclear.id), '000.200.001')
    await run.age(unclear.id)
    await run.dueNow(unclear.id)
    assert.equal(await ended(unclear.id), notCharged)
  })

  test('no proof that an authenticator answers over HTTP is in a transcript, nor in a memo', async () => {
    const server = createServer((_, response) =>
      response.end(JSON.stringify({ value: secretProof, ok: true })),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as AddressInfo
    const ask = async (request: AuthenticationRequest, context: AuthenticatorContext) => {
      const { number = '' } = request.card ?? {}
      await context.http.post(`http://127.0.0.1:${port}/`, { number, key: request.key })
      return confirmed({ memo: { again: secretProof } })
    }
    try {
      const good = await run.authenticated('over-http', { authenticate: ask })
      assert.equal(good.result.code, charged)
      const bad = await run.authenticated('over-http-bad', {
        authenticate: async (request, context) =>
          ({ ...(await ask(request, context)), version: undefined }) as never,
        enquire: () => ({ is: 'notFound' }),
      })
      assert.equal(bad.result.code, '100.390.112')
      for (const { id } of [good, bad]) {
        const told = JSON.stringify(await run.gateway.inspect(id))
        assert.match(told, /"authenticate".*127\.0\.0\.1/s)
        assert.ok(!told.includes(secretProof), told)
        assert.ok(!told.includes('4200000000000000'))
      }
    } finally {
      server.close()
    }
  })

  test('no proof and no security code is in any table, log or answer', async () => {
    const { id, token } = await run.away('canary-away', {
      authenticate: () => ({ ...challenge(), memo: { at: 1 } }),
    })
    await run.back(id, token)
    const alone = await run.authenticated('canary-at-once')
    const steps = await run.gateway.inspect(id)
    const leaves = await leavesOf(run)
    assert.ok(leaves.length > 1000)
    for (const { table, column, text } of leaves) {
      assert.ok(!text.includes(secretProof), `${table}.${column} holds the proof`)
      // A duration can be any number, so also that of the code.
      if (!column.endsWith('_us'))
        assert.notEqual(text, testCode, `${table}.${column} holds the code`)
    }
    const views = [await run.gateway.payments.get(id), alone]
    const told = JSON.stringify([run.logs, steps, views])
    assert.ok(!told.includes(secretProof))
    assert.ok(!told.includes(`"${testCode}"`))
  })
})
