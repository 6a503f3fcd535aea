/** The secret of an authenticator as it is stored: sealed, and bound to its person. */
import type { Sealed, Vault } from '../vault/vault.ts'
import type { PersonRow } from './store.ts'

const placeOf = (id: string) => ({ table: 'person', id, ownerId: id }) as const

export const sealSecret = (vault: Vault, personId: string, secret: string): Sealed =>
  vault.seal(placeOf(personId), { secret })

/** @throws GatewayError 5xx when the vault cannot open it. */
export async function openSecret(
  vault: Vault,
  { id, data_key_id, sealed }: Pick<PersonRow, 'id' | 'data_key_id' | 'sealed'>,
): Promise<string> {
  const { secret } = await vault.open(placeOf(id), data_key_id, sealed)
  return secret ?? ''
}
