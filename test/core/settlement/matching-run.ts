/** Files of a scripted acquirer, staged as the intake does, and the records that they become. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  type Plugin,
  type SettlementRecord,
  settings,
  type TransactionType,
} from '@tollgate/plugin-kit'
import { none, O, request } from '@tollgate/schemas'
import { systemClock } from '../../../core/clock.ts'
import { Registry } from '../../../core/connector/registry.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import type { Engine } from '../../../core/engine.ts'
import { newId } from '../../../core/ids.ts'
import { InFlight } from '../../../core/process/in-flight.ts'
import { ItemCheck } from '../../../core/settlement/checked-item.ts'
import { decideFile as decideNow } from '../../../core/settlement/decide-file.ts'
import { folded } from '../../../core/settlement/record-key.ts'
import { decideAgain } from '../../../core/settlement/retry.ts'
import { merchantsOf, scopeOf } from '../../../core/settlement/scope.ts'
import { addFile, fileById } from '../../../core/settlement/store-file.ts'
import { takeLeases } from '../../../core/settlement/store-scope.ts'
import { copyLine, copyStage, numberTwins, twinsOf } from '../../../core/settlement/store-stage.ts'
import type { Held } from '../../../core/settlement/stored-fence.ts'
import { referenceDigest } from '../../../core/vault/reference-digest.ts'
import {
  type AcquirerRun,
  type ScriptedAcquirer,
  scriptedAcquirer,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { freshSimulator } from '../../rig/gateway.ts'

/** A line of a test's file; the rest has values of its own. */
export type Line = Partial<Omit<SettlementRecord, 'is' | 'amount' | 'settled'>> & {
  readonly transactionType?: TransactionType
  readonly minor?: bigint
  readonly currency?: string
  readonly settledMinor?: bigint
  readonly settledCurrency?: string
}

export const merchantNumber = 'merchant-1'

/** A scripted acquirer whose accounts have a number in settlement files. */
export function settlingAcquirer(): ScriptedAcquirer {
  const acquirer = scriptedAcquirer()
  const [connector] = acquirer.plugin.connectors!
  const settling = {
    ...connector!,
    account: settings('Account', [
      ['number', { kind: 'text', min: 5, max: 64 }, O, request, none, 'Number in the files.'],
    ]),
    settlement: {
      format: 'SCRIPTED',
      institute: 'Scripted',
      zone: 'UTC',
      refs: ['reference', 'second', 'third'],
      merchantOf: (account: Record<string, unknown>) =>
        String(account.number ?? merchantNumber).toUpperCase(),
      async *parse() {},
    },
  }
  return { ...acquirer, plugin: { ...acquirer.plugin, connectors: [settling] } as Plugin }
}

/** A decided record, without what differs between files and runs. */
export type Decided = {
  readonly key: string
  readonly status: string | null
  readonly tier: string | null
  /** The matching payments and their parts of the amount. */
  readonly matches: Readonly<Record<string, bigint>>
  readonly candidates: readonly string[]
  readonly count: number
  readonly discrepancies: readonly string[]
  readonly effect: string
}

export type MatchingRun = AcquirerRun & {
  readonly engine: Engine
  /** Stages lines as a file, decides it, and returns the file's id. */
  file(lines: readonly Line[]): Promise<string>
  /** Stages lines as a file without deciding it. */
  stage(lines: readonly Line[]): Promise<string>
  decideFile(fileId: string): Promise<boolean>
  /** Leases of the scopes of all merchants. */
  held(): Promise<Held>
  again(): Promise<boolean>
  /** All records by their settlement id. */
  records(): Promise<Readonly<Record<string, Decided>>>
  /** Records of one file, decided alone: the first one. */
  recordOf(line: Line): Promise<Decided>
  scope(number?: string): Promise<string>
  /** Forgets all files and records. */
  forget(): Promise<void>
}

export async function startMatching(): Promise<MatchingRun> {
  const acquirer = settlingAcquirer()
  // A worker would read the files, which have no bytes, before their lines are here.
  const run = await startWithAcquirer({ acquirer, role: 'api' })
  const database = new Database({ url: run.database.url })
  const lanes = new Lanes(database, { single: 2, read: 2 })
  const registry = new Registry([freshSimulator(), acquirer.plugin], {})
  const targets = { opened: async ({ settings }: { settings: object }) => settings }
  const vault = { requestFingerprint: (text: string) => createHash('sha256').update(text).digest() }
  const inFlight = new InFlight()
  const engine = {
    ...{ lanes, registry, targets, vault, inFlight, clock: systemClock },
  } as unknown as Engine
  const scope = async (number = merchantNumber) => {
    const merchant = (await merchantsOf(engine, scriptedName, 'EXTERNAL')).get(number)
    assert.ok(merchant !== undefined, `no account has the number ${number}`)
    return scopeOf(engine, scriptedName, 'EXTERNAL', merchant)
  }
  const scopesNow = async () => {
    const merchants = await merchantsOf(engine, scriptedName, 'EXTERNAL')
    const numbers = [...merchants.keys()]
    return { numbers, ids: await Promise.all(numbers.map((number) => scope(number))) }
  }
  const held = async (): Promise<Held> => {
    const { ids } = await scopesNow()
    await run.sql('update tollgate.settlement_scope set lease_until = null')
    const rows = await lanes.upkeep(takeLeases(ids, 60_000))
    return { ids: rows.map(({ id }) => id), leases: rows.map(({ lease }) => lease) }
  }
  const stage = async (lines: readonly Line[]) => {
    const fileId = newId()
    const { numbers, ids } = await scopesNow()
    const check = new ItemCheck({ zone: 'UTC' }, referenceDigest(vault as never))
    const items = lines.map((line, index) => check.checked(itemOf(line, index + 1)))
    await lanes.single(
      addFile({
        ...{ id: fileId, scopeId: await scope(), accountId: run.account, connector: scriptedName },
        ...{ institute: 'Scripted', format: 'SCRIPTED', name: fileId },
        ...{ source: 'import', sha256: createHash('sha256').update(fileId).digest() },
        ...{ bytes: 1, parts: 0, skipsBad: false, reachEntityId: null },
      }),
    )
    await lanes.bulk(async (client) => {
      const copy = client.query(copyStage('tollgate'))
      for (const item of items) {
        assert.ok(item.is === 'record', 'why' in item ? String(item.why) : item.is)
        const place = numbers.indexOf(folded(item.record.merchantNumber))
        copy.write(copyLine(fileId, ids[place]!, item.record))
      }
      copy.end()
      await once(copy, 'finish')
      const twins = await database.query(client, twinsOf(fileId, lines.length))
      await database.query(client, numberTwins(fileId, twins))
    })
    await run.sql(
      "update tollgate.settlement_file set state = 'staged', records = $2, staged_lines = $2 where id = $1",
      [fileId, lines.length],
    )
    return fileId
  }
  const decideFile = async (fileId: string) => {
    const [file] = await lanes.upkeep(fileById(fileId))
    return decideNow(engine, file!, await held())
  }
  const records = async () => {
    const rows = await run.sql<Row>(recordsQuery)
    return Object.fromEntries(rows.map((row) => [row.settlement_id ?? row.key, decidedOf(row)]))
  }
  const whole: MatchingRun = {
    ...run,
    ...{ engine, stage, decideFile, held, records, scope },
    file: async (lines) => {
      const fileId = await stage(lines)
      assert.equal(await decideFile(fileId), true)
      return fileId
    },
    again: async () => decideAgain(engine, await scope(), await held()),
    recordOf: async (line) => {
      const settlementId = line.settlementId ?? newId()
      await whole.file([{ ...line, settlementId }])
      const decided = (await records())[settlementId]
      assert.ok(decided !== undefined, 'the line became no record')
      return decided
    },
    forget: async () => {
      await run.sql(`truncate tollgate.settlement_match, tollgate.settlement_record,
        tollgate.settlement_stage, tollgate.settlement_work, tollgate.settlement_candidate,
        tollgate.settlement_decision, tollgate.settlement_asked, tollgate.settlement_found, tollgate.settlement_batch, tollgate.settlement_batch_line,
        tollgate.settlement_exception, tollgate.settlement_part, tollgate.settlement_file cascade`)
      await run.sql("delete from tollgate.attention where kind = 'settlement'")
    },
    close: async () => {
      await database.close()
      await run.close()
    },
  }
  return whole
}

function itemOf(line: Line, no: number): SettlementRecord {
  const { minor = 9200n, currency = 'EUR', settledMinor, settledCurrency, ...more } = line
  const transactionType = line.transactionType ?? 'DEBIT'
  return {
    is: 'record',
    line: no,
    text: JSON.stringify(line, (_, value) => (typeof value === 'bigint' ? String(value) : value)),
    merchantNumber,
    date: today(),
    recordType: 'SETTLED',
    cashflow: transactionType === 'DEBIT' ? 'POS' : 'NEG',
    status: 'SUCCESS',
    ...more,
    transactionType,
    amount: { minor, currency },
    settled: { minor: settledMinor ?? minor, currency: settledCurrency ?? currency },
  }
}

/** The day of settlement of a line without one, `yyyy-MM-dd`. */
export const today = (plusDays = 0) =>
  new Date(Date.now() + plusDays * 86_400_000).toISOString().slice(0, 10)

type Row = {
  key: string
  settlement_id: string | null
  match_status: string | null
  tier: string | null
  candidates: string[]
  candidate_count: number
  discrepancies: string[]
  effect: string
  matches: Record<string, string> | null
}

const recordsQuery = `
  select encode(key, 'hex') as key, settlement_id, match_status, tier,
    array(select replace(id::text, '-', '') from unnest(candidates) as given (id)) as candidates,
    candidate_count, discrepancies, effect, (
      select jsonb_object_agg(replace(payment_id::text, '-', ''), allocated_minor::text)
      from tollgate.settlement_match as match where match.record_id = record.id) as matches
  from tollgate.settlement_record as record
  order by scope_id, key`

const decidedOf = (row: Row): Decided => ({
  key: row.key,
  status: row.match_status,
  tier: row.tier,
  matches: Object.fromEntries(
    Object.entries(row.matches ?? {})
      .map(([id, minor]) => [id, BigInt(minor)] as const)
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  ),
  candidates: row.candidates,
  count: row.candidate_count,
  discrepancies: row.discrepancies,
  effect: row.effect,
})
