/**
 * The merchants of settlement files. All accounts with the same number at the same institute share a scope,
 * whose files are processed one at a time.
 */
import type { Settlement } from '@tollgate/plugin-kit'
import type { Mode } from '../connector/registry.ts'
import type { Engine } from '../engine.ts'
import { ancestries } from '../entity/store.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { folded } from './record-key.ts'
import { allAccountsOf, upsertScope } from './store-scope.ts'

/** The accounts of one merchant number. */
export type Merchant = {
  readonly merchantNumber: string
  readonly accountIds: readonly string[]
  readonly channelIds: readonly string[]
}

/** @throws GatewayError 500.100.401 for a connector that is not installed or reads no files. */
export function settlementOf(engine: Pick<Engine, 'registry'>, connector: string): Settlement {
  const loaded = engine.registry.get(connector)
  const settlement = loaded?.connector.settlement
  if (settlement !== undefined) return settlement
  const lack = loaded === undefined ? 'is not installed' : 'reads no settlement files'
  throw new GatewayError('500.100.401', { description: `The connector ${connector} ${lack}.` })
}

/** The numbers of all accounts of a connector. References are compared trimmed and in one case. */
export async function merchantsOf(
  engine: Pick<Engine, 'lanes' | 'registry' | 'targets'>,
  connector: string,
  mode: Mode,
): Promise<ReadonlyMap<string, Merchant>> {
  const settlement = settlementOf(engine, connector)
  const rows = await engine.lanes.upkeep(allAccountsOf(connector, mode))
  const numbered = await Promise.all(
    rows.map(async (row) => ({
      row,
      merchantNumber: numberOf(settlement, await engine.targets.opened(row)),
    })),
  )
  const withNumber = numbered.flatMap(({ row, merchantNumber }) =>
    merchantNumber === null ? [] : [{ row, merchantNumber }],
  )
  const groups = Map.groupBy(withNumber, ({ merchantNumber }) => merchantNumber)
  return new Map(
    [...groups].map(([merchantNumber, members]) => [
      merchantNumber,
      {
        merchantNumber,
        accountIds: members.map(({ row }) => row.id),
        channelIds: [...new Set(members.map(({ row }) => row.channel_id))],
      },
    ]),
  )
}

/**
 * The merchants that a file may name: those at and below the entity of the caller who imported it. A simulated
 * file is about its own channel alone, which has no account.
 */
export async function merchantsOfFile(
  engine: Pick<Engine, 'lanes' | 'registry' | 'targets'>,
  {
    connector,
    mode,
    merchant_number: merchantNumber,
    reach_entity_id: reachEntityId,
  }: {
    readonly connector: string
    readonly mode: Mode
    readonly merchant_number: string
    readonly reach_entity_id: string | null
  },
): Promise<ReadonlyMap<string, Merchant>> {
  if (mode !== 'INTERNAL') {
    const merchants = await merchantsOf(engine, connector, mode)
    return reachEntityId === null ? merchants : within(engine, merchants, reachEntityId)
  }
  const own = { merchantNumber, accountIds: [], channelIds: [merchantNumber] }
  return new Map([[folded(merchantNumber), own]])
}

/** Merchants with all their channels at or below an entity. */
async function within(
  { lanes }: Pick<Engine, 'lanes'>,
  merchants: ReadonlyMap<string, Merchant>,
  entityId: string,
): Promise<ReadonlyMap<string, Merchant>> {
  const channels = [...new Set([...merchants.values()].flatMap(({ channelIds }) => channelIds))]
  const paths = channels.length === 0 ? [] : await lanes.read(ancestries(channels))
  const inside = new Set(paths.filter(({ id }) => id === entityId).map(({ of }) => of))
  return new Map(
    [...merchants].filter(([, { channelIds }]) => channelIds.every((id) => inside.has(id))),
  )
}

/** Null: the connector derives no number, so that files cannot name the account. */
function numberOf(settlement: Settlement, account: Readonly<Record<string, unknown>>) {
  try {
    const number = folded(settlement.merchantOf(account))
    return number === '' ? null : number
  } catch {
    return null
  }
}

/** The lowest entity that is above, or is, each of these channels. */
export async function commonEntity(
  { lanes }: Pick<Engine, 'lanes'>,
  channelIds: readonly string[],
): Promise<string> {
  const rows = await lanes.read(ancestries(channelIds))
  const paths = [...Map.groupBy(rows, ({ of }) => of).values()].map((path) =>
    path.map(({ id }) => id),
  )
  const [first = [], ...others] = paths
  const common = first.find((id) => others.every((path) => path.includes(id)))
  if (common === undefined) throw new Error('channels of one database have no entity in common')
  return common
}

/** The scope of a merchant number; its row is made at the first file. */
export async function scopeOf(
  engine: Pick<Engine, 'lanes'>,
  connector: string,
  mode: Mode,
  { merchantNumber, channelIds, accountIds }: Merchant,
  clockId: string | null = null,
): Promise<string> {
  const entityId = await commonEntity(engine, channelIds)
  const [row] = await engine.lanes.single(
    upsertScope({
      id: newId(),
      connector,
      mode,
      merchant_number: merchantNumber,
      clock_id: clockId,
      entity_id: entityId,
      only_account_id: accountIds.length === 1 ? accountIds[0]! : null,
    }),
  )
  return row!.id
}
