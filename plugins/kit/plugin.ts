import type { Connector } from './connector.ts'

/** A wallet turns an encrypted payment token into an instrument. Its contract comes with the wallets. */
export type Wallet = { readonly name: string }

/** What a job handler of a plugin gets. */
export type JobRun = {
  readonly id: string
  readonly signal: AbortSignal
}

export type Job<Payload extends object = object> = {
  readonly name: string
  /** Attempts after the first, and the pause before each, doubling. */
  readonly retry?: { readonly limit: number; readonly delaySeconds: number }
  /** How many run at once in one process. */
  readonly concurrency?: number
  /** Payloads hold ids only. Must be safe to run twice. */
  run(payload: Payload, run: JobRun): Promise<void>
}

/** What happened to a payment, told after it was committed. */
export type GatewayEvent = {
  readonly id: string
  readonly type: string
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
  readonly wallets?: readonly Wallet[]
  readonly jobs?: readonly Job[]
  /** Called in this process, best effort, after commit. */
  readonly on?: (event: GatewayEvent) => void
}

/** Declares a plugin: a name and what it brings. */
export function definePlugin(plugin: Plugin): Plugin {
  return plugin
}

export function defineJob<Payload extends object>(job: Job<Payload>): Job<Payload> {
  return job
}
