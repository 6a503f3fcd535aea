/** The wallets of all plugins, with what they need to open a token. */
import { hash } from 'node:crypto'
import {
  type Log,
  type OpenedToken,
  PluginError,
  Sensitive,
  type Wallet,
  type WalletFacts,
  type WalletField,
  type WalletRefusal,
  type WalletRoots,
  walletKeys,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import type { LoadedWallet, Registry } from '../connector/registry.ts'
import type { Channel, Directory } from '../entity/directory.ts'
import type { AccountRow } from '../entity/store.ts'
import { GatewayError } from '../errors.ts'
import type { Outgoing } from '../net/http.ts'
import type { OpenAccount } from '../routing/targets.ts'
import type { RootDocuments, Source } from './root-documents.ts'

export type Environment = 'test' | 'live'

/** A token that a payment was made with: no other payment takes it. */
export type Replay = {
  readonly wallet: string
  readonly hash: Buffer
  readonly until: Date
}

export type OpenedBy = {
  readonly is: 'opened'
  readonly card: OpenedToken
  readonly replay: Replay
}

/** The class is for the step log, and never for the caller. */
export type RefusedBy = {
  readonly is: 'refused'
  readonly wallet: string
  readonly class: WalletRefusal | 'threw'
}

/** A wallet, and the merchant account of a channel at it. */
export type WalletTarget = {
  readonly wallet: Wallet
  readonly account: Readonly<Record<string, unknown>>
  readonly config: Readonly<Record<string, unknown>>
}

/** Their texts, or the document that has them. */
type Anchors = readonly string[] | Source

type Parts = {
  readonly registry: Registry
  readonly directory: Directory
  readonly open: OpenAccount
  readonly documents: RootDocuments
  readonly outgoing: Outgoing
  readonly clock: Clock
  readonly environment: Environment
  readonly log: Log
}

export class Wallets {
  readonly #parts: Parts
  readonly #roots = new Map<string, Anchors>()

  /** @throws PluginError when the settings of a wallet name no trust anchors for this environment. */
  constructor(parts: Parts) {
    this.#parts = parts
    for (const loaded of parts.registry.wallets()) {
      const anchors = this.#anchorsOf(loaded, rootsOf(loaded, parts.environment))
      this.#roots.set(loaded.wallet.name, anchors)
      if ('url' in anchors) parts.documents.refresh(anchors)
    }
  }

  /** Whether a plugin opens the tokens of this field. */
  has(field: WalletField): boolean {
    return this.#parts.registry.walletOf(field) !== undefined
  }

  /** @throws GatewayError 600.200.200 without a plugin, or without an account of the channel; 503 without anchors. */
  async open(
    channel: Pick<Channel, 'id'>,
    field: WalletField,
    token: string,
  ): Promise<OpenedBy | RefusedBy> {
    const target = await this.target(channel, field)
    if (target === undefined) {
      throw unfit(
        field,
        this.has(field)
          ? `the channel has no active account at the wallet ${this.#parts.registry.walletOf(field)!.wallet.name}`
          : 'no plugin of this installation opens tokens of this wallet; send the decrypted values',
      )
    }
    const { wallet, config, account } = target
    const context = {
      config,
      account,
      keys: walletKeys(config, account),
      roots: await this.#anchors(wallet),
      now: () => new Date(this.#parts.clock.realMs()),
    }
    const answer = this.#openBy(wallet, token, context)
    return 'class' in answer
      ? { is: 'refused', wallet: wallet.name, class: answer.class }
      : { is: 'opened', card: answer, replay: replayOf(wallet, answer) }
  }

  /** An error of a wallet may quote the token, so nothing of it but its kind leaves this place. */
  #openBy(
    wallet: Wallet,
    token: string,
    context: Parameters<Wallet['open']>[1],
  ): OpenedToken | { readonly class: RefusedBy['class'] } {
    try {
      const answer = wallet.open(token, context)
      if (answer.is === 'refused') return { class: answer.class }
      return isUsable(answer) ? answer : { class: 'content' }
    } catch (error) {
      const kind = error instanceof Error ? error.constructor.name : typeof error
      this.#parts.log.warn({ wallet: wallet.name, error: kind }, 'a wallet threw')
      return { class: 'threw' }
    }
  }

  /** Undefined: this channel takes no tokens of the wallet. */
  async target({ id }: Pick<Channel, 'id'>, field: WalletField): Promise<WalletTarget | undefined> {
    const { registry, directory, open, environment } = this.#parts
    const loaded = registry.walletOf(field)
    if (loaded === undefined) return undefined
    const { wallet, config } = loaded
    const mode = environment === 'live' ? 'LIVE' : 'EXTERNAL'
    const isOurs = (row: AccountRow) =>
      row.active && row.mode === mode && row.connector === wallet.name
    const account = (await directory.accounts(id)).find(isOurs)
    return account === undefined ? undefined : { wallet, config, account: await open(account) }
  }

  /** What the button of the wallet needs in a browser; undefined where this channel has none. */
  async facts(channel: Pick<Channel, 'id'>, field: WalletField): Promise<WalletFacts | undefined> {
    const found = await this.target(channel, field)
    const { wallet, config, account } = found ?? {}
    return wallet?.button?.facts(config!, account!, this.#parts.environment)
  }

  /**
   * The wallet's word that a page belongs to the merchant, as JSON; undefined where this channel has no button.
   *
   * @param page Host name of the page.
   * @throws GatewayError 503 when the wallet gives none now.
   */
  async session(
    channel: Pick<Channel, 'id'>,
    field: WalletField,
    page: string,
  ): Promise<string | undefined> {
    const found = await this.target(channel, field)
    if (found === undefined || (await this.facts(channel, field)) === undefined) return undefined
    const request = found.wallet.button?.session?.(found.config, found.account, page)
    return request === undefined ? undefined : this.#sessionBy(found.wallet.name, request)
  }

  async #sessionBy(
    wallet: string,
    { url, json, tls }: ReturnType<NonNullable<NonNullable<Wallet['button']>['session']>>,
  ): Promise<string> {
    const { clock, outgoing, log } = this.#parts
    const withinMs = limits.walletDocumentMs
    const deadlineMs = clock.elapsedMs() + withinMs
    const sendBy = { monotonicMs: deadlineMs, wallMs: clock.realMs() + withinMs }
    const call = outgoing.forCall({ deadlineMs, sendBy })
    try {
      const answer = await call.http.post(url, json, { tls, maxBytes: limits.walletSessionBytes })
      if (answer.status !== 200) throw new Error(`the answer has the status ${answer.status}`)
      return JSON.stringify(answer.json())
    } catch (error) {
      const why = error instanceof Error ? error.message : typeof error
      log.warn({ wallet, why }, 'a wallet did not recognise a page of the merchant')
      throw new GatewayError('999.999.888', {
        status: 503,
        description: 'The wallet did not recognise the page. Pay in another way, or try again.',
        retryAfterSeconds: 5,
      })
    } finally {
      call.finish()
    }
  }

  async #anchors({ name }: Wallet): Promise<readonly string[]> {
    const anchors = this.#roots.get(name)!
    return 'url' in anchors ? [await this.#parts.documents.get(anchors)] : anchors
  }

  #anchorsOf({ wallet: { trust }, config }: LoadedWallet, roots: WalletRoots): Anchors {
    if (roots.is === 'fixed') return roots.anchors
    const now = () => new Date(this.#parts.clock.realMs())
    return { url: roots.url, isUsable: (text) => trust?.usable?.(text, config, now()) ?? true }
  }
}

/** @throws PluginError: a live engine must not trust a test system, whose tokens anybody can get. */
function rootsOf({ wallet, config }: LoadedWallet, environment: Environment): WalletRoots {
  const { trust, name } = wallet
  if (trust === undefined) return { is: 'fixed', anchors: [] }
  const test = trust.testSettings.find((setting) => config[setting] !== undefined)
  if (environment === 'live' && test !== undefined) {
    throw wrong(
      name,
      `${test} is for the test environment, so a live engine does not start with it`,
    )
  }
  let roots: WalletRoots
  try {
    roots = trust.roots(config, environment)
  } catch (error) {
    throw wrong(name, error instanceof Error ? error.message : 'the trust anchors cannot be read')
  }
  if (environment === 'live' && roots.is === 'document' && !roots.url.startsWith('https://')) {
    throw wrong(name, `the address of the trust anchors must begin with https://`)
  }
  return roots
}

const wrong = (name: string, why: string) =>
  new PluginError('bad-setting', `connectors.${name}: ${why}`)

const unfit = (field: WalletField, why: string) =>
  new GatewayError('600.200.200', {
    parameterErrors: [{ name: `${field}.paymentToken`, message: `cannot be opened here: ${why}` }],
  })

/** Without a number, a proof or an end there is nothing to pay with, or nothing that keeps it from paying twice. */
const isUsable = (card: OpenedToken): boolean =>
  Sensitive.is(card.number) &&
  /^[0-9]{8,19}$/.test(String(card.number.reveal())) &&
  /^(?:0[1-9]|1[0-2])$/.test(card.expiryMonth) &&
  /^[0-9]{4}$/.test(card.expiryYear) &&
  (card.numberType === 'PAN' || (card.numberType === 'DPAN' && Sensitive.is(card.cryptogram))) &&
  typeof card.replayId === 'string' &&
  card.replayId !== '' &&
  card.replayUntil instanceof Date &&
  Number.isFinite(card.replayUntil.getTime())

/** An id may be long, and is nobody's business. */
function replayOf({ name }: Wallet, { replayId, replayUntil }: OpenedToken): Replay {
  return { wallet: name, hash: hash('sha256', replayId, 'buffer'), until: replayUntil }
}
