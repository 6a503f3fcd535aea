/**
 * The rights of a caller. A row's position is its bit in the engine, so rows are added at the end
 * and never moved; stored tokens name their rights.
 */

export type Right = {
  readonly name: string
  readonly title: string
  /** Whether a token can have it. A token without named rights has all of these and no other. */
  readonly ofTokens: boolean
  readonly meaning: string
}

export const rights = [
  { name: 'read', title: 'Read', ofTokens: true, meaning: 'Read payments, registrations, schedules, events, reports, webhook endpoints and test clocks; search.' },
  { name: 'charge', title: 'Charge', ofTokens: true, meaning: 'Take money: payments, captures, rebills, receipts, and registrations and schedules for them.' },
  { name: 'refund', title: 'Refund', ofTokens: true, meaning: 'Return money: refunds and reversals.' },
  { name: 'payout', title: 'Pay out', ofTokens: true, meaning: 'Pay money out: credits, and schedules of them.' },
  { name: 'configure', title: 'Configure', ofTokens: true, meaning: 'Configure webhook endpoints (some requests also need read), create and advance test clocks.' },
  { name: 'person', title: 'See personal data', ofTokens: false, meaning: 'See personal data of shoppers unmasked.' },
  { name: 'decide', title: 'Decide', ofTokens: false, meaning: "Decide open cases: settle payments by hand, queue work again, resolve entries of the operators' list." },
  { name: 'reconcile', title: 'Reconcile', ofTokens: false, meaning: "Match acquirers' settlements with payments." },
  { name: 'export', title: 'Export', ofTokens: false, meaning: 'Export many records at once.' },
  { name: 'administer', title: 'Administer', ofTokens: false, meaning: 'Create and change operators and acquirer accounts, confirm proposals, read the audit trail.' },
] as const satisfies readonly Right[]

export type RightName = (typeof rights)[number]['name']

/** The right of an operation: a fixed one, that of its payment type, or none. */
export type NeededRight = RightName | 'by payment type' | 'none'

/** The rights of access tokens. */
export const tokenRights: readonly RightName[] = rights
  .filter(({ ofTokens }) => ofTokens)
  .map(({ name }) => name)

export type Role = {
  readonly name: string
  readonly meaning: string
  readonly rights: readonly RightName[]
}

/** The roles of operators. A stored operator has the name of a role. */
export const roles = [
  { name: 'viewer', meaning: 'Reads.', rights: ['read'] },
  { name: 'support', meaning: 'Answers shoppers and returns money.', rights: ['read', 'person', 'refund'] },
  {
    name: 'operator',
    meaning: 'Runs payments and decides open ones.',
    rights: ['read', 'person', 'refund', 'charge', 'decide', 'reconcile', 'export'],
  },
  { name: 'developer', meaning: 'Connects programs of the merchant.', rights: ['read', 'configure'] },
  { name: 'accountant', meaning: 'Keeps the books.', rights: ['read', 'reconcile', 'export'] },
  { name: 'admin', meaning: 'Has every right, including the management of operators.', rights: rights.map(({ name }) => name) },
] as const satisfies readonly Role[]

export type RoleName = (typeof roles)[number]['name']
