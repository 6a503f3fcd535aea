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
  { name: 'read', title: 'Read', ofTokens: true, meaning: 'See payments, registrations, schedules, events, webhook endpoints and test clocks; search.' },
  { name: 'charge', title: 'Charge', ofTokens: true, meaning: 'Take money: payments, captures, rebills, receipts, and registrations and schedules for them.' },
  { name: 'refund', title: 'Refund', ofTokens: true, meaning: 'Give money back that was taken: refunds and reversals.' },
  { name: 'payout', title: 'Pay out', ofTokens: true, meaning: 'Send money that was not taken before: credits, and schedules of them.' },
  { name: 'configure', title: 'Configure', ofTokens: true, meaning: 'Set up webhook endpoints (with `read` where that opens what they are sent), make and move test clocks.' },
  { name: 'person', title: 'See people', ofTokens: false, meaning: 'See personal data of shoppers unmasked.' },
  { name: 'decide', title: 'Decide', ofTokens: false, meaning: "Decide what the engine must not: settle payments by hand, queue work again, end entries of the operators' list." },
  { name: 'reconcile', title: 'Reconcile', ofTokens: false, meaning: 'Match settlements of acquirers with payments.' },
  { name: 'export', title: 'Export', ofTokens: false, meaning: 'Take copies of many records at once.' },
  { name: 'administer', title: 'Administer', ofTokens: false, meaning: 'Make and change operators, confirm what needs two people, read the audit trail.' },
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
  { name: 'viewer', meaning: 'Looks on.', rights: ['read'] },
  { name: 'support', meaning: 'Answers shoppers and gives money back.', rights: ['read', 'person', 'refund'] },
  {
    name: 'operator',
    meaning: 'Runs payments and decides what is open.',
    rights: ['read', 'person', 'refund', 'charge', 'decide', 'reconcile', 'export'],
  },
  { name: 'developer', meaning: 'Connects programs of the merchant.', rights: ['read', 'configure'] },
  { name: 'accountant', meaning: 'Keeps the books.', rights: ['read', 'reconcile', 'export'] },
  { name: 'admin', meaning: 'Everything, other operators among it.', rights: rights.map(({ name }) => name) },
] as const satisfies readonly Role[]

export type RoleName = (typeof roles)[number]['name']
