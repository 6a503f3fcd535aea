/** Which connector and which merchant account carry a payment out. */
import type { Instrument, Kind } from '@tollgate/plugin-kit'
import type { CallTarget } from '../connector/call.ts'
import {
  isAcquirer,
  isAuthenticator,
  type Loaded,
  type LoadedAuthenticator,
  type Mode,
  type Registry,
} from '../connector/registry.ts'
import type { Channel, Directory } from '../entity/directory.ts'
import type { AccountRow } from '../entity/store.ts'
import { GatewayError } from '../errors.ts'
import { refuse } from '../request/values.ts'

export type Wanted = {
  readonly mode: Mode
  /** Null: any connector that takes the account. */
  readonly kind: Kind | null
  readonly method: Instrument['kind'] | null
  readonly brand: string | null
  /** Null when no money moves. */
  readonly currency: string | null
}

export type Target = CallTarget & { readonly accountId: string | null }

/** An authenticator, and the merchant's account at it. */
export type AuthenticatorTarget = Target & {
  readonly loaded: LoadedAuthenticator
  /** The account is disabled: it authenticates nobody anew, and no payment passes it by. */
  readonly isDisabled?: true
}

/** The acquirer of a payment. */
export type Routed = {
  readonly mode: Mode
  readonly connector: string
  readonly channelId: string
  readonly accountId: string | null
}

/** Opens the sealed secrets of an account. */
export type OpenAccount = (row: AccountRow) => Promise<Readonly<Record<string, unknown>>>

/** Addresses below the public one; undefined without it. */
export type PublicUrls = {
  notify(connector: string, account: string): string | undefined
  pages(plugin: string): string | undefined
}

export class Targets {
  readonly #registry: Registry
  readonly #directory: Directory
  readonly #open: OpenAccount
  readonly #urls: PublicUrls
  readonly #isLive: boolean
  readonly #internal = new Map<string, Target>()

  constructor(
    registry: Registry,
    directory: Directory,
    open: OpenAccount,
    urls: PublicUrls,
    isLive: boolean,
  ) {
    this.#registry = registry
    this.#directory = directory
    this.#open = open
    this.#urls = urls
    this.#isLive = isLive
  }

  /**
   * Chooses the acquirer of a first payment.
   *
   * @throws GatewayError 600.200.700 no connector for the mode, 600.200.500 none for brand or
   * currency, 600.200.400 the connector does not support this payment type.
   */
  async choose(channel: Channel, wanted: Wanted): Promise<Target> {
    if (wanted.mode === 'INTERNAL') return this.#simulator(channel.id, wanted)
    const accounts = await this.#directory.accounts(channel.id)
    const inMode = accounts.filter(({ mode, active }) => active && mode === wanted.mode)
    if (inMode.length === 0) throw notSetUp(wanted.mode)
    let refusal: GatewayError | undefined
    for (const account of inMode) {
      if (
        account.brands !== null &&
        (wanted.brand === null || !account.brands.includes(wanted.brand))
      )
        continue
      const loaded = this.#registry.get(account.connector)
      if (loaded === undefined) {
        refusal ??= new GatewayError('500.100.401', {
          description: `The connector ${account.connector} of this channel is not installed.`,
        })
        continue
      }
      if (!isAcquirer(loaded)) continue
      const why = unfit(loaded, wanted)
      if (why === undefined) return this.#target(loaded, channel.id, wanted.mode, account)
      refusal ??= why
    }
    throw refusal ?? new GatewayError('600.200.500')
  }

  /** @throws GatewayError 600.200.700 when none of the channels has an acquirer for this mode. */
  async refuseWithoutAcquirer(channelIds: Iterable<string>, mode: Mode): Promise<void> {
    if (mode === 'INTERNAL' && this.#registry.forMode(mode) !== undefined) return
    for (const id of mode === 'INTERNAL' ? [] : channelIds) {
      const accounts = await this.#directory.accounts(id)
      const isAcquirers = ({ connector }: AccountRow) => {
        const loaded = this.#registry.get(connector)
        return loaded === undefined || isAcquirer(loaded)
      }
      if (accounts.some((row) => row.active && row.mode === mode && isAcquirers(row))) return
    }
    throw notSetUp(mode)
  }

  /** Says of many payments on a channel whether `choose` would find an acquirer. The accounts are read once. */
  async takerOn({ id }: Pick<Channel, 'id'>, mode: Mode): Promise<(wanted: Wanted) => boolean> {
    if (mode === 'INTERNAL') {
      const loaded = this.#registry.forMode(mode)
      return (wanted) => loaded !== undefined && misfit(loaded, wanted) === undefined
    }
    const accounts = await this.#directory.accounts(id)
    const acquirers = accounts.flatMap(({ mode: itsMode, connector, brands, active }) => {
      const loaded = active && itsMode === mode ? this.#registry.get(connector) : undefined
      return loaded === undefined || !isAcquirer(loaded) ? [] : [{ loaded, brands }]
    })
    return (wanted) =>
      acquirers.some(
        ({ loaded, brands }) =>
          (brands === null || (wanted.brand !== null && brands.includes(wanted.brand))) &&
          misfit(loaded, wanted) === undefined,
      )
  }

  /** The target of a follow-up or an enquiry: the acquirer of its payment, whose account may be inactive. */
  async of(payment: Routed, kind: Kind | undefined): Promise<Target> {
    if (payment.mode === 'INTERNAL' && payment.accountId === null) {
      const loaded = this.#registry.get(payment.connector)
      if (loaded === undefined) throw notInstalled(payment.connector)
      return this.#checked(this.#internalTarget(loaded, payment.channelId), kind)
    }
    const accounts = await this.#directory.accounts(payment.channelId)
    const account = accounts.find((row) => row.id === payment.accountId)
    const loaded = this.#registry.get(payment.connector)
    if (loaded === undefined || account === undefined) throw notInstalled(payment.connector)
    return this.#checked(await this.#target(loaded, payment.channelId, payment.mode, account), kind)
  }

  /**
   * The authenticator of a first payment: the first one of the channel's accounts that knows one of the
   * card's schemes; for the simulator, the first one that needs no account. Where only a disabled account knows
   * them, that one, with its mark.
   */
  async authenticator(
    channel: Channel,
    mode: Mode,
    schemes: readonly string[],
  ): Promise<AuthenticatorTarget | undefined> {
    const knows = ({ authenticator }: LoadedAuthenticator) =>
      schemes.some((scheme) => authenticator.supports.schemes.includes(scheme))
    if (mode === 'INTERNAL') {
      const found = this.#registry.authenticatorsForMode(mode).find(knows)
      return found && (this.#internalTarget(found, channel.id) as AuthenticatorTarget)
    }
    const fitting = (await this.#directory.accounts(channel.id)).flatMap((account) => {
      const loaded = account.mode === mode ? this.#registry.get(account.connector) : undefined
      if (loaded === undefined || !isAuthenticator(loaded) || !knows(loaded)) return []
      const { brands } = account
      const takes = brands === null || schemes.some((one) => brands.includes(one))
      return takes ? [{ loaded, account }] : []
    })
    const found = fitting.find(({ account }) => account.active) ?? fitting[0]
    if (found === undefined) return undefined
    const { loaded, account } = found
    const target = (await this.#target(loaded, channel.id, mode, account)) as AuthenticatorTarget
    return account.active ? target : { ...target, isDisabled: true }
  }

  /** The URL for messages of an account's acquirer; undefined without a public URL. */
  notifyUrl(connector: string, account: string): string | undefined {
    return this.#urls.notify(connector, account)
  }

  /** The settings of an account, with its secrets. */
  opened(account: AccountRow): Promise<Readonly<Record<string, unknown>>> {
    return this.#open(account)
  }

  /** The account that an acquirer's message is for, inactive or not; undefined when there is none. */
  async inbound(connector: string, accountKey: string): Promise<Target | undefined> {
    const loaded = this.#registry.get(connector)
    if (loaded === undefined) return undefined
    if (accountKey === 'internal') {
      const { supports } = loaded.authenticator ?? loaded.connector
      if (this.#isLive || supports.modes?.includes('INTERNAL') !== true) return undefined
      return this.#internalTarget(loaded, 'internal')
    }
    const account = await this.#directory.account(accountKey)
    if (account === undefined || account.connector !== connector) return undefined
    return this.#target(loaded, account.channel_id, account.mode, account)
  }

  #checked(target: Target, kind: Kind | undefined): Target {
    if (kind !== undefined && target.loaded.connector[kind] === undefined) {
      throw new GatewayError('600.200.400')
    }
    return target
  }

  #simulator(channelId: string, wanted: Wanted): Target {
    const loaded = this.#registry.forMode('INTERNAL')
    if (loaded === undefined) throw notSetUp(wanted.mode)
    const why = unfit(loaded, wanted)
    if (why !== undefined) throw why
    return this.#internalTarget(loaded, channelId)
  }

  #internalTarget(loaded: Loaded, channelId: string): Target {
    const key = `${loaded.connector.name} ${channelId}`
    const known = this.#internal.get(key)
    if (known !== undefined) return known
    const target = this.#withUrls({
      loaded,
      accountId: null,
      accountKey: 'internal',
      account: {},
      mode: 'INTERNAL',
      channelId,
    })
    this.#internal.set(key, target)
    return target
  }

  async #target(
    loaded: Loaded,
    channelId: string,
    mode: Mode,
    account: AccountRow,
  ): Promise<Target> {
    return this.#withUrls({
      loaded,
      accountId: account.id,
      accountKey: account.id,
      account: await this.#open(account),
      mode,
      channelId,
    })
  }

  #withUrls(target: Target): Target {
    const { connector, plugin } = target.loaded
    const notifyUrl = this.#urls.notify(connector.name, target.accountKey)
    const pagesUrl = this.#urls.pages(plugin)
    return {
      ...target,
      ...(notifyUrl === undefined ? {} : { notifyUrl }),
      ...(pagesUrl === undefined ? {} : { pagesUrl }),
    }
  }
}

function notSetUp(mode: Mode): GatewayError {
  if (mode === 'INTERNAL') {
    return new GatewayError('600.200.700', {
      description: 'testMode=INTERNAL needs a simulator plugin, and none is installed.',
    })
  }
  if (mode === 'LIVE') return new GatewayError('600.200.700')
  const message =
    'needs an account at the test system of an acquirer, and this channel has none; without testMode, the simulator takes the payment'
  return refuse('600.200.700', 'testMode', message, mode)
}

function notInstalled(connector: string): GatewayError {
  return new GatewayError('500.100.401', {
    description: `The connector ${connector} that carried out this payment is not available now.`,
  })
}

/** The first thing of a payment that a connector does not take. */
function misfit(
  { connector }: Loaded,
  { kind, method, currency, brand }: Wanted,
): 'kind' | 'method' | 'currency' | 'brand' | undefined {
  const { methods, currencies, brands } = connector.supports
  if (kind !== null && connector[kind] === undefined) return 'kind'
  if (method !== null && !methods.includes(method)) return 'method'
  if (currency !== null && currencies !== 'any' && !currencies.includes(currency)) return 'currency'
  return brands !== 'any' && (brand === null || !brands.includes(brand)) ? 'brand' : undefined
}

/** Why a connector cannot take a payment, or undefined when it can. */
function unfit(loaded: Loaded, wanted: Wanted): GatewayError | undefined {
  switch (misfit(loaded, wanted)) {
    case 'kind':
      return new GatewayError('600.200.400')
    case 'method':
      return new GatewayError('600.200.200')
    case 'currency':
      return new GatewayError('600.200.500', {
        parameterErrors: [
          {
            name: 'currency',
            value: wanted.currency!,
            message: `is not handled by the acquirer of this channel`,
          },
        ],
      })
    case 'brand':
      return new GatewayError('600.200.500')
    case undefined:
      return undefined
  }
}
