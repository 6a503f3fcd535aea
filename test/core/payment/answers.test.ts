import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  approved,
  type Context,
  declined,
  notSent,
  type Operation,
  type Outcome,
  Sensitive,
} from '@tollgate/plugin-kit'
import { type AcquirerRun, approvedAs, enquire, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { card } from '../../rig/gateway.ts'

const undecided = '000.200.001'
const charged = '000.100.112'

/** Answers that no connector may give. */
const garbage: Record<string, unknown> = {
  nothing: undefined,
  null: null,
  'a text': 'approved',
  'an empty object': {},
  'an outcome that does not exist': { is: 'perhaps' },
  'an approval without references': { is: 'approved' },
  'an approval with empty references': { is: 'approved', refs: {} },
  'references that are no texts': { is: 'approved', refs: { id: 7 } },
  'a secret as a reference': { is: 'approved', refs: { id: new Sensitive('4200000000000000') } },
  'an approval of an amount that is a number': {
    is: 'approved',
    refs: { id: 'a' },
    amount: { minor: 9200, currency: 'EUR' },
  },
  'pending without a next step': { is: 'pending', refs: { id: 'a' } },
  'pending for no finite time': { is: 'pending', next: { poll: Number.POSITIVE_INFINITY } },
  'pending until a time that is none': {
    is: 'pending',
    next: 'event',
    expiresAt: new Date(Number.NaN),
  },
  'pending as a success': { is: 'pending', next: 'event', reason: '000.000.000' },
  'a script for the shopper to run': {
    is: 'pending',
    next: { redirect: { url: 'javascript:alert(1)' } },
  },
  'accepted without a word on when it is final': { is: 'accepted', refs: { id: 'a' } },
  'a decline that would be told as a success': { is: 'declined', reason: '000.000.000' },
  'a decline that would be told as pending': { is: 'declined', reason: '000.200.000' },
}

describe('answers of connectors', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer({ connectorTimeoutMs: 1_000 })
  })
  after(() => closeChecked(run))

  /** A debit without a decision that the acquirer charged. */
  const open = async (reference: string, debit: (o: Operation, c: Context) => unknown) => {
    const answer = await run.debit(reference, {
      debit: debit as (o: Operation, c: Context) => Outcome,
      enquire: approvedAs,
    })
    assert.equal(answer.result.code, undecided)
    return answer.id
  }

  test('an error before anything was sent counts as "not sent": 400 900.100.600 and safe to retry', async () => {
    const answer = await run.debit('throw-early', {
      debit: () => {
        throw new Error('no route to 4200000000000000')
      },
    })
    assert.equal(answer.result.code, '900.100.600')
    assert.equal(answer.retrySafe, true)
    assert.doesNotMatch(JSON.stringify([answer, run.logs]), /4200000000000000|no route/)
    assert.deepEqual(run.acquirer.of('throw-early'), ['debit'], 'no enquiry is needed')
  })

  test('an error after sending() leaves the payment undecided, and the enquiry finds the charge', async () => {
    const id = await open('throw-late', (_, context) => {
      context.sending()
      throw new Error('connection reset')
    })
    assert.equal((await enquire(run, id)).result.code, charged)
    assert.deepEqual(run.acquirer.of('throw-late'), ['debit', 'enquire'])
  })

  test('every thrown value, even one whose inspection throws, becomes an outcome', async () => {
    const thrown: Record<string, unknown> = {
      'a name that throws': Object.defineProperty(new Error('x'), 'name', {
        get() {
          throw new Error('again')
        },
      }),
      'a name that is no text': Object.assign(new Error('x'), { name: { toString: 1 } }),
      'a proxy that throws': new Proxy(
        {},
        {
          getPrototypeOf() {
            throw new Error('touched')
          },
        },
      ),
    }
    for (const [what, error] of Object.entries(thrown)) {
      await open(`throws ${what}`, (_, context) => {
        context.sending()
        throw error
      })
    }
  })

  test('an outcome is read once, and the checked values count', async () => {
    let looks = 0
    const answer = await run.debit('changes-its-mind', {
      debit: (_, context) => {
        context.sending()
        return {
          get is() {
            looks += 1
            return looks === 1 ? 'approved' : 'declined'
          },
          refs: { id: 'a' },
          reason: '000.000.000',
        } as Outcome
      },
    })
    assert.equal(answer.result.code, charged)
    assert.equal(looks, 1)
  })

  test('"not sent" after sending() leaves the payment undecided', async () => {
    const id = await open('not-sent-late', (_, context) => {
      context.sending()
      return notSent('the line was busy')
    })
    assert.equal((await enquire(run, id)).result.code, charged)
  })

  test('"not sent" without sending() is accepted', async () => {
    const answer = await run.debit('not-sent-early', { debit: () => notSent('circuit open') })
    assert.equal(answer.result.code, '900.100.600')
    assert.equal(answer.retrySafe, true)
  })

  for (const [what, outcome] of Object.entries(garbage)) {
    test(`a malformed answer leaves the payment undecided and causes an enquiry, never an error: ${what}`, async () => {
      const id = await open(`garbage: ${what}`, (_, context) => {
        context.sending()
        return outcome
      })
      assert.equal((await enquire(run, id)).result.code, charged)
    })
  }

  test('text that Postgres cannot store does not prevent the decision', async () => {
    for (const [reference, text] of Object.entries({
      'text-with-nul': 'no\u0000money',
      'text-with-half': 'no \ud83d money',
    })) {
      const answer = await run.debit(reference, {
        debit: (_, context) => {
          context.sending()
          return declined('800.100.155', { text, refs: { id: text } })
        },
      })
      assert.equal(answer.result.code, '800.100.155', reference)
    }
  })

  test('a decline with an unknown reason gets the general reason', async () => {
    const answer = await run.debit('odd-reason', {
      debit: (_, context) => {
        context.sending()
        return { is: 'declined', reason: '999.000.000' as never, code: 'Q7' }
      },
    })
    assert.equal(answer.result.code, '800.100.100')
    assert.deepEqual(
      { ...(answer.resultDetails as object) },
      {
        AcquirerResponse: 'Q7',
        ExtendedDescription: answer.result.description,
      },
    )
  })

  test('card numbers in texts of the acquirer are masked before storage and display', async () => {
    const answer = await run.debit('talkative', {
      debit: (_, context) => {
        context.sending()
        return declined('800.100.152', {
          text: 'card 4200000000000000 declined',
          details: { echo: '4200-0000-0000-0000' },
        })
      },
    })
    assert.equal(answer.result.code, '800.100.152')
    const [row] = await run.sql<{ answer: unknown }>(
      'select answer from tollgate.payment where id = $1',
      [answer.id],
    )
    assert.doesNotMatch(JSON.stringify([answer, row]), /4200000000000000|4200-0000-0000-0000/)
  })

  test('an approval for another amount or currency is reversed and declined', async () => {
    const amounts = {
      'less-than-asked': { minor: 9199n, currency: 'EUR' },
      'more-than-asked': { minor: 9201n, currency: 'EUR' },
      'other-currency': { minor: 9200n, currency: 'USD' },
    }
    const wrong = async (reference: string, amount: { minor: bigint; currency: string }) => {
      const other = () => approved({ id: 'x' }, { amount })
      const answer = await run.debit(reference, {
        debit: (_, context) => {
          context.sending()
          return other()
        },
        enquire: other,
        reverseByKey: () => ({ is: 'reversed' }),
      })
      assert.equal(answer.result.code, undecided)
      // The engine enquires at once, not at the first step of its ladder.
      await run.event(answer.id, 'payment.declined')
      assert.equal((await run.gateway.payments.get(answer.id)).result.code, '900.100.400')
      assert.deepEqual(run.acquirer.of(reference), ['debit', 'enquire', 'reverseByKey'])
      const audit = await run.sql('select action from tollgate.audit where resource = $1', [
        answer.id,
      ])
      assert.deepEqual(audit, [{ action: 'reverse-by-key' }])
    }
    await Promise.all(Object.entries(amounts).map(([name, amount]) => wrong(name, amount)))
  })

  test('the deadline leaves the payment undecided and aborts the call', async () => {
    let signal: AbortSignal | undefined
    const id = await open(
      'never-answers',
      (_, context) =>
        new Promise(() => {
          context.sending()
          signal = context.signal
        }),
    )
    assert.equal(signal?.aborted, true)
    assert.equal((await enquire(run, id)).result.code, charged)
  })

  test('a payment type that the connector lacks is refused before anything is stored', async () => {
    const before = await run.sql('select count(*) from tollgate.payment')
    await assert.rejects(
      run.gateway.payments.create({
        amount: '92.00',
        currency: 'EUR',
        paymentType: 'DB',
        paymentBrand: 'DIRECTDEBIT_SEPA',
        bankAccount: { holder: 'Jane Jones', iban: 'DE89370400440532013000', bic: 'MARKDEF1100' },
        entityId: run.channel,
        testMode: 'EXTERNAL',
      } as never),
      { code: '600.200.200' },
    )
    assert.deepEqual(await run.sql('select count(*) from tollgate.payment'), before)
  })

  test('the acquirer gets the CVV, the key and the amount; the stored request holds no secret', async () => {
    let seen: Operation | undefined
    const { id } = await run.debit('whole-request', {
      debit: (operation, context) => {
        context.sending()
        seen = operation
        return approvedAs(operation)
      },
    })
    assert.equal(
      seen?.instrument?.kind === 'card' && seen.instrument.number.reveal(),
      '4200000000000000',
    )
    assert.equal(seen?.instrument?.kind === 'card' && seen.instrument.cvv?.reveal(), '123')
    assert.deepEqual(seen?.amount, { minor: 9200n, currency: 'EUR' })
    assert.equal(seen?.key, await run.keyOf(id))
    assert.doesNotMatch(JSON.stringify(seen?.request), /4200000000000000|"123"/)
    assert.ok(JSON.stringify(seen?.request).includes(card('').card.holder))
  })
})

test('an answer that is not JSON leaves the payment undecided and delays neither client nor process', async () => {
  // A failing test ends the engine's retries by the clock instead of waiting for minutes.
  let aheadMs = 0
  const run = await startWithAcquirer({
    shutdownGraceMs: 100,
    clock: {
      elapsedMs: () => performance.now() + aheadMs,
      realMs: () => Date.now(),
      businessAt: () => new Date(),
    },
  })
  try {
    const answer = await run.debit('memo-of-bigint', {
      debit: (operation, context) => {
        context.sending()
        return { ...approvedAs(operation), memo: { big: 1n } as never }
      },
      enquire: approvedAs,
    })
    assert.equal(answer.result.code, undecided)
    assert.equal((await enquire(run, answer.id)).result.code, charged)
    run.acquirer.tell('avs-of-bigint', {
      refund: (operation, context) => {
        context.sending()
        return { ...approvedAs(operation), avs: 1n as never }
      },
      enquire: approvedAs,
    })
    const refund = await run.gateway.payments.refund(answer.id, {
      amount: '1.00',
      currency: 'EUR',
      merchantTransactionId: 'avs-of-bigint',
    })
    assert.equal(refund.result.code, undecided)
    assert.equal((await enquire(run, refund.id)).result.code, charged)
  } finally {
    aheadMs = 3600_000
    await run.close()
  }
})
