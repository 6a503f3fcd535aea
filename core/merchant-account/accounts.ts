/**
 * Acquirer accounts of channels: the credentials and the merchant number with which payments of a
 * channel reach an acquirer. Secrets are sealed and never returned.
 */
import { limits } from '@tollgate/schemas'
import { type Actor, actorBy } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import { isAuthenticator, type Loaded } from '../connector/registry.ts'
import type { Client } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import { fieldsOf, isOpen } from '../entity/account-settings.ts'
import type { AgreedChange, Change, Entities, NewAccount } from '../entity/entities.ts'
import type { ProposalUse } from '../four-eyes/stored-proposal.ts'
import { type DeedKind, ProposalError, type TwoPeople } from '../four-eyes/two-people.ts'
import { isId } from '../ids.ts'
import { AtOnce } from '../process/at-once.ts'
import type { Facts } from '../redaction/harmless.ts'
import { type AccountCheck, checkAccount } from './check.ts'
import {
  changedMeanwhile,
  checkBrands,
  checked,
  checkId,
  checkPosition,
  noSuchAccount,
  refuseOthers,
  wrong,
} from './fields.ts'
import { activity, factsOf, isSame, type Planned, refuseUnseen } from './planned.ts'
import {
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
  readonly #checks = new AtOnce('other checks are under way')

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
   * @throws GatewayError 400 naming each field that is wrong · ConfirmationNeededError
   */
  add(account: NewAccount, change: AgreedChange = {}): Promise<string> {
    return this.#entities.createAccount(account, change)
  }

  /** Accounts of an entity and of those below it, or all, by id. @throws GatewayError 400 */
  async list({
    entityId = null,
    after = null,
    limit = limits.officeRows.max,
  }: {
    readonly entityId?: string | null
    readonly after?: string | null
    readonly limit?: number
  } = {}): Promise<AccountView[]> {
    checkId('entity', entityId)
    checkId('after', after)
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
    if (!hasEvents) return { ...viewOf(row), secrets }
    return { ...viewOf(row), secrets, eventsUrl: targets.notifyUrl(row.connector, id) ?? null }
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
  async set(id: string, edit: AccountEdit, change: AgreedChange = {}): Promise<void> {
    const { brands, position, settings } = edit
    if (brands === undefined && position === undefined && settings === undefined) {
      throw wrong('settings', 'are missing: give brands, position or settings')
    }
    return this.#change('change', id, change, async (row) => {
      const loaded = this.#loaded(row)
      const given = settings ?? {}
      refuseOthers(loaded, given, 'open')
      const secrets = await this.#secretsOf(row)
      const { open } = checked(loaded, given, { ...row.settings, ...given, ...secrets })
      const to = {
        ...row,
        settings: open,
        brands: brands === undefined ? row.brands : checkBrands(brands),
        position: position === undefined ? row.position : checkPosition(position),
      }
      return { to, before: factsOf(row), after: factsOf(to) }
    })
  }

  /**
   * Replaces secrets by new ones; others keep their values, as do undefined ones. Null or "" removes a secret that is
   * not required.
   *
   * @throws GatewayError 400 naming the field that is wrong, 404 · ConfirmationNeededError
   */
  rotate(id: string, given: Facts, change: AgreedChange = {}): Promise<void> {
    const secrets = Object.fromEntries(
      Object.entries(given)
        .filter(([, value]) => value !== undefined)
        .map(([name, value]) => [name, value ?? '']),
    )
    return this.#change('rotate', id, change, async (row) => {
      const loaded = this.#loaded(row)
      if (Object.keys(secrets).length === 0) throw wrong('secrets', 'must have at least one secret')
      refuseOthers(loaded, secrets, 'secret')
      const stored = { ...row.settings, ...(await this.#secretsOf(row)) }
      const all = checked(loaded, secrets, { ...stored, ...secrets }, 'secrets')
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
   * payments still work, and so do payments that wait for their shopper. While an account at an authenticator is
   * disabled, its payments are unauthenticated as if no issuer were reached. Every process follows within five
   * seconds. @throws GatewayError 404 · ConfirmationNeededError, for an account at an authenticator
   */
  disable(id: string, change: AgreedChange = {}): Promise<void> {
    return this.#change('disable', id, change, (row) => activity(row, false))
  }

  /** Allows new payments again. @throws GatewayError 404 · ConfirmationNeededError */
  enable(id: string, change: AgreedChange = {}): Promise<void> {
    return this.#change('enable', id, change, (row) => activity(row, true))
  }

  /** Proves the credentials at the acquirer, without moving money. @throws GatewayError 404, 429 */
  async check(id: string, { by }: Change = {}): Promise<AccountCheck> {
    const row = await this.#stored(id)
    const { kind, id: person } = actorBy(by)
    const counted = [
      [`account ${id}`, limits.accountChecksPerAccount],
      [`${kind} ${person}`, limits.accountChecksPerPerson],
    ] as const
    return this.#checks.run(counted, () => this.#check(row, by))
  }

  async #check(row: StoredAccount, by: Change['by']): Promise<AccountCheck> {
    const { id } = row
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
    refuseUnseen(agreed)
    const use = await this.#agreed(what, agreed, actor, proposal)
    const { lanes } = this.#engine
    const { database, pools } = lanes
    const work = async (client: Client) => {
      const planned = await plan(await this.#locked(client, id))
      if (!isSame(planned.before, agreed.before)) throw changedMeanwhile()
      const told = { action: actions[what], before: planned.before, after: planned.after }
      const rows = await database.query(client, changeAccount(planned.to, actor, told, use))
      if (rows.length === 0) throw new ProposalError(`proposal ${proposal} was carried out before`)
    }
    // Changes that wait for the lock would keep the connections of captures and refunds.
    await lanes.inOrder(`account ${id}`, () => database.transaction(pools.single, work))
  }

  /**
   * Disabling an acquirer needs one person, like the revocation of a token: it only stops payments. Without an
   * authenticator, payments could go on without a proof of the shopper.
   */
  async #agreed(
    what: keyof typeof actions,
    { to, before, after, secrets }: Planned,
    actor: Actor,
    proposal: string | undefined,
  ): Promise<ProposalUse | null> {
    const loaded = this.#engine.registry.get(to.connector)
    if (what === 'disable' && loaded !== undefined && !isAuthenticator(loaded)) return null
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

/** Those of an authenticator are apart from the connector in its place. */
const modesOf = ({ connector, authenticator }: Loaded) =>
  authenticator?.supports.modes ?? connector.supports.modes ?? []

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
