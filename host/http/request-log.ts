/** Takes lines: fields that may be shown, then what happened. Pino fits. */
export type HostLog = {
  debug(fields: object, message: string): void
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  /** The same with fields in every line, at a level of its own. */
  child?(fields: object, options: { level: string }): HostLog
}

export const silent: HostLog = { debug() {}, info() {}, warn() {} }

const id = /^[0-9a-f]{32}$/
/** Whoever has the whole id of a checkout can pay it. */
const checkoutId = /^[0-9A-F]{32}\.[A-Za-z0-9-]+$/

/** The parts of a request in the log: never bodies, queries or headers. */
export type RequestLine = {
  readonly method: string
  /** Path of the endpoints table, not the client's. */
  readonly route: string
  readonly id?: string | undefined
  readonly status: number
  readonly code?: string | undefined
  readonly ms: number
  readonly token?: string | undefined
  readonly entity?: string | null | undefined
  readonly ndc: string
  /** The client left before it was answered. */
  readonly gone?: true | undefined
}

/** A path parameter is logged only when it is one of our ids: people paste anything into URLs. */
export const loggedId = (value: string | undefined): string | undefined =>
  value === undefined
    ? undefined
    : id.test(value)
      ? value
      : checkoutId.test(value)
        ? value.slice(0, 8)
        : undefined
