import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Caller } from '../caller/caller.ts'
import type { Clock } from '../clock.ts'
import { Gather } from '../db/gather.ts'
import type { Lanes } from '../db/lanes.ts'
import type { Sql } from '../db/sql.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { FreshCache, type Version } from './cache.ts'
import { type ReadyRule, readyRule } from './dispatch-rule.ts'
import {
  type AccountRow,
  accountById,
  accountsOf,
  ancestries,
  channelsBelow,
  configurationVersion,
  type EntityRow,
  type PathRow,
  tokenByHash,
} from './store.ts'
import { rulesOf } from './store-dispatching.ts'
import { type KnownToken, knownToken, limitedHash, plainHash, type Unfit, unfit } from './token.ts'
import { TokenUse } from './token-use.ts'

/** A channel and its settings, which override those of the entities above. */
export type Channel = {
  readonly id: string
  readonly name: string
  /** Itself first, then merchant, division, PSP. */
  readonly path: readonly string[]
  readonly settings: Readonly<Record<string, unknown>>
}

/**
 * The entity of a request: a channel, or a merchant whose `rules` have yet to choose one. Until
 * then id, path and settings belong to the merchant.
 */
export type Addressee = Channel & {
  /** The entity, or one above it, accepts no new payments. */
  readonly closed: boolean
  readonly rules?: readonly ReadyRule[]
}

const notAllowed = (what: string) =>
  new GatewayError('800.900.300', {
    status: 403,
    description: `invalid authentication information: ${what}`,
  })

const notValid = () =>
  notAllowed(
    'this access token is not valid: it is unknown, revoked, expired or not meant for this address',
  )

/** The embedding program acts for every entity and has no token, so the entity does not exist. */
const notForThatEntity = ({ entityId }: Caller, asked: string) =>
  entityId === null
    ? missing('is unknown: this database has no entity with this id', asked)
    : notAllowed('this access token is not allowed to act for the given entityId')

/** Entities and tokens as this process sees them, at most a few seconds old. */
export class Directory {
  readonly #lanes: Lanes
  readonly #environment: 'test' | 'live'
  readonly #clock: Clock
  readonly #log: Log | undefined
  /** When tokens were last used. */
  readonly tokenUse: TokenUse
  readonly #tokens: FreshCache<KnownToken | 'unknown' | 'revoked'>
  readonly #paths: FreshCache<readonly EntityRow[]>
  readonly #below: FreshCache<readonly string[]>
  readonly #accounts: FreshCache<readonly AccountRow[]>
  readonly #rules: FreshCache<readonly ReadyRule[]>
  readonly #readPath: Gather<string, readonly PathRow[]>
  readonly #readAccounts: Gather<string, readonly AccountRow[]>

  constructor(lanes: Lanes, environment: 'test' | 'live', clock: Clock, log?: Log) {
    this.#clock = clock
    this.#log = log
    this.tokenUse = new TokenUse(lanes, clock)
    this.#lanes = lanes
    this.#environment = environment
    const common = { failClosedMs: limits.tokenFailClosedMs, nowMs: () => clock.elapsedMs() }
    const freshMs = () => limits.tokenCacheMs
    this.#tokens = new FreshCache({
      ...common,
      max: limits.cachedTokens,
      freshMs: (token) => (token === 'unknown' ? limits.unknownTokenCacheMs : limits.tokenCacheMs),
    })
    const versions = new FreshCache<Version>({
      ...common,
      max: 1,
      freshMs: () => limits.configVersionMs,
    })
    const versioned = {
      version: () =>
        versions.get('', async () => {
          const at = clock.elapsedMs()
          const [row] = await lanes.read(configurationVersion)
          return { id: row!.version, at }
        }),
      rereadMs: limits.configRereadMs,
    }
    const ofEntities = { ...common, max: limits.cachedEntities, freshMs }
    this.#paths = new FreshCache({ ...ofEntities, ...versioned })
    this.#below = new FreshCache(ofEntities)
    this.#accounts = new FreshCache({ ...ofEntities, ...versioned })
    this.#rules = new FreshCache(ofEntities)
    // A platform uses thousands of channels, and a change of one makes the process read all of them again.
    const together = <Row>(
      statement: (ids: readonly string[]) => Sql<Row>,
      idOf: (row: Row) => string,
    ) =>
      new Gather<string, readonly Row[]>(
        async (ids) => {
          const rows = Map.groupBy(await lanes.read(statement(ids)), idOf)
          return ids.map((id) => rows.get(id) ?? [])
        },
        limits.configGatherMs,
        clock,
      )
    this.#readPath = together(ancestries, ({ of }) => of)
    this.#readAccounts = together(accountsOf, ({ channel_id }) => channel_id)
  }

  /**
   * The caller behind an `Authorization` header.
   *
   * @param from Address of the client, if known.
   * @throws GatewayError 401 when the header is missing or malformed, 403 when the token is unknown,
   * revoked, expired, used from another network, or of the other environment. The response to the
   * first four is the same, so that a thief does not learn where a token works.
   */
  async authenticate(header: string | undefined, from?: string): Promise<Caller> {
    const token = /^Bearer ([\x21-\x7e]{1,512})$/i.exec(header ?? '')?.[1]
    if (token === undefined) {
      throw new GatewayError('800.900.300', {
        status: 401,
        description:
          'invalid authentication information: send the header "Authorization: Bearer <access token>"',
      })
    }
    const hash = plainHash(token)
    const known = await this.#tokens.get(hash.toString('hex'), async () => {
      const [found] = await this.#lanes.read(tokenByHash(hash, limitedHash(token)))
      return found === undefined ? 'unknown' : knownToken(found)
    })
    if (typeof known === 'string') throw notValid()
    const why = unfit(known, this.#clock.realMs(), from)
    if (why !== undefined) throw this.#unfit(known, why, from)
    if (known.environment !== this.#environment) {
      throw notAllowed(`this access token is not valid in the ${this.#environment} environment`)
    }
    this.tokenUse.note(known.id)
    return { id: known.id, entityId: known.entityId, rights: known.rights }
  }

  /** Logs the reason for the owner of the token. The client does not learn the reason. */
  #unfit({ id }: KnownToken, why: Unfit, from: string | undefined): GatewayError {
    this.#log?.warn({ token: id, why, from: from ?? '' }, 'an access token was refused')
    return notValid()
  }

  /**
   * The channel that a request is for, or the merchant whose rules choose it once the request is read.
   *
   * @throws GatewayError 403 for an entity the caller may not act for (unknown ones answer alike, 400 for
   * an embedding program), 400 when none is named and the token is not a channel's, or the entity is a division or a PSP.
   */
  async addressee(caller: Caller, requested: string | undefined): Promise<Addressee> {
    const id = requested ?? caller.entityId
    if (id === null) throw missing('entityId is required: the 32 hex characters of a channel')
    const path = await this.#path(id)
    const [entity] = path
    if (entity === undefined || !mayAct(caller, path)) {
      throw notForThatEntity(caller, id)
    }
    if (entity.kind !== 'channel' && requested === undefined) {
      throw missing('entityId is required because this access token belongs to no single channel')
    }
    if (entity.kind !== 'channel' && entity.kind !== 'merchant') {
      throw missing(`belongs to a ${entity.kind}: send the id of a channel or of a merchant`, id)
    }
    const named: Addressee = {
      id: entity.id,
      name: entity.name,
      path: path.map((row) => row.id),
      settings: Object.assign({}, ...path.map((row) => row.settings).reverse()),
      closed: path.some((row) => row.closed),
    }
    if (entity.kind === 'channel') return named
    const rules = await this.#rules.get(id, async () => {
      const ready = (await this.#lanes.read(rulesOf(id))).map(readyRule)
      this.#forgetBelow(named.path, ready)
      return ready
    })
    return { ...named, rules }
  }

  /** The same. @throws GatewayError 500.100.203 when the entity is closed. */
  async channel(caller: Caller, requested: string | undefined): Promise<Addressee> {
    const addressee = await this.addressee(caller, requested)
    if (addressee.closed) throw new GatewayError('500.100.203')
    return addressee
  }

  /**
   * A payment by a rule with a new channel must be readable at once, so old lists of channels are
   * dropped.
   */
  #forgetBelow(nodes: readonly string[], rules: readonly ReadyRule[]): void {
    for (const node of nodes) {
      const channels = this.#below.peek(node)
      if (channels === undefined) continue
      if (rules.some((rule) => !channels.includes(rule.channel.id))) this.#below.forget(node)
    }
  }

  /**
   * Checks that the caller may name this entity. Malformed ids are left to validation.
   *
   * @throws GatewayError 403, alike for a foreign entity and for one that does not exist; 400 for an embedding program.
   */
  async mayName(caller: Caller, id: string | undefined): Promise<void> {
    if (id === undefined || !isId(id)) return
    const path = this.#paths.peek(id) ?? (await this.#path(id))
    if (path.length === 0 || !mayAct(caller, path)) throw notForThatEntity(caller, id)
  }

  /** Whether the caller acts for this entity: it is the caller's own entity or below it. */
  async acts(caller: Caller, id: string): Promise<boolean> {
    return mayAct(caller, await this.#path(id))
  }

  /** The merchant of a channel; the channel itself if it has no merchant. */
  async merchantOf(channelId: string): Promise<string> {
    const path = await this.#path(channelId)
    return path.find((row) => row.kind === 'merchant')?.id ?? channelId
  }

  /** The merchant of a caller, or the caller's entity above merchants. For counting, so it never fails. */
  async merchantBehind({ entityId }: Caller): Promise<string | undefined> {
    return entityId === null ? undefined : this.merchantOf(entityId).catch(() => entityId)
  }

  /** A channel and the entities above it, where this process knows them; entities never move. */
  knownPath(channelId: string): readonly string[] | undefined {
    const path = this.#paths.peek(channelId)
    return path === undefined || path.length === 0 ? undefined : path.map(({ id }) => id)
  }

  /** Settings that apply to a channel. */
  async settings(channelId: string): Promise<Readonly<Record<string, unknown>>> {
    const path = await this.#path(channelId)
    return Object.assign({}, ...path.map((row) => row.settings).reverse())
  }

  /** Ids of the channels the caller may read; null = every channel. */
  async visible(caller: Caller, requested: string | undefined): Promise<readonly string[] | null> {
    const id = requested ?? caller.entityId
    if (id === null) return null
    if (requested !== undefined) {
      const path = await this.#path(requested)
      if (path.length === 0 || !mayAct(caller, path)) {
        throw notForThatEntity(caller, requested)
      }
    }
    return this.#below.get(id, async () =>
      (await this.#lanes.read(channelsBelow(id))).map((row) => row.id),
    )
  }

  /** Acquirer accounts of a channel in order of preference, inactive ones too. */
  accounts(channelId: string): Promise<readonly AccountRow[]> {
    return this.#accounts.get(channelId, () => this.#readAccounts.ask(channelId))
  }

  async account(id: string): Promise<AccountRow | undefined> {
    if (!isId(id)) return undefined
    const [row] = await this.#lanes.read(accountById(id))
    return row
  }

  /** Empty for a malformed id, which would fail the statement of other ids as well. */
  async #path(id: string): Promise<readonly EntityRow[]> {
    if (!isId(id)) return []
    return this.#paths.get(id, () => this.#readPath.ask(id))
  }
}

function mayAct(caller: Caller, path: readonly EntityRow[]): boolean {
  return caller.entityId === null || path.some((row) => row.id === caller.entityId)
}

function missing(message: string, value?: string): GatewayError {
  return new GatewayError('200.300.404', {
    parameterErrors: [{ name: 'entityId', ...(value === undefined ? {} : { value }), message }],
  })
}
