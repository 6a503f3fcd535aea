/**
 * Many transactions of many years, stored by SQL as copies of real ones, with their expected data.
 */
import { newId, shortId } from '../../../core/ids.ts'
import { brands } from '../../../schemas/index.ts'
import type { TestGateway } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'

/** A transaction as a search must see it. */
export type Known = {
  readonly kind: 'payment' | 'record'
  readonly id: string
  /** Milliseconds since 1970, in business time. */
  readonly atMs: number
  readonly channel: string
  readonly type: string
  readonly brand: string
  readonly merchantTransactionId: string | null
  readonly shortId: string
}

/** A transaction to be stored. `clock`: on a test clock, so its id does not show its time. */
export type Draft = {
  readonly kind: 'payment' | 'record'
  readonly atMs: number
  readonly clock: boolean
  readonly channel: number
  readonly type: string
  readonly brand: string
  readonly merchantTransactionId: string | null
}

export const paymentTypesStored = ['DB', 'PA', 'CP', 'RF', 'RV', 'CB', 'CR', 'RG']
export const recordTypesStored = ['RR', 'TE', 'DR']
export const brandsStored = ['VISA', 'MASTER', 'DIRECTDEBIT_SEPA', 'MAESTRO']

export const methodOf = (brand: string) => brands.find(({ code }) => code === brand)?.method

/** Stores drafts and returns them as a search must see them. */
export async function store(
  run: TestGateway,
  channels: readonly string[],
  drafts: readonly Draft[],
): Promise<Known[]> {
  const sample = await run.pay()
  const registrations = new Map<string, string>()
  for (const brand of brandsStored) {
    const made = await run.gateway.registrations.create({
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf('4200000000000000'),
    } as never)
    await run.sql('update tollgate.registration set brand = $2 where id = $1', [made.id, brand])
    registrations.set(brand, made.id)
  }
  const [clock] = await run.sql<{ id: string }>(
    `insert into tollgate.test_clock (id, entity_id, at) values (gen_random_uuid(), $1, now()) returning id`,
    [run.merchant],
  )
  const rows = drafts.map((draft, no) => ({
    ...draft,
    id: newId(draft.clock || draft.kind === 'record' ? undefined : draft.atMs),
    channel: channels[draft.channel]!,
    short_no: 500_000_000 + no,
    at: new Date(draft.atMs),
    clock: draft.clock ? clock!.id : null,
    resource: registrations.get(draft.brand),
  }))
  const columns = await run.sql<{ name: string }>(
    `select column_name as name from information_schema.columns
     where table_schema = 'tollgate' and table_name = 'payment' order by ordinal_position`,
  )
  const own: Readonly<Record<string, string>> = {
    id: 'n.id',
    root_id: 'n.id',
    channel_id: 'n.channel',
    payment_type: 'n.type',
    brand: 'n.brand',
    short_no: 'n.short_no',
    created_at: 'n.at',
    clock_id: 'n.clock',
    merchant_transaction_id: 'n."merchantTransactionId"',
    attempt_key: "replace(n.id::text, '-', '')",
  }
  const names = columns.map(({ name }) => name)
  const given = `jsonb_to_recordset($1::jsonb) as n(kind text, id uuid, channel uuid, type text, brand text,
    short_no bigint, at timestamptz, clock uuid, "merchantTransactionId" text, resource uuid)`
  await run.sql(
    `insert into tollgate.payment (${names.join()})
     select ${names.map((name) => own[name] ?? `sample.${name}`).join()}
     from ${given}, (select * from tollgate.payment where id = $2) as sample
     where n.kind = 'payment'`,
    [JSON.stringify(rows), sample.id],
  )
  await run.sql(
    `insert into tollgate.record (id, type, resource, channel_id, short_no, merchant_transaction_id, created_at)
     select n.id, n.type, n.resource, n.channel, n.short_no, n."merchantTransactionId", n.at
     from ${given} where n.kind = 'record'`,
    [JSON.stringify(rows)],
  )
  return rows.map((row) => ({
    kind: row.kind,
    id: row.id,
    atMs: row.atMs,
    channel: row.channel,
    type: row.type,
    brand: row.brand,
    merchantTransactionId: row.merchantTransactionId,
    shortId: shortId(row.short_no),
  }))
}
