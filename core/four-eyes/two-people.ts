/**
 * The four-eyes rule, where the installation requires it: one person proposes an action, another
 * confirms it within a day, and the first then carries it out, once and exactly as proposed.
 * Secrets of the action are shown to the first person alone.
 */
import { hash as digestOf } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Actor } from '../audit/actor.ts'
import type { Clock } from '../clock.ts'
import { Passwords } from '../crypto/passwords.ts'
import type { Lanes } from '../db/lanes.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { type Facts, harmless } from '../redaction/harmless.ts'
import { addProposal, countOfProposer, proposalById, takeProposal } from './store-proposal.ts'
import type { ProposalUse } from './stored-proposal.ts'

export type DeedKind =
  | 'entity.create'
  | 'entity.configure'
  | 'entity.open'
  | 'webhook.plain'
  | 'token.create'
  | 'token.rotate'
  | 'account.create'
  | 'account.change'
  | 'account.rotate'
  | 'account.enable'
  | 'account.disable'
  | 'keys.rotate'
  | 'person.create'
  | 'person.change'
  | 'person.reset'
  | 'person.enable'

/** The complete action: another token, network or role is another action. */
export type Deed = {
  readonly kind: DeedKind
  /** The entity concerned; null: the whole installation. */
  readonly entityId: string | null
  readonly facts: Facts
  /**
   * The expiry of the created resource, as it was confirmed: a relative time would change with every
   * call.
   */
  readonly end?: Date | undefined
  /** Secret settings. The proposal stores only a digest to compare. */
  readonly secrets?: Readonly<Record<string, string>>
}

/** Actions that give an operator access. Each of the two people knows one part, and neither can log in alone. */
export const inviting: ReadonlySet<string> = new Set<DeedKind>([
  'person.create',
  'person.change',
  'person.reset',
])

/** A second person has to confirm the proposal first. The action was not carried out. */
export class ConfirmationNeededError extends Error {
  override readonly name = 'ConfirmationNeededError'
  readonly proposal: string

  constructor(proposal: string, state: string) {
    super(
      `${state}: proposal ${proposal} waits for another person, an operator with the right administer, who confirms it within a day. Then do the same again and name the proposal.`,
    )
    this.proposal = proposal
  }
}

/** A proposal does not allow the action. The message is a sentence for the proposer. */
export class ProposalError extends Error {
  override readonly name = 'ProposalError'
}

export class TwoPeople {
  readonly #lanes: Lanes
  readonly #clock: Pick<Clock, 'realMs'>
  readonly #passwords: Passwords
  readonly isOn: boolean

  constructor(
    lanes: Lanes,
    clock: Pick<Clock, 'realMs'>,
    isOn: boolean,
    passwords = new Passwords(),
  ) {
    this.#passwords = passwords
    this.#lanes = lanes
    this.#clock = clock
    this.isOn = isOn
  }

  /**
   * The proposal that the action's statement consumes, or null when one person is enough.
   *
   * @throws ConfirmationNeededError when the action is newly proposed or unconfirmed · ProposalError when
   * the proposal belongs to another action or person, or has expired.
   */
  async need(deed: Deed, by: Actor, proposal: string | undefined): Promise<ProposalUse | null> {
    if (!this.isOn) return null
    if (proposal === undefined) {
      throw new ConfirmationNeededError(await this.#propose(deed, by), 'two people are needed')
    }
    const now = new Date(this.#clock.realMs())
    const [row] = isId(proposal) ? await this.#lanes.single(proposalById(proposal)) : []
    const digest = digestOfDeed(deed)
    const proposedSince = new Date(now.getTime() - limits.proposalMs)
    const again = deed.kind === 'keys.rotate'
    if (row === undefined || row.proposer_kind !== by.kind || row.proposer_id !== by.id) {
      throw new ProposalError(`there is no proposal ${proposal} of yours`)
    }
    if (row.rejected_at !== null) throw new ProposalError(`proposal ${proposal} was rejected`)
    if (row.used_at !== null && !again)
      throw new ProposalError(`proposal ${proposal} was carried out before`)
    if (row.proposed_at <= proposedSince) {
      throw new ProposalError(`proposal ${proposal} is older than a day: propose it anew`)
    }
    const isSame =
      row.digest.equals(digest) &&
      (row.secrets === null
        ? deed.secrets === undefined
        : await this.#passwords.matches(canonical(deed.secrets ?? {}), row.secrets))
    if (!isSame) {
      throw new ProposalError(
        `proposal ${proposal} is about something else: ${JSON.stringify(row.facts)}`,
      )
    }
    if (row.confirmed_at === null) {
      throw new ConfirmationNeededError(proposal, 'no second person has confirmed yet')
    }
    const { end } = row.facts
    return {
      id: proposal,
      digest,
      by,
      now,
      proposedSince,
      again,
      end: typeof end === 'string' ? new Date(end) : null,
      invitation: row.invitation,
    }
  }

  /** Consumes the proposal of an action with more than one statement. */
  async take(deed: Deed, by: Actor, proposal: string | undefined): Promise<void> {
    const use = await this.need(deed, by, proposal)
    if (use === null) return
    const [taken] = await this.#lanes.single(takeProposal(use))
    if (taken === undefined) throw new ProposalError(`proposal ${use.id} was carried out before`)
  }

  async #propose(deed: Deed, by: Actor): Promise<string> {
    const id = newId()
    const now = new Date(this.#clock.realMs())
    const since = new Date(now.getTime() - limits.proposalMs)
    const [open] = await this.#lanes.single(countOfProposer(by, since))
    if (Number(open!.proposals) >= limits.openProposals) {
      throw new GatewayError('800.120.100', {
        status: 429,
        retryAfterSeconds: 60,
        description: `too many requests: ${limits.openProposals} proposals of yours are open; have them confirmed or rejected first`,
      })
    }
    const secrets =
      deed.secrets === undefined ? null : await this.#passwords.digest(canonical(deed.secrets))
    await this.#lanes.single(
      addProposal(
        {
          id,
          kind: deed.kind,
          entity_id: deed.entityId,
          digest: digestOfDeed(deed),
          facts: harmless({
            ...deed.facts,
            ...(deed.end === undefined ? {} : { end: deed.end.toISOString() }),
          }),
          secrets,
          proposed_at: now,
        },
        by,
      ),
    )
    return id
  }
}

const digestOfDeed = ({ kind, entityId, facts, end }: Deed): Buffer =>
  digestOf('sha256', canonical({ kind, entityId, facts, ends: end !== undefined }), 'buffer')

/** Sorts names at every depth: the order in a request does not make another action. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner) && !(inner instanceof Date)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
