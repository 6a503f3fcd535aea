/**
 * Which declines say something about the card, and so are what a card tester is after. What is wrong
 * with the merchant's set-up, the acquirer's machines or the request itself would lock a shop's genuine
 * shoppers out without an attacker, and what a shopper breaks off tells nothing about a card.
 */
import { results } from '@tollgate/schemas'

/** `card`: counted in all dimensions. `shopper`: only for the number and the address, for it is everyday business. */
export type Failure = 'card' | 'shopper'

const cardGroups = new Set(['declined-bank', 'rejected-address', 'blacklist', 'merchant-advice'])

/** Of those groups: about the merchant, the acquirer or the request, whatever card is used. */
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

/** Of other groups: the issuer's or the acquirer's word on this card. */
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
 * An issuer that wants the shopper has named a card that exists, and a failed authentication is what
 * happens to somebody else's card. Both happen all day in shops that nobody attacks.
 */
const theShopper = new Set(['300.100.100', '100.380.401', '800.400.200'])

const failures = new Map<string, Failure>()
for (const [code, group] of results) {
  if (theShopper.has(code)) failures.set(code, 'shopper')
  else if (alsoTheCard.has(code)) failures.set(code, 'card')
  else if (cardGroups.has(group) && !notTheCard.has(code)) failures.set(code, 'card')
}

/** What a decline with this result counts as; undefined: it is none of a card. */
export const failureOf = (resultCode: string): Failure | undefined => failures.get(resultCode)
