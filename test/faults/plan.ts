/** The plan of faults, which follows from the seed alone. Pure. */
import type { FaultPoint } from '../../core/index.ts'
import { type Shape, shapes } from './disputes.ts'
import type { LeaderFault } from './patroni.ts'
import { type Random, randomOf } from './random.ts'
import type { ReceiverFault } from './receivers.ts'

/** `api` takes requests, `worker` resolves interrupted ones, `all` does both. */
export const crewNames = ['api', 'all', 'worker'] as const
export type CrewName = (typeof crewNames)[number]

export type AcquirerFault =
  | {
      readonly what: 'lost'
      readonly by: 'drop' | 'reset'
      readonly apply: 'first' | 'never'
      /** Only operations of this kind. */
      readonly kind?: 'capture' | 'refund'
    }
  | { readonly what: 'late'; readonly ms: number; readonly apply: 'first' | 'late' }
  | { readonly what: 'unreadable'; readonly as: '500' | 'html' | 'truncate' | 'drip' }
  | {
      readonly what: 'contradicting'
      readonly as: 'unknownCode'
      readonly kind: (typeof contradicted)[number]
    }
  | { readonly what: 'altered'; readonly minor: number }
  | { readonly what: 'duplicate' }
  | { readonly what: 'not-found-first'; readonly ms: number }
  | { readonly what: 'enquiry-not-found' }
  | { readonly what: 'enquiry-unreadable' }
  | { readonly what: 'reversal-lost'; readonly apply: 'first' | 'never' }

/** Operations that the acquirer carries out and declines. */
const contradicted = ['debit', 'authorize', 'capture', 'refund', 'reverse', 'increment'] as const

/** The acquirer's unsolicited events other than disputes. */
export const words = [
  'forged',
  'duplicate',
  'contradicting',
  'reordered',
  'late-approval',
  'other-amount',
  'repeated-id',
  'forged-first',
  'owning-up',
  'failing',
  'confirming',
] as const
export type Word = (typeof words)[number]

export type Injection =
  | {
      readonly is: 'kill'
      readonly host: CrewName
      readonly at: FaultPoint | 'anywhere'
      readonly nth: number
    }
  | {
      readonly is: 'freeze'
      readonly host: CrewName
      readonly at: FaultPoint | 'anywhere'
      readonly nth: number
      readonly ms: number
    }
  /** Paused until another host has taken the lease and decided. */
  | { readonly is: 'outlive'; readonly host: CrewName; readonly at: 'before-send' | 'after-send' }
  | { readonly is: 'clock'; readonly host: CrewName; readonly aheadMs: number; readonly ms: number }
  | {
      readonly is: 'postgres'
      readonly how: 'restart' | 'immediate' | 'backend-killed' | 'terminate'
    }
  | {
      readonly is: 'commit'
      readonly of: 'T1' | 'T2' | 'follow-up T1'
      readonly lose: 'answer' | 'request'
      readonly every: number
      readonly times: number
    }
  | { readonly is: 'pool'; readonly how: 'stalled' | 'locked' | 'too-many'; readonly ms: number }
  | { readonly is: 'acquirer'; readonly fault: AcquirerFault; readonly times: number }
  | {
      readonly is: 'events'
      readonly how: Word | Shape
      readonly count: number
    }
  | { readonly is: 'receiver'; readonly fault: ReceiverFault }
  | { readonly is: 'migration' }
  /** A new data key, with all rows resealed under load. */
  | { readonly is: 'rotation' }
  /** The acquirer settles all money that moved since the last day. */
  | { readonly is: 'settlement' }
  /** The primary dies and the standby replaces it; an asynchronous one lags by this much. */
  | { readonly is: 'failover'; readonly behindMs: number }
  | { readonly is: 'leader'; readonly fault: LeaderFault }

export type Planned = { readonly no: number; readonly atMs: number; readonly injection: Injection }

export type PlanOptions = {
  readonly seed: number
  readonly forMs: number
  /** Mean time between two injections. */
  readonly gapMs: number
  /** The permitted kinds; all by default. */
  readonly only?: readonly Injection['is'][]
  /** What happens to a Patroni cluster. */
  readonly leaderFaults?: readonly LeaderFault[] | undefined
}

const inRequests = [
  'before-T1',
  'after-T1',
  'before-send',
  'after-send',
  'before-T2',
  'after-T2',
] as const
/** Of shoppers: up to the commit after which the acquirer may know of the payment. */
const inAuthentications = [
  'before-authentication',
  'authenticated',
  'before-going-on',
  'gone-on',
] as const
const inResolutions = [
  'before-sweep',
  'after-lease',
  'before-enquiry',
  'after-enquiry',
  'before-resend',
] as const
const inEvents = ['before-event', 'after-event'] as const
const inLateWords = ['before-late', 'after-late'] as const
const inFacts = ['before-fact', 'after-fact'] as const
const inSchedules = ['before-fire', 'in-fire', 'after-fire'] as const
const inSettlements = [
  'settlement-copied',
  'settlement-window',
  'settlement-matched',
  'settlement-recorded',
  'before-settlement-effect',
  'after-settlement-effect',
  'settlement-done',
] as const
const hourMs = 3_600_000

/** The fault points of resolutions. */
export const resolutionPoints: readonly FaultPoint[] = inResolutions

/** The fault points of settlement files. */
export const settlementPoints: readonly FaultPoint[] = inSettlements

/** Whether the acquirer settles during an injection. */
export const isOfSettlement = (injection: Injection): boolean =>
  injection.is === 'settlement' ||
  (injection.is === 'kill' && settlementPoints.includes(injection.at as FaultPoint))

/** The fault points of messages. */
export const messagePoints: readonly FaultPoint[] = inEvents

/** The fault points of late words and chargebacks. */
export const lateWordPoints: readonly FaultPoint[] = inLateWords
export const factPoints: readonly FaultPoint[] = inFacts

/**
 * The fault points at which a full run kills a host at least once. `in-migration` has its own
 * injection.
 */
export const killedAt: readonly FaultPoint[] = [
  ...inRequests,
  ...inAuthentications,
  ...inResolutions,
  ...inEvents,
  ...inLateWords,
  ...inFacts,
  ...inSchedules,
  ...inSettlements,
]

const hostFor = (random: Random, at: FaultPoint): CrewName =>
  [...inResolutions, ...inSchedules, ...inSettlements].some((point) => point === at)
    ? random.pick(['all', 'worker'])
    : random.pick(['api', 'all'])

const kill = (random: Random, at: FaultPoint): Injection => ({
  is: 'kill',
  host: hostFor(random, at),
  at,
  nth: (inRequests as readonly string[]).includes(at) ? random.between(1, 40) : 1,
})

const acquirerFaults = (random: Random): AcquirerFault[] => [
  { what: 'lost', by: 'drop', apply: 'first' },
  { what: 'lost', by: 'drop', apply: 'never' },
  { what: 'lost', by: 'reset', apply: 'first' },
  { what: 'lost', by: 'reset', apply: 'never' },
  { what: 'late', ms: random.between(200, 4_000), apply: 'first' },
  { what: 'late', ms: random.between(200, 4_000), apply: 'late' },
  { what: 'unreadable', as: random.pick(['500', 'html', 'truncate', 'drip']) },
  ...contradicted.map(
    (kind): AcquirerFault => ({ what: 'contradicting', as: 'unknownCode', kind }),
  ),
  { what: 'altered', minor: random.between(1, 99_999) },
  { what: 'duplicate' },
  { what: 'not-found-first', ms: random.between(5_000, 30_000) },
  { what: 'enquiry-not-found' },
  { what: 'enquiry-unreadable' },
  { what: 'reversal-lost', apply: random.pick(['first', 'never']) },
]

const receiverFaults = (random: Random): ReceiverFault[] => {
  const on = () => random.pick(['sealed', 'wrapped'] as const)
  const ways = ['fail', 'hang', 'drip', 'reset', 'redirect', 'retry-after', 'slow'] as const
  return [
    ...ways.map((how): ReceiverFault => ({ on: on(), how, ms: random.between(1_000, 8_000) })),
    { on: 'leaving', how: 'gone', ms: random.between(500, 3_000) },
    { on: on(), how: 'restart', ms: random.between(500, 4_000) },
    { on: on(), how: 'rotate', ms: random.between(500, 4_000) },
  ]
}

/** One of each fault: a full run includes each at least once. */
function oneOfEach(random: Random): Injection[] {
  return [
    ...killedAt.map((at) => kill(random, at)),
    ...crewNames.map((host): Injection => ({ is: 'kill', host, at: 'anywhere', nth: 1 })),
    ...crewNames.map(
      (host): Injection => ({
        is: 'freeze',
        host,
        at: 'anywhere',
        nth: 1,
        ms: random.between(500, 6_000),
      }),
    ),
    ...inRequests.map(
      (at): Injection => ({
        is: 'freeze',
        host: hostFor(random, at),
        at,
        nth: random.between(1, 40),
        ms: random.between(500, 6_000),
      }),
    ),
    { is: 'outlive', host: 'api', at: 'before-send' },
    { is: 'outlive', host: 'api', at: 'after-send' },
    ...crewNames.flatMap((host) =>
      [hourMs, -hourMs].map(
        (aheadMs): Injection => ({ is: 'clock', host, aheadMs, ms: random.between(4_000, 20_000) }),
      ),
    ),
    { is: 'postgres', how: 'restart' },
    { is: 'postgres', how: 'immediate' },
    { is: 'postgres', how: 'backend-killed' },
    { is: 'postgres', how: 'terminate' },
    ...(['T1', 'T2', 'follow-up T1'] as const).flatMap((of) =>
      (['answer', 'request'] as const).map(
        (lose): Injection => ({
          is: 'commit',
          of,
          lose,
          every: random.between(3, 20),
          times: random.between(2, 6),
        }),
      ),
    ),
    { is: 'pool', how: 'stalled', ms: random.between(1_000, 7_000) },
    { is: 'pool', how: 'locked', ms: random.between(1_000, 7_000) },
    { is: 'pool', how: 'too-many', ms: random.between(1_000, 4_000) },
    ...acquirerFaults(random).map(
      (fault): Injection => ({ is: 'acquirer', fault, times: random.between(3, 15) }),
    ),
    ...[...words, ...shapes].map(
      (how): Injection => ({ is: 'events', how, count: random.between(2, 6) }),
    ),
    ...receiverFaults(random).map((fault): Injection => ({ is: 'receiver', fault })),
    { is: 'migration' },
    { is: 'rotation' },
    { is: 'settlement' },
  ]
}

/** The faults of a short run with any seed; the rest is random. */
const first = (random: Random): Injection[] => [
  { is: 'acquirer', fault: { what: 'lost', by: 'drop', apply: 'never' }, times: 6 },
  { is: 'acquirer', fault: { what: 'lost', by: 'drop', apply: 'first' }, times: 6 },
  { is: 'events', how: 'contradicting', count: 3 },
  { is: 'events', how: 'chargeback', count: 3 },
  { is: 'events', how: random.pick(shapes), count: 3 },
  { is: 'events', how: 'failing', count: 3 },
  { is: 'events', how: random.pick(words), count: 3 },
  { is: 'settlement' },
  { is: 'receiver', fault: { on: 'leaving', how: 'gone', ms: 1_000 } },
  { is: 'receiver', fault: { on: 'sealed', how: 'hang', ms: 6_000 } },
  { is: 'receiver', fault: { on: 'wrapped', how: 'fail', ms: 4_000 } },
  kill(random, random.pick(inRequests)),
  kill(random, random.pick(inAuthentications)),
  kill(random, 'after-lease'),
]

/** Injections in order of time. The same options give the same plan. */
export function planOf({ seed, forMs, gapMs, only, leaderFaults }: PlanOptions): Planned[] {
  const random = randomOf(seed, 'plan')
  if (only?.length === 1 && only[0] === 'failover') {
    const behindMs = random.between(1_000, 3_000)
    const atMs = Math.round(forMs * (0.35 + 0.3 * random.next()))
    return [{ no: 1, atMs, injection: { is: 'failover', behindMs } }]
  }
  if (only?.length === 1 && only[0] === 'leader') {
    const faults = random.shuffled(leaderFaults ?? [])
    const stepMs = forMs / (faults.length + 1)
    return faults.map((fault, at) => ({
      no: at + 1,
      atMs: Math.round(stepMs * (at + 0.6)),
      injection: { is: 'leader', fault },
    }))
  }
  const isWanted = ({ is }: Injection) => only === undefined || only.includes(is)
  const injections = first(random).filter(isWanted)
  const most = Math.max(injections.length, Math.floor((forMs * 0.9) / gapMs))
  while (injections.length < most) {
    injections.push(...random.shuffled(oneOfEach(random).filter(isWanted)))
  }
  const stepMs = (forMs * 0.9) / most
  return injections.slice(0, most).map((injection, no) => ({
    no: no + 1,
    atMs: Math.round(stepMs * (no + random.next())),
    injection,
  }))
}

/** One line for the reader. */
export function shown({ no, atMs, injection }: Planned): string {
  const { is, ...rest } = injection
  const parts = Object.entries(rest).map(([name, value]) =>
    typeof value === 'object' ? Object.values(value).join(' ') : `${name} ${value}`,
  )
  return `#${no} at ${(atMs / 1000).toFixed(1)} s: ${is} ${parts.join(', ')}`
}
