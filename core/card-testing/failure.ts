/**
 * The declines that say something about the card, and so interest a card tester. Errors of the
 * merchant's configuration, the acquirer or the request would lock out genuine shoppers without any
 * attack. A shopper's cancellation says nothing about a card.
 */
import { results } from '@tollgate/schemas'

/**
 * `card`: counted in all dimensions. `shopper`: only for the number and the address, since such
 * declines are normal.
 */
export type Failure = 'card' | 'shopper'

const cardGroups = new Set(['declined-bank', 'rejected-address', 'blacklist', 'merchant-advice'])

/**
 * Codes of those groups about the merchant, the acquirer or the request, regardless of the card.
 */
const notTheCard = new Set([
  '800.100.150',
  '800.100.156',
  '800.100.164',
  '800.100.167',
  '800.100.169',
  '800.100.170',
  '800.100.173',
  '800.100.174',
  '800.100.175',
  '800.100.190',
  '800.100.191',
  '800.100.196',
  '800.100.197',
  '800.100.403',
  '800.100.500',
  '800.100.501',
  '800.300.102',
  '800.300.200',
  '800.600.100',
  '800.700.100',
  '800.700.101',
  '800.700.201',
  '800.700.500',
  '800.800.102',
  '800.800.202',
  '800.800.302',
])

/** Codes of other groups with the issuer's or acquirer's decision on this card. */
const alsoTheCard = new Set([
  '000.400.108',
  '100.370.100',
  '100.380.100',
  '100.400.000',
  '100.400.020',
  '100.400.121',
  '100.400.319',
])

/**
 * An issuer that requires the shopper confirms that the card exists, and a stolen card fails its
 * authentication. Both happen all day in shops without an attack.
 */
const theShopper = new Set(['300.100.100', '100.380.401', '800.400.200'])

const failures = new Map<string, Failure>()
for (const [code, group] of results) {
  if (theShopper.has(code)) failures.set(code, 'shopper')
  else if (alsoTheCard.has(code)) failures.set(code, 'card')
  else if (cardGroups.has(group) && !notTheCard.has(code)) failures.set(code, 'card')
}

/** The kind of failure of a result code; undefined when the code does not concern the card. */
export const failureOf = (resultCode: string): Failure | undefined => failures.get(resultCode)
