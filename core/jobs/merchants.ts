/** Whose work it is, so that the jobs of one merchant leave room for those of the others. */
import type { Engine } from '../engine.ts'
import { entitiesOfScopes, merchantsOfExecutions } from './store-merchants.ts'

type Of<T> = T & { readonly merchantId: string }
type Known = Pick<Engine, 'lanes' | 'directory'>

/** @param entityOf names a channel, a merchant, or an entity above merchants, which stands for itself. */
export const withMerchants = <T>(
  { directory }: Pick<Engine, 'directory'>,
  works: readonly T[],
  entityOf: (work: T) => string,
): Promise<Of<T>[]> =>
  Promise.all(
    works.map(async (work) => ({
      ...work,
      merchantId: await directory.merchantOf(entityOf(work)),
    })),
  )

export async function ofScopes<T extends { readonly scopeId: string }>(
  engine: Known,
  works: readonly T[],
): Promise<Of<T>[]> {
  if (works.length === 0) return []
  const rows = await engine.lanes.single(entitiesOfScopes(works.map(({ scopeId }) => scopeId)))
  const entities = new Map(rows.map(({ id, entity_id }) => [id, entity_id]))
  return withMerchants(engine, works, ({ scopeId }) => entities.get(scopeId) ?? scopeId)
}

export async function ofExecutions<T extends { readonly occurrenceIds: readonly string[] }>(
  { lanes }: Pick<Engine, 'lanes'>,
  works: readonly T[],
): Promise<Of<T>[]> {
  if (works.length === 0) return []
  const rows = await lanes.single(merchantsOfExecutions(works.flatMap((one) => one.occurrenceIds)))
  const merchants = new Map(rows.map(({ id, merchant_id }) => [id, merchant_id]))
  return works.map((work) => {
    const [id = ''] = work.occurrenceIds
    return { ...work, merchantId: merchants.get(id) ?? id }
  })
}
