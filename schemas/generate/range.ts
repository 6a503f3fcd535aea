/**
 * Regular expression that matches the decimal numbers `min` to `max` (non-negative integers, no
 * leading zeros). JSON Schema cannot compare numbers inside strings, so a range becomes a pattern.
 */
export function rangePattern(min: number, max: number): string {
  if (!Number.isSafeInteger(min) || !Number.isSafeInteger(max) || min < 0 || max < min) {
    throw new RangeError(`a range needs 0 <= min <= max, not ${min} to ${max}`)
  }
  const parts: string[] = []
  for (let from = min; from <= max; ) {
    const to = endOfBlock(from, max)
    parts.push(blockPattern(String(from), String(to)))
    from = to + 1
  }
  return parts.length === 1 ? (parts[0] as string) : `(?:${parts.join('|')})`
}

/**
 * The last number of the widest block that starts at `from`: same length, equal leading digits, one
 * digit that counts up, then any digits.
 */
function endOfBlock(from: number, max: number): number {
  let best = Math.min(from - (from % 10) + 9, max)
  for (let unit = 10; from % unit === 0 && unit <= from; unit *= 10) {
    const digit = Math.floor(from / unit) % 10
    const wholeBlocks = Math.min(9 - digit, Math.floor((max + 1 - from) / unit) - 1)
    if (wholeBlocks < 0) break
    best = from + (wholeBlocks + 1) * unit - 1
  }
  return best
}

function blockPattern(from: string, to: string): string {
  let pattern = ''
  let anyDigits = 0
  for (let position = 0; position < from.length; position++) {
    const low = from[position] as string
    const high = to[position] as string
    if (low === high) pattern += low
    else if (low === '0' && high === '9') anyDigits++
    else pattern += `[${low}-${high}]`
  }
  return pattern + (anyDigits === 0 ? '' : anyDigits === 1 ? '[0-9]' : `[0-9]{${anyDigits}}`)
}
