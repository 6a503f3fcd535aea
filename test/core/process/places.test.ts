/** Whatever comes of a request that was admitted, its places at connectors are free afterwards. */
import assert from 'node:assert/strict'
import { after, before, describe, type Mock, mock, test } from 'node:test'
import { GatewayError, rightSet } from '../../../core/index.ts'
import { InFlight } from '../../../core/process/in-flight.ts'
import { limits } from '../../../schemas/index.ts'
import { scriptedName } from '../../rig/acquirer.ts'
import {
  type AuthenticatingRun,
  authenticatorName,
  browser,
  resultPage,
  startAuthenticating,
} from '../../rig/authenticator.ts'
import { closeChecked } from '../../rig/books.ts'
import { card, until } from '../../rig/gateway.ts'
import { charged, eur, lose, noMoney, refuse, undecided } from '../../rig/late-words.ts'
import { type Program, programBeside } from '../../rig/program.ts'

type Way = {
  readonly name: string
  /** How often the way out passes the admission: 0 for refusals before it. */
  readonly admissions: number
  readonly go: (reference: string) => Promise<unknown>
}

describe('the places of a request', () => {
  let run: AuthenticatingRun
  let program: Program
  let inFlight: InFlight
  let admissions: Mock<InFlight['admit']>

  before(async () => {
    run = await startAuthenticating()
    program = programBeside(run)
    // Not before: other files share the process.
    admissions = mock.method(InFlight.prototype, 'admit')
    await run.debit('known-before', {}, run.off)
    inFlight = admissions.mock.calls[0]!.this as InFlight
    await run.sql(`
      create function tollgate.refuse_broken() returns trigger language plpgsql as $$
      begin
        if new.merchant_transaction_id like 'broken%' then raise exception 'no room'; end if;
        return new;
      end $$;
      create trigger refuse_broken before insert on tollgate.payment
        for each row execute function tollgate.refuse_broken()`)
  })
  after(async () => {
    admissions.mock.restore()
    await program.close()
    await closeChecked(run)
  })

  const debit = (reference: string, more: object = {}, options: object = {}) =>
    run.gateway.payments.create(program.debit(reference, { ...run.off, ...more }), options as never)
  const authorised = (reference: string) => debit(reference, { paymentType: 'PA' })
  const fails = (work: Promise<unknown>, status: number) =>
    assert.rejects(work, (error) => error instanceof GatewayError && error.status === status)
  const code = async (work: Promise<{ readonly result: { readonly code: string } }>) =>
    (await work).result.code
  const queued = (reference: string, end: 'commit' | 'rollback') =>
    program.transaction(end, (client) =>
      run.gateway.payments.accept(program.debit(reference, run.off), { client }),
    )
  const { paymentType: _, amount: __, currency: ___, ...account } = card('4200000000000000')

  const store = (merchantTransactionId: string, more: object) =>
    run.gateway.registrations.create({
      ...{
        ...account,
        testMode: 'EXTERNAL',
        entityId: run.channel,
        merchantTransactionId,
        ...more,
      },
    } as never)

  const ways: readonly Way[] = [
    {
      name: 'approved',
      admissions: 1,
      go: async (reference) => assert.equal(await code(debit(reference)), charged),
    },
    {
      name: 'declined',
      admissions: 1,
      go: async (reference) =>
        assert.equal(await code(run.debit(reference, { debit: refuse }, run.off)), noMoney),
    },
    {
      name: 'its answer is lost',
      admissions: 1,
      go: async (reference) => {
        const enquire = () => ({ is: 'unknown' }) as never
        const lost = run.debit(reference, { debit: lose, enquire }, run.off)
        assert.equal(await code(lost), undecided)
      },
    },
    {
      name: 'its connector fails',
      admissions: 1,
      go: (reference) => {
        const broken = () => {
          throw new Error('a fault of the connector')
        }
        return run.debit(reference, { debit: broken }, run.off)
      },
    },
    {
      name: 'without the right',
      admissions: 0,
      go: (reference) => {
        const caller = { id: 'shop', entityId: run.channel, rights: rightSet(['read']) }
        const fields = new URLSearchParams({ merchantTransactionId: reference })
        return run.gateway
          .call('payments.create', caller, {
            ...{ path: {}, body: Buffer.from(`${fields}`), query: '', requestId: reference },
            ...{ contentType: 'application/x-www-form-urlencoded', idempotencyKey: undefined },
          })
          .then(({ status }) => assert.equal(status, 403))
      },
    },
    {
      name: 'with a wrong value',
      admissions: 0,
      go: (reference) => fails(debit(reference, { amount: 'much' }), 400),
    },
    {
      name: 'refused for its number, which failed before',
      admissions: 2,
      go: async (reference) => {
        const settings = { cardTestingNumber: 1 }
        const strict = await run.gateway.entities.create({
          ...{ kind: 'channel', name: reference, parentId: run.merchant, settings },
        } as never)
        const account = { channelId: strict, connector: scriptedName, mode: 'EXTERNAL' as const }
        await run.gateway.entities.createAccount({ ...account, settings: {} })
        const pay = () =>
          run.debit(reference, { debit: refuse }, { ...card('4012888888881881'), entityId: strict })
        assert.equal(await code(pay()), noMoney)
        await fails(pay(), 429)
      },
    },
    {
      name: 'its account only stored, with an amount without a currency',
      admissions: 1,
      go: (reference) =>
        fails(store(reference, { ...browser, threeDSecure: { amount: '1.00' } }), 400),
    },
    {
      name: 'queued where the shopper would be authenticated',
      admissions: 2,
      go: (reference) => {
        const fields = { ...browser, entityId: run.channel, shopperResultUrl: resultPage }
        const work = program.transaction('rollback', (client) =>
          run.gateway.payments.accept(program.debit(reference, fields), { client }),
        )
        return fails(work, 400)
      },
    },
    {
      name: 'refused by a full authenticator',
      admissions: 2,
      go: async (reference) => {
        const full = Array.from({ length: limits.runningPerConnector }, () =>
          inFlight.begin(authenticatorName, run.channel),
        )
        await fails(run.authenticated(reference), 429)
        for (const end of full) end()
      },
    },
    {
      name: 'the database refuses it',
      admissions: 1,
      go: (reference) => assert.rejects(debit(`broken ${reference}`)),
    },
    {
      name: 'the database refuses a capture of it',
      admissions: 2,
      go: async (reference) => {
        const { id } = await authorised(reference)
        await assert.rejects(run.follow(id, 'CP', `broken ${reference}`, eur('1.00')))
      },
    },
    {
      name: 'repeated',
      admissions: 2,
      go: async (reference) => {
        const options = { idempotencyKey: `key-of-${reference}` }
        for (let no = 0; no < 2; no += 1) {
          assert.equal(await code(debit(reference, {}, options)), charged)
        }
      },
    },
    {
      name: 'repeated at the same time',
      admissions: 2,
      go: async (reference) => {
        const options = { idempotencyKey: `key-of-${reference}` }
        const [one, twin] = await Promise.all([1, 2].map(() => debit(reference, {}, options)))
        assert.equal(one!.id, twin!.id)
      },
    },
    {
      name: 'captured, and captured above its amount',
      admissions: 3,
      go: async (reference) => {
        const { id } = await authorised(reference)
        assert.equal(await code(run.follow(id, 'CP', reference, eur('1.00'))), charged)
        await fails(run.follow(id, 'CP', reference, eur('92.00')), 400)
      },
    },
    {
      name: 'refunded twice with one key',
      admissions: 2,
      go: async (reference) => {
        const { id } = await debit(reference)
        const options = { idempotencyKey: `refund-of-${reference}` }
        const refund = () => run.gateway.payments.refund(id, eur('1.00'), options)
        assert.equal((await refund()).id, (await refund()).id)
      },
    },
    {
      name: 'queued, and sent by a job',
      admissions: 2,
      go: async (reference) => {
        assert.equal(await program.decided(await queued(reference, 'commit')), charged)
      },
    },
    {
      name: 'queued, and declined when a job sends it',
      admissions: 2,
      go: async (reference) => {
        run.acquirer.tell(reference, { debit: refuse })
        assert.equal(await program.decided(await queued(reference, 'commit')), noMoney)
      },
    },
    {
      name: 'queued, and rolled back',
      admissions: 1,
      go: (reference) => queued(reference, 'rollback'),
    },
    {
      name: 'its refund is queued while its transaction is open, and sent by a job',
      admissions: 3,
      go: async (reference) => {
        const { id } = await debit(reference)
        const fields = { paymentType: 'RF', ...eur('1.00') } as const
        const refund = await program.transaction('commit', async (client) => {
          const accepted = await run.gateway.payments.acceptFollowUp(id, fields, { client })
          assert.deepEqual(Object.fromEntries(inFlight.byConnector), beside)
          return accepted
        })
        assert.equal(await program.decided(refund), charged)
      },
    },
    {
      name: 'in two steps, and repeated',
      admissions: 2,
      go: async (reference) => {
        const options = { idempotencyKey: `key-of-${reference}` }
        for (let no = 0; no < 2; no += 1) {
          assert.equal(await code(debit(reference, { paymentType: 'PA.CP' }, options)), charged)
        }
        assert.deepEqual(run.acquirer.of(reference), ['authorize', 'capture'])
      },
    },
    {
      name: 'in two steps, and its capture declined',
      admissions: 1,
      go: async (reference) => {
        const fields = { ...run.off, paymentType: 'PA.CP' }
        await run.debit(reference, { capture: refuse }, fields)
        assert.deepEqual(run.acquirer.of(reference), ['authorize', 'capture', 'reverse'])
      },
    },
    {
      name: 'its account only stored',
      admissions: 1,
      go: (reference) => store(reference, run.off),
    },
    {
      name: 'its shopper authenticated at once',
      admissions: 2,
      go: async (reference) => assert.equal(await code(run.authenticated(reference)), charged),
    },
    {
      name: 'its shopper not authenticated',
      admissions: 2,
      go: async (reference) => {
        const authenticate = () => ({ is: 'failed', status: 'N' }) as never
        assert.equal(await code(run.authenticated(reference, { authenticate })), '100.380.401')
      },
    },
    {
      name: 'its authenticator fails',
      admissions: 2,
      go: (reference) => {
        const authenticate = () => {
          throw new Error('a fault of the authenticator')
        }
        return run.authenticated(reference, { authenticate })
      },
    },
    {
      name: 'its shopper away at the issuer',
      admissions: 2,
      go: (reference) => run.away(reference, {}),
    },
    {
      name: 'its shopper back from the issuer',
      admissions: 2,
      go: async (reference) => {
        const { id, token } = await run.away(reference, {})
        assert.deepEqual(Object.fromEntries(inFlight.byConnector), beside)
        await run.back(id, token)
        assert.equal(await run.code(id), charged)
      },
    },
    {
      name: 'an authentication alone',
      admissions: 1,
      go: (reference) =>
        run.gateway.threeDSecure.create({
          ...{ ...account, ...browser, ...eur('92.00'), entityId: run.channel },
          ...{ testMode: 'EXTERNAL', shopperResultUrl: resultPage },
          merchantTransactionId: reference,
        } as never),
    },
  ]

  /** Calls of others, which a place that ended twice would take away. */
  const beside = { [scriptedName]: 1, [authenticatorName]: 1 }

  for (const [no, way] of ways.entries()) {
    test(`${way.name}: its places are free afterwards`, async () => {
      const ends = Object.keys(beside).map((name) => inFlight.begin(name, run.channel))
      const before = admissions.mock.callCount()
      try {
        await way.go(`way-out-number-${no}`)
        // A job ends its call after everybody can read the outcome.
        await until(async () => inFlight.count === 0 || undefined)
        assert.deepEqual(Object.fromEntries(inFlight.byConnector), beside)
        assert.equal(admissions.mock.callCount() - before, way.admissions)
      } finally {
        for (const end of ends) end()
      }
      assert.deepEqual([...inFlight.byConnector], [])
    })
  }
})
