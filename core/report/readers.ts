/** The entities whose records a caller may read. */
import type { Caller } from '../caller/caller.ts'
import type { Engine } from '../engine.ts'
import { ancestries } from '../entity/store.ts'
import type { Holder } from '../process/shared-room.ts'
import { entitiesBelow } from './store-aggregation.ts'

export type Reader = {
  /** At and below the entity of the request. */
  readonly own: readonly string[]
  /** Above it: their payouts can have records of the reader. */
  readonly above: readonly string[]
  readonly isChannel: boolean
  /** Whose turn its reads take. */
  readonly merchant: Holder
}

/** @param entityId An entity that the caller may name; undefined: that of the caller. */
export async function readerOf(
  { lanes, directory }: Pick<Engine, 'lanes' | 'directory'>,
  caller: Caller,
  entityId: string | undefined,
): Promise<Reader> {
  const id = entityId ?? caller.entityId
  const own = (await lanes.read(entitiesBelow(id))).map((row) => row.id)
  const merchant = await directory.merchantBehind(caller)
  if (id === null) return { own, above: [], isChannel: false, merchant }
  const path = await lanes.read(ancestries([id]))
  return {
    own,
    above: path.map((row) => row.id).filter((above) => above !== id),
    isChannel: path.some((row) => row.id === id && row.kind === 'channel'),
    merchant,
  }
}
