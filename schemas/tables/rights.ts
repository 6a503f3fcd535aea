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
] as const satisfies readonly Right[]

export type RightName = (typeof rights)[number]['name']

/** What an operation needs: one right, the right of the payment type that it is about, or none. */
export type NeededRight = RightName | 'by payment type' | 'none'

/** What an access token can be given. */
export const tokenRights: readonly RightName[] = rights
  .filter(({ ofTokens }) => ofTokens)
  .map(({ name }) => name)
