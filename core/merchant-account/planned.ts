/** A planned change of one acquirer account, as the trail and a second person see it. */
import { shownSettings } from '../entity/account-settings.ts'
import { type Facts, harmless } from '../redaction/harmless.ts'
import { wrong } from './fields.ts'
import type { AccountChange, StoredAccount } from './store-account.ts'

export type Planned = {
  /** The new row. */
  readonly to: AccountChange
  readonly before: Facts
  readonly after: Facts
  /** New secrets, which a proposal only compares. */
  readonly secrets?: Readonly<Record<string, string>>
}

export function activity(row: StoredAccount, active: boolean): Planned {
  return { to: { ...row, active }, before: { active: row.active }, after: { active } }
}

export const factsOf = ({ brands, position, settings }: AccountChange): Facts => ({
  brands,
  position,
  settings: shownSettings(settings),
})

export const isSame = (one: Facts, other: Facts) => JSON.stringify(one) === JSON.stringify(other)

/** A second person would agree to what they cannot see. @throws GatewayError for a change that looks like none */
export function refuseUnseen({ before, after }: Planned): void {
  if (isSame(before, after) || !isSame(harmless(before), harmless(after))) return
  throw wrong('settings', 'must differ visibly from the stored ones, in which a number is masked')
}
