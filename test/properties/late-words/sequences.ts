/** Random sequences: everything in the mixed profile, one kind of trouble in each of the others. */
import fc from 'fast-check'
import type { FaultPoint } from '../../../core/index.ts'
import type { Ability } from './acquirer.ts'
import type { Issuer } from './books.ts'
import type {
  Click,
  Command,
  Delivery,
  FollowUpType,
  Sequence,
  Share,
  Turn,
  Way,
} from './command.ts'
import { approving, type Fate } from './fate.ts'

type Weighted<T> = readonly (readonly [weight: number, value: T])[]

/** The frequencies of events. */
export type Profile = {
  readonly abilities: Weighted<Ability>
  readonly first: Weighted<'DB' | 'PA' | 'PA.CP' | 'CD'>
  readonly fates: Weighted<Partial<Fate>>
  /** The fates of first payments, if they differ. */
  readonly firstFates?: Weighted<Partial<Fate>>
  readonly followUps: Weighted<FollowUpType>
  readonly shares: Weighted<Share>
  readonly turns: Weighted<Turn>
  readonly amounts: Weighted<Fate['amount']>
  readonly deliveries: Weighted<Delivery>
  /** Whether a chargeback is reversed, and which message is first. */
  readonly reversals: Weighted<'no' | 'first' | 'after'>
  readonly commands: Weighted<Command['do']>
  /** The first command: a payment of the merchant, unless it is a checkout. */
  readonly begins?: 'check out'
  readonly clicks: Weighted<Click>
  readonly issuers: Weighted<Issuer | undefined>
  /** The number of crashes in a hundred requests or messages. */
  readonly crashes: number
  readonly length: { readonly min: number; readonly max: number }
}

const of = <T>(weighted: Weighted<T>): fc.Arbitrary<T> =>
  fc.oneof(...weighted.map(([weight, value]) => ({ weight, arbitrary: fc.constant(value) })))

const whole = (more: Partial<Fate>): Fate => ({ ...approving, ...more })

export const mixed: Profile = {
  abilities: [
    [4, 'keyed'],
    [4, 'plain'],
    [1, 'asking'],
    [1, 'undoing'],
    [1, 'bare'],
  ],
  first: [
    [5, 'DB'],
    [5, 'PA'],
    [2, 'PA.CP'],
    [1, 'CD'],
  ],
  fates: [
    [18, {}],
    [8, { becomes: 'accepted' }],
    [3, { becomes: 'declined' }],
    [2, { becomes: 'pending' }],
    [3, { answer: 'lost' }],
    [1, { becomes: 'accepted', answer: 'lost' }],
    [1, { becomes: 'declined', answer: 'lost' }],
    [2, { becomes: 'nothing', answer: 'lost' }],
    [1, { becomes: 'coming', answer: 'lost' }],
    [1, { becomes: 'coming', answer: 'late', amount: 'less' }],
    [2, { answer: 'lost', hidden: 1, repeat: 'unreachable' }],
    [1, { becomes: 'nothing', answer: 'lost', repeat: 'unreachable' }],
    [1, { becomes: 'coming', answer: 'lost', repeat: 'unreachable' }],
    [1, { answer: 'lost', hidden: 2, repeat: 'lost' }],
    [1, { becomes: 'nothing', answer: 'unreachable' }],
    [1, { amount: 'less' }],
    [1, { amount: 'more' }],
    [1, { amount: 'other currency' }],
    [1, { amount: 'less', answer: 'lost' }],
    [1, { answer: 'lost', undo: 'too late', hidden: 1 }],
    [1, { answer: 'lost', undo: 'no answer', hidden: 1 }],
    [1, { becomes: 'pending', undo: 'later' }],
    [1, { becomes: 'declined', undo: 'later' }],
    [1, { answer: 'lost', undo: 'later', hidden: 1 }],
    [1, { amount: 'less', undo: 'later' }],
  ],
  followUps: [
    [6, 'CP'],
    [4, 'RV'],
    [7, 'RF'],
    [1, 'RB'],
    [1, 'RC'],
    [2, 'PA+'],
    [1, 'CB'],
    [1, 'CR'],
  ],
  shares: [
    [5, 'whole'],
    [4, 'half'],
    [2, 'third'],
  ],
  turns: [
    [2, 'completes'],
    [1, 'abandons'],
    [2, 'confirms'],
    [4, 'fails'],
    [2, 'returns'],
    [4, 'does it after all'],
    [3, 'takes it back'],
    [2, 'cannot take it back'],
    [2, 'repeats itself'],
  ],
  amounts: [
    [6, 'same'],
    [2, 'less'],
    [1, 'more'],
    [1, 'other currency'],
  ],
  deliveries: [
    [10, 'now'],
    [3, 'later'],
    [1, 'twice'],
    [1, 'under another id too'],
    [2, 'after a forgery of its id'],
    [1, 'unproven'],
  ],
  reversals: [
    [4, 'no'],
    [1, 'first'],
    [1, 'after'],
  ],
  commands: [
    [2, 'pay'],
    [10, 'follow'],
    [2, 'repeat'],
    [8, 'turn'],
    [3, 'charge back'],
    [1, 'reverse chargeback'],
    [1, 'arrive'],
    [2, 'deliver'],
    [2, 'enquire'],
    [1, 'decide'],
    [3, 'night'],
  ],
  clicks: [
    [5, 'once'],
    [2, 'double'],
    [2, 'in two tabs'],
    [2, 'again'],
  ],
  issuers: [
    [9, undefined],
    [2, 'confirms'],
    [4, 'asks'],
    [1, 'refuses'],
    [1, 'is unavailable'],
  ],
  crashes: 10,
  length: { min: 2, max: 9 },
}

const requestCrashes: readonly FaultPoint[] = [
  'before-T1',
  'after-T1',
  'before-send',
  'after-send',
  'before-T2',
  'after-T2',
]
const pressCrashes: readonly FaultPoint[] = [
  ...requestCrashes,
  'before-authentication',
  'authenticated',
  'before-going-on',
  'gone-on',
  'after-lease',
  'before-enquiry',
  'after-enquiry',
]
const returnCrashes: readonly FaultPoint[] = [
  'after-lease',
  'authenticated',
  'before-going-on',
  'gone-on',
  'before-send',
  'after-send',
  'before-T2',
  'after-T2',
]
const wordCrashes: readonly FaultPoint[] = [
  'after-event',
  'after-T1',
  'before-T2',
  'after-T2',
  'after-lease',
]
const enquiryCrashes: readonly FaultPoint[] = [
  'after-lease',
  'before-enquiry',
  'after-enquiry',
  'before-resend',
  'before-T2',
]

/** Parts of the statements with lost commits: of T1, T2, follow-ups and events. */
const commits = [
  'insert into tollgate.payment (',
  'update tollgate.attempt',
  'payment_balance',
  'inbound_event',
]

export function sequencesOf(profile: Profile): fc.Arbitrary<Sequence> {
  const index = fc.nat({ max: 3 })
  const engine = fc.constantFrom<0 | 1>(0, 1)
  const share = of(profile.shares)
  const fate = of(profile.fates).map(whole)
  const delivery = of(profile.deliveries)
  const crash = (points: readonly FaultPoint[]) =>
    fc.oneof(
      { weight: 100 - profile.crashes, arbitrary: fc.constant(undefined) },
      { weight: profile.crashes, arbitrary: fc.constantFrom(...points) },
    )
  const way: fc.Arbitrary<Way> = fc.record({
    engine,
    keyed: fc.boolean(),
    twice: of([
      [12, false],
      [1, true],
    ]),
    crash: crash(requestCrashes),
  })
  const pay = fc.record({
    do: fc.constant('pay' as const),
    type: of(profile.first),
    fate: of(profile.firstFates ?? profile.fates).map(whole),
    second: fate,
    way,
  })
  const checkOut = fc.record({
    do: fc.constant('check out' as const),
    type: fc.constantFrom('DB', 'PA'),
    engine,
  })
  const kinds: { readonly [Name in Command['do']]: fc.Arbitrary<Command> } = {
    pay,
    follow: fc.record({
      do: fc.constant('follow' as const),
      type: of(profile.followUps),
      on: index,
      share,
      isFinal: of([
        [6, false],
        [1, true],
      ]),
      fate,
      way,
    }),
    repeat: fc.record({ do: fc.constant('repeat' as const), request: index, engine }),
    turn: fc.record({
      do: fc.constant('turn' as const),
      on: index,
      turn: of(profile.turns),
      amount: of(profile.amounts),
      delivery,
      crash: crash(wordCrashes),
    }),
    'charge back': fc.record({
      do: fc.constant('charge back' as const),
      on: index,
      share,
      named: fc.boolean(),
      reversed: of(profile.reversals),
      delivery,
      crash: crash(wordCrashes),
    }),
    'reverse chargeback': fc.record({
      do: fc.constant('reverse chargeback' as const),
      on: index,
      delivery,
    }),
    arrive: fc.record({ do: fc.constant('arrive' as const), on: index }),
    deliver: fc.record({ do: fc.constant('deliver' as const), message: index }),
    enquire: fc.record({
      do: fc.constant('enquire' as const),
      on: index,
      crash: crash(enquiryCrashes),
    }),
    decide: fc.record({ do: fc.constant('decide' as const), on: index }),
    'check out': checkOut,
    press: fc.record({
      do: fc.constant('press' as const),
      on: index,
      fate: of(profile.firstFates ?? profile.fates).map(whole),
      issuer: of(profile.issuers),
      click: of(profile.clicks),
      engine,
      crash: crash(pressCrashes),
    }),
    'come back': fc.record({
      do: fc.constant('come back' as const),
      on: index,
      issuer: of<Issuer>([
        [6, 'confirms'],
        [1, 'asks'],
        [1, 'refuses'],
        [1, 'cancelled'],
        [1, 'is unavailable'],
      ]),
      twice: fc.boolean(),
      engine,
      crash: crash(returnCrashes),
    }),
    'close checkout': fc.record({
      do: fc.constant('close checkout' as const),
      on: index,
      how: fc.constantFrom('expires', 'is removed'),
    }),
    'lose commit': fc.record({
      do: fc.constant('lose commit' as const),
      when: fc.constantFrom('before', 'after'),
      of: fc.constantFrom(...commits),
    }),
    outage: fc.record({ do: fc.constant('outage' as const), engine }),
    night: fc.constant({ do: 'night' } as const),
  }
  const next = fc.oneof(
    ...profile.commands.map(([weight, name]) => ({ weight, arbitrary: kinds[name] })),
  )
  return fc
    .record({
      ability: of(profile.abilities),
      partial: of([
        [5, false],
        [1, true],
      ]),
      first: profile.begins === undefined ? pay : checkOut,
      rest: fc.array(next, {
        minLength: profile.length.min - 1,
        maxLength: profile.length.max - 1,
        size: 'max',
      }),
    })
    .map(({ first, rest, ...sequence }) => ({ ...sequence, commands: [first, ...rest] }))
}

/** The same sequences for the same seed. */
export const sampled = (profile: Profile, seed: number, count: number): readonly Sequence[] =>
  fc.sample(sequencesOf(profile), { seed, numRuns: count })

/** The same profile with lost commits. */
export const withCuts = (profile: Profile): Profile => ({
  ...profile,
  commands: [...profile.commands, [3, 'lose commit'], [1, 'outage']],
})
