/** Acquirer accounts as operators see them. */

/** An account without its secrets. */
export type AccountView = {
  readonly id: string
  readonly channelId: string
  readonly connector: string
  readonly mode: 'EXTERNAL' | 'LIVE'
  /** Null: all brands of the connector. */
  readonly brands: readonly string[] | null
  /** Among the accounts of a channel, the lowest position that fits takes a payment. */
  readonly position: number
  readonly settings: Readonly<Record<string, unknown>>
  /** False: the account takes no new payments. */
  readonly active: boolean
  readonly createdAt: Date
}

export type ShownAccount = AccountView & {
  /** Names of the secret settings that the account has. */
  readonly secrets: readonly string[]
  /** The URL for the acquirer's messages; null without a public URL, absent for connectors without messages. */
  readonly eventsUrl?: string | null
}

/** A connector that accounts can name. */
export type ConnectorView = {
  readonly name: string
  readonly title: string
  /** Modes that it serves. */
  readonly modes: readonly ('INTERNAL' | 'EXTERNAL' | 'LIVE')[]
  readonly hasCheck: boolean
  readonly settings: readonly {
    readonly name: string
    readonly meaning: string
    readonly isSecret: boolean
    readonly isRequired: boolean
  }[]
}

/** How many accounts a connector has in a mode. */
export type AccountCount = {
  readonly connector: string
  readonly mode: 'EXTERNAL' | 'LIVE'
  readonly enabled: number
  readonly disabled: number
}

export type AccountEdit = {
  /** Null or empty: all brands. */
  readonly brands?: readonly string[] | null
  /** 0 to 1000. */
  readonly position?: number
  /** Open settings; others keep their values. An empty text removes an optional one. */
  readonly settings?: Readonly<Record<string, unknown>>
}
