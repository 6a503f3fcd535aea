/** SQL that stores events of acquirers, each once. */
import { type Sql, sql } from '../db/sql.ts'
import { type EventOf, type Handed, merchantOf } from './store.ts'

/** @param claim JSON of a StoredClaim. */
const addWhere = (
  { connector, account, eventId }: EventOf,
  claim: string,
  handed: Handed | undefined,
  where: Sql,
) => sql<{
  event_id: string
}>`
  insert into tollgate.inbound_event as event (connector, account, event_id, claim, received_at, heard_by)
  select ${connector}::text, ${account}::text, ${eventId}::text, ${claim}::jsonb,
    coalesce(${handed?.receivedAt ?? null}::timestamptz, now()), ${handed?.by ?? null}::text
  where ${where}
  on conflict (connector, account, event_id) do update
  set claim = excluded.claim, received_at = excluded.received_at, heard_by = excluded.heard_by,
    processed_at = null, outcome = null, tries = 0, waits = 0, next_at = now()
  where excluded.claim ->> 'verified' = 'true' and event.claim ->> 'verified' is distinct from 'true'
  returning event_id`

/** Stores an unverified event once; a repeat changes nothing. */
export const addUnproven = (event: EventOf, claim: string) =>
  addWhere(event, claim, undefined, sql`true`)

/**
 * Stores an unverified event beside another unverified one with the same id and another operation, so
 * that a stranger's earlier message does not block the acquirer's. No event id contains a blank.
 */
export const addUnprovenBeside = ({ connector, account, eventId }: EventOf, claim: string) => sql<{
  event_id: string
}>`
  insert into tollgate.inbound_event (connector, account, event_id, claim)
  select known.connector, known.account, known.event_id || ' ' || (${claim}::jsonb ->> 'key'), ${claim}::jsonb
  from tollgate.inbound_event as known
  where known.connector = ${connector}::text and known.account = ${account}::text
    and known.event_id = ${eventId}::text and known.claim ->> 'verified' = 'false'
    and known.claim ->> 'key' <> ${claim}::jsonb ->> 'key'
  on conflict do nothing
  returning event_id`

/** Condition: the merchant has no other account at the connector, so that nobody else hears of its events. */
const isAlone = (account: string): Sql => sql`
  not exists (
    select from tollgate.merchant_account as held
    join tollgate.entity as channel on channel.id = held.channel_id
    join tollgate.entity as sibling on sibling.parent_id = channel.parent_id
    join tollgate.merchant_account as other on other.channel_id = sibling.id and other.mode = held.mode
    where held.id = substring(${account}::text from '^[0-9a-f]{32}$')::uuid
      and other.connector = held.connector and other.id <> held.id)`

/** What the account itself knows under the event id, verified. */
const atAccount = ({ connector, account, eventId }: EventOf, claim: string): Sql => sql`
  select account, '-infinity'::timestamptz as received_at, claim = ${claim}::jsonb as is_same,
    processed_at is null as is_open
  from tollgate.inbound_event
  where connector = ${connector}::text and account = ${account}::text
    and event_id = ${eventId}::text and claim ->> 'verified' = 'true'`

/**
 * Stores a verified event of an account without others of its merchant once; a repeat changes nothing. It replaces an
 * unverified one in any state, since anybody may have sent the latter under this id. Says also what the account knew
 * before: whether it says the same, and is still open. Null: nothing.
 */
export const addAlone = (event: EventOf, claim: string, handed?: Handed) => sql<{
  is_added: boolean
  is_same: boolean | null
  is_open: boolean | null
}>`
  with added as (${addWhere(event, claim, handed, isAlone(event.account))}),
  known as (${atAccount(event, claim)})
  select exists (select from added) as is_added, known.is_same, known.is_open
  from (values (true)) as always
  left join known on true`

/** A verified event with this id at another account of the merchant, about another operation. */
const isOfAnotherOperation = (
  { connector, account, eventId }: EventOf,
  key: string,
  apart: readonly string[],
): Sql => sql`
  known.connector = ${connector}::text and known.event_id = ${eventId}::text
    and known.account <> ${account}::text and known.account <> all(${apart}::text[])
    and known.claim ->> 'verified' = 'true' and known.claim ->> 'key' <> ${key}::text
    and ${merchantOf(sql`known.account`)} = ${merchantOf(sql`${account}::text`)}`

/**
 * Stores a verified event like `addAlone`, where no other account of the merchant heard of it about another operation.
 *
 * @param apart Accounts that have another merchant number.
 */
export const addFirst = (
  event: EventOf,
  key: string,
  claim: string,
  handed: Handed | undefined,
  apart: readonly string[],
) =>
  addWhere(
    event,
    claim,
    handed,
    sql`not exists (
      select from tollgate.inbound_event as known where ${isOfAnotherOperation(event, key, apart)})`,
  )

/** The accounts that know the event id, verified: the own one first, and others about another operation. */
export const knownAt = (
  event: EventOf,
  key: string,
  claim: string,
  apart: readonly string[],
) => sql<{
  account: string
  is_same: boolean
  is_open: boolean
}>`
  select account, is_same, is_open
  from (
    ${atAccount(event, claim)}
    union all
    select known.account, known.received_at, false, false
    from tollgate.inbound_event as known
    where ${isOfAnotherOperation(event, key, apart)}) as known
  order by received_at, account`
