/** Masks IBANs in texts of acquirers and clearing institutes. */
import { countrySpecs, isValidIBAN } from 'ibantools'

/** Two letters, two check digits, and 11 to 30 letters or digits, in groups or not. */
const ibanLike = /(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}(?![A-Za-z0-9])/g
const shown = 4
/** Of two letters and two digits: behind them, an IBAN can begin. */
const startLength = 4

/**
 * Replaces IBANs in `text` by asterisks, all characters but the last four. A separator between the IBAN and a word
 * behind it counts as its end. The length of the text stays.
 */
export function maskIbans(text: string): string {
  let masked = ''
  let from = 0
  for (let match = ibanLike.exec(text); match !== null; match = ibanLike.exec(text)) {
    const [found] = match
    const end = endOfIban(found)
    ibanLike.lastIndex = match.index + (end ?? startLength)
    if (end === undefined) continue
    const hidden = found.slice(0, end - shown).replace(/[A-Za-z0-9]/g, '*')
    masked += text.slice(from, match.index) + hidden + found.slice(end - shown, end)
    from = ibanLike.lastIndex
  }
  return masked + text.slice(from)
}

/** The end of a valid IBAN at the start of `text`: its country tells its length. Groups of words may follow it. */
function endOfIban(text: string): number | undefined {
  const length = countrySpecs[text.slice(0, 2).toUpperCase()]?.chars
  if (length === undefined) return undefined
  let end = 0
  for (let left = length; left > 0; end += 1) {
    if (end === text.length) return undefined
    if (!isSeparator(text[end])) left -= 1
  }
  if (isSeparator(text[end])) end += 1
  else if (end < text.length) return undefined
  return isValidIBAN(text.slice(0, end).replace(/[ -]/g, '').toUpperCase()) ? end : undefined
}

const isSeparator = (character: string | undefined) => character === ' ' || character === '-'
