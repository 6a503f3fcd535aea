/** Lists and confirms proposals. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import {
  confirmProposal,
  openProposals,
  type ProposalRow,
  proposalById,
  rejectProposal,
} from '../four-eyes/store-proposal.ts'
import { inviting } from '../four-eyes/two-people.ts'
import { isId } from '../ids.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { newInvitation, recoveryHash } from './codes.ts'
import { isWithin, notThere, refuseUnlessMayAdminister, wrong } from './grants.ts'
import type { Acting } from './types.ts'

export type ListedProposal = {
  readonly id: string
  readonly kind: string
  readonly entityId: string | null
  readonly facts: Readonly<Record<string, unknown>>
  readonly proposer: string
  readonly proposedAt: Date
  /** The confirmer; null before the confirmation. */
  readonly confirmer: string | null
}

export type Confirmed = {
  /** Shown once, for the invited person alone. */
  readonly invitation?: string
}

export class Proposals {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Proposals that wait, and confirmed ones before their execution. */
  async list(
    acting: Acting,
    after: string | null = null,
    limit: number = limits.officeRows.max,
  ): Promise<ListedProposal[]> {
    refuseUnlessMayAdminister(acting, 'proposals.list')
    const of = acting.entityId
    return (await this.#engine.lanes.read(openProposals(of, this.#since(), after, limit))).map(
      listed,
    )
  }

  /**
   * Confirms a proposal as the second person. At least one of the two is an operator: all users of the
   * machine together count as one person.
   *
   * @returns the invitation, for a proposal that gives an operator access.
   * @throws GatewayError 400, 403, 404
   */
  async confirm(id: string, acting: Acting): Promise<Confirmed> {
    const row = await this.#proposal(id, acting, 'proposals.confirm')
    const { actor } = acting
    if (actor.kind === row.proposer_kind && actor.id === row.proposer_id) {
      throw wrong('id', 'is your own proposal: another person has to agree')
    }
    if (actor.kind !== 'operator' && row.proposer_kind !== 'operator') {
      throw wrong('id', 'was proposed on the command line too: an operator has to agree')
    }
    const now = new Date(this.#engine.clock.realMs())
    const invitation = inviting.has(row.kind) ? newInvitation() : undefined
    const hash = invitation === undefined ? null : recoveryHash(invitation)
    const { lanes } = this.#engine
    const [done] = await lanes.single(confirmProposal(id, now, this.#since(), actor, hash))
    if (done === undefined) {
      // A repeat after a lost answer finds its own result.
      const [own] = hash === null ? [] : await lanes.single(proposalById(id))
      if (own?.invitation == null || !own.invitation.equals(hash!)) {
        throw wrong('id', 'was decided before, or is over')
      }
    }
    return invitation === undefined ? {} : { invitation }
  }

  async reject(id: string, reason: string, acting: Acting): Promise<void> {
    await this.#proposal(id, acting, 'proposals.reject')
    const now = new Date(this.#engine.clock.realMs())
    const why = maskCardNumbers(reason)
    const [done] = await this.#engine.lanes.single(rejectProposal(id, now, why, acting.actor))
    if (done === undefined) throw wrong('id', 'was decided before, or is over')
  }

  async #proposal(id: string, acting: Acting, operation: string): Promise<ProposalRow> {
    refuseUnlessMayAdminister(acting, operation)
    const [row] = isId(id) ? await this.#engine.lanes.single(proposalById(id)) : []
    if (row === undefined || !(await isWithin(this.#engine, acting, row.entity_id)))
      throw notThere()
    return row
  }

  #since = () => new Date(this.#engine.clock.realMs() - limits.proposalMs)
}

const listed = (row: ProposalRow): ListedProposal => ({
  id: row.id,
  kind: row.kind,
  entityId: row.entity_id,
  facts: row.facts,
  proposer: row.proposer,
  proposedAt: row.proposed_at,
  confirmer: row.confirmer,
})
