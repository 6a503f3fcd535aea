/** Mistakes that the engine might make in telling merchants what happened. */
import type { Mutant } from './mutants.ts'

export const eventMutants: readonly Mutant[] = [
  {
    assertion: 'the feed tells each event once',
    mistake: 'the feed reads past transactions that still run',
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
        find: 'const all = await notificationsOf(engine, found.map(eventOf))',
        put: 'const all = (await notificationsOf(engine, found.map(eventOf))).reverse()',
      },
    ],
  },
]
