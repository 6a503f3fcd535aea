/** The leases of the scopes under which one process works on a file. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { endLeases, renewLeases, takeLeases } from './store-scope.ts'
import type { Held } from './stored-fence.ts'

/** Another process took a scope, so that nothing of this step was committed. */
export class ScopeLost extends Error {
  override readonly name = 'ScopeLost'
}

/** Leases are extended while the work lasts. A process that dies frees its scopes after two minutes. */
export class ScopeLeases {
  readonly #lanes: Engine['lanes']
  readonly #leases: Map<string, number>
  readonly #timer: NodeJS.Timeout

  private constructor(lanes: Engine['lanes'], leases: Map<string, number>) {
    this.#lanes = lanes
    this.#leases = leases
    this.#timer = setInterval(() => {
      // Every commit checks the leases, so that a failure here is noticed there.
      lanes.upkeep(renewLeases(this.held, limits.settlementLeaseMs)).catch(() => {})
    }, limits.settlementRenewMs)
    this.#timer.unref()
  }

  /** @returns undefined when another process holds one of the scopes; then none is taken. */
  static async take(
    { lanes }: Pick<Engine, 'lanes'>,
    ids: readonly string[],
  ): Promise<ScopeLeases | undefined> {
    const taken = await takenOf(lanes, ids)
    return taken === undefined ? undefined : new ScopeLeases(lanes, taken)
  }

  get held(): Held {
    return { ids: [...this.#leases.keys()], leases: [...this.#leases.values()] }
  }

  /** Takes further scopes, all or none. It never waits, so that two processes cannot wait for each other. */
  async add(ids: readonly string[]): Promise<boolean> {
    const missing = ids.filter((id) => !this.#leases.has(id))
    if (missing.length === 0) return true
    const taken = await takenOf(this.#lanes, missing)
    for (const [id, lease] of taken ?? []) this.#leases.set(id, lease)
    return taken !== undefined
  }

  async end(): Promise<void> {
    clearInterval(this.#timer)
    const { ids, leases } = this.held
    await this.#lanes.single(endLeases(ids, leases))
  }
}

async function takenOf(
  lanes: Engine['lanes'],
  ids: readonly string[],
): Promise<Map<string, number> | undefined> {
  const rows = await lanes.upkeep(takeLeases(ids, limits.settlementLeaseMs))
  return rows.length === 0 ? undefined : new Map(rows.map(({ id, lease }) => [id, lease]))
}
