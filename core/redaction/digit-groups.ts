/** The groups in which people write the digits of a card number, and those of other numbers. */

/** A list goes on behind these, and a number does not, unless its groups are those of a card. */
const endsItem = /[,;]\s/

/** Blanks alone, or marks alone. */
const plain = /^(?:\s+|\S+)$/

/** Longer groups than these are told apart by their lengths alone. */
const shortGroup = 3

/**
 * Whether digits in groups of these sizes can be a card number: in fours, which may stand together, as on the card,
 * with the first six apart, or in equal groups.
 *
 * @param marks What separates the groups, one less than there are groups.
 */
export function isCardLike(sizes: readonly number[], marks: readonly string[]): boolean {
  const [size = 0] = sizes
  const last = sizes.at(-1) ?? 0
  const before = sizes.slice(0, -1)
  if (before.length === 0) return true
  if (marks.some((mark) => endsItem.test(mark))) return sizes.every((one) => one === 4)
  if (before.every((one) => one % 4 === 0) && (last <= 4 || last % 4 === 0)) return true
  const shape = sizes.join('-')
  if (shape === '4-6-5' || shape === '4-6-4' || /^6-(?:[89]|1[0-3])$/.test(shape)) return true
  if (last > size || before.some((one) => one !== size)) return false
  return size > shortGroup || marks.every((mark) => mark === marks[0] && plain.test(mark))
}
