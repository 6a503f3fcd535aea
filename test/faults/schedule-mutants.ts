/** Mistakes that the engine might make with schedules. */
import type { Mutant } from './mutants.ts'

export const scheduleMutants: readonly Mutant[] = [
  {
    assertion: 'an instant of a schedule has one approved or open payment at most',
    mistake: 'a charge that is tried again takes the place of the one before',
    patches: [
      {
        of: 'acceptScheduled',
        find: 'and occurrence.payment_id is not distinct from given.previous_id',
        put: '',
      },
      {
        of: 'continueOne',
        find: 'payment = await pay(',
        put: `await pay(engine, row, await prepared(row, loaded))
    payment = await pay(`,
      },
    ],
  },
  {
    assertion: 'every execution that was begun is finished',
    mistake: 'some executions are passed over',
    patches: [
      {
        of: 'continueOne',
        find: 'row.failure !== null',
        put: 'row.failure !== null || row.at.getTime() % 2_000 === 0',
      },
    ],
  },
  {
    assertion: 'every instant is charged or recorded as missed, once',
    mistake: 'some instants are left out when schedules fire',
    patches: [
      {
        of: 'Firing.add',
        find: 'for (const at of charge) {',
        put: 'for (const at of charge) {\n      if (at.getTime() % 4_000 === 0) continue',
      },
    ],
  },
  {
    assertion: 'nothing is charged after a cancellation',
    mistake: 'a cancelled schedule goes on',
    patches: [
      {
        of: 'cancelSchedule',
        find: 'then next_at end',
        put: 'then next_at else next_at end',
      },
      {
        of: 'isPastEnd',
        find: 'effectiveEnd !== null && dueTime >= effectiveEnd',
        put: 'false',
      },
    ],
  },
  {
    assertion: 'every change of a schedule or registration has exactly one event',
    mistake: 'a cancellation is told to nobody',
    patches: [
      {
        of: 'cancelSchedule',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's own text.
        find: "${recorded(record, 'DS', 'schedule.cancelled')}`",
        put: 'told_nobody as (select seq from changed)\nselect seq from told_nobody`',
      },
    ],
  },
  {
    assertion: 'a key makes one registration or schedule',
    mistake: 'nobody looks whether the key made a registration before',
    patches: [
      {
        of: 'createRegistration',
        find: 'payFirst(engine, addressee, request, idempotency,',
        put: 'payFirst(engine, addressee, request, null,',
      },
    ],
  },
  {
    assertion: 'an execution fails for a reason alone',
    mistake: 'some numbers are not found in the vault',
    patches: [
      {
        of: 'prepared',
        find: 'if (own === undefined)',
        put: 'if (own === undefined || row.at.getTime() % 6_000 === 0)',
      },
    ],
  },
]
