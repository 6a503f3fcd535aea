/** The scopes of the merchant numbers in one file. A scope gets its row when a file names it first. */
import type { Engine } from '../engine.ts'
import { folded } from './record-key.ts'
import { type Merchant, scopeOf } from './scope.ts'
import type { FileRow } from './store-file.ts'

export class ScopeBook {
  readonly #engine: Pick<Engine, 'lanes'>
  readonly #file: FileRow
  readonly #merchants: ReadonlyMap<string, Merchant>
  /** By the number as the file has it. Unknown numbers are looked up each time, so that they cost no memory. */
  readonly #known = new Map<string, string>()

  constructor(
    engine: Pick<Engine, 'lanes'>,
    file: FileRow,
    merchants: ReadonlyMap<string, Merchant>,
  ) {
    this.#engine = engine
    this.#file = file
    this.#merchants = merchants
  }

  /** Undefined: no account has the number. */
  async of(merchantNumber: string): Promise<string | undefined> {
    const known = this.#known.get(merchantNumber)
    if (known !== undefined) return known
    const merchant = this.#merchants.get(folded(merchantNumber))
    if (merchant === undefined) return undefined
    const { connector, mode, clock_id } = this.#file
    const scopeId = await scopeOf(this.#engine, connector, mode, merchant, clock_id)
    this.#known.set(merchantNumber, scopeId)
    return scopeId
  }

  /** Only merchants of the importer count. */
  get isLimited(): boolean {
    return this.#file.reach_entity_id !== null
  }

  /** Scopes that the file names. */
  get ids(): readonly string[] {
    return [...new Set(this.#known.values())].sort()
  }
}
