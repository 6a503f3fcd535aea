/**
 * Acquirer accounts of channels: the credentials and the merchant number with which payments of a
 * channel reach an acquirer. Secrets are sealed and never returned.
 */
import { limits } from '@tollgate/schemas'
import { type Actor, actorBy } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import type { Loaded } from '../connector/registry.ts'
import type { Client } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import type { AgreedChange, Change, Entities, NewAccount } from '../entity/entities.ts'
import type { ProposalUse } from '../four-eyes/store-proposal.ts'
import type { DeedKind, TwoPeople } from '../four-eyes/two-people.ts'
import { isId } from '../ids.ts'
import { type AccountCheck, checkAccount } from './check.ts'
import {
  checkBrands,
  checkPosition,
  fieldsOf,
  isOpen,
  noSuchAccount,
  refuseOthers,
  split,
  wrong,
} from './fields.ts'
import {
  type AccountChange,
  accountCounts,
  accountsBelow,
  changeAccount,
  lockedAccount,
  type StoredAccount,
  storedAccount,
} from './store-account.ts'
import type {
  AccountCount,
  AccountEdit,
  AccountView,
  ConnectorView,
  ShownAccount,
} from './types.ts'

type Facts = Readonly<Record<string, unknown>>

/** A change of one account: its new row, and what the trail and a second person see of it. */
type Planned = {
  readonly to: AccountChange
  readonly before: Facts
  readonly after: Facts
  /** New secrets, which a proposal only compares. */
  readonly secrets?: Readonly<Record<string, string>>
}

const actions = {
  change: 'account.changed',
  rotate: 'account.rotated',
  enable: 'account.enabled',
  disable: 'account.disabled',
} as const

export class Accounts {
  readonly #engine: Engine
  readonly #entities: Entities
  readonly #two: TwoPeople

  constructor(engine: Engine, entities: Entities, two: TwoPeople) {
    this.#engine = engine
    this.#entities = entities
    this.#two = two
  }

  /** Connectors and authenticators that accounts can name, with the settings of their accounts. */
  connectors(): ConnectorView[] {
    const { registry } = this.#engine
    return registry.names().map((name) => {
      const loaded = registry.get(name)!
      return {
        name,
        title: loaded.connector.title,
        modes: modesOf(loaded),
        hasCheck: loaded.connector.check !== undefined,
        settings: fieldsOf(loaded).map((field) => ({
          name: field.name,
          meaning: field.meaning,
          isSecret: !isOpen(field),
          isRequired: field.need === 'R' && field.options.default === undefined,
        })),
      }
    })
  }

  /**
   * Connects a channel to an acquirer.
   *
   * @returns the id of the account.
   * @throws GatewayError 400 naming the field that is wrong · ConfirmationNeededError
   */
  async add(account: NewAccount, change: AgreedChange = {}): Promise<string> {
    const { channelId, connector, mode, settings } = account
    const channel = isId(channelId) ? await this.#entities.get(channelId) : undefined
    if (channel?.kind !== 'channel') throw wrong('channel', 'must be the id of a channel')
    const names = this.#engine.registry.names().join(', ')
    const loaded = this.#engine.registry.get(connector)
    if (loaded === undefined) {
      throw wrong('connector', `must be the name of an installed connector: ${names}`)
    }
    const only = this.#engine.environment === 'live' ? 'LIVE' : 'EXTERNAL'
    if (mode !== only) {
      throw wrong('mode', `must be ${only} in the ${this.#engine.environment} environment`)
    }
    split(loaded, settings)
    const brands = checkBrands(account.brands ?? null)
    const { brands: _, ...rest } = account
    return this.#entities.createAccount({ ...rest, ...(brands === null ? {} : { brands }) }, change)
  }

  /** Accounts of an entity and of those below it, or all, by id. */
  async list({
    entityId = null,
    after = null,
    limit = limits.officeRows.max,
  }: {
    readonly entityId?: string | null
    readonly after?: string | null
    readonly limit?: number
  } = {}): Promise<AccountView[]> {
    const rows = await this.#engine.lanes.read(accountsBelow(entityId, after, limit))
    return rows.map(viewOf)
  }

  /** How many accounts each connector has, also connectors that are not installed. */
  async counts(): Promise<AccountCount[]> {
    const rows = await this.#engine.lanes.read(accountCounts)
    return rows.map(({ connector, mode, enabled, disabled }) => ({
      connector,
      mode,
      enabled: Number(enabled),
      disabled: Number(disabled),
    }))
  }

  /** @throws GatewayError 404; 500 and 503 when the secrets cannot be opened. */
  async show(id: string): Promise<ShownAccount> {
    const row = await this.#stored(id)
    const secrets = Object.keys(await this.#secretsOf(row)).sort()
    const { registry, targets } = this.#engine
    const hasEvents = registry.get(row.connector)?.connector.inbound !== undefined
    const eventsUrl = hasEvents ? targets.notifyUrl(row.connector, id) : undefined
    return { ...viewOf(row), secrets, ...(eventsUrl === undefined ? {} : { eventsUrl }) }
  }

  /** The channel of an account. @throws GatewayError 404 */
  async channelOf(id: string): Promise<string> {
    return (await this.#stored(id)).channel_id
  }

  /**
   * Changes brands, position and open settings. Connector, mode and channel never change, because
   * payments refer to them.
   *
   * @throws GatewayError 400 naming the field that is wrong, 404 · ConfirmationNeededError
   */
  set(id: string, edit: AccountEdit, change: AgreedChange = {}): Promise<void> {
    return this.#change('change', id, change, async (row) => {
      const loaded = this.#loaded(row)
      const given = edit.settings ?? {}
      refuseOthers(loaded, given, 'open')
      const secrets = await this.#secretsOf(row)
      const { open } = split(loaded, { ...row.settings, ...given, ...secrets })
      const to = {
        ...row,
        settings: open,
        brands: edit.brands === undefined ? row.brands : checkBrands(edit.brands),
        position: edit.position === undefined ? row.position : checkPosition(edit.position),
      }
      return { to, before: factsOf(row), after: factsOf(to) }
    })
  }

  /**
   * Replaces secrets by new ones; others keep their values.
   *
   * @throws GatewayError 400 naming the field that is wrong, 404 · ConfirmationNeededError
   */
  rotate(id: string, secrets: Facts, change: AgreedChange = {}): Promise<void> {
    return this.#change('rotate', id, change, async (row) => {
      const loaded = this.#loaded(row)
      if (Object.keys(secrets).length === 0) throw wrong('secrets', 'must have at least one secret')
      refuseOthers(loaded, secrets, 'secret')
      const all = split(loaded, { ...row.settings, ...(await this.#secretsOf(row)), ...secrets })
      const place = { table: 'merchant_account', id: row.id, ownerId: row.channel_id } as const
      const { dataKeyId, sealed } = this.#engine.vault.seal(place, all.secrets)
      return {
        to: { ...row, data_key_id: dataKeyId, sealed },
        before: {},
        after: { sealed: Object.keys(secrets).sort() },
        secrets: Object.fromEntries(
          Object.entries(secrets).map(([name, value]) => [name, String(value)]),
        ),
      }
    })
  }

  /**
   * Stops new payments of an account. Follow-ups, enquiries, messages and settlement files of its
   * payments still work. Every process follows within five seconds. @throws GatewayError 404
   */
  disable(id: string, { by }: Change = {}): Promise<void> {
    return this.#change('disable', id, by === undefined ? {} : { by }, (row) =>
      activity(row, false),
    )
  }

  /** Allows new payments again. @throws GatewayError 404 · ConfirmationNeededError */
  enable(id: string, change: AgreedChange = {}): Promise<void> {
    return this.#change('enable', id, change, (row) => activity(row, true))
  }

  /** Proves the credentials at the acquirer, without moving money. @throws GatewayError 404 */
  async check(id: string, { by }: Change = {}): Promise<AccountCheck> {
    const row = await this.#stored(id)
    const found = await this.#engine.inFlight.track(checkAccount(this.#engine, row))
    const about = { entityId: row.channel_id, resource: id, detail: { found: found.is } }
    await this.#engine.lanes.single(
      addAudit({ actor: actorBy(by), action: 'account.checked', ...about }),
    )
    return found
  }

  /** One transaction under a lock on the row, with the audit row and the proposal. */
  async #change(
    what: keyof typeof actions,
    id: string,
    { by, proposal }: AgreedChange,
    plan: (row: StoredAccount) => Promise<Planned> | Planned,
  ): Promise<void> {
    const actor = actorBy(by)
    const agreed = await plan(await this.#stored(id))
    const use = await this.#agreed(what, agreed, actor, proposal)
    const { database, pools } = this.#engine.lanes
    await database.transaction(pools.single, async (client) => {
      const planned = await plan(await this.#locked(client, id))
      if (JSON.stringify(planned.before) !== JSON.stringify(agreed.before)) {
        throw wrong('id', 'is an account that somebody else has just changed: look at it again')
      }
      const told = { action: actions[what], before: planned.before, after: planned.after }
      const rows = await database.query(client, changeAccount(planned.to, actor, told, use))
      if (rows.length === 0) throw new Error(`proposal ${proposal} was carried out before`)
    })
  }

  /** Disabling needs one person, like the revocation of a token. */
  async #agreed(
    what: keyof typeof actions,
    { to, before, after, secrets }: Planned,
    actor: Actor,
    proposal: string | undefined,
  ): Promise<ProposalUse | null> {
    if (what === 'disable') return null
    const kind: DeedKind = `account.${what}`
    const facts = {
      account: to.id,
      ...(Object.keys(before).length > 0 && { was: before }),
      ...after,
    }
    const deed = {
      kind,
      entityId: to.channel_id,
      facts,
      ...(secrets === undefined ? {} : { secrets }),
    }
    return this.#two.need(deed, actor, proposal)
  }

  async #locked(client: Client, id: string): Promise<StoredAccount> {
    const [row] = await this.#engine.lanes.database.query(client, lockedAccount(id))
    if (row === undefined) throw noSuchAccount()
    return row
  }

  async #stored(id: string): Promise<StoredAccount> {
    const [row] = isId(id) ? await this.#engine.lanes.single(storedAccount(id)) : []
    if (row === undefined) throw noSuchAccount()
    return row
  }

  async #secretsOf(row: StoredAccount): Promise<Record<string, string>> {
    if (row.sealed === null || row.data_key_id === null) return {}
    const place = { table: 'merchant_account', id: row.id, ownerId: row.channel_id } as const
    return this.#engine.vault.open(place, row.data_key_id, row.sealed)
  }

  #loaded({ connector }: StoredAccount): Loaded {
    const loaded = this.#engine.registry.get(connector)
    if (loaded !== undefined) return loaded
    throw wrong('connector', `${connector} is not installed, so the settings cannot be checked`)
  }
}

function activity(row: StoredAccount, active: boolean): Planned {
  return { to: { ...row, active }, before: { active: row.active }, after: { active } }
}

/** Those of an authenticator are apart from the connector in its place. */
const modesOf = ({ connector, authenticator }: Loaded) =>
  authenticator?.supports.modes ?? connector.supports.modes ?? []

const factsOf = ({ brands, position, settings }: AccountChange) => ({ brands, position, settings })

const viewOf = (row: StoredAccount): AccountView => ({
  id: row.id,
  channelId: row.channel_id,
  connector: row.connector,
  mode: row.mode,
  brands: row.brands,
  position: row.position,
  settings: row.settings,
  active: row.active,
  createdAt: row.created_at,
})
