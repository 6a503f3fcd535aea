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
        of: 'Sender.#settle',
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
        of: 'replayDead',
        find: "set state = 'pending'",
        put: "set state = 'delivered'",
      },
    ],
    injections: receiver('leaving', 'gone', 1_000),
  },
  {
    assertion: 'a notification keeps its id, and its receiver can open it',
    mistake: 'after a rotation the new secret alone signs',
    patches: [
      {
        of: 'sendNotification',
        find: '[keys.signing, keys.previous]',
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
        of: 'toDelivery',
        find: 'resource: row.resource,',
        put: 'resource: row.id,',
      },
      {
        of: 'EndpointQueue.add',
        find: '|| before.length < blockers',
        put: '',
      },
    ],
    injections: receiver('wrapped', 'fail', 4_000),
  },
  {
    assertion: 'nobody is told what is not its own',
    mistake: 'every endpoint is told of everything',
    patches: [
      {
        of: 'newDeliveries',
        find: 'entity_id = any(array[channel.id, channel.parent_id, merchant.parent_id, division.parent_id]) and',
        put: '',
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
        of: 'pageOfEvents',
        find: 'pg_snapshot_xmin(',
        put: 'pg_snapshot_xmax(',
      },
    ],
  },
  {
    assertion: 'the feed tells the events of a resource in order',
    mistake: 'the newest event of a page comes first',
    patches: [
      {
        of: 'fillPage',
        find: '.filter(isWanted)',
        put: '.filter(isWanted).reverse()',
      },
    ],
  },
]
