/** What is proposed about an operator, as the second person sees it and as it is carried out. */
import { limits } from '@tollgate/schemas'
import type { ProposalUse } from '../four-eyes/stored-proposal.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { wrong } from './grants.ts'
import type { PersonRow } from './store.ts'

type Place = { readonly role: string; readonly entityId: string | null }

const shown = ({ role, entityId }: Place) => ({ role, entity: entityId ?? 'all' })
const placeOf = (row: PersonRow): Place => ({ role: row.role, entityId: row.entity_id })

export const factsOfNew = ({ name, ...place }: Place & { readonly name: string }) => ({
  name,
  ...shown(place),
})

export const factsOf = (row: PersonRow) => ({
  person: row.id,
  name: row.name,
  ...shown(placeOf(row)),
})

/** The second person agrees to the whole change, and to no other start of it. */
export const factsOfChange = (was: PersonRow, { role, entityId }: Place) => ({
  person: was.id,
  name: was.name,
  ...shown({ role, entityId }),
  was: shown(placeOf(was)),
})

export function invitationOf({ invitation }: ProposalUse): Buffer {
  if (invitation !== null) return invitation
  throw wrong('proposal', 'was confirmed by a process of an earlier version: propose it anew')
}

export function checkName(name: string): void {
  const { min, max } = limits.operatorNameCharacters
  const fits = name.length >= min && name.length <= max
  const isName = fits && /^[a-z0-9][a-z0-9._@+-]*$/.test(name)
  if (isName && maskCardNumbers(name) === name) return
  throw wrong('name', `must have ${min} to ${max} letters, digits and . _ - @ +`)
}
