/** The secret of an authenticator as it is stored: sealed, and bound to its person. */
import type { Vault } from '../vault/vault.ts'
import type { PersonRow } from './store.ts'

export function sealSecret(
  vault: Vault,
  personId: string,
  secret: string,
): { dataKeyId: string; sealed: Buffer } {
  const { dataKeyId, sealed } = vault.seal(personId, { secret }, '', 'person')
  return { dataKeyId, sealed }
}

/** @throws GatewayError 5xx when the vault cannot open it. */
export async function openSecret(
  vault: Vault,
  { id, data_key_id, sealed }: Pick<PersonRow, 'id' | 'data_key_id' | 'sealed'>,
): Promise<string> {
  const { secret } = await vault.open(id, data_key_id, sealed, 'person')
  return secret ?? ''
}
