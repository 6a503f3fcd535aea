import type { DatabaseSsl, PoolSizes } from './connection.ts'

export type DatabaseOptions = {
  /** `postgres://user:password@host:port/name`. */
  readonly url: string
  /** Schema of the engine's tables; pg-boss gets `<schema>_boss`. Default `tollgate`. */
  readonly schema?: string
  /**
   * Named prepared statements, and settings of sessions. False where a connection pooler in transaction mode
   * may stand before the database: then each transaction brings its settings, at the cost of two more round
   * trips for a statement. Default true.
   */
  readonly prepare?: boolean
  /** Connections of this process, by lane. */
  readonly pool?: PoolSizes
  /** Encryption of the connections, instead of `sslmode` in the URL. */
  readonly ssl?: DatabaseSsl
  /**
   * The weakest `synchronous_commit` of the server that a live start accepts. With `local`, a failover loses
   * the last payments; with `off`, a crash does, too. Default `on`.
   */
  readonly synchronousCommit?: 'on' | 'local' | 'off'
}
