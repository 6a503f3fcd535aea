/** Equal disputes of one payment that messages and settlement lines tell: as many as the larger number, in every order. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { until } from '../../rig/gateway.ts'
import { chargeback, type EffectRun, reversal, startEffects } from './effect-run.ts'

/** Which side names its disputes. When both do, equal names are one dispute and others are two. */
const sides = ['message', 'line', 'none'] as const

type Given = {
  readonly named: (typeof sides)[number]
  /** Who tells of the next chargeback. */
  readonly tellers: readonly ('message' | 'line')[]
  /** The same of reversals, which follow. */
  readonly reversers: readonly ('message' | 'line')[]
}

const teller = fc.constantFrom('message' as const, 'line' as const)
const given: fc.Arbitrary<Given> = fc.record({
  named: fc.constantFrom(...sides),
  tellers: fc.array(teller, { minLength: 1, maxLength: 5 }),
  reversers: fc.array(teller, { minLength: 0, maxLength: 4 }),
})

const larger = (tellers: readonly string[]) =>
  Math.max(...['message', 'line'].map((who) => tellers.filter((one) => one === who).length))

describe('equal disputes told twice', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  /** One step of every payment: its message, or its line in a file of all. */
  async function tellAll(
    steps: readonly { id: string; who: string; is: 'chargeback' | 'reversal'; name?: string }[],
  ): Promise<void> {
    const lines = steps.filter(({ who }) => who === 'line')
    const messages = steps.filter(({ who }) => who === 'message')
    await Promise.all(
      messages.map(({ id, is, name }) =>
        run.tell(id, {
          outcome:
            is === 'chargeback'
              ? { is, reason: '000.100.203', refs: {} }
              : { is: 'chargebackReversal', refs: {} },
          minor: '1000',
          currency: 'EUR',
          ...(name === undefined ? {} : { reference: name }),
        }),
      ),
    )
    if (lines.length === 0) return
    await run.file(
      ...lines.map(({ id, is, name }) => {
        const cells = { amount: '10.00', ...(name === undefined ? {} : { reference: name }) }
        return is === 'chargeback' ? chargeback(id, cells) : reversal(id, cells)
      }),
    )
    await until(async () => {
      const [row] = await run.sql<{ open: bigint }>(
        "select count(*) as open from tollgate.settlement_record where effect = 'open'",
      )
      if (row!.open === 0n) return true
      await run.makeDue()
      return undefined
    })
  }

  async function checked(all: readonly Given[], reversals: boolean): Promise<void> {
    const ids = await Promise.all(all.map(() => run.pay()))
    const counts = ids.map(() => ({ message: 0, line: 0 }))
    for (const is of reversals ? (['chargeback', 'reversal'] as const) : ['chargeback' as const]) {
      for (const count of counts) Object.assign(count, { message: 0, line: 0 })
      for (let step = 0; step < 5; step += 1) {
        await tellAll(
          all.flatMap(({ named, tellers, reversers }, at) => {
            const who = (is === 'chargeback' ? tellers : reversers)[step]
            if (who === undefined) return []
            counts[at]![who] += 1
            const id = ids[at]!
            return [
              { id, who, is, ...(named === who ? { name: `${counts[at]![who]}-${id}` } : {}) },
            ]
          }),
        )
      }
    }
    for (const [at, id] of ids.entries()) {
      const [row] = await run.sql<{ minor: bigint }>(
        'select charged_back as minor from tollgate.payment_balance where payment_id = $1',
        [id],
      )
      const { tellers, reversers } = all[at]!
      const expected = larger(tellers) - (reversals ? larger(reversers) : 0)
      assert.equal(row!.minor, BigInt(expected) * 1000n, JSON.stringify(all[at]))
    }
  }

  test('chargebacks are as many as the larger number', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(given, { minLength: 40, maxLength: 40 }), (all) =>
        checked(all, false),
      ),
      { numRuns: 1, endOnFailure: true },
    )
  })

  test('reversals are as many as the larger number', async () => {
    // A reversal without a reference, of a chargeback with one, waits for three days.
    const both = given
      .map((one): Given => ({ ...one, named: 'none' }))
      .filter(({ tellers, reversers }) => larger(reversers) <= larger(tellers))
    await fc.assert(
      fc.asyncProperty(fc.array(both, { minLength: 40, maxLength: 40 }), (all) =>
        checked(all, true),
      ),
      { numRuns: 1, endOnFailure: true },
    )
  })

  test('two chargebacks and their reversals with references, and lines without', async () => {
    const id = await run.pay()
    const of = (is: 'chargeback' | 'reversal', who: string, name?: string) =>
      tellAll([{ id, is, who, ...(name === undefined ? {} : { name: `${name}-${id}` }) }])
    for (const name of ['a', 'b']) await of('chargeback', 'message', name)
    for (const name of ['a', 'b']) await of('reversal', 'message', name)
    for (const is of ['chargeback', 'reversal'] as const) {
      for (const _ of [1, 2]) await of(is, 'line')
    }
    assert.deepEqual((await run.booksOf(id)).disputes, [
      ...Array(2).fill('chargeback 1000 1000'),
      ...Array(2).fill('reversal 1000 1000'),
    ])
  })
})
