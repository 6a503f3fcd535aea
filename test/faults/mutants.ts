/**
 * Each assertion is proven able to fail: a mistake that the engine might make, put into its source as
 * a host loads it, and a short run that must notice.
 */
import { join } from 'node:path'
import { eventMutants } from './event-mutants.ts'
import { lateMutants } from './late-mutants.ts'
import { mutantVariable, type Patch, place } from './patch.ts'
import type { Injection, Planned } from './plan.ts'
import type { Report } from './report.ts'
import { runFaults } from './run.ts'
import { scheduleMutants } from './schedule-mutants.ts'
import { settlementMutants } from './settlement-mutants.ts'
import { shopperMutants } from './shopper-mutants.ts'

export type Mutant = {
  /** The assertion that has to notice. */
  readonly assertion: string
  readonly mistake: string
  readonly patches: readonly Patch[]
  /** Statements that take the database's own guards away, where it would not let the mistake through. */
  readonly prepare?: readonly string[]
  readonly injections?: readonly Injection[]
  readonly seconds?: number
  /** Which part of the stories are told at the acquirer that takes nothing back by key, 0 to 1. */
  readonly plainChannelShare?: number
  /** Shoppers, two by default. */
  readonly shoppers?: number
}

const unguarded = [
  `do $$ declare name text; begin
    for name in select conname from pg_constraint
      where conrelid = 'tollgate.payment_balance'::regclass and contype = 'c'
    loop execute format('alter table tollgate.payment_balance drop constraint %I', name); end loop;
  end $$`,
]

const lostAnswers: Injection = {
  is: 'acquirer',
  fault: { what: 'lost', by: 'drop', apply: 'first' },
  times: 12,
}
const hiddenRefunds: readonly Injection[] = [
  {
    is: 'acquirer',
    fault: { what: 'lost', by: 'drop', apply: 'first', kind: 'refund' },
    times: 40,
  },
  { is: 'acquirer', fault: { what: 'enquiry-not-found' }, times: 400 },
]

export const mutants: readonly Mutant[] = [
  ...scheduleMutants,
  ...eventMutants,
  ...lateMutants,
  ...shopperMutants,
  ...settlementMutants,
  {
    assertion: 'money moves at most once for a key',
    mistake: 'what is sent again goes under another key',
    patches: [
      {
        of: 'sendAgain',
        find: 'send(engine, work)',
        put: "send(engine, { ...work, operation: { ...work.operation, key: work.operation.key.slice(1) + 'z' } })",
      },
    ],
    injections: hiddenRefunds,
    plainChannelShare: 1,
  },
  {
    assertion: 'money that moved has its payment',
    mistake: 'the key that is sent is not the one that was written',
    patches: [
      {
        of: 'operationWith',
        find: 'key: payment.attemptKey',
        put: "key: payment.attemptKey.slice(1) + 'z'",
      },
    ],
  },
  {
    assertion: 'the acquirer never had to refuse what our own sums forbid',
    mistake: 'captures are not held against the authorised amount',
    patches: [
      {
        of: 'reserveCapture',
        find: '<= authorised',
        put: '<= authorised + 1000000000000',
      },
    ],
    prepare: unguarded,
  },
  {
    assertion: 'ledger and payments agree',
    mistake: 'a request that broke after it was sent counts as not sent',
    patches: [
      {
        of: 'run',
        find: "outcome.is === 'notSent' && mayHaveMoved",
        put: 'false',
      },
    ],
    injections: [lostAnswers],
  },
  {
    assertion: 'a key makes one payment',
    mistake: 'the first commit does not look whether the key is taken',
    patches: [
      {
        of: 'keyedOnce',
        find: 'where idempotency_key is null or',
        put: 'where true or',
      },
    ],
  },
  {
    assertion: 'whoever was told approved or pending finds the payment',
    mistake: 'an open payment is answered with another id',
    patches: [
      {
        of: 'paymentView',
        find: 'id: payment.id,',
        put: "id: payment.resultCode.startsWith('000.200.') ? 'f'.repeat(32) : payment.id,",
      },
    ],
    injections: [lostAnswers],
  },
  {
    assertion: 'answers agree with the final state, or said pending',
    mistake: 'an undecided payment is answered as declined',
    patches: [
      {
        of: 'decide',
        find: 'resultCode: undecidedCode',
        put: 'resultCode: nothingSent',
      },
    ],
    injections: [lostAnswers],
  },
  {
    assertion: 'all answers to a key are about one payment',
    mistake: 'a repeated follow-up is judged anew',
    patches: [
      {
        of: 'acceptFollowUp',
        find: 'if (earlier !== undefined)',
        put: 'if (false)',
      },
      {
        of: 'acceptFollowUp',
        find: 'if (twin !== undefined)',
        put: 'if (false)',
      },
    ],
  },
  {
    assertion: 'every wish gets a word',
    mistake: 'a repeat of a first payment fails',
    patches: [
      {
        of: 'writtenBefore',
        find: 'replayed(engine, idempotency!)',
        put: "Promise.reject(new Error('a repeat'))",
      },
    ],
    injections: [
      { is: 'kill', host: 'api', at: 'after-T1', nth: 3 },
      { is: 'kill', host: 'all', at: 'after-T2', nth: 3 },
      { is: 'kill', host: 'api', at: 'before-send', nth: 3 },
      { is: 'kill', host: 'all', at: 'before-send', nth: 3 },
    ],
  },
  {
    assertion: 'captures, reversals and refunds stay within what they refer to',
    mistake: 'a refund is stored with more than was asked',
    patches: [
      {
        of: 'decide',
        find: 'outcome.amount?.minor ?? payment.amount.minor',
        put: "payment.amount.minor * (payment.effect === 'refund' ? 9n : 1n)",
      },
    ],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'a refund that was done counts for nothing',
    patches: [
      {
        of: 'shares',
        find: 'done: { refunded: 1 }',
        put: 'done: {}',
      },
    ],
  },
  {
    assertion: 'nothing is reserved when all is quiet',
    mistake: 'a refund that was declined keeps its reservation',
    patches: [
      {
        of: 'moveOf',
        find: 'placeOf(',
        put: "payment.effect === 'refund' && decision.state === 'declined' ? 'open' : placeOf(",
      },
    ],
  },
  {
    assertion: 'what stays undecided is on the operators’ list',
    mistake: 'an enquiry that finds nothing out tells nobody',
    patches: [
      {
        of: 'decideOpen',
        find: "if (is === 'unknown' && !isStillPending)",
        put: 'if (false)',
      },
    ],
    injections: [
      lostAnswers,
      { is: 'acquirer', fault: { what: 'enquiry-unreadable' }, times: 200 },
    ],
    seconds: 18,
  },
  {
    assertion: 'every move has exactly one event',
    mistake: 'a declined payment moves without an event',
    patches: [
      {
        of: 'settleFirst',
        find: 'event_type, event_data from payment_moved',
        put: "event_type, event_data from payment_moved where state <> 'declined'",
      },
    ],
  },
  {
    assertion: 'contradictions are on record',
    mistake: 'a contradiction is seen and not written down',
    patches: [
      {
        of: 'applyTreatment',
        find: "case 'list':",
        put: "case 'list':\n      return true",
      },
    ],
    injections: [{ is: 'events', how: 'other-amount', count: 6 }],
  },
  {
    assertion: 'chargebacks are recorded once',
    mistake: 'a chargeback is acknowledged and dropped',
    patches: [
      {
        of: 'dispute',
        find: "if (!claim.verified) return 'enquired'",
        put: "if (claim.verified) return 'recorded'",
      },
    ],
    injections: [{ is: 'events', how: 'chargeback', count: 3 }],
  },
  {
    assertion: 'no merchant sees another’s payments',
    mistake: 'a payment is found whosever it is',
    patches: [
      {
        of: 'paymentById',
        find: '::uuid[] is null or',
        put: '::uuid[] is null or true or',
      },
    ],
  },
  {
    assertion: 'everything is decided in the end',
    mistake: 'nobody looks after payments whose process died',
    patches: [
      {
        of: 'scheduleTick',
        find: '() => sweep(engine, enqueue),',
        put: '',
      },
      {
        of: 'scheduleTick',
        find: '() => fireTimers(engine, enqueue),',
        put: '',
      },
    ],
    injections: [lostAnswers],
  },
  {
    assertion: 'hosts end only when they are killed',
    mistake: 'a late answer of the acquirer throws where nobody catches it',
    patches: [
      {
        of: 'sendNow',
        find: "const outcome: Outcome = { is: 'unknown'",
        put: "setImmediate(() => { throw new Error('late') })\n  const outcome: Outcome = { is: 'unknown'",
      },
    ],
    injections: [{ is: 'acquirer', fault: { what: 'late', ms: 2_600, apply: 'first' }, times: 3 }],
  },
]

/** Enough that each kind of story is told several times, however slow the machine is. */
const leastWords = 1_500

export type Caught = {
  readonly mutant: Mutant
  readonly caught: boolean
  /** Every assertion that noticed, the wanted one among them. */
  readonly by: readonly string[]
  readonly payments: number
  readonly seconds: number
}

/** Runs one mutant. */
export async function tryMutant(
  mutant: Mutant,
  seed: number,
  interrupted?: Promise<never>,
): Promise<Caught> {
  const since = performance.now()
  const seconds = mutant.seconds ?? 7
  const injections = mutant.injections ?? []
  const plan = injections.map(
    (injection, index): Planned => ({ no: index + 1, atMs: 1_000 + index * 200, injection }),
  )
  process.env[mutantVariable] = JSON.stringify(mutant.patches.map(place))
  let report: Report
  try {
    report = await runFaults({
      seed,
      profile: {
        name: 'mutant',
        minutes: seconds / 60,
        merchants: 8,
        schedulers: 4,
        shoppers: mutant.shoppers ?? 2,
        gapMs: 1_000,
        progressMs: 3_000,
      },
      plan,
      say: () => undefined,
      preload: [join(import.meta.dirname, 'mutate.ts')],
      prepare: mutant.prepare ?? [],
      ...(interrupted === undefined ? {} : { interrupted }),
      leastWords,
      quietWithinMs: 20_000,
      mostTries: 9,
      plainShare: 0.1,
      ...(mutant.plainChannelShare === undefined
        ? {}
        : { plainChannelShare: mutant.plainChannelShare }),
      keepsAcquirerFaults: true,
    })
  } finally {
    delete process.env[mutantVariable]
  }
  const by = [...new Set(report.violations.map(({ assertion }) => assertion))]
  return {
    mutant,
    caught: by.includes(mutant.assertion),
    by,
    payments: report.payments,
    seconds: (performance.now() - since) / 1000,
  }
}

/** Runs all of them, or those whose assertion has a word. @returns how many nobody caught. */
export async function tryMutants(
  seed: number,
  say: (line: string) => void,
  words: readonly string[] = [],
  interrupted?: Promise<never>,
): Promise<number> {
  let missed = 0
  const wanted = mutants.filter(
    ({ assertion, mistake }) =>
      words.length === 0 || words.some((word) => `${assertion} ${mistake}`.includes(word)),
  )
  say('| the mistake | in | the assertion that must notice | noticed | others that did | s |')
  say('|---|---|---|---|---|---|')
  for (const mutant of wanted) {
    const { caught, by, seconds } = await tryMutant(mutant, seed, interrupted)
    if (!caught) missed += 1
    const others = by.filter((name) => name !== mutant.assertion)
    say(
      `| ${mutant.mistake} | ${mutant.patches[0]!.of} | ${mutant.assertion} | ${caught ? 'yes' : 'NO'} | ${others.length === 0 ? '' : others.length} | ${seconds.toFixed(0)} |`,
    )
  }
  return missed
}
