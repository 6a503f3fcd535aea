/** The options of the traces. */

export type TracingOptions = {
  /**
   * The collector: `http://127.0.0.1:4318`. Without a path of its own, the standard one is added. Without
   * an address, the standard variables apply: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, `OTEL_EXPORTER_OTLP_ENDPOINT`, their headers
   * and certificates.
   */
  readonly url?: string
  /** Name of the service in traces. Default: the name of the engine. */
  readonly serviceName?: string
  /** Share of traces that begin here and are kept, from 0 to 1. Default: 1. */
  readonly ratio?: number
  /**
   * What `traceparent` of a client means: `link` begins a trace of its own with a link to the client's, and
   * `ratio` decides whether it is kept; `continue` makes the request a part of the client's trace, and the client
   * decides; `ignore` does neither. Default: `link`. Use `continue` only where all clients are your own.
   */
  readonly incoming?: 'continue' | 'link' | 'ignore'
  /** Send `traceparent` along to acquirers and merchants. Default: true. */
  readonly outgoing?: boolean
  /**
   * `own` sends traces by itself. `global` makes spans with the SDK that the program registered with
   * `@opentelemetry/api`. Default: `own`.
   */
  readonly sdk?: 'own' | 'global'
}

/** An option that is wrong. The message names it and says what would be right. */
export class TracingOptionsError extends Error {
  override readonly name = 'TracingOptionsError'
}

export type Options = Omit<TracingOptions, 'url' | 'serviceName'> &
  Required<Omit<TracingOptions, 'url' | 'serviceName'>> & {
    readonly url: string | undefined
    readonly serviceName: string | undefined
  }

/** @throws TracingOptionsError */
export function checkedOptions(given: TracingOptions): Options {
  const known = ['url', 'serviceName', 'ratio', 'incoming', 'outgoing', 'sdk']
  const other = Object.keys(given).find((name) => !known.includes(name))
  if (other !== undefined) throw wrong(other, `is no option: use ${known.join(', ')}`)
  const { url, serviceName, ratio = 1, incoming = 'link', outgoing = true, sdk = 'own' } = given
  if (url !== undefined && !/^https?:$/.test(URL.parse(url)?.protocol ?? '')) {
    throw wrong('url', 'must be an address such as http://127.0.0.1:4318')
  }
  if (serviceName !== undefined && (typeof serviceName !== 'string' || serviceName === '')) {
    throw wrong('serviceName', 'must be a text')
  }
  if (typeof ratio !== 'number' || !(ratio >= 0 && ratio <= 1)) {
    throw wrong('ratio', 'must be a number from 0 to 1')
  }
  if (!['continue', 'link', 'ignore'].includes(incoming)) {
    throw wrong('incoming', "must be 'continue', 'link' or 'ignore'")
  }
  if (typeof outgoing !== 'boolean') throw wrong('outgoing', 'must be true or false')
  if (sdk !== 'own' && sdk !== 'global') throw wrong('sdk', "must be 'own' or 'global'")
  return { url, serviceName, ratio, incoming, outgoing, sdk }
}

const wrong = (name: string, what: string) => new TracingOptionsError(`tracing: ${name} ${what}`)
