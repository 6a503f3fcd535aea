/** A run of matching: its merchants' accounts, and what the connector says about its files. */
import type { Settlement } from '@tollgate/plugin-kit'
import type { Mode } from '../connector/registry.ts'
import type { Engine } from '../engine.ts'
import { referenceDigest } from '../vault/reference-digest.ts'
import type { Run } from './match/match.ts'
import type { Place, Places } from './match/stored-places.ts'
import { merchantsOf } from './scope.ts'
import { scopesById } from './store-run.ts'

/** @param over See `Run`. */
export async function runOf(
  engine: Engine,
  run: { readonly id: string; readonly scopes: readonly string[]; readonly over: Run['over'] },
  { connector, mode, clock_id: clockId }: Of,
  settlement: Pick<Settlement, 'zone' | 'refs'>,
): Promise<Run> {
  const [ref1 = '', ref2 = '', ref3 = ''] = settlement.refs
  return {
    id: run.id,
    over: run.over,
    places: await placesOfScopes(engine, run.scopes, connector, mode),
    zone: settlement.zone,
    refs: [ref1, ref2, ref3],
    isOnClock: clockId !== null,
    digest: referenceDigest(engine.vault),
  }
}

type Of = { readonly connector: string; readonly mode: Mode; readonly clock_id: string | null }

/** The accounts whose payments the lines of these scopes can be about, inactive ones too. */
export async function placesOfScopes(
  engine: Engine,
  scopes: readonly string[],
  connector: string,
  mode: Mode,
): Promise<Places> {
  const rows = await engine.lanes.upkeep(scopesById(scopes))
  if (mode === 'INTERNAL') {
    const of = rows.map((scope): Place => {
      const channelId = scope.merchant_number
      return { scopeId: scope.id, accountId: null, channelId, clockId: scope.clock_id }
    })
    return { mode, connector, of }
  }
  const merchants = await merchantsOf(engine, connector, mode)
  const of = rows.flatMap((scope) =>
    (merchants.get(scope.merchant_number)?.accountIds ?? []).map(
      (accountId): Place => ({ scopeId: scope.id, accountId, channelId: null, clockId: null }),
    ),
  )
  return { mode, connector, of }
}
