/** The options of the metrics. */

export type MetricsOptions = {
  /** Address to listen on. Default: `127.0.0.1`. Other machines reach the metrics only at another one. */
  readonly host?: string
  /** Port to listen on; 0: a free one. Default: 9464. */
  readonly port?: number
  /** Upper bounds of the latency histograms, in seconds, ascending. */
  readonly bucketsSeconds?: readonly number[]
}

/** An option that is wrong. The message names it and says what would be right. */
export class MetricsOptionsError extends Error {
  override readonly name = 'MetricsOptionsError'
}

export type Options = Required<MetricsOptions>

/** From half a millisecond, as commits take, to the longest call of an acquirer. */
const usualBuckets = [
  0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 300,
]

/** @throws MetricsOptionsError */
export function checkedOptions(given: MetricsOptions): Options {
  const known = ['host', 'port', 'bucketsSeconds']
  const other = Object.keys(given).find((name) => !known.includes(name))
  if (other !== undefined) throw wrong(other, `is no option: use ${known.join(', ')}`)
  const { host = '127.0.0.1', port = 9464, bucketsSeconds = usualBuckets } = given
  if (typeof host !== 'string' || host === '') throw wrong('host', 'must be an address')
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw wrong('port', 'must be a whole number from 0 to 65535')
  }
  const isAscending =
    Array.isArray(bucketsSeconds) &&
    bucketsSeconds.length > 0 &&
    bucketsSeconds.every((bound, at) => bound > (at === 0 ? 0 : bucketsSeconds[at - 1]!))
  if (!isAscending) throw wrong('bucketsSeconds', 'must be a list of ascending numbers above 0')
  return { host, port, bucketsSeconds }
}

const wrong = (name: string, what: string) => new MetricsOptionsError(`metrics: ${name} ${what}`)
