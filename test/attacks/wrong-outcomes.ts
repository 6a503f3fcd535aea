/** Wrong outcomes of a connector for one payment, and their permitted results. */
import type { Context, Operation, Outcome } from '@tollgate/plugin-kit'
import type { Script } from '../rig/acquirer.ts'

/** `open`: no answer says that money moved, and none that it did not. */
export type Expected = 'open' | 'declined' | 'open or declined' | 'approved'

export type Misdeed = {
  readonly what: string
  readonly expected: Expected
  readonly debit: (operation: Operation, context: Context) => unknown
}

const refs = { reference: 'at-1' }
const approved = { is: 'approved', refs }

/** Outcomes that an untyped connector could return after money may have moved. */
const outcomes: readonly (readonly [what: string, expected: Expected, outcome: unknown])[] = [
  ['nothing', 'open', undefined],
  ['a text', 'open', 'approved'],
  ['a list', 'open', [approved]],
  ['approved without refs', 'open', { is: 'approved' }],
  ['approved with empty refs', 'open', { is: 'approved', refs: {} }],
  ['approved with refs that are numbers', 'open', { is: 'approved', refs: { reference: 4711 } }],
  ['approved with refs in a list', 'open', { is: 'approved', refs: [1] }],
  ['approved for more', 'open', { ...approved, amount: { minor: 9201n, currency: 'EUR' } }],
  ['approved for less', 'open', { ...approved, amount: { minor: 1n, currency: 'EUR' } }],
  ['approved for nothing', 'open', { ...approved, amount: { minor: 0n, currency: 'EUR' } }],
  [
    'approved for less than nothing',
    'open',
    { ...approved, amount: { minor: -9200n, currency: 'EUR' } },
  ],
  [
    'approved in another currency',
    'open',
    { ...approved, amount: { minor: 9200n, currency: 'USD' } },
  ],
  ['approved in no currency', 'open', { ...approved, amount: { minor: 9200n } }],
  ['approved for a number', 'open', { ...approved, amount: { minor: 9200, currency: 'EUR' } }],
  ['approved for a text', 'open', { ...approved, amount: { minor: '9200', currency: 'EUR' } }],
  ['approved for null', 'open', { ...approved, amount: null }],
  ['accepted without an end', 'open', { is: 'accepted', refs }],
  ['accepted until null', 'open', { is: 'accepted', refs, finalBy: null }],
  [
    'accepted until a poll that is no number',
    'open',
    { is: 'accepted', refs, finalBy: { poll: Number.NaN } },
  ],
  ['accepted until a poll in the past', 'open', { is: 'accepted', refs, finalBy: { poll: -1 } }],
  ['declined as a success', 'open', { is: 'declined', reason: '000.000.000' }],
  ['declined as an approval by the simulator', 'open', { is: 'declined', reason: '000.100.110' }],
  ['declined as pending', 'open', { is: 'declined', reason: '000.200.000' }],
  ['declined as a chargeback', 'open', { is: 'declined', reason: '000.100.220' }],
  ['declined for a reason that does not exist', 'declined', { is: 'declined', reason: '1.2.3' }],
  [
    'declined for a reason that is no text',
    'open or declined',
    { is: 'declined', reason: { a: 1 } },
  ],
  ['pending without a next step', 'open', { is: 'pending' }],
  ['pending as a success', 'open', { is: 'pending', next: 'event', reason: '000.000.000' }],
  ['pending as a decline', 'open', { is: 'pending', next: 'event', reason: '800.100.152' }],
  ['pending for ever', 'open', { is: 'pending', next: { poll: Number.POSITIVE_INFINITY } }],
  [
    'pending until no date',
    'open',
    { is: 'pending', next: 'event', expiresAt: new Date(Number.NaN) },
  ],
  ['pending until a text', 'open', { is: 'pending', next: 'event', expiresAt: 'tomorrow' }],
  [
    'pending with a script for a redirect',
    'open',
    { is: 'pending', next: { redirect: { url: 'javascript:alert(1)' } } },
  ],
  [
    'pending with a redirect that is no address',
    'open',
    { is: 'pending', next: { redirect: null } },
  ],
  [
    'an outcome that calls itself',
    'open',
    (() => {
      const own: Record<string, unknown> = { is: 'approved', refs }
      own.memo = own
      return own
    })(),
  ],
  ['a memo with what is no JSON', 'open', { ...approved, memo: { big: 1n } }],
  ['details that are none', 'approved', { ...approved, details: { a: 1, b: null, c: () => 1 } }],
  [
    'prototypes in JSON',
    'approved',
    JSON.parse(
      '{"is":"approved","refs":{"reference":"at-1","__proto__":"x"},"memo":{"__proto__":{"polluted":"1"}},' +
        '"details":{"__proto__":"polluted","constructor":"x"},"card":{"__proto__.polluted":"1","constructor.prototype.polluted":"1"}}',
    ),
  ],
  [
    'texts that Postgres cannot store',
    'approved',
    {
      ...approved,
      refs: { reference: 'a\u0000b', '\u0000': '\ud800' },
      details: { '\u0000': '\udfff' },
    },
  ],
]

const throws: readonly (readonly [what: string, thrown: unknown])[] = [
  ['an error', new Error('broken')],
  ['undefined', undefined],
  ['null', null],
  ['a text', 'broken'],
  ['a symbol', Symbol('broken')],
  [
    'an error whose name throws',
    Object.defineProperty(new Error('x'), 'name', {
      get() {
        throw new Error('again')
      },
    }),
  ],
  ['an error whose name is an object', Object.assign(new Error('x'), { name: { toString: 1 } })],
  [
    'a proxy that throws at every touch',
    new Proxy(
      {},
      {
        get() {
          throw new Error('touched')
        },
        getPrototypeOf() {
          throw new Error('touched')
        },
      },
    ),
  ],
]

/** An outcome whose parts change or throw on reading. */
const shifty = (): unknown => {
  let looks = 0
  return {
    get is() {
      looks += 1
      return looks % 2 === 1 ? 'approved' : 'declined'
    },
    refs,
    reason: '000.000.000',
  }
}

const touchy = (): unknown =>
  new Proxy(
    { is: 'approved', refs },
    {
      get(target, name) {
        if (name === 'is') return 'approved'
        if (name === 'refs') return target.refs
        throw new Error('touched')
      },
    },
  )

export const misdeeds: readonly Misdeed[] = [
  ...outcomes.map(
    ([what, expected, outcome]): Misdeed => ({
      what: `returns ${what}`,
      expected,
      debit: (_, context) => {
        context.sending()
        return outcome
      },
    }),
  ),
  ...throws.flatMap(([what, thrown]): Misdeed[] => [
    {
      what: `throws ${what} before it sends`,
      expected: 'declined',
      debit: () => {
        throw thrown
      },
    },
    {
      what: `throws ${what} after it sent`,
      expected: 'open',
      debit: (_, context) => {
        context.sending()
        throw thrown
      },
    },
  ]),
  {
    what: 'returns an outcome that changes',
    expected: 'approved',
    debit: (_, context) => {
      context.sending()
      return shifty()
    },
  },
  {
    what: 'returns an outcome that throws when it is read',
    expected: 'open',
    debit: (_, context) => {
      context.sending()
      return touchy()
    },
  },
  {
    what: 'returns an outcome with a then of its own',
    expected: 'open',
    debit: (_, context) => {
      context.sending()
      return { ...approved, ...Object.fromEntries([['then', () => undefined]]) }
    },
  },
  {
    what: 'says notSent after it sent',
    expected: 'open',
    debit: (_, context) => {
      context.sending()
      return { is: 'notSent', why: 'a lie' }
    },
  },
  {
    what: 'never answers',
    expected: 'open',
    debit: (_, context) => {
      context.sending()
      return new Promise(() => {})
    },
  },
  {
    what: 'sends twice the size of an answer as reference',
    expected: 'approved',
    debit: (_, context) => {
      context.sending()
      return { ...approved, refs: { reference: 'x'.repeat(2_000_000) } }
    },
  },
  {
    what: 'gives a hundred thousand details',
    expected: 'approved',
    debit: (_, context) => {
      context.sending()
      const details = Array.from({ length: 100_000 }, (_, no) => [`d${no}`, 'y'.repeat(100)])
      return { ...approved, details: Object.fromEntries(details) }
    },
  },
  {
    what: 'floods the log',
    expected: 'approved',
    debit: (_, context) => {
      context.sending()
      for (let no = 0; no < 20_000; no += 1) context.log.info({ no }, 'x'.repeat(200))
      return approved
    },
  },
  {
    what: 'blocks the event loop beyond its deadline',
    expected: 'open',
    debit: (_, context) => {
      context.sending()
      const untilMs = performance.now() + blockedMs
      while (performance.now() < untilMs);
      return { ...approved, amount: { minor: 1n, currency: 'EUR' } }
    },
  },
]

/** Longer than any deadline in this attack. */
const blockedMs = 600

/** Later answers about an operation with an open outcome. */
const found: readonly unknown[] = [
  undefined,
  null,
  'approved',
  { is: 'perhaps' },
  { is: 'approved' },
  { is: 'approved', refs, amount: { minor: 1n, currency: 'EUR' } },
  { is: 'approved', refs, amount: { minor: 9200n, currency: 'USD' } },
  { is: 'declined', reason: '000.000.000' },
  { is: 'pending', next: { poll: Number.NaN } },
  { is: 'notFound', why: 1 },
]

export type Lie = { readonly what: string; readonly script: Script }

/** Open operations whose acquirer lies in enquiries or reversals by key. */
export const lies: readonly Lie[] = [
  ...found.map(
    (answer, no): Lie => ({
      what: `an enquiry answers nonsense, ${no}`,
      script: {
        enquire: () => answer as Outcome,
        reverseByKey: () => ({ is: 'perhaps' }) as never,
      },
    }),
  ),
  {
    what: 'an enquiry throws, and so does a reversal',
    script: {
      enquire: () => {
        throw new Error('broken')
      },
      reverseByKey: () => {
        throw null
      },
    },
  },
  {
    what: 'a reversal answers nothing',
    script: { enquire: () => ({ is: 'notFound' }), reverseByKey: () => undefined as never },
  },
]
