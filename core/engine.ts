/** What every part of one engine shares. Made by createGateway(), never global: several engines may live in one process. */
import type { Log } from '@tollgate/plugin-kit'
import type { Alarm } from './audit/alarm.ts'
import type { Clock } from './clock.ts'
import type { Services } from './connector/call.ts'
import type { Registry } from './connector/registry.ts'
import type { Lanes } from './db/lanes.ts'
import type { Directory } from './entity/directory.ts'
import type { EventBus } from './events.ts'
import type { PaymentJobs } from './jobs/payment-jobs.ts'
import type { UrlCheck } from './net/address.ts'
import type { Running } from './payment/running.ts'
import type { ShortNumbers } from './payment/short-numbers.ts'
import type { Targets } from './routing/targets.ts'
import type { StepLog } from './step/log.ts'
import type { Vault } from './vault/vault.ts'

export type Environment = 'test' | 'live'

export type Engine = {
  readonly name: string
  readonly environment: Environment
  readonly clock: Clock
  readonly lanes: Lanes
  readonly vault: Vault
  readonly directory: Directory
  readonly registry: Registry
  readonly targets: Targets
  readonly services: Services
  readonly shortNumbers: ShortNumbers
  readonly running: Running
  readonly events: EventBus
  /** What was said between us and acquirers, written behind the payments. */
  readonly steps: StepLog
  /** The queued and failed work about payments. */
  readonly jobs: PaymentJobs
  readonly log: Log
  readonly securityLog: Log
  /** Something that somebody has to be woken for: into the security log, never as a flood. */
  readonly alarm: Alarm
  /** Whether the engine may be asked to call a URL. */
  checkUrl(url: string): UrlCheck
  /** How long one operation at an acquirer may take. */
  readonly connectorTimeoutMs: number
}
