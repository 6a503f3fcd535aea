import type pg from 'pg'

export type DataKeyFound = {
  readonly id: string
  readonly purpose: string
  readonly state: string
  readonly key_encryption_key_id: string
  readonly wrapped: Buffer
}

/** How many there are, and what one and several are called. */
export type Counted = { readonly one: string; readonly many: string; readonly count: string }

/** Statements of the doctor. Each asks for one thing and changes nothing. */
export class DoctorStore {
  readonly #client: pg.Client
  readonly #schema: string

  constructor(client: pg.Client, schema: string) {
    this.#client = client
    this.#schema = schema
  }

  async #rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const named = text.replaceAll(/\btollgate\./g, `${this.#schema}.`)
    return (await this.#client.query<Row>(named, values)).rows
  }

  async serverVersion(): Promise<number> {
    const [row] = await this.#rows<{ version: string }>(
      "select current_setting('server_version_num') as version",
    )
    return Math.floor(Number(row?.version) / 10_000)
  }

  settings(): Promise<{ name: string; setting: string }[]> {
    return this.#rows(`
      select name, setting
      from pg_settings
      where name in ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')`)
  }

  async standbys(): Promise<number> {
    const [row] = await this.#rows<{ count: string }>(
      'select count(*) as count from pg_stat_replication',
    )
    return Number(row?.count)
  }

  /** Rights to the database that its two users lack; none without these users. No dump contains them. */
  lackingRights(): Promise<{ user: string; right: string }[]> {
    return this.#rows(
      `
      select rolname as user, wanted.right
      from (values ('_migrating', 'connect'), ('_migrating', 'create'), ('_running', 'connect')) as wanted (suffix, "right")
      join pg_roles on rolname = concat($1::text, wanted.suffix)
      where not has_database_privilege(rolname, current_database(), wanted.right)
      order by rolname, wanted.right`,
      [this.#schema],
    )
  }

  async isThere(): Promise<boolean> {
    const [row] = await this.#rows<{ there: boolean }>(
      "select to_regclass('tollgate.migration') is not null as there",
    )
    return row?.there === true
  }

  async environment(): Promise<string | undefined> {
    const [row] = await this.#rows<{ environment: string }>(
      'select environment from tollgate.installation',
    )
    return row?.environment
  }

  migrations(): Promise<{ name: string; checksum: string }[]> {
    return this.#rows('select name, checksum from tollgate.migration order by name')
  }

  /** The data keys that exist. One that an operator destroyed has no bytes left, and nothing needs it. */
  dataKeys(): Promise<DataKeyFound[]> {
    return this.#rows(`
      select replace(id::text, '-', '') as id, purpose, state, key_encryption_key_id, wrapped
      from tollgate.data_key
      where state <> 'destroyed'
      order by created_at, id`)
  }

  /** Running processes that report data keys in use that they cannot open. */
  shutKeys(): Promise<(Omit<DataKeyFound, 'wrapped'> & { process: string })[]> {
    return this.#rows(`
      select used.name as process, replace(key.id::text, '-', '') as id, purpose, state, key_encryption_key_id
      from tollgate.data_key_use as used
      join tollgate.data_key as key on key.id = any(used.shut_key_ids)
      where used.seen_at > now() - interval '15 seconds'
      order by used.name, key.created_at, key.id`)
  }

  /** The user that migrates, where this one may not. */
  async migratingUser(): Promise<string | undefined> {
    const [row] = await this.#rows<{ owner: string }>(
      `
      select pg_get_userbyid(nspowner) as owner
      from pg_namespace
      where nspname = $1 and not has_schema_privilege(oid, 'create')`,
      [this.#schema],
    )
    return row?.owner
  }

  /** Months, this one and the next, for which a partitioned table has no partition. */
  missingPartitions(): Promise<{ name: string }[]> {
    return this.#rows(
      `
      select format('%s_%s', parent, to_char(date_trunc('month', now() at time zone 'UTC') + ahead * interval '1 month', 'YYYY_MM')) as name
      from (
        select c.relname as parent
        from pg_partitioned_table p
        join pg_class c on c.oid = p.partrelid
        where p.partstrat = 'r' and c.relnamespace = to_regnamespace($1)) as tables,
        generate_series(0, 1) as ahead
      where to_regclass(format('tollgate.%s_%s', parent,
        to_char(date_trunc('month', now() at time zone 'UTC') + ahead * interval '1 month', 'YYYY_MM'))) is null
      order by name`,
      [this.#schema],
    )
  }

  /** The next transaction of the server, and the newest that a row has. */
  async transactions(): Promise<{ next: bigint; newest: bigint }> {
    const [row] = await this.#rows<{ next: string; newest: string | null }>(`
      select pg_snapshot_xmax(pg_current_snapshot())::text as next, max(used.txid)::text as newest
      from (
        select max(txid) as txid from (select txid from tollgate.event order by id desc limit 1000) late
        union all
        select newest.txid from tollgate.entity cross join lateral (
          select txid from tollgate.settlement_record
          where entity_id = entity.id order by txid desc limit 1) newest
        union all
        select max(txid) from tollgate.report_series
        union all
        select max(txid) from tollgate.report_departure) used`)
    return { next: BigInt(row!.next), newest: BigInt(row!.newest ?? 0) }
  }

  /** Payments outside every month: their partition was missing when they were made. */
  async outsidePartitions(): Promise<boolean> {
    const [row] = await this.#rows<{ outside: boolean }>(
      'select exists (select from tollgate.payment_default) as outside',
    )
    return row?.outside === true
  }

  /**
   * Rows of the hot tables whose counterpart is missing. Chargebacks and their reversals are facts: nothing was
   * sent, so they have no attempt. `from` is the lowest id that is looked at.
   */
  orphans(from: string): Promise<Counted[]> {
    return this.#rows(
      `
      select 'payment without its request' as one, 'payments without their request' as many, count(*) as count
      from tollgate.payment p
      where p.id >= $1::uuid and not exists (select from tollgate.payment_request r where r.id = p.id)
      union all
      select 'payment without an attempt', 'payments without an attempt', count(*)
      from tollgate.payment p
      where p.id >= $1::uuid and p.effect not in ('chargeback', 'chargeback-reversal')
        and not exists (select from tollgate.attempt a where a.key = p.attempt_key)
      union all
      select 'request without its payment', 'requests without their payment', count(*)
      from tollgate.payment_request r
      where r.id >= $1::uuid and not exists (select from tollgate.payment p where p.id = r.id)
      union all
      select 'attempt without its payment', 'attempts without their payment', count(*)
      from tollgate.attempt a
      where a.payment_id >= $1::uuid and not exists (select from tollgate.payment p where p.id = a.payment_id)
      union all
      select 'balance without its payment', 'balances without their payment', count(*)
      from tollgate.payment_balance b
      where b.payment_id >= $1::uuid and not exists (select from tollgate.payment p where p.id = b.payment_id)
      union all
      select 'sealed number without its payment', 'sealed numbers without their payment', count(*)
      from tollgate.instrument i
      where i.id >= $1::uuid and not exists (select from tollgate.payment p where p.id = i.id)
      union all
      select 'decided payment without an event', 'decided payments without an event', count(*)
      from tollgate.payment p
      where p.id >= $1::uuid and p.state <> 'processing'
        and not exists (select from tollgate.event e where e.resource = p.id)`,
      [from],
    )
  }

  /** Attempts whose lease ended a while ago: a worker would have taken them up. */
  /** What workers would have done minutes ago. */
  overdue(): Promise<Counted[]> {
    return this.#rows(`
      select 'overdue attempt' as one, 'overdue attempts' as many, count(*) as count
      from tollgate.attempt
      where state = 'sending' and lease_until < now() - interval '5 minutes'
      union all
      select 'overdue timer', 'overdue timers', count(*)
      from tollgate.timer
      where clock_id is null and due_at < now() - interval '5 minutes'
      union all
      select 'event that no webhook has been made of', 'events that no webhook has been made of', count(*)
      from tollgate.outbox
      where event_id < tollgate.id_at(now() - interval '5 minutes')`)
  }

  /** Open entries of the operators' list. */
  attention(): Promise<{ kind: string; count: string; oldest: string }[]> {
    return this.#rows(`
      select kind, count(*) as count,
        to_char(min(at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as oldest
      from tollgate.attention
      where resolved_at is null
      group by kind
      order by min(at)`)
  }
}
