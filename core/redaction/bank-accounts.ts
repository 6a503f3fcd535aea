/** Masks IBANs in texts of acquirers and clearing institutes. */
import { countrySpecs, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

/** Two letters, two check digits, and 11 to 30 letters or digits, in groups or not. */
const ibanLike = /\b[A-Za-z]{2}[0-9]{2}(?:[ \u00a0-]?[A-Za-z0-9]){11,30}\b/g
const shown = 4

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

/** The end of the IBAN at the start of `text`; groups of words may follow it. */
function endOfIban(text: string): number | undefined {
  const length = countrySpecs[text.slice(0, 2).toUpperCase()]?.chars
  let iban = ''
  for (let at = 0; at < text.length; at++) {
    if (!/[ \u00a0-]/.test(text[at]!)) iban += text[at]!
    if (iban.length !== length) continue
    const isInside = /[A-Za-z0-9]/.test(text[at + 1] ?? ' ')
    return !isInside && isIban(iban.toUpperCase()) ? at + 1 : undefined
  }
  return undefined
}

/** A wrong check digit of the bank's own makes it no other kind of number. */
const isIban = (iban: string) =>
  validateIBAN(iban).errorCodes.every(
    (code) => code === ValidationErrorsIBAN.WrongAccountBankBranchChecksum,
  )
