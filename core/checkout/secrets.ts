/** Numbers of class pan in the request of a checkout: sealed, and erased with it. */
import type { Engine } from '../engine.ts'
import type { Place } from '../vault/binding.ts'
import { sealedOf } from './store.ts'
import type { Checkout } from './types.ts'

export const placeOfSecret = (secretId: string, entityId: string): Place => ({
  table: 'checkout_secret',
  id: secretId,
  ownerId: entityId,
})

/** The numbers in their groups, as in a request; empty without any. */
export async function unsealed(
  engine: Pick<Engine, 'lanes' | 'vault'>,
  { secretId, entityId }: Checkout,
): Promise<Readonly<Record<string, Record<string, string>>>> {
  if (secretId === null) return {}
  const [row] = await engine.lanes.single(sealedOf(secretId))
  if (row === undefined) return {}
  const numbers = await engine.vault.open(
    placeOfSecret(secretId, entityId),
    row.data_key_id,
    row.sealed,
  )
  const groups: Record<string, Record<string, string>> = {}
  for (const [full, number] of Object.entries(numbers)) {
    const [group = '', name = ''] = full.split('.')
    groups[group] = { ...groups[group], [name]: number }
  }
  return groups
}
