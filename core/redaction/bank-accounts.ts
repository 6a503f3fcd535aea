/** Masks IBANs in texts of acquirers and clearing institutes. */
import { isValidIBAN } from 'ibantools'

/** Two letters, two check digits, and 11 to 30 letters or digits, in groups or not. */
const ibanLike = /\b[A-Za-z]{2}[0-9]{2}(?:[ -]?[A-Za-z0-9]){11,30}\b/g
const shown = 4
const shortest = 15

/**
 * Replaces IBANs in `text` by asterisks, all characters but the last four. A text that goes on after the
 * IBAN is masked up to its end. The length of the text stays.
 */
export function maskIbans(text: string): string {
  return text.replace(ibanLike, (found) => {
    const end = endOfIban(found)
    if (end === undefined) return found
    const iban = found.slice(0, end)
    const hidden = iban.slice(0, -shown).replace(/[A-Za-z0-9]/g, '*')
    return hidden + iban.slice(-shown) + found.slice(end)
  })
}

/** The end of the longest valid IBAN at the start of `text`; groups of words may follow it. */
function endOfIban(text: string): number | undefined {
  for (let end = text.length; end >= shortest; end--) {
    const isInside = /[A-Za-z0-9]/.test(text[end] ?? ' ') && /[A-Za-z0-9]/.test(text[end - 1]!)
    if (isInside) continue
    if (isValidIBAN(text.slice(0, end).replace(/[ -]/g, '').toUpperCase())) return end
  }
  return undefined
}
