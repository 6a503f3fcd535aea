/** Merchant accounts at acquirers: their settings, with the sealed ones opened. */
import type { Registry } from '../connector/registry.ts'
import { checkSettings } from '../connector/settings.ts'
import type { AccountRow } from '../entity/store.ts'
import type { Vault } from '../vault/vault.ts'
import type { OpenAccount } from './targets.ts'

/** Opens an account once and again whenever its row changed. */
export function openAccounts(vault: Vault, registry: Registry): OpenAccount {
  const opened = new WeakMap<AccountRow, Promise<Readonly<Record<string, unknown>>>>()
  const open = async (row: AccountRow) => {
    const sealed =
      row.sealed === null || row.data_key_id === null
        ? {}
        : await vault.open(
            { table: 'merchant_account', id: row.id, ownerId: row.channel_id },
            row.data_key_id,
            row.sealed,
          )
    const settings = { ...row.settings, ...sealed }
    const table = registry.get(row.connector)?.connector.account
    return table === undefined ? settings : checkSettings(table, settings, `account ${row.id}`)
  }
  return (row) => {
    const known = opened.get(row)
    if (known !== undefined) return known
    const opening = open(row)
    opened.set(row, opening)
    opening.catch(() => opened.delete(row))
    return opening
  }
}
