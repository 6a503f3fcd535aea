import type { GatewayOptions } from '@tollgate/core'
import type { HostSettings } from './read-settings.ts'

const failures = { kind: 'integer', min: 0, max: 1_000_000 } as const

/** From how many declined payments of one merchant on further ones are refused. 0: never. */
export const cardTestingSettings = [
  {
    name: 'cardTestingNumber',
    env: 'TOLLGATE_CARD_TESTING_NUMBER',
    format: failures,
    meaning:
      'Declines of one card number at one merchant within 24 hours before Tollgate refuses further attempts. 0 switches the count off. Default: 10 on live, 0 in test.',
  },
  {
    name: 'cardTestingAddress',
    env: 'TOLLGATE_CARD_TESTING_ADDRESS',
    format: failures,
    meaning:
      "Declines from one shopper's IP address within an hour before further attempts are refused. 0 switches the count off. Default: 30 on live, 0 in test.",
  },
  {
    name: 'cardTestingBin',
    env: 'TOLLGATE_CARD_TESTING_BIN',
    format: failures,
    meaning:
      'Declines of one BIN (first six digits) within an hour before further attempts are refused, as long as declines outnumber approvals. 0 switches the count off. Default: 300 on live, 0 in test.',
  },
  {
    name: 'cardTestingChannel',
    env: 'TOLLGATE_CARD_TESTING_CHANNEL',
    format: failures,
    meaning:
      'Declines on one channel, counted like those of a BIN. Default: 1000 on live, 0 in test.',
  },
  {
    name: 'cardTestingToken',
    env: 'TOLLGATE_CARD_TESTING_TOKEN',
    format: failures,
    meaning:
      'Declines of one access token, counted like those of a BIN. Default: 1000 on live, 0 in test.',
  },
] as const

/** Absent settings keep the engine's default for the environment. */
export function cardTestingFrom(
  settings: HostSettings,
): NonNullable<GatewayOptions['cardTesting']> {
  const given = {
    number: settings.cardTestingNumber,
    address: settings.cardTestingAddress,
    bin: settings.cardTestingBin,
    channel: settings.cardTestingChannel,
    token: settings.cardTestingToken,
  }
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
}
