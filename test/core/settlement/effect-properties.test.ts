/** The books after settlement lines depend on the lines, never on their order, their files, or messages beside them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import type { Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { accept, lose, refuse } from '../../rig/late-words.ts'
import type { Cells } from '../../rig/settlement.ts'
import {
  type Books,
  chargeback,
  type EffectRun,
  line,
  reversal,
  startEffects,
} from './effect-run.ts'

const payments = ['approved', 'accepted', 'open', 'declined'] as const
type Kind = (typeof payments)[number]

/** Lines about one payment, by name. */
const lineOf: Readonly<Record<string, (id: string) => Cells>> = {
  whole: (id) => line(id),
  first: (id) => line(id, { amount: '30.00' }),
  second: (id) => line(id, { amount: '62.00' }),
  failed: (id) => line(id, { status: 'FAILED' }),
  chargeback: (id) => chargeback(id, { amount: '40.00', reference: `CB1-${id}` }),
  reversal: (id) => reversal(id, { amount: '40.00', reference: `CB1-${id}` }),
  another: (id) => chargeback(id, { amount: '20.00', reference: `CB2-${id}` }),
}
const settlements: readonly (readonly string[])[] = [[], ['whole'], ['first', 'second'], ['failed']]
const disputes: readonly (readonly string[])[] = [
  [],
  ['chargeback'],
  ['chargeback', 'reversal'],
  ['chargeback', 'another'],
  ['chargeback', 'reversal', 'another'],
]

type Given = {
  readonly kind: Kind
  readonly names: readonly string[]
  /** Sorts the lines; every line for itself, or all in one file. */
  readonly order: readonly number[]
  readonly isDivided: boolean
  /** The acquirer also tells of the chargeback: before all lines, after them, or not. */
  readonly message: 'before' | 'after' | 'none'
}

const given: fc.Arbitrary<Given> = fc
  .record({
    kind: fc.constantFrom(...payments),
    settled: fc.constantFrom(...settlements),
    disputed: fc.constantFrom(...disputes),
    order: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 }),
    isDivided: fc.boolean(),
    message: fc.constantFrom('before', 'after', 'none'),
  })
  // Only money that was taken is charged back, and only its whole amount ends an open payment at once.
  .map(({ kind, settled, disputed, message, ...rest }) => ({
    ...rest,
    kind,
    names: kind === 'approved' ? [...settled, ...disputed] : kind === 'open' ? ['whole'] : settled,
    message: kind === 'approved' && disputed.length > 0 ? message : ('none' as const),
  }))
  .filter(({ names }) => names.length > 0)

describe('the effects of random settlement lines', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const made = (kind: Kind) => {
    const scripts: Readonly<Record<Kind, Script>> = {
      approved: {},
      accepted: { debit: accept },
      open: { debit: lose, enquire: () => ({ is: 'notFound', why: 'not yet' }) },
      declined: { debit: refuse },
    }
    return run.pay(scripts[kind])
  }
  const told = (id: string) =>
    run.tell(id, {
      outcome: { is: 'chargeback', reason: '000.100.203', refs: {} },
      minor: '4000',
      currency: 'EUR',
      reference: `CB1-${id}`,
    })
  const atRest = () =>
    until(async () => {
      const [row] = await run.sql<{ open: bigint }>(
        "select count(*) as open from tollgate.settlement_record where effect = 'open'",
      )
      if (row!.open === 0n) return true
      await run.makeDue()
      return undefined
    })

  /** Books of payments whose lines are mixed in common files. */
  async function booksAfter(all: readonly Given[]): Promise<Books[]> {
    const ids = await Promise.all(all.map(({ kind }) => made(kind)))
    const tellAll = (when: Given['message']) =>
      Promise.all(ids.map((id, at) => (all[at]!.message === when ? told(id) : undefined)))
    await tellAll('before')
    const lines = all.map(({ names, order, isDivided }, at) => {
      const sorted = names
        .map((name, no) => ({ place: order[no] ?? 0, cells: lineOf[name]!(ids[at]!) }))
        .toSorted((one, other) => one.place - other.place)
        .map(({ cells }) => cells)
      return isDivided ? sorted.map((cells) => [cells]) : [sorted]
    })
    const files = Math.max(...lines.map(({ length }) => length))
    for (let no = 0; no < files; no += 1) await run.file(...lines.flatMap((one) => one[no] ?? []))
    await atRest()
    await tellAll('after')
    for (const id of ids) assert.ok((await run.settledSum(id)) <= 9200n)
    return Promise.all(ids.map((id) => run.booksOf(id)))
  }

  test('are those of the same lines in one file, without messages beside them', async () => {
    const many = fc.array(given, { minLength: 40, maxLength: 40 })
    await fc.assert(
      fc.asyncProperty(many, async (all) => {
        const plain = all.map(({ kind, names }): Given => {
          return { kind, names, order: [0, 1, 2, 3, 4], isDivided: false, message: 'none' }
        })
        const [books, expected] = [await booksAfter(all), await booksAfter(plain)]
        for (const [at, one] of books.entries()) {
          assert.deepEqual(one, expected[at], JSON.stringify(all[at]))
        }
      }),
      { numRuns: 3, endOnFailure: true },
    )
  })
})
