/** The parts of a request to the operators' API. */
import type { OfficeOperation } from '@tollgate/schemas'
import type { AuditTrail } from '../audit-chain/trail.ts'
import type { Engine } from '../engine.ts'
import type { Accounts } from '../merchant-account/accounts.ts'
import type { Operator } from '../operator/operator.ts'
import type { People } from './people.ts'
import type { Proposals } from './proposals.ts'
import type { OfficeReads } from './reads.ts'
import type { Person } from './types.ts'

export type OfficeCall = {
  /** The `{id}` of the path. */
  readonly id?: string
  /** Names and values of a JSON object or a query, read after the check of the person's rights. */
  readonly read: (person?: Person) => Promise<unknown>
  readonly requestId: string
}

export type OfficeParts = {
  readonly engine: Engine
  readonly operator: Operator
  readonly audit: AuditTrail
  readonly accounts: Accounts
  readonly people: People
  readonly proposals: Proposals
  readonly reads: OfficeReads
}

export type Values = Readonly<Record<string, string>>

/** `values` holds an object of texts as its JSON. */
export type Asked = { readonly id: string; readonly values: Values; readonly session: string }

export type Handler = (parts: OfficeParts, person: Person, asked: Asked) => Promise<object>

/** The operations without a session are handled apart, since their caller is not logged in. */
export type Handled = Exclude<OfficeOperation, 'office.login' | 'office.join' | 'office.logout'>
