import type { Authenticator } from './authenticator.ts'
import type { Connector } from './connector.ts'
import type { Exporter } from './exporter.ts'
import type { Pages } from './page.ts'
import type { Server } from './server.ts'
import type { Transfer } from './transfer.ts'
import type { Wallet } from './wallet.ts'

/** The arguments of a plugin's job handler. */
export type JobRun = {
  readonly id: string
  readonly signal: AbortSignal
}

export type Job<Payload extends object = object> = {
  readonly name: string
  /** Attempts after the first, and the pause before the first of them, which then doubles. */
  readonly retry?: { readonly limit: number; readonly delaySeconds: number }
  /** Simultaneous runs in one process. */
  readonly concurrency?: number
  /** Payloads contain only ids. A second run must be safe. */
  run(payload: Payload, run: JobRun): Promise<void>
}

/** A committed event of a payment, registration, schedule or webhook endpoint. */
/** What an event tells of its resource. */
export type GatewayEventType =
  | `payment.${'pending' | 'approved' | 'declined' | 'unknown' | 'expired'}`
  | `registration.${'updated' | 'removed' | 'expiring'}`
  | `schedule.${'created' | 'changed' | 'cancelled' | 'ended' | 'missed' | 'execution.failed'}`
  | 'webhook.disabled'

export type GatewayEvent = {
  readonly id: string
  readonly type: GatewayEventType
  readonly resource: string
  readonly channelId: string
  readonly sequence: number
  readonly at: Date
  readonly data: Readonly<Record<string, unknown>>
}

export type Plugin = {
  readonly name: string
  readonly contract: number
  readonly connectors?: readonly Connector[]
  readonly authenticators?: readonly Authenticator[]
  /** Open encrypted payment tokens. */
  readonly wallets?: readonly Wallet[]
  readonly jobs?: readonly Job[]
  /** Called in this process after the commit. A crash can lose calls. */
  readonly on?: (event: GatewayEvent) => void
  /** Pages for the shopper in test set-ups, an issuer's challenge say. */
  readonly pages?: Pages
  /** File protocols by which the engine reaches folders on other machines. */
  readonly transfers?: readonly Transfer[]
  /** Servers that a process of their own runs. */
  readonly servers?: readonly Server[]
  /** Tell other systems how the engine does. */
  readonly exporters?: readonly Exporter[]
}

/** Declares a plugin: a name and its parts. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin
}

export function defineJob<Payload extends object>(job: Job<Payload>): Job<Payload> {
  return job
}
