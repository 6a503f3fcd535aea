/** The second person's side of what needs two. */
import { limits } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import {
  confirmProposal,
  openProposals,
  type ProposalRow,
  proposalById,
  rejectProposal,
} from '../four-eyes/store-proposal.ts'
import { isId } from '../ids.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { isWithin, notThere, refuseUnlessMayAdminister, wrong } from './grants.ts'
import type { Acting } from './types.ts'

export type ListedProposal = {
  readonly id: string
  readonly kind: string
  readonly entityId: string | null
  readonly facts: Readonly<Record<string, unknown>>
  readonly proposer: string
  readonly proposedAt: Date
  /** Who agreed; null: nobody yet. */
  readonly confirmer: string | null
}

export class Proposals {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Those that wait, or were agreed with and not carried out yet. */
  async list(acting: Acting): Promise<ListedProposal[]> {
    refuseUnlessMayAdminister(acting, 'proposals.list')
    const rows = await this.#engine.lanes.read(openProposals(this.#since()))
    const shown: ListedProposal[] = []
    for (const row of rows) {
      if (await isWithin(this.#engine, acting, row.entity_id)) shown.push(listed(row))
    }
    return shown
  }

  /**
   * Agrees, as another person than the one who proposed it. One of the two is an operator: whoever works on
   * the machine itself counts as one person, whatever user of it they are.
   *
   * @throws GatewayError 400, 403, 404
   */
  async confirm(id: string, acting: Acting): Promise<void> {
    const row = await this.#proposal(id, acting, 'proposals.confirm')
    const { actor } = acting
    if (actor.kind === row.proposer_kind && actor.id === row.proposer_id) {
      throw wrong('id', 'is your own proposal: another person has to agree')
    }
    if (actor.kind !== 'operator' && row.proposer_kind !== 'operator') {
      throw wrong('id', 'was proposed on the command line too: an operator has to agree')
    }
    const now = new Date(this.#engine.clock.realMs())
    const [done] = await this.#engine.lanes.single(confirmProposal(id, now, this.#since(), actor))
    if (done === undefined) throw wrong('id', 'was decided before, or is over')
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
