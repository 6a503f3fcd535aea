import type { Job, Log, Plugin } from '@tollgate/plugin-kit'
import type { Clock } from './clock.ts'
import type { DatabaseOptions } from './db/database.ts'
import type { Environment } from './engine.ts'
import type { Thresholds } from './entity/card-testing-settings.ts'
import type { LoopbackRule } from './net/address.ts'
import type { KeyProvider } from './vault/keys.ts'
import type { WidgetRelease } from './widget-files/types.ts'

export type Role = 'all' | 'api' | 'worker'

export type GatewayOptions = {
  /** Shown in logs and metrics; several engines in one process have several names. Default `tollgate`. */
  readonly name?: string
  readonly database: DatabaseOptions
  /** Connectors, wallets, jobs. testMode=INTERNAL needs a simulator plugin. */
  readonly plugins: readonly Plugin[]
  /** Settings of connectors, by connector name. */
  readonly connectors?: Readonly<Record<string, Record<string, unknown>>>
  /** `test` never touches real money; a token of one environment never works in the other. */
  readonly environment: Environment
  /** Key-encryption keys of the vault. They stay the caller's: closing the gateway leaves them open. */
  readonly keys: KeyProvider
  /**
   * How long data keys are used from memory while the key provider does not answer, in milliseconds.
   * They are opened again after a quarter of it. Default four hours.
   */
  readonly keyCacheMs?: number
  readonly clock?: Clock
  /** `api` takes requests, `worker` runs jobs, `all` does both. Default `all`. */
  readonly role?: Role
  /** Bring the schema up to date at start. Default true. */
  readonly migrate?: boolean
  /**
   * The URL under which shoppers come back and acquirers send events: `https://pay.example.com`. A function where it is
   * known later only.
   */
  readonly publicUrl?: string | (() => string | undefined)
  /** The origin of the widget's card fields: `https://fields.example.com`. Live checkouts need one. */
  readonly fieldsUrl?: string
  /** Longest an operation at an acquirer may take, in milliseconds. Default 30,000. */
  readonly connectorTimeoutMs?: number
  /** Lets connectors reach this machine's loopback. Test environment only; default true there. */
  readonly allowLoopback?: boolean
  /**
   * Allows merchants' URLs (webhooks and `notificationUrl`) on this machine's loopback: on every
   * port, or all but some. Merchants do not see the responses of such URLs. Test environment only;
   * default false.
   */
  readonly allowLoopbackForMerchants?: LoopbackRule
  /**
   * Retention of acquirers' transcripts in days, to the end of a month. Default 90; 0 keeps none.
   */
  readonly stepDays?: number
  /**
   * Two people decide about tokens, acquirer accounts, data keys and administrators: one proposes,
   * another confirms. Default false.
   */
  readonly fourEyes?: boolean
  /** Work for each operator's password, as a power of two. Test environment only; 15 on live, and unless given. */
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
  /** Time that running operations get to finish at close, in milliseconds. Default 40,000. */
  readonly shutdownGraceMs?: number
}
