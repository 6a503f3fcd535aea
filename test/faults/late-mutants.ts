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
        file: 'core/payment/take-back.ts',
        find: 'const undone = await undo(engine, work)',
        put: "const undone = { is: 'undone', by: 'nobody' } as Undone",
      },
    ],
    injections: [doneAllTheSame('debit')],
  },
  {
    assertion: 'what was done late is undone at the acquirer, listed, or kept',
    mistake: 'a late success is listed, and nobody takes it back',
    patches: [
      {
        file: 'core/payment/take-back.ts',
        find: '  const now = await held(engine, work.payment.attemptKey)\n  if (now === undefined) return work.payment\n',
        put: '  if (work.payment.id !== "") { await engine.lanes.single(dropLease(work.payment.attemptKey, taken.lease)); return work.payment }\n  const now = await held(engine, work.payment.attemptKey)\n  if (now === undefined) return work.payment\n',
      },
      {
        file: 'core/payment/late.ts',
        find: 'look: isOurs(treatment, source) ? { id: newId(), afterMs: 0 } : null,',
        put: 'look: null,',
      },
      {
        file: 'core/payment/acquirer-message.ts',
        find: "if (applied === 'settled') await lookNow(engine, attemptKey)",
        put: '',
      },
    ],
    injections: [doneAllTheSame('debit')],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'a reversal that was done late counts for nothing',
    patches: [
      {
        file: 'core/payment/late.ts',
        find: "to: treatment === 'count' ? 'done' : 'open',",
        put: "to: treatment === 'count' ? 'gone' : 'open',",
      },
    ],
    injections: [doneAllTheSame('reverse')],
  },
  {
    assertion: 'what failed later counts no more',
    mistake: 'the failure of what counted as done changes nothing',
    patches: [
      { file: 'core/payment/late-words.ts', find: "declined: 'fail',", put: "declined: 'known'," },
    ],
    injections: [said('failing'), said('failing')],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'what failed later gives no sums back',
    patches: [
      {
        file: 'core/payment/late.ts',
        find: "to: 'gone',\n        state: 'declined',",
        put: "to: 'done',\n        state: 'declined',",
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
        file: 'core/payment/store-dispute.ts',
        find: 'or sums.left_minor < 0 or sums.has_failed',
        put: 'or sums.has_failed',
      },
    ],
    injections: [said('chargeback-twice-the-amount')],
  },
  {
    assertion: 'no more goes out at the acquirer than came in, or the rest is listed',
    mistake: 'a charge that failed after it was refunded is on no list',
    patches: [
      {
        file: 'core/payment/store-late.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's own text.
        find: 'where ${late.beyond !== null}::boolean and (over.minor > 0',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's own text.
        put: 'where ${late.beyond !== null && late.paymentId === null}::boolean and (over.minor > 0',
      },
    ],
    injections: [said('failing', 30), said('failing', 30), said('failing', 30)],
  },
  {
    assertion: 'balances say what their payments add up to',
    mistake: 'a chargeback counts twice in the sums',
    patches: [
      {
        file: 'core/payment/store-dispute.ts',
        find: 'set charged_back = charged_back + fact.counted',
        put: 'set charged_back = charged_back + 2 * fact.counted',
      },
    ],
    injections: [said('chargeback-in-parts')],
  },
  {
    assertion: 'chargebacks are recorded once',
    mistake: 'a chargeback that is told again is another one',
    patches: [
      {
        file: 'core/payment/dispute-case.ts',
        find: '  reference ?? source\n',
        put: "  reference === '' ? reference : source\n",
      },
    ],
    injections: [said('chargeback-repeated')],
  },
  {
    assertion: 'what does not fit the sums is listed',
    mistake: 'a known chargeback with another amount is taken for the same',
    patches: [
      {
        file: 'core/payment/dispute-case.ts',
        find: 'if (same.minor !== reported.minor || same.currency !== reported.currency) {',
        put: 'if (same.currency !== reported.currency) {',
      },
    ],
    injections: [said('chargeback-repeated')],
  },
  {
    assertion: 'what does not fit the sums is listed',
    mistake: 'a chargeback of a declined payment is on no list',
    patches: [
      {
        file: 'core/payment/store-dispute.ts',
        find: 'where sums.left_minor is null or',
        put: 'where',
      },
    ],
    injections: [said('chargeback-of-declined')],
  },
  {
    assertion: 'what the acquirer said is worked on',
    mistake: 'whoever guesses the id of an event suppresses it',
    patches: [
      {
        file: 'core/acquirer-events/store.ts',
        find: "where event.claim ->> 'verified' is distinct from 'true' and excluded.claim ->> 'verified' = 'true'",
        put: 'where false',
      },
    ],
    injections: [said('forged-first')],
  },
  {
    assertion: 'what is frozen has an open entry, and the other way round',
    mistake: 'the return of a sale freezes nothing',
    patches: [
      {
        file: 'core/payment/store-late.ts',
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
        file: 'core/payment/store-follow-up.ts',
        find: "and closed_by is null and charged_back = 0 and frozen_by = '{}' and refund_final_by is null",
        put: 'and closed_by is null and refund_final_by is null',
      },
    ],
    injections: Array.from({ length: 4 }, () => said('chargeback-in-parts')),
  },
]
