/** Whatever order words come in, the judgement agrees with a small ledger that knows who has the money. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { judge } from '../../../connectors/adyen/undo-judgement.ts'
import {
  noWords,
  type Told,
  type Try,
  type Words,
  withPayment,
  withTold,
} from '../../../connectors/adyen/undo-words.ts'
import { inScope } from '../../rig/scope.ts'
import { orders } from './rules/undo-words.ts'

/** A word as it changes a record. */
type Word = (words: Words) => Words

/** What happened, in its order: the words about it, and where the money is in the end. */
type World = {
  readonly words: readonly Word[]
  readonly tries: readonly Try[]
  /** Payments whose money the merchant has. */
  readonly standing: ReadonlySet<string>
  /** Whether all words name the payment. Else only the number of payments that stand is known. */
  readonly isNamed: boolean
}

/** How a step names the cancellation. */
type Naming = 'ours' | 'payment' | 'nameless'

type Step =
  | { readonly do: 'authorise'; readonly payment: string }
  /** A try of ours, or a cancellation by hand: it works if the payment stands, and fails otherwise. */
  | {
      readonly do: 'take'
      readonly psp: string
      readonly of: string
      readonly as: Naming
      readonly round?: number
      readonly isAnswered?: boolean
    }
  /** The money of a cancellation comes back to the merchant. */
  | { readonly do: 'return'; readonly psp: string; readonly as: Naming | 'modification' }

function worldOf(steps: readonly Step[]): World {
  const standing = new Set<string>()
  const taken = new Map<string, { readonly of: string; readonly round: number | undefined }>()
  const words: Word[] = []
  const tries: Try[] = []
  let isNamed = true
  const tell = (is: Told['is'], psp: string, original: string, round: number | undefined) => {
    const word = { is, psp, original, eventCode: 'CANCEL_OR_REFUND', value: 9200, currency: 'EUR' }
    words.push((now) => withTold(now, round === undefined ? word : { ...word, round }))
  }
  for (const step of steps) {
    if (step.do === 'authorise') {
      standing.add(step.payment)
      words.push((now) => withPayment(now, 'authorised', step.payment))
      continue
    }
    const { psp } = step
    if (step.do === 'take') {
      const { of, round, as, isAnswered } = step
      if (round !== undefined) tries.push({ round, of, ...(isAnswered ? { psp } : {}) })
      const works = standing.delete(of)
      if (works) taken.set(psp, { of, round })
      if (as === 'nameless') isNamed &&= round !== undefined
      const name = as === 'payment' ? undefined : round
      tell(works ? 'done' : 'failed', psp, as === 'nameless' ? '' : of, name)
      continue
    }
    const before = taken.get(psp)
    if (before === undefined) continue
    taken.delete(psp)
    standing.add(before.of)
    const isModification = step.as === 'modification'
    const original = isModification ? psp : step.as === 'nameless' ? '' : before.of
    const name = step.as === 'ours' ? before.round : undefined
    tell('returned', isModification ? `M${psp}` : psp, original, name)
  }
  return { words, tries, standing, isNamed }
}

function agrees({ tries, standing, isNamed }: World, order: readonly Word[]): void {
  const told = order.reduce<Words>((now, word) => word(now), { ...noWords, tries })
  const judgement = judge(told)
  const what = JSON.stringify({ told, standing: [...standing] })
  if (isNamed) assert.deepEqual(judgement.standing.toSorted(), [...standing].toSorted(), what)
  assert.equal(judgement.standing.length, standing.size, what)
  assert.equal(judgement.stands, standing.size > 0, what)
  if (told.authorised.length > 0) assert.ok(!judgement.isNothing && !judgement.isVain, what)
  if (judgement.isOver) assert.equal(standing.size, 0, what)
  const isTaken = told.told.some(({ is }) => is === 'done')
  if (isTaken && standing.size === 0) assert.ok(judgement.isOver, what)
}

const [a, b] = [
  { do: 'authorise', payment: 'A' },
  { do: 'authorise', payment: 'B' },
] as const
const ours = { do: 'take', as: 'ours' } as const
const hand = { do: 'take', as: 'payment' } as const
const back = { do: 'return', as: 'payment' } as const

const worlds: Readonly<Record<string, readonly Step[]>> = {
  'a try takes a payment back': [a, { ...ours, psp: 'T1', of: 'A', round: 1 }],
  'its money comes back, and the next try is refused': [
    a,
    { ...ours, psp: 'T1', of: 'A', round: 1 },
    { ...ours, psp: 'T2', of: 'A', round: 2 },
    { ...back, as: 'ours', psp: 'T1' },
  ],
  'its money comes back, and the next try works': [
    a,
    { ...ours, psp: 'T1', of: 'A', round: 1 },
    { ...back, as: 'modification', psp: 'T1' },
    { ...ours, psp: 'T2', of: 'A', round: 2 },
  ],
  'two cancellations by hand, the first of which is returned': [
    a,
    { ...hand, psp: 'X', of: 'A' },
    { ...back, psp: 'X' },
    { ...hand, psp: 'Y', of: 'A' },
  ],
  'a cancellation by hand, then a try, and the first one is returned': [
    a,
    { ...hand, psp: 'X', of: 'A' },
    { ...back, psp: 'X' },
    { ...ours, psp: 'T1', of: 'A', round: 1 },
  ],
  'a try, then a cancellation by hand, which is returned, too': [
    a,
    { ...ours, psp: 'T1', of: 'A', round: 1, isAnswered: true },
    { ...back, psp: 'T1' },
    { ...hand, psp: 'X', of: 'A' },
    { ...back, psp: 'X' },
  ],
  'two payments, and the money of the second one comes back': [
    a,
    b,
    { ...ours, psp: 'T1', of: 'A', round: 1 },
    { ...ours, psp: 'T2', of: 'B', round: 2 },
    { ...back, as: 'ours', psp: 'T2' },
  ],
  'a success without a name, of a try and by hand': [
    a,
    b,
    { ...ours, as: 'nameless', psp: 'T1', of: 'A', round: 1 },
    { ...hand, as: 'nameless', psp: 'X', of: 'B' },
    { ...back, psp: 'X' },
  ],
  'a success under the name of the payment, and a return under ours': [
    a,
    { ...ours, as: 'payment', psp: 'T1', of: 'A', round: 1, isAnswered: true },
    { ...back, as: 'ours', psp: 'T1' },
  ],
}

describe('the judgement about payments of one name', () => {
  for (const [name, steps] of Object.entries(worlds))
    test(`is the same in each order, also with repeats: ${name}`, () => {
      const world = worldOf(steps)
      for (const order of orders(world.words)) {
        agrees(world, order)
        agrees(world, [...order, ...order.toReversed()])
      }
    })

  test('agrees with the ledger about whatever happens, in any order', () => {
    const random = randomFrom(7)
    const oneOf = <One>(many: readonly One[]): One => many[Math.floor(random() * many.length)]!
    for (let world = 0; world < inScope(2_000, 40_000); world += 1) {
      const steps: Step[] = random() < 0.5 ? [a] : [a, b]
      let round = 0
      for (let count = 0; count < 5; count += 1) {
        const of = oneOf(
          steps.slice(0, 2).flatMap((step) => (step.do === 'authorise' ? step.payment : [])),
        )
        const psps = steps.flatMap((step) => (step.do === 'take' ? step.psp : []))
        if (psps.length > 0 && random() < 0.4) {
          const as = oneOf(['ours', 'payment', 'nameless', 'modification'] as const)
          steps.push({ do: 'return', psp: oneOf(psps), as })
          continue
        }
        const isTry = random() < 0.6
        if (isTry) round += 1
        const as = oneOf(['ours', 'payment', 'payment', 'nameless'] as const)
        const about = { do: 'take', psp: `P${count}`, of, as } as const
        steps.push(isTry ? { ...about, round, isAnswered: random() < 0.5 } : about)
      }
      const made = worldOf(steps)
      for (let times = 0; times < 4; times += 1) {
        const order = made.words
          .map((word) => [random(), word] as const)
          .toSorted(([one], [other]) => one - other)
          .map(([, word]) => word)
        agrees(made, order)
        agrees(made, [...order, oneOf(order)])
      }
    }
  })

  test('a payment that was told as authorised is never nothing, whatever else was told', () => {
    const failed = {
      is: 'failed',
      original: '',
      eventCode: 'TECHNICAL_CANCEL',
      value: 0,
      currency: 'EUR',
    } as const
    const words: readonly Word[] = [
      (now) => withPayment(now, 'authorised', 'A'),
      (now) => withPayment(now, 'refused', 'A'),
      (now) => withPayment(now, 'refused', 'R'),
      (now) => withTold(now, { ...failed, psp: 'T1', round: 1 }),
    ]
    for (const order of orders(words)) {
      let now: Words = { ...noWords, tries: [{ round: 1 }] }
      for (const word of order) {
        now = word(now)
        const { isNothing } = judge(now)
        assert.equal(isNothing, now.authorised.length === 0, JSON.stringify(now))
      }
    }
  })

  test('a record has a bound, and failures make room first', () => {
    const word = { original: 'A', eventCode: 'CANCEL_OR_REFUND', value: 0, currency: 'EUR' }
    let words: Words = withPayment(noWords, 'authorised', 'A')
    words = withTold(words, { ...word, is: 'done', psp: 'X' })
    for (let no = 0; no < 200; no += 1) {
      words = withTold(words, { ...word, is: 'failed', psp: `F${no}` })
      words = withPayment(words, 'refused', `R${no}`)
    }
    assert.deepEqual([words.told.length, words.refused.length], [64, 64])
    assert.ok(judge(words).isOver)
  })
})

/** Always the same numbers. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
