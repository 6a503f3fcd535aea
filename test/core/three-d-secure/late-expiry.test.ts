/** A job about the end of an authentication that starts when the acquirer has the payment open. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Script } from '../../rig/acquirer.ts'
import { type AuthenticatingRun, startAuthenticating } from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { queueEngineJob } from '../../rig/engine-jobs.ts'
import { until } from '../../rig/gateway.ts'

describe('the end of an authentication, told late', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  const bank = (expiresAt?: () => Date): Script => ({
    debit: (_, context) => {
      context.sending()
      return {
        is: 'pending',
        next: { redirect: { url: 'https://bank.example/confirm' } },
        refs: { reference: 'open' },
        ...(expiresAt === undefined ? {} : { expiresAt: expiresAt() }),
      }
    },
    enquire: () => ({ is: 'pending', next: 'event', refs: { reference: 'open' } }),
    reverseByKey: () => ({ is: 'reversed', refs: {} }),
  })
  const expiryOf = async (id: string) => {
    const [timer] = await run.sql<{ id: string }>(
      `select id from tollgate.timer where kind = 'expire' and ref = $1`,
      [await run.keyOf(id)],
    )
    return timer!.id
  }
  const tellExpiry = async (id: string, timerId: string) => {
    const attemptKey = await run.keyOf(id)
    const job = { attemptKey, why: 'expiry', timerId }
    await queueEngineJob(run, 'charge', job, { key: attemptKey })
  }
  const isFree = async (id: string) => {
    const [row] = await run.sql<{ at: Date | null }>(
      'select lease_until as at from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.at === null ? true : undefined
  }

  for (const [what, reference, script, onClock] of [
    ['a short time', 'late-on-short', bank(() => new Date(Date.now() + 100_000)), false],
    ['a test clock', 'late-on-clock', bank(), true],
  ] as const) {
    test(`with ${what}, the page of the bank keeps its time`, async () => {
      const clock = onClock
        ? await run.gateway.testClocks.create({ entityId: run.channel } as never)
        : undefined
      const fields = clock === undefined ? {} : { testClock: clock.id }
      const { id, token } = await run.away(reference, {}, fields)
      run.acquirer.tell(reference, script)
      const ofAuthentication = await expiryOf(id)
      await run.back(id, token)
      await tellExpiry(id, ofAuthentication)
      const calls = () => run.acquirer.of(reference)
      await until(async () => (calls().length > 1 ? true : undefined))
      await until(() => isFree(id))
      assert.equal(await run.stateOf(id), 'pending')
      assert.deepEqual(calls(), ['debit', 'enquire'])
      // Its own end is an end.
      await tellExpiry(id, await expiryOf(id))
      await until(async () => ((await run.stateOf(id)) === 'expired' ? true : undefined))
      assert.deepEqual(calls().slice(-1), ['reverseByKey'])
    })
  }
})
