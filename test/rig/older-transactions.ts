/** Waits that files and the feed have, too, when tests beside one share the cluster. */
import { type TestGateway, until } from './gateway.ts'

/** Waits for the end of all transactions that the cluster has now. */
export async function olderTransactionsEnd(run: Pick<TestGateway, 'sql'>): Promise<void> {
  const [now] = await run.sql<{ next: string }>(
    'select pg_snapshot_xmax(pg_current_snapshot())::text as next',
  )
  await until(async () => {
    const rows = await run.sql('select where pg_snapshot_xmin(pg_current_snapshot()) >= $1::xid8', [
      now!.next,
    ])
    return rows.length > 0 ? true : undefined
  })
}
