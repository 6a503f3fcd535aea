/** A card in a test token. Use test numbers, because the suite searches for them everywhere. */
export type TokenScene = {
  readonly number: string
  readonly numberType: 'DPAN' | 'PAN'
  /** Two digits. */
  readonly expiryMonth: string
  /** Four digits. */
  readonly expiryYear: string
  /** In base64; with `DPAN` only. */
  readonly cryptogram?: string
  /** Two digits. */
  readonly eci?: string
  /** Minor units, and ISO 4217's letters. */
  readonly amount: { readonly minor: bigint; readonly currency: string }
  /** The moment at which the wallet makes the token. */
  readonly at: Date
}

/** A deviation of a token that is otherwise perfect: signed, sealed and addressed as a good one. */
export type TokenFlaw =
  /** The tag of the encryption misses its last bytes. */
  | 'cut-tag'
  /** A text that the tag does not fit. */
  | 'wrong-tag'
  /** Signed by somebody whose anchor is `foreignRoots`. */
  | 'foreign-root'
  /** For `foreignAccount`, under the keys of ours. */
  | 'foreign-recipient'
  /** Under a key that is not ours. */
  | 'foreign-key'
  /** Of a version or with an algorithm that is not allowed. */
  | 'old-version'
  /** Under the last key of ours, which a rotation is about to remove: a good token. */
  | 'last-key'
  /** An encrypted text without a card. */
  | 'no-card'

/** An author's description of a wallet for the suite: it makes tokens as the wallet does. */
export type WalletSandbox = {
  /** Settings of an installation and of an account; `privateKeys` has two keys at least, newest first. */
  readonly settings: {
    readonly config: Readonly<Record<string, unknown>>
    readonly account: Readonly<Record<string, unknown>>
  }
  /** The trust anchors of this wallet. Empty for a wallet whose tokens nobody signs. */
  readonly roots: readonly string[]
  readonly foreignRoots: readonly string[]
  /** Another merchant at the same installation. */
  readonly foreignAccount: Readonly<Record<string, unknown>>
  readonly numberTypes: readonly TokenScene['numberType'][]
  /** Whether tokens name an amount. */
  readonly namesAmount: boolean
  /** Flaws that no token of this wallet can have, with the reason. */
  readonly without?: Readonly<Partial<Record<TokenFlaw, string>>>
  make(scene: TokenScene, flaw?: TokenFlaw): string
  /**
   * Other texts that a forger without any key can make of a token, whose signature or tag may still fit: other
   * spellings of what nobody signed, and moved borders between parts that are signed as one.
   */
  readonly respelled?: (token: string) => readonly string[]
}
