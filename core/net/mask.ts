/** Lengths of card numbers, and how many of their digits may be shown. */
const shortest = 13
const longest = 19
const shown = 4
/** Blanks or hyphens in a row that still join two groups of digits to one number. */
const widestGap = 3

/** Digits text[start..end). */
type Group = { readonly start: number; readonly end: number }

/**
 * Replaces card numbers in `text` by asterisks, all digits but the last four. A card number is a run
 * of 13 to 19 digits, also with blanks or hyphens between its groups, that passes the Luhn check.
 * The length of the text stays. The time grows with the length alone, whatever the text is.
 */
export function maskCardNumbers(text: string): string {
  let result = ''
  let copied = 0
  let run: Group[] = []
  const finish = () => {
    for (const number of cardNumbers(text, run)) {
      result += text.slice(copied, number.start) + asterisks(text, number)
      copied = number.end
    }
    run = []
  }
  for (let at = 0; at < text.length; at++) {
    if (!isDigit(text, at)) continue
    const start = at
    while (isDigit(text, at)) at++
    const previous = run.at(-1)
    if (previous !== undefined && !joined(text, previous.end, start)) finish()
    run.push({ start, end: at })
  }
  finish()
  return copied === 0 ? text : result + text.slice(copied)
}

/** The stretches of a run of groups that are card numbers; overlapping ones become one stretch. */
function cardNumbers(text: string, run: readonly Group[]): Group[] {
  const found: { start: number; end: number }[] = []
  for (const [index, first] of run.entries()) {
    let digits = 0
    // Luhn sums of the digits so far, with the last one counted once and counted double.
    let sum = 0
    let other = 0
    for (let next = index; next < run.length; next++) {
      const { start, end } = run[next]!
      digits += end - start
      if (digits > longest) break
      for (let at = start; at < end; at++) {
        const digit = text.charCodeAt(at) - zero
        const before = sum
        sum = other + digit
        other = before + (digit > 4 ? digit * 2 - 9 : digit * 2)
      }
      if (digits < shortest || sum % 10 !== 0) continue
      const previous = found.at(-1)
      if (previous !== undefined && first.start < previous.end) {
        previous.end = Math.max(previous.end, end)
      } else {
        found.push({ start: first.start, end })
      }
    }
  }
  return found
}

function asterisks(text: string, { start, end }: Group): string {
  let keptFrom = end
  for (let left = shown; left > 0; keptFrom--) if (isDigit(text, keptFrom - 1)) left--
  return text.slice(start, keptFrom).replace(/\d/g, '*') + text.slice(keptFrom, end)
}

function joined(text: string, from: number, to: number): boolean {
  if (to - from > widestGap) return false
  for (let at = from; at < to; at++) if (text[at] !== ' ' && text[at] !== '-') return false
  return true
}

const zero = '0'.charCodeAt(0)
const nine = '9'.charCodeAt(0)

function isDigit(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= zero && code <= nine
}
