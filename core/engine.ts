/**
 * The shared parts of one engine. Created by createGateway(), never global, since several engines
 * may live in one process.
 */

import type { Log } from '@tollgate/plugin-kit'
import type { Alarm } from './audit/alarm.ts'
import type { CardTesting } from './card-testing/card-testing.ts'
import type { Clock } from './clock.ts'
import type { Services } from './connector/call.ts'
import type { Registry } from './connector/registry.ts'
import type { Lanes } from './db/lanes.ts'
import type { Directory } from './entity/directory.ts'
import type { EventBus } from './event/bus.ts'
import type { TwoPeople } from './four-eyes/two-people.ts'
import type { UrlCheck } from './net/address.ts'
import type { Outgoing } from './net/http.ts'
import type { InFlight } from './process/in-flight.ts'
import type { SetupChanges } from './process/setup-changes.ts'
import type { ShopperQuestions } from './process/shopper-questions.ts'
import type { ShortNumbers } from './process/short-numbers.ts'
import type { WebhookSlots } from './process/webhook-slots.ts'
import type { PaymentJobs } from './queue/types.ts'
import type { Targets } from './routing/targets.ts'
import type { StepLog } from './transcript/log.ts'
import type { DistinctNumbers } from './vault/distinct-numbers.ts'
import type { HeldSecrets } from './vault/held-secrets.ts'
import type { ReturnPlace } from './vault/return-tokens.ts'
import type { Vault } from './vault/vault.ts'
import type { Wallets } from './wallet/wallets.ts'
import type { WidgetFiles } from './widget-files/files.ts'

export type Environment = 'test' | 'live'

/** The widget's script, addressed by its hash. */
export type WidgetScript = {
  /** Part of its address. */
  readonly scriptHash: string
  /** Value of the `integrity` attribute: `sha384-…`. */
  readonly integrity: string
}

export type Engine = {
  readonly name: string
  readonly environment: Environment
  /** The number of the database among those of its installation. */
  readonly pod: number
  readonly clock: Clock
  readonly lanes: Lanes
  readonly vault: Vault
  readonly directory: Directory
  readonly registry: Registry
  readonly targets: Targets
  readonly services: Services
  /** Open encrypted tokens of wallets. */
  readonly wallets: Wallets
  readonly shortNumbers: ShortNumbers
  readonly inFlight: InFlight
  /** Counts recent failures, and refuses card testers. */
  readonly cardTesting: CardTesting
  readonly events: EventBus
  /** Asks for the second person where the installation requires one. */
  readonly two: TwoPeople
  /** Records calls of acquirers, written after the payments. */
  readonly steps: StepLog
  /** The queued and failed work about payments. */
  readonly jobs: PaymentJobs
  readonly log: Log
  readonly securityLog: Log
  /** Raises an alarm in the security log, limited in rate. */
  readonly alarm: Alarm
  /** Whether a merchant may ask the engine to call a URL. */
  checkUrl(url: string): UrlCheck
  /** The way to merchants' URLs, under a rule of their own: connectors may reach more. */
  readonly toMerchants: Outgoing
  /**
   * The address behind a name at which a merchant's file server may be reached.
   *
   * @throws TransferError
   */
  merchantAddress(host: string, port: number): Promise<string>
  /** Whether merchants see the responses of their URLs: not when URLs may lead to this machine. */
  readonly showsAnswers: boolean
  /** Tests of webhook endpoints under way. */
  readonly webhookTests: WebhookSlots
  /** Changes of the configuration, by token. */
  readonly setupChanges: SetupChanges
  /** Tests of report destinations under way. */
  readonly reportTests: WebhookSlots
  /** Replays under way. */
  readonly webhookReplays: WebhookSlots
  /** The name of this installation in ids of checkouts. */
  readonly node: string
  /** The script that new checkouts are served; undefined: none. */
  readonly widget: WidgetScript | undefined
  /** Card numbers that tokens and channels came with lately. */
  readonly distinctNumbers: DistinctNumbers
  /** The served versions of the widget; `current` is the one of new checkouts. */
  readonly widgetFiles: WidgetFiles
  /** The origin of card fields; undefined: that of the script, in test only. */
  readonly fieldsUrl: string | undefined
  readonly shopperQuestions: ShopperQuestions
  /** Security codes of shoppers who are away at a challenge. */
  readonly heldSecrets: HeldSecrets
  /**
   * Where the shopper of an attempt comes back to, in the whole tab or in a frame of the widget;
   * undefined without a public address.
   */
  returnUrl(paymentId: string, attemptKey: string, where?: ReturnPlace): string | undefined
  /** How long one operation at an acquirer may take. */
  readonly connectorTimeoutMs: number
}
