/**
 * Which server leads. A connection is used only if its server writes and is on the newest timeline that this
 * process has seen: after a failover, an old leader can go on answering behind a proxy.
 */
import { limits } from '@tollgate/schemas'
import { within } from './connection.ts'
import type * as pg from './pg-types.ts'

/** A server, as a new connection finds it. */
export type Server = {
  /** Identifier of the cluster; null: the server does not say. */
  readonly system: string | null
  /** Rises with every promotion; null: the server does not say. */
  readonly timeline: number | null
  /** Why it cannot take payments; null: it can. */
  readonly unfit: string | null
  /** The next transaction number. */
  readonly nextTxid: bigint
  /** The process that answered. */
  readonly pid: number
}

/**
 * Readies a server that leads from now on, before any other statement reaches it.
 *
 * @param knownTxid The highest transaction number that this process saw at former leaders.
 */
export type Welcome = (client: pg.ClientBase, server: Server, knownTxid: bigint) => Promise<void>

type Row = {
  readonly system: string | null
  readonly timeline: number | null
  readonly unfit: string | null
  readonly next: string
  readonly pid: number
}

/** A setting of a server that is demoted stays as it is, so nothing here overrides it. */
const unfit = `case
  when pg_is_in_recovery() then 'only reads: it is a standby or was demoted'
  when current_setting('transaction_read_only') = 'on'
    then 'only reads: default_transaction_read_only is on for the server, this database or this user'
  when current_setting('session_replication_role') = 'replica'
    then 'runs no triggers: session_replication_role is replica for the server, this database or this user'
end as unfit`

// A standby has no file that it writes.
const asked = `select ${unfit},
  (select system_identifier::text from pg_control_system()) as system,
  case when pg_is_in_recovery() then null
    else ('x' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8))::bit(32)::integer end as timeline,
  pg_snapshot_xmax(pg_current_snapshot())::text as next, pg_backend_pid() as pid`

/** For servers that do not tell their timeline to this user, or have none. */
const askedLess = `select ${unfit},
  null as system, null as timeline, pg_snapshot_xmax(pg_current_snapshot())::text as next,
  pg_backend_pid() as pid`

/** Functions that are missing, forbidden or not supported. */
const untold = new Set(['42883', '42501', '0A000'])

export class Leader {
  #server: Server | undefined
  /** The timeline that was welcomed last. */
  #ready = 0
  #welcoming: Promise<void> | undefined
  #welcome: Welcome | undefined
  #knownTxid = 0n
  readonly #connections = new Map<pg.ClientBase, number>()
  readonly #onRise: ((server: Server, was: Server) => void)[] = []

  /** Calls back after each failover, once the new leader is ready. */
  onRise(listener: (server: Server, was: Server) => void): void {
    this.#onRise.push(listener)
  }

  /** From now on, each new leader is welcomed; the present one now, by this connection. */
  async welcomeBy(welcome: Welcome, client: pg.ClientBase): Promise<void> {
    const server = await ask(client)
    await welcome(client, server, this.#knownTxid)
    this.#ready = Math.max(this.#ready, server.timeline ?? 0)
    this.#welcome = welcome
  }

  /**
   * Checks the server of a new connection. A higher timeline than before ends all connections to former
   * leaders at once, idle or not: the outcome of their statements is unknown.
   *
   * @throws Error when the connection must not be used; it is closed then.
   */
  async admit(client: pg.Client): Promise<Server> {
    client.on('error', () => {})
    const late = 'the database did not say in time whether it leads'
    try {
      const server = await within(client, limits.connectMs, late, () => ask(client))
      this.#refuse(server)
      const timeline = server.timeline ?? 0
      this.#connections.set(client, timeline)
      client.once('end', () => this.#connections.delete(client))
      const was = this.#server
      if (was === undefined || timeline >= (was.timeline ?? 0)) this.#server = server
      if (was !== undefined && timeline > (was.timeline ?? 0)) this.#endOthers(timeline)
      await this.#readied(client, server, was)
      // Another connection may have met a newer leader meanwhile.
      this.#refuse(server)
      if (server.nextTxid > this.#knownTxid) this.#knownTxid = server.nextTxid
      return server
    } catch (error) {
      this.#connections.delete(client)
      client.connection.stream.destroy()
      throw error
    }
  }

  #refuse({ unfit, system, timeline }: Server): void {
    if (unfit !== null) throw new Error(`the database server ${unfit}`)
    const known = this.#server
    if (known === undefined) return
    if (known.system !== null && system !== null && system !== known.system) {
      throw new Error(
        'the database server belongs to another cluster: restart the process if the change is meant',
      )
    }
    if (known.timeline !== null && timeline !== null && timeline < known.timeline) {
      throw new Error('the database server was replaced by another leader')
    }
  }

  #endOthers(timeline: number): void {
    for (const [client, of] of this.#connections) {
      if (of >= timeline) continue
      this.#connections.delete(client)
      const { stream } = (client as pg.Client).connection
      stream.destroy(new Error('another database server leads now'))
    }
  }

  async #readied(client: pg.ClientBase, server: Server, was: Server | undefined): Promise<void> {
    const timeline = server.timeline ?? 0
    const welcome = this.#welcome
    if (welcome === undefined || timeline <= this.#ready) return
    const isFirst = this.#welcoming === undefined
    const late = 'a database server that leads from now on was not ready in time'
    this.#welcoming ??= within(client, limits.welcomeMs, late, () =>
      welcome(client, server, this.#knownTxid),
    ).then(() => {
      this.#ready = timeline
    })
    const welcoming = this.#welcoming
    try {
      await welcoming
    } finally {
      if (this.#welcoming === welcoming) this.#welcoming = undefined
    }
    if (timeline > this.#ready) return this.#readied(client, server, was)
    if (isFirst && was !== undefined) for (const tell of this.#onRise) tell(server, was)
  }
}

async function ask(client: pg.ClientBase): Promise<Server> {
  const { rows } = await client.query<Row>(asked).catch((error: { code?: string }) => {
    if (!untold.has(error.code ?? '')) throw error
    return client.query<Row>(askedLess)
  })
  const { system, timeline, unfit, next, pid } = rows[0]!
  return { system, timeline, unfit, nextTxid: BigInt(next), pid }
}
