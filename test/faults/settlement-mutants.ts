/** Mistakes that the engine might make with settlement files. */
import type { Mutant } from './mutants.ts'
import type { Injection } from './plan.ts'

const settled: readonly Injection[] = Array.from({ length: 4 }, () => ({ is: 'settlement' }))

export const settlementMutants: readonly Mutant[] = [
  {
    assertion: 'each settlement line names its payment',
    mistake: 'a match is decided and not stored',
    patches: [
      {
        of: 'addRecords',
        find: 'as member (payment_id, minor)\n  on conflict do nothing',
        put: 'as member (payment_id, minor)\n  where member.minor % 3 = 0\n  on conflict do nothing',
      },
    ],
    injections: settled,
  },
  {
    assertion: 'no money settles twice',
    mistake: 'a line settles twice its amount',
    patches: [
      {
        of: 'part',
        in: 'settlement/match/store-decision.ts',
        find: 'else least(option.minor, work.amount_minor) end',
        put: 'else 2 * option.minor end',
      },
    ],
    injections: settled,
  },
  {
    assertion: 'lines that look like one payment are marked',
    mistake: 'a line settles twice its amount, and counts as a guess',
    patches: [
      {
        of: 'part',
        in: 'settlement/match/store-decision.ts',
        find: 'else least(option.minor, work.amount_minor) end',
        put: 'else 2 * option.minor end',
      },
      {
        of: 'tierName',
        find: "case option.tier when 1 then 'payment-id'",
        put: "case option.tier when 1 then 'composite'",
      },
    ],
    injections: settled,
  },
  {
    assertion: 'money that stands has a settlement line',
    mistake: 'one line in five becomes no record',
    patches: [
      {
        of: 'addRecords',
        find: 'order by next.position\n  on conflict (scope_id, key) do nothing',
        put: 'where next.line % 5 <> 0\n  order by next.position\n  on conflict (scope_id, key) do nothing',
      },
    ],
    injections: settled,
  },
  {
    assertion: 'settlement lines take effect',
    mistake: 'an effect is carried out and stays open',
    patches: [
      {
        of: 'applyRow',
        find: 'await lanes.single(end)',
        put: "if (result.is === 'wait') await lanes.single(end)",
      },
    ],
    injections: settled,
  },
]
