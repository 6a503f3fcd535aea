/** The part of a statement that carries out a confirmed proposal. */
import type { Actor } from '../audit/actor.ts'
import { type Sql, sql } from '../db/sql.ts'

/** A confirmed proposal that a statement carries out and consumes. */
export type ProposalUse = {
  readonly id: string
  readonly digest: Buffer
  readonly by: Actor
  readonly now: Date
  readonly proposedSince: Date
  /** An action that continues after an interruption may be repeated within its proposal's time. */
  readonly again: boolean
  /** The confirmed expiry of the created resource; null without one. */
  readonly end: Date | null
  /** Digest of the invitation that the second person saw. */
  readonly invitation: Buffer | null
}

/**
 * Part of a statement: consumes the proposal and returns one row, or no row when the action is not allowed. Null: no
 * proposal is needed.
 *
 * @param locked The rows that the action changes, where it needs them unchanged: without one, the proposal stays.
 */
export const usedProposal = (use: ProposalUse | null, locked: Sql | null = null): Sql =>
  use === null
    ? sql`select null::uuid as proposal_id`
    : sql`update tollgate.proposal
    set used_at = ${use.now}::timestamptz
    where id = ${use.id}::uuid and digest = ${use.digest}::bytea and confirmed_at is not null
      and rejected_at is null and (used_at is null or ${use.again}::boolean)
      and proposed_at > ${use.proposedSince}::timestamptz
      and proposer_kind = ${use.by.kind}::text and proposer_id = ${use.by.id}::text
      and ${locked === null ? sql`true` : sql`exists (select from ${locked})`}
    returning id as proposal_id`
