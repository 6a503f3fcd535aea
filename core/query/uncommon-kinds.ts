/** Less common payment types and brands have their own indexes, so a search reads only their entries. */
import type { Criteria } from './criteria.ts'
import type { Scope } from './scope.ts'

/** Types and brands of most payments. The indexes leave them out; a test compares these lists with the indexes. */
export const commonTypes: readonly string[] = ['DB', 'PA']
export const commonBrands: readonly string[] = ['VISA', 'MASTER', 'AMEX']

/** Types of transactions that are stored as records, not as payments. */
export const recordedTypes: readonly string[] = ['RR', 'TE', 'DR', 'SD', 'RS', 'DS']

/** Uncommon payment types, or uncommon brands. */
export type UncommonKinds = { readonly by: 'type' | 'brand'; readonly kinds: readonly string[] }

/** Null for a search that includes common kinds, and for a search by reference. */
export function uncommonKindsOf(criteria: Criteria): UncommonKinds | null {
  const { types, brands, merchantTransactionId } = criteria
  if (merchantTransactionId !== null) return null
  const asked = types?.filter((type) => !recordedTypes.includes(type)) ?? []
  const areTypes = asked.length > 0 && !asked.some((type) => commonTypes.includes(type))
  const areBrands = brands !== null && !brands.some((brand) => commonBrands.includes(brand))
  // Captures can be as many as preauthorisations, so the index by brand is the better choice.
  if (areBrands && (!areTypes || asked.includes('CP'))) return { by: 'brand', kinds: brands }
  return areTypes ? { by: 'type', kinds: asked } : null
}

/** Maximum of channels times kinds. In ten years, this makes 24,000 look-ups, which take about 30 ms. */
const mostLookUps = 200

/**
 * Whether a search reads the entries of all channels, newest first, and keeps the caller's. A caller with
 * thousands of channels would look up each of them in each month for a handful of payments.
 */
export const readsAllChannels = ({ channelCount }: Scope, { kinds }: UncommonKinds): boolean =>
  channelCount * kinds.length > mostLookUps
