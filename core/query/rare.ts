/** What few payments have is indexed by itself: searches for it read these indexes alone. */
import type { Criteria } from './criteria.ts'

/**
 * Types and brands that most payments have. The indexes of the others leave them out, so that these
 * payments do not pay for them. Migrations name them too; a test holds both together.
 */
export const commonTypes: readonly string[] = ['DB', 'PA']
export const commonBrands: readonly string[] = ['VISA', 'MASTER', 'AMEX']

/** Types of what is stored as a record and not as a payment. */
export const recordedTypes: readonly string[] = ['RR', 'TE', 'DR', 'SD', 'RS', 'DS']

/** Payments of these types, or of these brands, of which all are indexed by themselves. */
export type Rare = { readonly by: 'type' | 'brand'; readonly kinds: readonly string[] }

/** Null where payments are asked for that are common, and where a reference finds them sooner. */
export function rareOf({ types, brands, merchantTransactionId }: Criteria): Rare | null {
  if (merchantTransactionId !== null) return null
  const ofTypes = rareTypes(types)
  const ofBrands = brands !== null && !brands.some((brand) => commonBrands.includes(brand))
  // Captures are rare where sales are debits, and as many as preauthorisations elsewhere.
  const isBrandRarer = ofTypes === null || ofTypes.kinds.includes('CP')
  return ofBrands && isBrandRarer ? { by: 'brand', kinds: brands } : ofTypes
}

/**
 * The same where each channel is asked by itself. A method has many brands, and to look for each of
 * them in many channels takes longer than to read what the channels have.
 */
export function rareOfEach(criteria: Criteria, channelCount: number): Rare | null {
  const rare = rareOf(criteria)
  const isMuch = rare?.by === 'brand' && rare.kinds.length * channelCount > mostBrandsOfChannels
  return isMuch ? rareTypes(criteria.types) : rare
}

/** Brands times channels; in ten years this makes twelve thousand looks into an index, some ten milliseconds. */
const mostBrandsOfChannels = 100

function rareTypes(types: Criteria['types']): Rare | null {
  const kinds = types?.filter((type) => !recordedTypes.includes(type)) ?? []
  const areRare = kinds.length > 0 && !kinds.some((type) => commonTypes.includes(type))
  return areRare ? { by: 'type', kinds } : null
}
