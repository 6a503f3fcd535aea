/** An embedding program: its transactions, and payments that it queues in them. */
import pg from 'pg'
import type { AcquirerRun } from './acquirer.ts'
import { card, until } from './gateway.ts'

export type Program = {
  /** A debit without the values that must not be stored. */
  debit(reference: string, more?: Record<string, unknown>): never
  /** Runs `work` in a transaction of the program. */
  transaction<T>(
    end: 'commit' | 'rollback',
    work: (client: pg.PoolClient) => Promise<T>,
  ): Promise<T>
  /** The result code of a queued payment, once it is decided. */
  decided(payment: { readonly id: string }): Promise<string>
  readonly pool: pg.Pool
  close(): Promise<void>
}

const open = '000.200.001'

export function programBeside(run: Pick<AcquirerRun, 'database' | 'channel' | 'gateway'>): Program {
  const pool = new pg.Pool({ connectionString: run.database.url, max: 4 })
  pool.on('error', () => {})
  return {
    pool,
    debit(reference, more = {}) {
      const { card: account, ...fields } = card('4200000000000000')
      const { cvv: _cvv, ...stored } = account
      return {
        ...fields,
        card: stored,
        testMode: 'EXTERNAL',
        entityId: run.channel,
        merchantTransactionId: reference,
        ...more,
      } as never
    },
    async transaction(end, work) {
      const client = await pool.connect()
      try {
        await client.query('begin')
        const result = await work(client)
        await client.query(end)
        return result
      } catch (error) {
        await client.query('rollback')
        throw error
      } finally {
        client.release()
      }
    },
    decided: ({ id }) =>
      until(async () => {
        const { result } = await run.gateway.payments.get(id)
        return result.code === open ? undefined : result.code
      }),
    close: () => pool.end(),
  }
}
