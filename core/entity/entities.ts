/** Entities, their access tokens and their acquirer accounts. */
import { limits } from '@tollgate/schemas'
import { actorBy, type By } from '../audit/actor.ts'
import type { Clock } from '../clock.ts'
import type { Registry } from '../connector/registry.ts'
import type { Lanes } from '../db/lanes.ts'
import { ProposalError, type TwoPeople } from '../four-eyes/two-people.ts'
import { isId, newId, newToken } from '../ids.ts'
import type { Vault } from '../vault/vault.ts'
import { shownSettings, wrongFields } from './account-settings.ts'
import type { AgreedChange, Change, NewEntity } from './change.ts'
import { Dispatching } from './dispatching.ts'
import { checkName, EntityChanges } from './entity-changes.ts'
import { type NewAccount, readNewAccount } from './new-account.ts'
import type { Usual } from './protections.ts'
import {
  addAccount,
  addToken,
  allEntities,
  type EntityRow,
  entityById,
  type ListedToken,
  revokeToken,
  rotateToken,
  tokenById,
  tokensOf,
} from './store.ts'
import { checkTokenLimits, limitedHash, plainHash, type TokenLimits } from './token.ts'

export type { AgreedChange, Change, NewEntity } from './change.ts'
export type { NewAccount } from './new-account.ts'

export type RotationOptions = {
  /** How long both tokens are valid. Default: one day. 0 ends the old token at once. */
  readonly overlapMs?: number
  /** Expiry of the new token. Default: the lifetime of the old token, from now. */
  readonly expiresAt?: Date
}

export type RotatedToken = {
  readonly id: string
  /** Shown only once. */
  readonly token: string
  readonly expiresAt: Date | null
  readonly oldExpiresAt: Date
}

export class Entities {
  readonly #lanes: Lanes
  readonly #vault: Vault
  readonly #registry: Registry
  readonly #environment: 'test' | 'live'
  readonly #clock: Pick<Clock, 'realMs'>
  readonly #two: TwoPeople
  readonly #changes: EntityChanges
  /** Rules that choose a channel when a request names only its merchant. */
  readonly dispatching: Dispatching

  constructor(
    lanes: Lanes,
    vault: Vault,
    registry: Registry,
    usual: Usual,
    clock: Pick<Clock, 'realMs'>,
    two: TwoPeople,
  ) {
    this.#changes = new EntityChanges(lanes, two, usual)
    this.#two = two
    this.#clock = clock
    this.#lanes = lanes
    this.#vault = vault
    this.#registry = registry
    this.#environment = usual.environment
    this.dispatching = new Dispatching(lanes)
  }

  /** @returns the id. @throws Error naming what is wrong · ConfirmationNeededError, for settings that protect less. */
  create(entity: NewEntity, change: AgreedChange = {}): Promise<string> {
    return this.#changes.create(entity, change)
  }

  async get(id: string): Promise<EntityRow | undefined> {
    if (!isId(id)) return undefined
    const [row] = await this.#lanes.single(entityById(id))
    return row
  }

  list(): Promise<EntityRow[]> {
    return this.#lanes.single(allEntities)
  }

  /**
   * Changes settings; others keep their values, and null takes one away.
   *
   * @throws Error naming what is wrong · ConfirmationNeededError, for settings that protect less.
   */
  configure(
    id: string,
    settings: Record<string, unknown>,
    change: AgreedChange = {},
  ): Promise<void> {
    return this.#changes.configure(id, settings, change)
  }

  /**
   * Stops new payments of an entity and all entities below it. Follow-ups and reads still work.
   * Every process follows within five seconds. @throws Error for an unknown entity.
   */
  close(id: string, by: By = 'embedder'): Promise<void> {
    return this.#changes.close(id, by)
  }

  /** Allows new payments again. @throws Error for an unknown entity · ConfirmationNeededError */
  open(id: string, by: By = 'embedder', proposal?: string): Promise<void> {
    return this.#changes.open(id, by, proposal)
  }

  /**
   * Creates an access token, which is shown only here; the database stores its hash. Without rights
   * in `options` the token has every right of tokens.
   *
   * @throws Error naming the fault · ConfirmationNeededError
   */
  async createToken(
    entityId: string,
    name: string,
    { by, proposal, ...narrower }: TokenLimits & AgreedChange = {},
  ): Promise<{ id: string; token: string }> {
    checkTokenLimits(narrower, this.#clock.realMs())
    checkName(name, 'token')
    if ((await this.get(entityId)) === undefined) throw new Error(`there is no entity ${entityId}`)
    const id = newId()
    const token = newToken()
    const { rights = null, networks = null } = narrower
    const facts = { name, rights, networks }
    const deed = { kind: 'token.create', entityId, facts, end: narrower.expiresAt } as const
    const use = await this.#two.need(deed, actorBy(by), proposal)
    const expiresAt = use?.end ?? narrower.expiresAt ?? null
    const isPlain = rights === null && networks === null && expiresAt === null
    const hash = isPlain ? plainHash(token) : limitedHash(token)
    const environment = this.#environment
    const row = { id, hash, entityId, environment, name, rights, networks, expiresAt }
    const [made] = await this.#lanes.single(addToken(row, actorBy(by), use))
    // A repeat after a lost answer finds its own result.
    const [own] = made === undefined ? await this.#lanes.single(tokenById(id)) : [made]
    if (own === undefined) throw new ProposalError(`proposal ${proposal} was carried out before`)
    return { id, token }
  }

  /**
   * Creates the successor of a token, which ends after `overlapMs`. The successor has the same entity,
   * rights and networks, and the same lifetime unless `expiresAt` is given.
   *
   * @throws Error naming the fault; also when the token has ended or was rotated before ·
   * ConfirmationNeededError
   */
  async rotateToken(
    id: string,
    {
      overlapMs = limits.tokenOverlapMs.usual,
      expiresAt,
      by,
      proposal,
    }: RotationOptions & AgreedChange = {},
  ): Promise<RotatedToken> {
    const most = limits.tokenOverlapMs.most
    if (!(overlapMs >= 0 && overlapMs <= most)) {
      throw new Error(`both tokens can be valid for ${most / 86_400_000} days at most`)
    }
    checkTokenLimits(expiresAt === undefined ? {} : { expiresAt }, this.#clock.realMs())
    const [was] = this.#two.isOn && isId(id) ? await this.#lanes.single(tokenById(id)) : []
    const use = await this.#two.need(
      {
        kind: 'token.rotate',
        entityId: was?.entity_id ?? null,
        facts: { token: id, overlapMs },
        end: expiresAt,
      },
      actorBy(by),
      proposal,
    )
    const token = newToken()
    const next = {
      id: newId(),
      plain: plainHash(token),
      limited: limitedHash(token),
      expiresAt: use?.end ?? expiresAt ?? null,
    }
    const overlap = Math.round(overlapMs)
    const [made] = isId(id)
      ? await this.#lanes.single(rotateToken(id, next, overlap, actorBy(by), use))
      : []
    if (made !== undefined) {
      return { id: made.id, token, expiresAt: made.expires_at, oldExpiresAt: made.old_expires_at }
    }
    const [old] = isId(id) ? await this.#lanes.single(tokenById(id)) : []
    if (old === undefined) throw noToken(id)
    throw new Error(
      old.revoked_at === null && old.successor_id !== null
        ? `the token ${id} was rotated before: ${old.successor_id} is in its place`
        : `the token ${id} has ended: make a new one`,
    )
  }

  /** Every process refuses the token within five seconds. */
  async revokeToken(id: string, { by }: Change = {}): Promise<void> {
    const rows = isId(id) ? await this.#lanes.single(revokeToken(id, actorBy(by))) : []
    if (rows.length === 0) throw noToken(id)
  }

  /** All tokens of an entity, including ended ones, without the tokens themselves. */
  async tokens(entityId: string): Promise<ListedToken[]> {
    return isId(entityId) ? this.#lanes.single(tokensOf(entityId)) : []
  }

  /**
   * Creates an acquirer account of a channel.
   *
   * @throws GatewayError 400 naming each field that is wrong · ConfirmationNeededError
   */
  async createAccount(account: NewAccount, { by, proposal }: AgreedChange = {}): Promise<string> {
    const places = { environment: this.#environment, registry: this.#registry }
    const { read, problems } = readNewAccount(
      account,
      await this.get(String(account?.channelId)),
      places,
    )
    if (read === undefined) throw wrongFields(problems)
    const { channelId, connector, mode, brands, open, secrets } = read
    const shown = shownSettings(open)
    const facts = { connector, mode, brands, settings: shown }
    const use = await this.#two.need(
      { kind: 'account.create', entityId: channelId, facts, secrets },
      actorBy(by),
      proposal,
    )
    const id = newId()
    const sealed =
      Object.keys(secrets).length === 0
        ? null
        : this.#vault.seal({ table: 'merchant_account', id, ownerId: channelId }, secrets)
    const [made] = await this.#lanes.single(
      addAccount({
        ...{ id, channelId, connector, mode, brands },
        settings: JSON.stringify(open),
        dataKeyId: sealed?.dataKeyId ?? null,
        sealed: sealed?.sealed ?? null,
        by: actorBy(by),
        use,
        after: { ...facts, sealed: Object.keys(secrets) },
      }),
    )
    if (made === undefined) throw new ProposalError(`proposal ${proposal} was carried out before`)
    return id
  }
}

/** A text that is no id may be the token itself. */
const noToken = (id: string) =>
  new Error(
    isId(id) ? `there is no token ${id}` : 'a token is named by its id: tollgate token list',
  )
