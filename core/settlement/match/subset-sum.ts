/** Which of several payments a line is about. Pure, and the order of the payments changes nothing. */

/** A payment that a line may be about. */
export type Option = {
  readonly paymentId: string
  readonly minor: bigint
  readonly currency: string
}

/** From here on, sums are not tried: some subset of many amounts equals any sum by chance. */
const mostForSums = 12

/**
 * The payments of a line with several candidates; empty: more than one reading is possible, or none. A
 * single payment of equal amount counts if no other subset has the same sum. Without one, the unique
 * subset with the sum counts.
 */
export function meant(
  options: readonly Option[],
  line: { readonly minor: bigint; readonly currency: string },
): readonly Option[] {
  const comparable = options.filter(({ currency }) => currency === line.currency)
  if (options.length > mostForSums) {
    const equal = comparable.filter(({ minor }) => minor === line.minor)
    return equal.length === 1 ? equal : []
  }
  const [only, another] = subsetsOf(comparable, line.minor)
  return only !== undefined && another === undefined ? only : []
}

/** At most two subsets with this sum: the second shows that the first is not unique. */
function subsetsOf(options: readonly Option[], sum: bigint): Option[][] {
  const found: Option[][] = []
  for (let subset = 1; subset < 1 << options.length && found.length < 2; subset += 1) {
    const members = options.filter((_, index) => (subset & (1 << index)) !== 0)
    if (members.reduce((total, { minor }) => total + minor, 0n) === sum) found.push(members)
  }
  return found
}
