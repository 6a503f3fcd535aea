/**
 * The acquirer's books and the merchants' history as tables beside the engine's, so that one
 * statement can compare them. The files are read as streams and copied by the server.
 */
import { closeSync, createReadStream, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { LedgerEntry } from '../rig/installation/acquirer.ts'
import type { Ground, Sql } from '../rig/installation/ground.ts'
import { followed } from './follower.ts'
import { columns } from './history.ts'
import { received } from './receivers.ts'
import { shopperColumns } from './shopper-history.ts'

/** Tables written during a run. */
export async function openOracle(sql: Sql): Promise<void> {
  for (const statement of [
    'create schema oracle',
    'create table oracle.contradiction (payment_id uuid primary key)',
    'create table oracle.message (channel_id uuid not null, body text primary key, taken boolean not null)',
    `create table oracle.fact (kind text not null, reference text not null, key text not null,
      payment_id uuid not null, minor bigint not null, currency text not null, is_other boolean not null,
      is_booked boolean not null, primary key (kind, reference, is_other))`,
    'create index fact_payment on oracle.fact (payment_id)',
    'create table oracle.failure (key text primary key, payment_id uuid not null)',
    'create table oracle.repeated (payment_id uuid not null, event_id text primary key)',
    `create table oracle.try (${columns})`,
    `create table oracle.followed (${followed})`,
    `create table oracle.received (${received})`,
    `create table oracle.shopper (${shopperColumns})`,
    'create table oracle.endpoint (name text primary key, id uuid not null, sure boolean not null)',
    'create table oracle.dead (endpoint_id uuid not null, event_id uuid not null, reason text)',
    `create table oracle.entry (no bigint, key text, kind text, payment_id text, minor bigint,
      currency text, state text, code text, original text, replaces boolean, held bigint,
      charged bigint, at_ms bigint)`,
  ]) {
    await sql(statement)
  }
}

export async function fillOracle(
  ground: Ground,
  files: {
    readonly history: string
    readonly followed: string
    readonly received: string
    readonly shoppers: string
  },
): Promise<void> {
  const { sql, cluster } = ground
  const entries = join(cluster.folder, 'entries')
  await writeEntries(ground.ledgerFile, entries)
  for (const statement of [
    'truncate oracle.try, oracle.entry, oracle.followed, oracle.received, oracle.shopper',
    `copy oracle.try from '${files.history}'`,
    `copy oracle.followed from '${files.followed}'`,
    `copy oracle.received from '${files.received}'`,
    `copy oracle.shopper from '${files.shoppers}'`,
    'create index if not exists shopper_checkout on oracle.shopper (checkout)',
    'create index if not exists received_id on oracle.received (left(id, 32))',
    'create index if not exists dead_event on oracle.dead (event_id)',
    'create index if not exists followed_id on oracle.followed (left(id, 32))',
    'create index if not exists followed_resource on oracle.followed (resource)',
    `copy oracle.entry from '${entries}'`,
    'create index if not exists try_id on oracle.try (id)',
    'create index if not exists try_reference on oracle.try (reference)',
    'create index if not exists entry_key on oracle.entry (key, no desc)',
    `create or replace view oracle.booked as
       select e.*, e.held <> 0 or e.charged <> 0 as moved from oracle.entry e
       where not exists (select from oracle.entry l where l.key = e.key and l.no > e.no)`,
    'drop table if exists oracle.ledger',
    // Later failures are removed, also those unknown to the acquirer's process.
    `create table oracle.ledger as
       select b.*, b.moved and not exists (select from oracle.failure f where f.key = b.key) as stands
       from oracle.booked b`,
    'create unique index ledger_key on oracle.ledger (key)',
    'drop table if exists oracle.readable',
    // The readable ids: payments, and captures of two-step payments that have an id and no row yet.
    `create table oracle.readable as
       select p.id, p.id as row_id, p.payment_type, p.state, p.result_code,
         coalesce(p.approved_minor, p.amount_minor) as minor, p.attempt_key
       from tollgate.payment p
       union all
       select p.chain_id, p.id, 'CP', p.state, p.result_code, p.amount_minor, p.attempt_key
       from tollgate.payment p
       where p.chain_id is not null and not exists (select from tollgate.payment c where c.id = p.chain_id)`,
    'create unique index readable_id on oracle.readable (id)',
    'create index ledger_original on oracle.ledger (original)',
    'analyze',
  ]) {
    await sql(statement)
  }
}

type JournalEntry = LedgerEntry & {
  readonly replaces?: true
  readonly history: readonly { readonly at: number }[]
}

/** One line for each change of the acquirer's books. */
async function writeEntries(ledgerFile: string, path: string): Promise<void> {
  const file = openSync(path, 'w', 0o644)
  let lines: string[] = []
  let no = 0
  for await (const line of createInterface({ input: createReadStream(ledgerFile) })) {
    // Other lines hold the cases of the issuer.
    const { entries = [] } = JSON.parse(line) as { entries?: readonly JournalEntry[] }
    for (const entry of entries) {
      no += 1
      lines.push(rowOf(no, entry))
    }
    if (lines.length > 1_000) {
      writeSync(file, `${lines.join('\n')}\n`)
      lines = []
    }
  }
  if (lines.length > 0) writeSync(file, `${lines.join('\n')}\n`)
  closeSync(file)
}

function rowOf(no: number, entry: JournalEntry): string {
  const { key, kind, paymentId, amount, state, code, original, movements, history } = entry
  const sum = (on: 'held' | 'charged') =>
    movements.reduce((all, move) => (move.on === on ? all + BigInt(move.minor) : all), 0n)
  return [
    no,
    key,
    kind,
    paymentId === '' ? '\\N' : paymentId,
    amount.minor,
    amount.currency,
    state,
    code,
    original ?? '\\N',
    entry.replaces === true ? 't' : 'f',
    sum('held'),
    sum('charged'),
    history.at(-1)?.at ?? '\\N',
  ].join('\t')
}
