/** Mistakes that the engine might make with what is said after the answer. */
import type { Mutant } from './mutants.ts'
import type { Injection } from './plan.ts'

const doneAllTheSame = (kind: 'debit' | 'reverse'): Injection => ({
  is: 'acquirer',
  fault: { what: 'contradicting', as: 'unknownCode', kind },
  times: 10,
})
const said = (how: (Injection & { is: 'events' })['how'], count = 6): Injection => ({
  is: 'events',
  how,
  count,
})

export const lateMutants: readonly Mutant[] = [
  {
    assertion: 'what was done late is undone at the acquirer, listed, or kept',
    mistake: 'a late success is said to be taken back, and is not',
    patches: [
      {
        of: 'takeBack',
        find: 'await undo(engine, work)',
        put: "{ is: 'undone', by: 'nobody' } as Undone",
      },
    ],
    injections: [doneAllTheSame('debit')],
  },
  {
    assertion: 'what was done late is undone at the acquirer, listed, or kept',
    mistake: 'a late success is listed, and nobody takes it back',
    patches: [
      {
        of: 'takeBack',
        find: 'const undone =',
        put: 'await engine.lanes.single(dropLease(work.payment.attemptKey, taken.lease))\n  if (work.payment.id !== "") return work.payment\n  const undone =',
      },
      {
        of: 'countedAs',
        find: 'look: isOurs(treatment, source) ?',
        put: 'look: false ?',
      },
      {
        of: 'applyMessage',
        find: "if (applied === 'settled' && source === 'event')",
        put: 'if (false)',
      },
    ],
    injections: [doneAllTheSame('debit')],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'a reversal that was done late counts for nothing',
    patches: [
      {
        of: 'countedAs',
        find: "to: treatment === 'count' ? 'done'",
        put: "to: treatment === 'count' ? 'gone'",
      },
    ],
    injections: [doneAllTheSame('reverse')],
  },
  {
    assertion: 'what failed later counts no more',
    mistake: 'the failure of what counted as done changes nothing',
    patches: [{ of: 'lateWords', find: "declined: 'fail',", put: "declined: 'known'," }],
    injections: [said('failing'), said('failing')],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'what failed later gives no sums back',
    patches: [
      {
        of: 'failAccepted',
        find: "to: 'gone'",
        put: "to: 'done'",
      },
    ],
    // Follow-ups have to have been accepted by then.
    injections: Array.from({ length: 30 }, () => said('failing')),
  },
  {
    assertion: 'no more goes out at the acquirer than came in, or the rest is listed',
    mistake: 'a chargeback beyond what is left is on no list',
    patches: [
      {
        of: 'recordChargeback',
        find: 'or sums.left_minor < 0',
        put: '',
      },
    ],
    injections: [said('chargeback-twice-the-amount')],
  },
  {
    assertion: 'no more goes out at the acquirer than came in, or the rest is listed',
    mistake: 'a charge that failed after it was refunded is on no list',
    patches: [
      {
        of: 'moveLate',
        find: '(over.minor > 0 or over.captures > 0 or over.charged_back > 0)',
        put: 'false',
      },
    ],
    injections: [said('failing', 30), said('failing', 30), said('failing', 30)],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'a chargeback counts twice in the sums',
    patches: [
      {
        of: 'recordChargeback',
        find: 'charged_back + fact.counted',
        put: 'charged_back + 2 * fact.counted',
      },
    ],
    injections: [said('chargeback-in-parts')],
  },
  {
    assertion: 'chargebacks are recorded once',
    mistake: 'a chargeback that is told again is another one',
    patches: [
      {
        of: 'disputeReferenceOf',
        find: 'reference ??',
        put: "reference === '' ? reference :",
      },
    ],
    injections: [said('chargeback-repeated')],
  },
  {
    assertion: 'what does not fit the sums is listed',
    mistake: 'a known chargeback with another amount is taken for the same',
    patches: [
      {
        of: 'reportedBefore',
        find: 'same.minor !== reported.minor ||',
        put: '',
      },
    ],
    injections: [said('chargeback-repeated')],
  },
  {
    assertion: 'what does not fit the sums is listed',
    mistake: 'a chargeback of a declined payment is on no list',
    patches: [
      {
        of: 'recordChargeback',
        find: 'sums.left_minor is null or',
        put: '',
      },
    ],
    injections: [said('chargeback-of-declined')],
  },
  {
    assertion: 'what the acquirer said is worked on',
    mistake: 'whoever guesses the id of an event suppresses it',
    patches: [
      {
        of: 'addWhere',
        find: "excluded.claim ->> 'verified' = 'true'",
        put: 'false',
      },
    ],
    injections: [said('forged-first')],
  },
  {
    assertion: 'what is frozen has an open entry, and the other way round',
    mistake: 'the return of a sale freezes nothing',
    patches: [
      {
        of: 'moveLate',
        find: 'then array_append(frozen_by, entry.id) else frozen_by end\n  from payment_moved',
        put: 'then frozen_by else frozen_by end\n  from payment_moved',
      },
    ],
    injections: [said('contradicting')],
  },
  {
    assertion: 'refunds wait for chargebacks and returns',
    mistake: 'refunds go on while a chargeback stands',
    patches: [
      {
        of: 'reserveRefund',
        find: "and charged_back = 0 and frozen_by = '{}'",
        put: '',
      },
    ],
    injections: Array.from({ length: 4 }, () => said('chargeback-in-parts')),
  },
]
