import type { Row } from '@tollgate/schemas'
import { Sensitive } from './sensitive.ts'
import type { Settings, SettingsOf } from './settings.ts'
import { pemKeys } from './strict.ts'

/** The group of the API whose `paymentToken` a wallet opens. */
export type WalletField = 'applePay' | 'googlePay' | 'samsungPay'

/** Why a token is refused. Merchants see one error for all of them; the step log has the class. */
export type WalletRefusal =
  /** Not the structure of a token of this wallet. */
  | 'malformed'
  /** A version that is not allowed here. */
  | 'version'
  /** An algorithm that is not allowed here. */
  | 'algorithm'
  /** No trust anchor for this version, or none that is still valid. */
  | 'no-trusted-keys'
  /** The chain from the token to a trust anchor is broken. */
  | 'chain'
  | 'chain-expired'
  | 'signature'
  /** Signed too long ago, or in the future. */
  | 'stale'
  | 'expired'
  /** Made for another gateway or merchant, or for a key that is not here. */
  | 'recipient'
  /** Wrong tag, padding or point: one class, because more would help a forger. */
  | 'decryption'
  /** Opened, but without a usable card. */
  | 'content'

export type OpenedToken = {
  is: 'opened'
  number: Sensitive
  /** `DPAN`: a device number with its cryptogram. `PAN`: the card's own number, which proves nothing. */
  numberType: 'DPAN' | 'PAN'
  /** Two digits. */
  expiryMonth: string
  /** Four digits. */
  expiryYear: string
  /** Proof of the device for one payment, in base64. Required with `DPAN`. */
  cryptogram?: Sensitive
  /** Two digits. */
  eci?: string
  /** The card's network, in the wallet's words. */
  network?: string
  /** Where the token names it: minor units, and the currency's ISO 4217 code in letters or in digits. */
  amount?: { readonly minor: bigint; readonly currency: string }
  /** Unique for a token of this wallet. */
  replayId: string
  /** From this time on, `open` refuses the token by itself. */
  replayUntil: Date
  /** How the wallet made sure of the shopper: `CRYPTOGRAM_3DS` or `PAN_ONLY`, say. */
  authMethod: string
}

export type RefusedToken = { is: 'refused'; class: WalletRefusal }

/** Everything that `open` may know. */
export type WalletContext<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  readonly config: Config
  /** Of the channel that the payment is for. */
  readonly account: Account
  /**
   * Private keys in PEM: those of the account's setting `privateKeys`, then those of the installation's. Several, so
   * that tokens under an old key open while a new one comes into use.
   */
  readonly keys: readonly Sensitive[]
  /** The texts of the wallet's trust anchors in this environment. */
  readonly roots: readonly string[]
  /** Real time; test clocks do not move it. */
  now(): Date
}

/** Where the trust anchors of a wallet come from. */
export type WalletRoots =
  | { readonly is: 'fixed'; readonly anchors: readonly string[] }
  /** A document that the engine fetches, keeps as long as its headers allow, and refreshes before. */
  | { readonly is: 'document'; readonly url: string }

/** A mobile wallet: turns an encrypted payment token into a card. It moves no money and needs no network. */
export type Wallet<Config = Record<string, unknown>, Account = Record<string, unknown>> = {
  /** Lower case, digits, hyphens; unlike the name of any connector. */
  readonly name: string
  readonly title: string
  readonly field: WalletField
  readonly contract: number
  /** Settings of the installation. A row `privateKeys` has keys in PEM, several in one text. */
  readonly config?: Settings
  /** Settings of one merchant account, which a channel needs to take tokens. The same row may stand here. */
  readonly account?: Settings
  /** Absent for a wallet whose tokens nobody signs. */
  readonly trust?: {
    /** @throws Error when the settings name no anchor that this environment may trust. */
    roots(config: Config, environment: 'test' | 'live'): WalletRoots
    /**
     * Whether a fetched document has an anchor that opens tokens now. The engine does not keep another one, such as an
     * error in JSON, in place of the document before. Required where `roots` names a document.
     */
    usable?(document: string, config: Config, now: Date): boolean
    /** Settings that name anchors of test systems. A live engine with one of them does not start. */
    readonly testSettings: readonly string[]
  }
  /** Opens a token. Never throws for a token, whatever is in it. */
  open(token: string, context: WalletContext<Config, Account>): OpenedToken | RefusedToken
  /** Whether keys, certificates and settings fit each other, for the person who adds an account. */
  check?(
    context: WalletContext<Config, Account>,
  ): { readonly ok: true } | { readonly ok: false; readonly why: string }
  /** For the wallet's button in the browser of a shopper. */
  readonly button?: WalletButton<Config, Account>
}

/** Facts about a merchant for the wallet's sheet in a browser. Nothing of them is secret. */
export type WalletFacts = {
  /** The wallet's own word for the environment. */
  readonly environment?: string
  /** Id of the gateway at the wallet, and of the merchant at the gateway. */
  readonly gateway?: string
  readonly gatewayMerchantId?: string
  /** Id of the merchant at the wallet. */
  readonly merchantId?: string
  /** Shown to the shopper. */
  readonly merchantName?: string
  /** ISO 3166-1, two letters. */
  readonly country?: string
}

/** What the widget needs for the button of a wallet. */
export type WalletButton<Config, Account> = {
  /** Undefined: this account has no button. */
  facts(config: Config, account: Account, environment: 'test' | 'live'): WalletFacts | undefined
  /**
   * The request by which the wallet learns that a page belongs to the merchant, where it needs one. The engine sends it
   * and gives the answer to the page.
   *
   * @param page Host name of the page.
   */
  session?(
    config: Config,
    account: Account,
    page: string,
  ): {
    readonly url: string
    readonly json: Readonly<Record<string, string>>
    readonly tls: { readonly cert: string; readonly key: Sensitive }
  }
}

/** Declares a wallet. Types of `context.config` and `context.account` follow from the tables. */
export function defineWallet<
  const ConfigRows extends readonly Row[] = readonly [],
  const AccountRows extends readonly Row[] = readonly [],
>(
  wallet: Omit<Wallet<SettingsOf<ConfigRows>, SettingsOf<AccountRows>>, 'config' | 'account'> & {
    readonly config?: Settings<ConfigRows>
    readonly account?: Settings<AccountRows>
  },
): Wallet {
  return wallet as unknown as Wallet
}

export const refusedToken = (why: WalletRefusal): RefusedToken => ({ is: 'refused', class: why })

/** The keys of a context: the account's, then the installation's, each list in its order. */
export function walletKeys(
  config: Readonly<Record<string, unknown>>,
  account: Readonly<Record<string, unknown>>,
): readonly Sensitive[] {
  return [account.privateKeys, config.privateKeys].flatMap((text) =>
    typeof text === 'string' ? pemKeys(text).map((pem) => new Sensitive(pem)) : [],
  )
}
