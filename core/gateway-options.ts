import type { Job, Log, Plugin } from '@tollgate/plugin-kit'
import type { Clock } from './clock.ts'
import type { DatabaseOptions } from './db/database.ts'
import type { Environment } from './engine.ts'
import type { Thresholds } from './entity/card-testing-settings.ts'
import type { LoopbackRule } from './net/address.ts'
import type { PodPlace } from './vault/installation-key.ts'
import type { KeyProvider } from './vault/keys.ts'
import type { WidgetRelease } from './widget-files/types.ts'

export type Role = 'all' | 'api' | 'worker'

export type GatewayOptions = {
  /** Shown in logs and metrics; several engines in one process have several names. Default `tollgate`. */
  readonly name?: string
  /** Without a `url`, as of an unset variable, the start is refused by name. */
  readonly database: Omit<DatabaseOptions, 'url'> & { readonly url: string | undefined }
  /** The number of the database among several of one installation. Default: 0, the only one. */
  readonly pod?: PodPlace
  /** Connectors, wallets, jobs. testMode=INTERNAL needs a simulator plugin. */
  readonly plugins: readonly Plugin[]
  /** Settings of connectors, by connector name. */
  readonly connectors?: Readonly<Record<string, Record<string, unknown>>>
  /** `test` never touches real money; a token of one environment never works in the other. */
  readonly environment: Environment
  /** Key-encryption keys of the vault. Closing the gateway does not close the provider. */
  readonly keys: KeyProvider
  /**
   * How long the gateway uses data keys from memory while the key provider is unavailable, in
   * milliseconds. It opens them again after a quarter of this time. Default: four hours.
   */
  readonly keyCacheMs?: number
  readonly clock?: Clock
  /** `api` takes requests, `worker` runs jobs, `all` does both. Default `all`. */
  readonly role?: Role
  /** Run pending migrations at start. Default true. */
  readonly migrate?: boolean
  /**
   * The public URL of the gateway, for messages of acquirers and returning shoppers: `https://pay.example.com`. A function
   * if the URL is known only later.
   */
  readonly publicUrl?: string | (() => string | undefined)
  /** The origin of the widget's card fields: `https://fields.example.com`. Live checkouts need one. */
  readonly fieldsUrl?: string
  /** How long an operation at an acquirer may take, in milliseconds. Default 30,000. */
  readonly connectorTimeoutMs?: number
  /** Lets connectors reach this machine's loopback. Test environment only; default true there. */
  readonly allowLoopback?: boolean
  /**
   * Allows merchants' URLs (webhooks and `notificationUrl`) on this machine's loopback: on every
   * port, or all but some. Merchants do not see the responses of such URLs. Test environment only, and
   * refused on live; default false.
   */
  readonly allowLoopbackForMerchants?: LoopbackRule
  /**
   * Retention of acquirers' transcripts in days, to the end of a month. Default 90; 0 keeps none.
   */
  readonly stepDays?: number
  /**
   * Require two people, one to propose and one to confirm, for access tokens, acquirer accounts, data
   * key rotations and changes to operators who administer. Default false.
   */
  readonly fourEyes?: boolean
  /** Cost of hashing operators' passwords, as a power of two. Test environment only. Default 15. */
  readonly passwordLogRounds?: number
  /**
   * Thresholds of declined payments per merchant, beyond which further attempts are refused: of one
   * card number in a day; of one shopper's address, BIN, channel and token in an hour. 0: never. On
   * live the default is 10, 30, 300, 1000 and 1000, in test 0.
   */
  readonly cardTesting?: Partial<Thresholds>
  /** The widget that new checkouts are served. Without one, checkouts have a page of their own at most. */
  readonly widget?: WidgetRelease
  readonly log?: Log
  /**
   * The log for alarms and for the ends of the audit trail's chain. Default: the log, with the mark
   * `security`.
   */
  readonly securityLog?: Log
  /** Jobs of the embedding program. */
  readonly jobs?: readonly Job[]
  /** Start the exporters of plugins, which may open ports. Default true. */
  readonly exporters?: boolean
  /** Compile the checks of the most common requests at the start, so that the first of them does not wait. Default true. */
  readonly warm?: boolean
  /** Time that running operations get to finish at close, in milliseconds. Default 40,000. */
  readonly shutdownGraceMs?: number
  /**
   * How long a start waits for a database that is away, in seconds. A wrong password or a database that does
   * not exist ends it at once. Default 60.
   */
  readonly startWait?: number
  /** Hears how long each stage of the start took, in milliseconds. */
  readonly onStage?: (stage: StartStage, durationMs: number) => void
}

/** The stages of a start, in their order. */
export type StartStage =
  | 'reaching the database'
  | 'compiling checks of requests'
  | 'migrating tables'
  | 'opening the vault'
  | 'publishing the widget'
  | 'starting exporters'
  | 'starting the job queue'
  | 'joining the other processes'
  | 'starting jobs'
