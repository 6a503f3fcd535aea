/** The entities above records, and the zones of their institutes; looked up once each. */
import type { Engine } from '../engine.ts'
import { ancestries } from '../entity/store.ts'
import type { RecordPlace } from './record-values.ts'
import type { RecordRow } from './stored-record.ts'

type Entities = Pick<RecordPlace, 'psp' | 'division' | 'merchant'>

export class RecordPlaces {
  readonly #engine: Pick<Engine, 'lanes' | 'registry'>
  readonly #entities = new Map<string, Entities>()

  constructor(engine: Pick<Engine, 'lanes' | 'registry'>) {
    this.#engine = engine
  }

  /** Looks up the entities of these records. */
  async learn(rows: readonly Pick<RecordRow, 'entity_id'>[]): Promise<void> {
    const wanted = new Set(rows.map(({ entity_id: id }) => id))
    const missing = [...wanted].filter((id) => !this.#entities.has(id))
    if (missing.length === 0) return
    const paths = Map.groupBy(await this.#engine.lanes.read(ancestries(missing)), ({ of }) => of)
    for (const [id, path] of paths) {
      const kinds = path.map((entity) => [entity.kind, entity.id] as const)
      this.#entities.set(id, Object.fromEntries(kinds))
    }
  }

  of({ entity_id: id, connector }: Pick<RecordRow, 'entity_id' | 'connector'>): RecordPlace {
    const zone = this.#engine.registry.get(connector)?.connector.settlement?.zone ?? 'UTC'
    return { ...this.#entities.get(id), zone }
  }
}
