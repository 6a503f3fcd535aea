/** The features by which failed attempts at one merchant are counted, and their thresholds. */
import { limits } from '@tollgate/schemas'

/** In the order of their checks: the dimension that concerns the fewest shoppers first. */
export const dimensions = ['number', 'address', 'bin', 'channel', 'token'] as const
export type Dimension = (typeof dimensions)[number]

/** Number of failures in the window of each dimension from which attempts are refused; 0: never. */
export type Thresholds = Readonly<Record<Dimension, number>>

/** The entity setting that overrides the setting of the installation. */
export const settingOf: Readonly<Record<Dimension, string>> = {
  number: 'cardTestingNumber',
  address: 'cardTestingAddress',
  bin: 'cardTestingBin',
  channel: 'cardTestingChannel',
  token: 'cardTestingToken',
}

/** Dimensions that many shoppers share. Refused only while failures also exceed approvals. */
export const isWide = (dimension: Dimension): boolean =>
  dimension !== 'number' && dimension !== 'address'

export const windowMs = (dimension: Dimension): number =>
  dimension === 'number' ? limits.cardTestingNumberMs : limits.cardTestingMs

const onLive: Thresholds = { number: 10, address: 30, bin: 300, channel: 1000, token: 1000 }
const off: Thresholds = { number: 0, address: 0, bin: 0, channel: 0, token: 0 }

export const defaultThresholds = (environment: 'test' | 'live'): Thresholds =>
  environment === 'live' ? onLive : off

export const isOn = (thresholds: Thresholds): boolean =>
  dimensions.some((dimension) => thresholds[dimension] > 0)

/** The thresholds of a channel. Its own settings override those of the entities above. */
export function thresholdsOf(
  installation: Thresholds,
  settings: Readonly<Record<string, unknown>>,
): Thresholds {
  const own = (dimension: Dimension): number => {
    const value = settings[settingOf[dimension]]
    return typeof value === 'number' ? value : installation[dimension]
  }
  return {
    number: own('number'),
    address: own('address'),
    bin: own('bin'),
    channel: own('channel'),
    token: own('token'),
  }
}
