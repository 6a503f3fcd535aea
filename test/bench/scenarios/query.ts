/**
 * Searches over ten million payments of ten years: which indexes they use, what they take, and
 * whether paging by cursor stays level. Half of the payments are spread over ten thousand channels,
 * the others are those of one channel, but for a middling one.
 */
import pg from 'pg'
import type { Sql } from '../../../core/db/sql.ts'
import type { Criteria } from '../../../core/query/criteria.ts'
import type { Scope } from '../../../core/query/scope.ts'
import { countIn, named, newestIn } from '../../../core/query/store.ts'
import { explainGeneric, type PlanNode } from '../../rig/explain.ts'
import { gatewayOf } from '../installation.ts'
import { paymentForm } from '../payment.ts'
import { printRows } from '../print.ts'
import { residentBytes } from '../processor-time.ts'
import { median } from '../rounds.ts'
import { fill } from './fill.ts'
import { type Ground, newTarget, pay, type Scenario, type Target } from './ground.ts'

const years = 10
const yearMs = 365.25 * 86_400_000

const none: Criteria = {
  types: null,
  brands: null,
  merchantTransactionId: null,
  shortNo: null,
  fromMs: null,
  toMs: null,
}

type Place = {
  readonly title: string
  readonly entityId: string
  readonly channels: string
  readonly channelCount: number
}

type Stored = {
  readonly target: Target
  readonly client: pg.Client
  readonly token: string
  /** Those of one channel, of a middling one, and of everybody. */
  readonly big: Place
  readonly middling: Place
  readonly everybody: Place
  /** Of one of the oldest payments of the big channel. */
  readonly reference: string
  readonly shortNo: string
  readonly shortId: string
}

async function prepare(ground: Ground): Promise<Stored> {
  const [wanted, crowd] = ground.isSmall ? [50_000, 100] : [10_000_000, 10_000]
  const target = await newTarget(ground, 'query')
  const client = new pg.Client({ connectionString: target.url })
  await client.connect()
  ground.stop.defer(() => client.end())
  const one = async <T>(text: string, values: unknown[] = []): Promise<T> =>
    (await client.query(text, values)).rows[0] as T
  const { psp, merchant } = await one<{ psp: string; merchant: string }>(
    `select d.parent_id as psp, m.id as merchant from tollgate.entity c
     join tollgate.entity m on m.id = c.parent_id join tollgate.entity d on d.id = m.parent_id
     where c.kind = 'channel'`,
  )
  await client.query(
    `insert into tollgate.entity (id, parent_id, kind, name)
     select md5('channel ' || no)::uuid, $1, 'channel', 'Channel ' || no from generate_series(0, $2::integer) as no`,
    [merchant, crowd],
  )
  const fields = Object.fromEntries(new URLSearchParams(paymentForm(target.entityId, 0)))
  const sample = await pay(target, fields)
  const startedMs = performance.now()
  // To make an index of rows that are there takes a fraction of what adding to it ten million times does.
  const { rows: indexes } = await client.query<{ name: string; text: string }>(
    `select c.relname as name, pg_get_indexdef(c.oid) as text
     from pg_index i join pg_class c on c.oid = i.indexrelid
     where i.indrelid = 'tollgate.payment'::regclass and not i.indisprimary`,
  )
  for (const { name } of indexes) await client.query(`drop index tollgate.${name}`)
  const megabytes = await fill(client, sample, wanted, {
    months: 12 * years,
    only: ['payment'],
    own: {
      // The highest of these channels is the middling one: two of a hundred payments are its own.
      channel_id: `case when copy.no % 2 = 0 then md5('channel ' || (copy.no / 2) % ${crowd})::uuid
        when copy.no % 50 = 1 then md5('channel ${crowd}')::uuid else sample.channel_id end`,
      payment_type: `case when copy.no % 10007 = 3 then 'CB' when copy.no % 97 = 3 then 'RF'
        when copy.no % 7 = 3 then 'PA' else 'DB' end`,
      brand: `case when copy.no % 100003 = 5 then 'DIRECTDEBIT_SEPA' when copy.no % 3 = 0 then 'MASTER' else 'VISA' end`,
      short_no: 'copy.no + 1000000',
    },
  })
  await client.query("set maintenance_work_mem = '256MB'")
  for (const { text } of indexes) await client.query(text.replace(' ON ONLY ', ' ON '))
  await client.query('vacuum (analyze) tollgate.payment')
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  console.log(
    `  ${wanted} payments of ${years} years stored in ${seconds} s, ${megabytes} MB with indexes`,
  )
  const sizes = await client.query<{ name: string; mb: number }>(
    `select r.relname as name, round(sum(pg_relation_size(i.inhrelid)) / 1048576) as mb
     from pg_inherits i join pg_class r on r.oid = i.inhparent
     where r.relname like 'payment%' and r.relkind = 'I' group by 1 order by 1`,
  )
  console.log(`  MB: ${sizes.rows.map(({ name, mb }) => `${name} ${mb}`).join(', ')}`)
  const { channels } = await one<{ channels: string }>(
    "select array_agg(id order by id)::text as channels from tollgate.entity where kind = 'channel'",
  )
  const middling = (await one<{ id: string }>(`select md5('channel ${crowd}')::uuid as id`)).id
  const old = await one<{ reference: string; no: string }>(
    `select merchant_transaction_id as reference, short_no::text as no from tollgate.payment
     where channel_id = $1 order by id limit 1 offset 50`,
    [target.entityId],
  )
  await using gateway = await gatewayOf(target)
  const { token } = await gateway.entities.createToken(psp.replaceAll('-', ''), 'query')
  const single = (id: string) => `{${id}}`
  const found = await gateway.query.search({ merchantTransactionId: old.reference })
  return {
    target,
    client,
    token,
    big: {
      title: 'one channel',
      entityId: target.entityId,
      channels: single(target.entityId),
      channelCount: 1,
    },
    middling: {
      title: 'a middling channel',
      entityId: middling.replaceAll('-', ''),
      channels: single(middling),
      channelCount: 1,
    },
    everybody: {
      title: `${crowd} channels`,
      entityId: psp.replaceAll('-', ''),
      channels,
      channelCount: crowd + 2,
    },
    reference: old.reference,
    shortNo: old.no,
    shortId: String(found.records[0]?.shortId),
  }
}

/** Names of the indexes that a statement's plan has, and whether it reads a table from end to end. */
async function planOf(client: pg.Client, statement: Sql): Promise<string> {
  const plan = await explainGeneric(client, statement, ['analyze', 'timing off'])
  const used = new Set<string>()
  const visit = (node: PlanNode) => {
    if (node['Actual Loops'] === 0) return
    if (typeof node['Index Name'] === 'string') used.add(node['Index Name'])
    const isTable = node['Relation Name'] !== undefined
    if (node['Node Type'] === 'Seq Scan' && isTable && Number(node['Actual Rows']) > 0)
      used.add(`END TO END ${node['Relation Name']}`)
    for (const inner of (node.Plans ?? []) as PlanNode[]) visit(inner)
  }
  visit(plan)
  const { rows: parents } = await client.query<{ name: string; parent: string }>(
    `select c.relname as name, p.relname as parent from pg_inherits i
     join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent`,
  )
  const parentOf = new Map(parents.map(({ name, parent }) => [name, parent]))
  return [...new Set([...used].map((name) => parentOf.get(name) ?? name))].sort().join(' ')
}

type Page = {
  readonly ms: number
  readonly records: number
  readonly cursor: string | undefined
}

async function ask({ target, token }: Stored, fields: Record<string, string>): Promise<Page> {
  const startedMs = performance.now()
  const response = await fetch(
    `http://127.0.0.1:${target.port}/v3/query?${new URLSearchParams(fields)}`,
    { headers: { authorization: `Bearer ${token}` } },
  )
  const answer = (await response.json()) as { records?: unknown[]; nextCursor?: string }
  const ms = performance.now() - startedMs
  if (response.status !== 200 && response.status !== 404) {
    throw new Error(`a search was answered with ${response.status}: ${JSON.stringify(answer)}`)
  }
  return { ms, records: answer.records?.length ?? 0, cursor: answer.nextCursor }
}

const wire = (ms: number) => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
const low = (ms: number) => ms.toString(16).padStart(12, '0') + '0'.repeat(20)

async function searches(stored: Stored): Promise<void> {
  const { client, big, everybody, reference, shortId, shortNo } = stored
  const now = Date.now()
  const decade = { 'date.from': wire(now - (years + 1) * yearMs), 'date.to': wire(now) }
  const day = {
    'date.from': wire(now - 4 * yearMs),
    'date.to': wire(now - 4 * yearMs + 86_400_000),
  }
  const stretch = (fromMs: number, toMs: number) => ({
    fromId: low(fromMs),
    toId: low(toMs),
    from: new Date(fromMs),
    to: new Date(toMs),
    belowId: low(0),
  })
  const allTime = stretch(0, now)
  const hour = stretch(now - 4 * yearMs, now - 4 * yearMs + 3_600_000)
  const rows: (string | number)[][] = []
  for (const place of [big, everybody]) {
    const { channels, channelCount, entityId, title } = place
    const scope = (criteria: Partial<Criteria> = {}): Scope => ({
      channels,
      channelCount,
      criteria: { ...none, ...criteria },
      hasClocks: true,
    })
    const byName = (criteria: Partial<Criteria>) => named(scope(criteria), 5000)
    const byTime = (criteria: Partial<Criteria>) => newestIn(scope(criteria), hour, 101)
    const ever = (criteria: Partial<Criteria>) => newestIn(scope(criteria), allTime, 101)
    const nobody = 'nobody has this'
    const kinds: [string, Record<string, string>, Sql][] = [
      [
        'a reference',
        { merchantTransactionId: reference },
        byName({ merchantTransactionId: reference }),
      ],
      [
        'a reference of nobody',
        { merchantTransactionId: nobody },
        byName({ merchantTransactionId: nobody }),
      ],
      ['a short id', { shortId }, byName({ shortNo })],
      ['a day', day, byTime({})],
      ['ten years', decade, byTime({})],
      ['ten years, page 100', { ...decade, pageNo: '100' }, countIn(scope(), allTime, 10_000)],
      ['ten years, refunds', { ...decade, paymentTypes: 'RF' }, ever({ types: ['RF'] })],
      ['ten years, chargebacks', { ...decade, paymentTypes: 'CB' }, ever({ types: ['CB'] })],
      [
        'ten years, direct debits',
        { ...decade, paymentMethods: 'DD' },
        ever({ brands: ['DIRECTDEBIT_SEPA'] }),
      ],
      [
        'ten years, invoices (none)',
        { ...decade, paymentMethods: 'IV' },
        ever({ brands: ['INVOICE'] }),
      ],
      [
        'ten years, refunds of direct debits',
        { ...decade, paymentTypes: 'RF', paymentMethods: 'DD' },
        ever({ types: ['RF'], brands: ['DIRECTDEBIT_SEPA'] }),
      ],
    ]
    for (const [kind, fields, statement] of kinds) {
      const plan = await planOf(client, statement)
      const times: Page[] = []
      for (let no = 0; no < 6; no += 1) times.push(await ask(stored, { entityId, ...fields }))
      rows.push([
        `${title}: ${kind}`,
        times[0]!.records,
        times[0]!.ms.toFixed(1),
        median(times.slice(1).map(({ ms }) => ms)).toFixed(1),
        plan,
      ])
    }
  }
  printRows(['search', 'found', 'first ms', 'then ms', 'indexes'], rows)
}

/** Pages of five hundred, one after the other, and what the host occupies meanwhile. */
async function walk(
  stored: Stored,
  { entityId, title }: Place,
  from: number,
  to: number,
  most: number,
): Promise<(string | number)[]> {
  const fields = { entityId, limit: '500', 'date.from': wire(from), 'date.to': wire(to) }
  const pages: Page[] = []
  const megabytes: number[] = []
  let cursor: string | undefined
  do {
    const page = await ask(stored, { ...fields, ...(cursor === undefined ? {} : { cursor }) })
    pages.push(page)
    megabytes.push(residentBytes(stored.target.pid) / 2 ** 20)
    cursor = page.cursor
  } while (cursor !== undefined && pages.length < most)
  const middle = (some: readonly Page[]) => median(some.map(({ ms }) => ms)).toFixed(1)
  return [
    title,
    pages.length,
    pages.reduce((sum, { records }) => sum + records, 0),
    middle(pages.slice(1, 21)),
    middle(pages.slice(-20)),
    Math.max(...pages.slice(1).map(({ ms }) => ms)).toFixed(1),
    `${megabytes[Math.min(20, megabytes.length - 1)]!.toFixed(0)} → ${megabytes.at(-1)!.toFixed(0)}`,
  ]
}

async function run(ground: Ground): Promise<void> {
  const stored = await prepare(ground)
  await searches(stored)
  const now = Date.now()
  const start = now - (years + 1) * yearMs
  const { big, middling, everybody } = stored
  const rows = [
    await walk(stored, middling, start, now, 1000),
    await walk(stored, big, start, now, 100),
    await walk(stored, everybody, start, now, 100),
    await walk(
      stored,
      { ...everybody, title: `${everybody.title}, the oldest` },
      start,
      now - (years - 0.1) * yearMs,
      100,
    ),
  ]
  printRows(['by cursor', 'pages', 'found', 'first 20 ms', 'last 20 ms', 'longest ms', 'MB'], rows)
}

export const query: Scenario = {
  name: 'query',
  title: 'Searches over ten million payments of ten years',
  run,
}
