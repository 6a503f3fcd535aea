/** Mistakes that the engine might make with schedules. */
import type { Mutant } from './mutants.ts'

export const scheduleMutants: readonly Mutant[] = [
  {
    assertion: 'an instant of a schedule has one approved or open payment at most',
    mistake: 'a charge that is tried again takes the place of the one before',
    patches: [
      {
        file: 'core/payment/store-first.ts',
        find: ' and occurrence.payment_id is not distinct from r.previous_id',
        put: '',
      },
      {
        file: 'core/schedule/charge.ts',
        find: 'payment = await pay(engine, row, await prepared(row, loaded))',
        put: `payment = await pay(engine, row, await prepared(row, loaded))
    payment = await pay(engine, row, await prepared(row, loaded))`,
      },
    ],
  },
  {
    assertion: 'every execution that was begun is finished',
    mistake: 'some executions are passed over',
    patches: [
      {
        file: 'core/schedule/charge.ts',
        find: '  if (row.failure !== null) return\n',
        put: '  if (row.failure !== null || row.at.getTime() % 4_000 === 0) return\n',
      },
    ],
  },
  {
    assertion: 'every instant is charged or recorded as missed, once',
    mistake: 'some instants are left out when schedules fire',
    patches: [
      {
        file: 'core/schedule/fire.ts',
        find: '    for (const at of charge) {\n',
        put: '    for (const at of charge) {\n      if (at.getTime() % 4_000 === 0) continue\n',
      },
    ],
  },
  {
    assertion: 'nothing is charged after a cancellation',
    mistake: 'a cancelled schedule goes on',
    patches: [
      {
        file: 'core/schedule/store.ts',
        find: '      then next_at end\n',
        put: '      then next_at else next_at end\n',
      },
      {
        file: 'core/schedule/plan.ts',
        find: 'effectiveEnd !== null && instant >= effectiveEnd',
        put: 'false',
      },
    ],
  },
  {
    assertion: 'every change of a schedule or registration has exactly one event',
    mistake: 'a cancellation is told to nobody',
    patches: [
      {
        file: 'core/schedule/store.ts',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the engine's own text.
        find: "${recorded(record, 'DS', 'schedule.cancelled')}`",
        put: 'r as (select seq from s)\nselect seq from r`',
      },
    ],
  },
  {
    assertion: 'a key makes one registration or schedule',
    mistake: 'nobody looks whether the key made a registration before',
    patches: [
      {
        file: 'core/registration/registrations.ts',
        find: "return payFirst(engine, addressee, request, idempotency, { only: 'verification', caller })",
        put: "return payFirst(engine, addressee, request, null, { only: 'verification', caller })",
      },
    ],
  },
  {
    assertion: 'an execution fails for a reason alone',
    mistake: 'some numbers are not found in the vault',
    patches: [
      {
        file: 'core/schedule/prepare.ts',
        find: 'if (own === undefined) throw',
        put: 'if (own === undefined || row.at.getTime() % 6_000 === 0) throw',
      },
    ],
  },
]
