/** Exporters: parts of a plugin that run beside the engine and tell other systems how it does, in metrics or traces. */
import type { Log } from './connector.ts'

/** Connections of one lane. */
export type PoolState = {
  readonly lane: string
  /** Open connections. */
  readonly open: number
  /** Open connections without work. */
  readonly idle: number
  /** Statements that wait for a connection. */
  readonly waiting: number
}

/** Known without the database. */
export type ProcessState = {
  readonly pools: readonly PoolState[]
  /** Rows that wait for a flush of the group lane. */
  readonly rowsWaiting: number
  /** Payments, messages and late answers under way. */
  readonly underWay: number
  /** Calls under way, by connector. */
  readonly calls: Readonly<Record<string, number>>
}

/** The same for all processes of one database. Counts end at `most`. */
export type SharedState = {
  readonly most: number
  readonly jobs: readonly {
    readonly job: string
    /** Jobs that wait, by the count that the queue keeps: up to ten seconds old. */
    readonly queued: number
    readonly active: number
    /** Jobs that ran out of tries. */
    readonly dead: number
  }[]
  readonly notifications: {
    /** Events that no endpoint's queue has yet. */
    readonly unclaimed: number
    /** Notifications that wait. */
    readonly waiting: number
    /** Age of the oldest of both, in seconds; 0 without any. */
    readonly oldestSeconds: number
  }
  /** Open entries of the operators' list. */
  readonly attention: readonly {
    readonly kind: string
    readonly open: number
    readonly oldestSeconds: number
  }[]
}

/** The engine's side of an exporter. */
export type ExporterContext = {
  /** Name of the engine, as in the messages of its channels. */
  readonly engine: string
  readonly environment: 'test' | 'live'
  readonly role: 'all' | 'api' | 'worker'
  /** Version of Tollgate. */
  readonly version: string
  readonly log: Log
  process(): ProcessState
  /** @throws the database's error. Answers from memory for five seconds. */
  shared(): Promise<SharedState>
}

/** What the start of an exporter returns. */
export type RunningExporter = {
  /** Called once, after the last work of the engine. */
  close(): Promise<void>
}

/** Started with the engine. A start that fails ends the start of the engine. */
export type Exporter = {
  readonly name: string
  start(context: ExporterContext): Promise<RunningExporter>
}
