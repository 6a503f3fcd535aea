/**
 * What a caller may do. A row's place in the table is its bit in the engine, so rows are added at the
 * end and never moved; what is stored of a token is names.
 */

export type Right = {
  readonly name: string
  readonly title: string
  /** Whether tokens have it. One without rights named has every right of these, and no other. */
  readonly ofTokens: boolean
  readonly meaning: string
}

export const rights = [
  { name: 'read', title: 'Read', ofTokens: true, meaning: 'Read and search payments, registrations, schedules, events, webhook endpoints and test clocks.' },
  { name: 'charge', title: 'Charge', ofTokens: true, meaning: 'Take money: payments, captures, rebills, receipts, and registrations and schedules for them.' },
  { name: 'refund', title: 'Refund', ofTokens: true, meaning: 'Return money that was taken: refunds and reversals.' },
  { name: 'payout', title: 'Pay out', ofTokens: true, meaning: 'Pay money out: credits, and schedules of credits.' },
  { name: 'configure', title: 'Configure', ofTokens: true, meaning: 'Manage webhook endpoints (together with `read` where an endpoint gives access to data) and test clocks.' },
  { name: 'person', title: 'See people', ofTokens: false, meaning: 'See personal data of shoppers unmasked.' },
  { name: 'decide', title: 'Decide', ofTokens: false, meaning: "Decide what the engine cannot: settle payments by hand, queue jobs again, resolve entries of the operators' list." },
  { name: 'reconcile', title: 'Reconcile', ofTokens: false, meaning: 'Compare settlements of acquirers with payments.' },
  { name: 'export', title: 'Export', ofTokens: false, meaning: 'Export many records at once.' },
  { name: 'administer', title: 'Administer', ofTokens: false, meaning: 'Create and change operators, confirm proposals, read the audit trail.' },
] as const satisfies readonly Right[]

export type RightName = (typeof rights)[number]['name']

/** What an operation needs: one right, the right of the payment type that it is about, or none. */
export type NeededRight = RightName | 'by payment type' | 'none'

/** What an access token can be given. */
export const tokenRights: readonly RightName[] = rights
  .filter(({ ofTokens }) => ofTokens)
  .map(({ name }) => name)

export type Role = {
  readonly name: string
  readonly meaning: string
  readonly rights: readonly RightName[]
}

/** What operators can be. What is stored of a person is the name of the role. */
export const roles = [
  { name: 'viewer', meaning: 'Reads everything, changes nothing.', rights: ['read'] },
  { name: 'support', meaning: 'Helps shoppers and refunds payments.', rights: ['read', 'person', 'refund'] },
  {
    name: 'operator',
    meaning: 'Manages payments and decides open ones.',
    rights: ['read', 'person', 'refund', 'charge', 'decide', 'reconcile', 'export'],
  },
  { name: 'developer', meaning: 'Integrates programs of the merchant.', rights: ['read', 'configure'] },
  { name: 'accountant', meaning: 'Keeps the books.', rights: ['read', 'reconcile', 'export'] },
  { name: 'admin', meaning: 'Does everything, and manages operators.', rights: rights.map(({ name }) => name) },
] as const satisfies readonly Role[]

export type RoleName = (typeof roles)[number]['name']
