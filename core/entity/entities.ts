/** Nodes of the hierarchy, their tokens and their accounts at acquirers. */
import { createHash } from 'node:crypto'
import type { Registry } from '../connector/registry.ts'
import { checkSettings } from '../connector/settings.ts'
import type { Lanes } from '../db/lanes.ts'
import { isId, newId, newOpaqueId, newToken } from '../ids.ts'
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
  revokeToken,
  setClosed,
  setEntitySettings,
  tokensOf,
} from './store.ts'

/** What a node sits below. */
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

export class Entities {
  readonly #lanes: Lanes
  readonly #vault: Vault
  readonly #registry: Registry
  readonly #environment: 'test' | 'live'
  /** Rules that choose a channel when a request names only its merchant. */
  readonly dispatching: Dispatching

  constructor(lanes: Lanes, vault: Vault, registry: Registry, environment: 'test' | 'live') {
    this.#lanes = lanes
    this.#vault = vault
    this.#registry = registry
    this.#environment = environment
    this.dispatching = new Dispatching(lanes)
  }

  /** @returns the id. @throws Error naming what is wrong. */
  async create(entity: NewEntity): Promise<string> {
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
    checkEntitySettings(entity.settings ?? {})
    const id = entity.id ?? newOpaqueId()
    await this.#lanes.single(
      addEntity(id, entity.parentId ?? null, entity.kind, entity.name, entity.settings ?? {}),
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

  async configure(id: string, settings: Record<string, unknown>): Promise<void> {
    checkEntitySettings(settings)
    const rows = await this.#lanes.single(setEntitySettings(id, settings))
    if (rows.length === 0) throw new Error(`there is no entity ${id}`)
  }

  /**
   * A closed entity, and everything below it, takes no new payments; follow-ups and reads go on.
   * Every process follows within five seconds. @throws Error when there is none.
   */
  close(id: string, by = 'embedder'): Promise<void> {
    return this.#setClosed(id, true, by)
  }

  /** Takes payments again. @throws Error when there is no such entity. */
  open(id: string, by = 'embedder'): Promise<void> {
    return this.#setClosed(id, false, by)
  }

  async #setClosed(id: string, closed: boolean, by: string): Promise<void> {
    const rows = isId(id) ? await this.#lanes.single(setClosed(id, closed, newId(), by)) : []
    if (rows.length === 0) throw new Error(`there is no entity ${id}`)
  }

  /** A new access token. It is shown here once; only its hash is stored. */
  async createToken(entityId: string, name: string): Promise<{ id: string; token: string }> {
    if ((await this.get(entityId)) === undefined) throw new Error(`there is no entity ${entityId}`)
    const id = newId()
    const token = newToken()
    await this.#lanes.single(addToken(id, hashOf(token), entityId, this.#environment, name))
    return { id, token }
  }

  /** Every process refuses the token within five seconds. */
  async revokeToken(id: string): Promise<void> {
    const rows = isId(id) ? await this.#lanes.single(revokeToken(id)) : []
    if (rows.length === 0) throw new Error(`there is no token ${id}`)
  }

  tokens(entityId: string) {
    return this.#lanes.single(tokensOf(entityId))
  }

  /** Connects a channel with an acquirer. @throws PluginError naming the setting that is wrong. */
  async createAccount(account: NewAccount): Promise<string> {
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
    const id = newId()
    const sealed =
      Object.keys(secrets).length === 0
        ? null
        : this.#vault.seal({ table: 'merchant_account', id, ownerId: account.channelId }, secrets)
    await this.#lanes.single(
      addAccount({
        id,
        channelId: account.channelId,
        connector: account.connector,
        mode: account.mode,
        brands: account.brands ?? null,
        settings: JSON.stringify(open),
        dataKeyId: sealed?.dataKeyId ?? null,
        sealed: sealed?.sealed ?? null,
      }),
    )
    return id
  }
}

function hashOf(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
