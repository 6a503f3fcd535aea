/** Nodes of the hierarchy, their tokens and their accounts at acquirers. */
import { limits } from '@tollgate/schemas'
import { actorBy, type By } from '../audit/actor.ts'
import type { Clock } from '../clock.ts'
import type { Registry } from '../connector/registry.ts'
import { checkSettings } from '../connector/settings.ts'
import type { Lanes } from '../db/lanes.ts'
import type { TwoPeople } from '../four-eyes/two-people.ts'
import { isId, newId, newOpaqueId, newToken } from '../ids.ts'
import { holdsCardNumber } from '../request/card-data.ts'
import type { Vault } from '../vault/vault.ts'
import { Dispatching } from './dispatching.ts'
import { checkEntitySettings } from './settings.ts'
import {
  addAccount,
  addEntity,
  addToken,
  allEntities,
  type EntityKind,
  type EntityRow,
  entityById,
  type ListedToken,
  revokeToken,
  rotateToken,
  setClosed,
  setEntitySettings,
  tokenById,
  tokensOf,
} from './store.ts'
import { checkTokenLimits, limitedHash, plainHash, type TokenLimits } from './token.ts'

/** The kind of each entity's parent. */
const parentKind: Readonly<Record<EntityKind, EntityKind | null>> = {
  psp: null,
  division: 'psp',
  merchant: 'division',
  channel: 'merchant',
}

export type NewEntity = {
  readonly kind: EntityKind
  readonly name: string
  readonly parentId?: string
  /** 32 hex characters; made unless given. Creating an id that exists changes nothing. */
  readonly id?: string
  readonly settings?: Record<string, unknown>
}

export type NewAccount = {
  readonly channelId: string
  readonly connector: string
  readonly mode: 'EXTERNAL' | 'LIVE'
  /** Brands it takes; all unless given. */
  readonly brands?: readonly string[]
  /** Rows of the connector's account table; secret ones are sealed. */
  readonly settings: Readonly<Record<string, unknown>>
}

/** The actor of a change, for the audit trail; `embedder` by default. */
export type Change = { readonly by?: By }

/** The same of what needs two people, where the installation asks for them. */
export type AgreedChange = Change & {
  /** The proposal that another person confirmed. Without one it is proposed, and nothing is done. */
  readonly proposal?: string | undefined
}

export type RotationOptions = {
  /** How long both tokens are good. Default one day; 0 ends the old one at once. */
  readonly overlapMs?: number
  /** End of the new one. Default: as long a life as the old one was given. */
  readonly expiresAt?: Date
}

export type RotatedToken = {
  readonly id: string
  /** Shown this once. */
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
  /** Rules that choose a channel when a request names only its merchant. */
  readonly dispatching: Dispatching

  constructor(
    lanes: Lanes,
    vault: Vault,
    registry: Registry,
    environment: 'test' | 'live',
    clock: Pick<Clock, 'realMs'>,
    two: TwoPeople,
  ) {
    this.#two = two
    this.#clock = clock
    this.#lanes = lanes
    this.#vault = vault
    this.#registry = registry
    this.#environment = environment
    this.dispatching = new Dispatching(lanes)
  }

  /** @returns the id. @throws Error naming what is wrong. */
  async create(entity: NewEntity, { by }: Change = {}): Promise<string> {
    const wanted = parentKind[entity.kind]
    if (entity.id !== undefined && !isId(entity.id)) {
      throw new Error(`id "${entity.id}" is not 32 lower-case hex characters`)
    }
    if (wanted === null && entity.parentId !== undefined) throw new Error('a psp has no parent')
    if (wanted !== null) {
      const parent = entity.parentId === undefined ? undefined : await this.get(entity.parentId)
      if (parent?.kind !== wanted) {
        throw new Error(`a ${entity.kind} needs parentId, the id of a ${wanted}`)
      }
    }
    if (entity.name.trim() === '') throw new Error(`a ${entity.kind} needs a name`)
    refuseNumberIn(entity.name, entity.kind)
    checkEntitySettings(entity.settings ?? {})
    const id = entity.id ?? newOpaqueId()
    await this.#lanes.single(
      addEntity(
        id,
        entity.parentId ?? null,
        entity.kind,
        entity.name,
        entity.settings ?? {},
        actorBy(by),
      ),
    )
    return id
  }

  async get(id: string): Promise<EntityRow | undefined> {
    if (!isId(id)) return undefined
    const [row] = await this.#lanes.single(entityById(id))
    return row
  }

  list(): Promise<EntityRow[]> {
    return this.#lanes.single(allEntities)
  }

  async configure(
    id: string,
    settings: Record<string, unknown>,
    { by }: Change = {},
  ): Promise<void> {
    checkEntitySettings(settings)
    const rows = isId(id)
      ? await this.#lanes.single(setEntitySettings(id, settings, actorBy(by)))
      : []
    if (rows.length === 0) throw new Error(`there is no entity ${id}`)
  }

  /**
   * A closed entity, and everything below it, takes no new payments; follow-ups and reads go on.
   * Every process follows within five seconds. @throws Error when there is none.
   */
  close(id: string, by: By = 'embedder'): Promise<void> {
    return this.#setClosed(id, true, by)
  }

  /** Takes payments again. @throws Error when there is no such entity. */
  open(id: string, by: By = 'embedder'): Promise<void> {
    return this.#setClosed(id, false, by)
  }

  async #setClosed(id: string, closed: boolean, by: By): Promise<void> {
    const rows = isId(id) ? await this.#lanes.single(setClosed(id, closed, actorBy(by))) : []
    if (rows.length === 0) throw new Error(`there is no entity ${id}`)
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
    refuseNumberIn(name, 'token')
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
    // Run again after its answer was lost, it finds what it made.
    const [own] = made === undefined ? await this.#lanes.single(tokenById(id)) : [made]
    if (own === undefined) throw new Error(`proposal ${proposal} was carried out before`)
    return { id, token }
  }

  /**
   * A new token in the place of one that ends when `overlapMs` is over: for the same node, with the same
   * rights and networks, and with as long a life unless `expiresAt` says otherwise.
   *
   * @throws Error naming what is wrong; also when the token has ended or was rotated before ·
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
    if (old === undefined) throw new Error(`there is no token ${id}`)
    throw new Error(
      old.revoked_at === null && old.successor_id !== null
        ? `the token ${id} was rotated before: ${old.successor_id} is in its place`
        : `the token ${id} has ended: make a new one`,
    )
  }

  /** Every process refuses the token within five seconds. */
  async revokeToken(id: string, { by }: Change = {}): Promise<void> {
    const rows = isId(id) ? await this.#lanes.single(revokeToken(id, actorBy(by))) : []
    if (rows.length === 0) throw new Error(`there is no token ${id}`)
  }

  /** Every token of a node, ended ones among them; the tokens themselves are not kept. */
  tokens(entityId: string): Promise<ListedToken[]> {
    return this.#lanes.single(tokensOf(entityId))
  }

  /**
   * Connects a channel with an acquirer.
   *
   * @throws PluginError naming the setting that is wrong · ConfirmationNeededError
   */
  async createAccount(account: NewAccount, { by, proposal }: AgreedChange = {}): Promise<string> {
    const loaded = this.#registry.get(account.connector)
    if (loaded === undefined) {
      throw new Error(
        `no connector is named "${account.connector}" (there are: ${this.#registry.names().join(', ')})`,
      )
    }
    const table = loaded.connector.account
    const checked =
      table === undefined
        ? {}
        : checkSettings(table, account.settings, `account of ${account.connector}`)
    const secrets: Record<string, string> = {}
    const open: Record<string, unknown> = {}
    for (const field of table?.fields ?? []) {
      const value = checked[field.name]
      if (value === undefined) continue
      if (field.class === 'none') open[field.name] = value
      else secrets[field.name] = String(value)
    }
    const { channelId, connector, mode, brands = null } = account
    const facts = { connector, mode, brands, settings: open }
    const use = await this.#two.need(
      { kind: 'account.create', entityId: channelId, facts, secrets },
      actorBy(by),
      proposal,
    )
    const id = newId()
    const sealed =
      Object.keys(secrets).length === 0
        ? null
        : this.#vault.seal({ table: 'merchant_account', id, ownerId: account.channelId }, secrets)
    const [made] = await this.#lanes.single(
      addAccount({
        id,
        channelId: account.channelId,
        connector: account.connector,
        mode: account.mode,
        brands: account.brands ?? null,
        settings: JSON.stringify(open),
        dataKeyId: sealed?.dataKeyId ?? null,
        sealed: sealed?.sealed ?? null,
        by: actorBy(by),
        use,
        after: {
          connector: account.connector,
          mode: account.mode,
          brands: account.brands ?? null,
          settings: open,
          sealed: Object.keys(secrets),
        },
      }),
    )
    if (made === undefined) throw new Error(`proposal ${proposal} was carried out before`)
    return id
  }
}

/** Names are stored in clear, and told again in the audit trail with all that their bearer did. */
function refuseNumberIn(name: string, of: EntityKind | 'token'): void {
  if (holdsCardNumber(name)) throw new Error(`the name of a ${of} must not hold a card number`)
}
