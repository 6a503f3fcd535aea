/** Mistakes that the engine might make in telling merchants what happened. */
import type { Mutant } from './mutants.ts'
import type { Injection } from './plan.ts'
import type { ReceiverFault } from './receivers.ts'

const receiver = (
  on: ReceiverFault['on'],
  how: ReceiverFault['how'],
  ms: number,
): readonly Injection[] => [{ is: 'receiver', fault: { on, how, ms } }]

export const eventMutants: readonly Mutant[] = [
  {
    assertion: 'every endpoint is told of every change, or its list says why not',
    mistake: 'a notification that was not taken counts as delivered',
    patches: [
      {
        file: 'core/webhook/sender.ts',
        find: ": { state: 'pending' as const, due_at: dueAt }",
        put: ": { state: 'delivered' as const, ended_at: new Date(nowMs) }",
      },
    ],
    injections: receiver('sealed', 'fail', 3_000),
  },
  {
    assertion: 'what was given up comes home by a replay',
    mistake: 'a replay takes them off the list and sends nothing',
    patches: [
      {
        file: 'core/webhook/store-replay.ts',
        find: "set state = 'pending', reason = null, attempts = 0,",
        put: "set state = 'delivered', reason = null, attempts = 0,",
      },
    ],
    injections: receiver('leaving', 'gone', 1_000),
  },
  {
    assertion: 'a notification keeps its id, and its receiver can open it',
    mistake: 'after a rotation the new secret alone signs',
    patches: [
      {
        file: 'core/webhook/attempt.ts',
        find: 'rotating && keys.previous !== undefined ? [keys.signing, keys.previous] : [keys.signing]',
        put: '[keys.signing]',
      },
    ],
    injections: receiver('sealed', 'rotate', 4_000),
  },
  {
    assertion: 'the events of a resource reach an endpoint in order',
    mistake: 'nothing waits for what came before it',
    patches: [
      {
        file: 'core/webhook/store-delivery.ts',
        find: '    resource: row.resource,',
        put: '    resource: row.id,',
      },
      {
        file: 'core/webhook/endpoint-queue.ts',
        find: 'isFull || before.length < blockers',
        put: 'isFull',
      },
    ],
    injections: receiver('wrapped', 'fail', 4_000),
  },
  {
    assertion: 'nobody is told what is not its own',
    mistake: 'every endpoint is told of everything',
    patches: [
      {
        file: 'core/webhook/store-delivery.ts',
        find: "where entity_id = any(array[c.id, c.parent_id, m.parent_id, v.parent_id]) and kind = 'webhook'",
        put: "where kind = 'webhook'",
      },
    ],
  },
  {
    assertion: 'the feed tells each event once',
    mistake: 'the feed reads past transactions that still run',
    // Commits that take their time: more of them are under way when the feed is read.
    prepare: [
      'alter system set commit_delay = 10000',
      'alter system set commit_siblings = 0',
      'select pg_reload_conf()',
    ],
    patches: [
      {
        file: 'core/event-feed/store.ts',
        find: 'h as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as horizon),',
        put: 'h as materialized (select pg_snapshot_xmax(pg_current_snapshot()) as horizon),',
      },
    ],
  },
  {
    assertion: 'the feed tells the events of a resource in order',
    mistake: 'the newest event of a page comes first',
    patches: [
      {
        file: 'core/event-feed/feed.ts',
        find: '(await notificationsOf(engine, portion.map(eventOf))).filter(isWanted)',
        put: '(await notificationsOf(engine, portion.map(eventOf))).filter(isWanted).reverse()',
      },
    ],
  },
]
