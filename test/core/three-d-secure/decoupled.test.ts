/** Issuers that ask the cardholder elsewhere: until the end of the time, and not after it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { scriptedAcquirer } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  challenge,
  confirmed,
  issuerPage,
  startAuthenticating,
  testCode,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { charged } from '../../rig/late-words.ts'

const abandoned = '100.380.501'
const hour = 3_600_000
const decoupled = () => ({ is: 'decoupled', poll: hour }) as const

describe('decoupled authentications', () => {
  let run: AuthenticatingRun
  before(async () => {
    run = await startAuthenticating()
  })
  after(() => closeChecked(run))

  const due = (id: string, kind: string, ago = '0 s') =>
    run.sql(
      `update tollgate.timer set due_at = now() - interval '${ago}' where kind = $2
         and ref = (select attempt_key from tollgate.payment where id = $1)`,
      [id, kind],
    )
  const ended = (id: string) =>
    until(async () => {
      const code = await run.code(id)
      return code.startsWith('000.200') ? undefined : code
    })

  test('its charge has the code of the card', async () => {
    const { id } = await run.authenticated('with-its-code', {
      authenticate: decoupled,
      enquire: () => confirmed(),
    })
    await due(id, 'look')
    assert.equal(await ended(id), charged)
    const [debit] = run.acquirer.calls.filter((call) => call.reference === 'with-its-code')
    const { instrument } = debit!.operation
    assert.equal(instrument?.kind === 'card' && instrument.cvv?.reveal(), testCode)
  })

  const asked = (reference: string) =>
    until(async () => (run.authenticator.of(reference).includes('enquire') ? true : undefined))

  test('an issuer that wants a challenge after all gets the shopper, who then pays', async () => {
    const { id } = await run.authenticated('challenge-later', {
      authenticate: decoupled,
      enquire: () => challenge(),
    })
    await due(id, 'look')
    await asked('challenge-later')
    const redirectOf = async () =>
      ((await run.gateway.payments.get(id)) as { redirect?: { url: string } }).redirect?.url
    assert.equal(await until(redirectOf), issuerPage.redirect.url)
    assert.deepEqual(await run.timers(id), ['expire'])
    const call = run.authenticator.calls.find((one) => one.reference === 'challenge-later')!
    await run.back(id, call.request.returnUrl!.split('/').at(-1)!)
    assert.equal(await run.code(id), charged)
  })

  test('without a way back for the shopper such a challenge is unavailable', async () => {
    const { id } = await run.authenticated(
      'challenge-nowhere',
      { authenticate: decoupled, enquire: () => challenge() },
      { threeDSecure: { threeRIInd: 'RECURRING' } },
    )
    await due(id, 'look')
    assert.equal(await ended(id), '100.390.112')
    assert.deepEqual(run.acquirer.of('challenge-nowhere'), [])
  })

  test('a confirmation after the end charges nothing', async () => {
    const { id } = await run.authenticated('confirmed-late', {
      authenticate: decoupled,
      enquire: () => confirmed(),
    })
    await due(id, 'expire', '3 days')
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('confirmed-late'), [])
    assert.deepEqual(run.authenticator.of('confirmed-late'), ['authenticate'])
  })

  test('nor does a look that comes before the job of the end', async () => {
    const { id } = await run.authenticated('looked-late', {
      authenticate: decoupled,
      enquire: () => confirmed(),
    })
    // The end was claimed, and its job waits.
    await run.sql(
      `update tollgate.timer set step = 1, due_at = now() + interval '1 hour' where kind = 'expire'
         and ref = $1`,
      [await run.keyOf(id)],
    )
    await due(id, 'look')
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('looked-late'), [])
  })

  test('nor does a shopper who comes back after the end', async () => {
    const { id } = await run.authenticated('back-too-late', { authenticate: decoupled })
    await run.sql(
      `update tollgate.timer set step = 1, due_at = now() + interval '1 hour' where kind = 'expire'
         and ref = $1`,
      [await run.keyOf(id)],
    )
    const call = run.authenticator.calls.find((one) => one.reference === 'back-too-late')!
    await run.back(id, call.request.returnUrl!.split('/').at(-1)!)
    assert.equal(await run.stateOf(id), 'pending')
    await due(id, 'expire')
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('back-too-late'), [])
    assert.deepEqual(run.authenticator.of('back-too-late'), ['authenticate'])
  })

  test('no confirmation at the end is no leave to go on without one', async () => {
    const { id } = await run.authenticated(
      'never-confirmed',
      { authenticate: decoupled, enquire: () => ({ is: 'unavailable' }) },
      run.goesOn,
    )
    await due(id, 'expire')
    assert.equal(await ended(id), abandoned)
    assert.deepEqual(run.acquirer.of('never-confirmed'), [])
  })

  test('one whose authenticator is no longer installed ends with its time', async () => {
    const before = await startAuthenticating({ role: 'api' })
    try {
      const { id } = await before.authenticated('plugin-gone', { authenticate: decoupled })
      const { plugin } = scriptedAcquirer({ threeDSecure: 'external' })
      const worker = await before.another({ role: 'all', plugins: [plugin] })
      try {
        const key = await before.keyOf(id)
        await before.sql('update tollgate.timer set due_at = now() where ref = $1', [key])
        const code = () => before.code(id)
        await until(async () => ((await code()).startsWith('000.200') ? undefined : true))
        assert.equal(await code(), abandoned)
      } finally {
        await worker.close()
      }
    } finally {
      await closeChecked(before)
    }
  })
})
