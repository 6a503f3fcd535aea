/** Jobs of the engine in its queue, as lost answers and late processes leave them; programs cannot send these. */
import { PgBoss } from 'pg-boss'
import { newId } from '../../core/ids.ts'
import type { TransactionClient } from '../../core/index.ts'
import type { TestGateway } from './gateway.ts'

/** @param client commits the job with its transaction */
export async function queueEngineJob(
  { database }: Pick<TestGateway, 'database'>,
  name: string,
  data: object,
  { key = newId(), client }: { readonly key?: string; readonly client?: TransactionClient } = {},
): Promise<void> {
  const boss = new PgBoss({
    connectionString: database.url,
    ...{ schema: 'tollgate_boss', migrate: false, schedule: false, supervise: false, max: 1 },
  })
  boss.on('error', () => {})
  await boss.start()
  try {
    const executeSql = async (text: string, values?: unknown[]) =>
      (await client!.query({ text, ...(values === undefined ? {} : { values }) })) as {
        rows: never[]
      }
    const within = client === undefined ? {} : { db: { executeSql } }
    await boss.insert(name, [{ data, singletonKey: key }], within)
  } finally {
    await boss.stop({ graceful: false })
  }
}
