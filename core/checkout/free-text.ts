/**
 * Text that a shopper's browser may send under names of its own choice or of people and places. Scripts
 * of the page around the card fields send it too, so it must not carry guesses of a number: each is
 * refused by its own shape, whatever the number is.
 */
import { limits } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import { hasRowOfDigits } from '../redaction/card-numbers.ts'
import { layersOf } from '../redaction/escapes.ts'
import { refuse } from '../request/values.ts'

/** Fields whose values have many digits, or a form of their own. */
const withDigits: ReadonlySet<string> = new Set([
  ...['nonce', 'resultUrl', 'origin', 'registrationId', 'shown'],
  ...['card.number', 'bankAccount.iban', 'bankAccount.bic'],
  ...['customer.phone', 'customer.mobile', 'customer.email', 'billing.postcode'],
  'customer.browser.userAgent',
  // Opened or refused as a whole, and never kept.
  ...['applePay.paymentToken', 'googlePay.paymentToken', 'samsungPay.paymentToken'],
])

/** Holders of cards tell the simulator which result they want. */
const resultCode = /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$/

/** @throws GatewayError 400 naming the field. */
export function refuseHiddenNumbers(names: Request['names']): void {
  let count = 0
  let characters = 0
  for (const [name, value] of names) {
    if (withDigits.has(name)) continue
    const isOwn = name.startsWith('customParameters[')
    if (isOwn) {
      count += 1
      characters += name.length + value.length
      if (count > limits.shopperParameters.most || characters > limits.shopperParameters.characters)
        throw tooMany(name)
    }
    if (holdsRow(value) || (isOwn && holdsRow(name))) {
      const most = limits.shopperTextDigits - 1
      throw refuse('200.300.404', name, `may have at most ${most} digits in a row`)
    }
  }
}

const holdsRow = (text: string): boolean =>
  !resultCode.test(text) &&
  layersOf(text).some((layer) => hasRowOfDigits(layer, limits.shopperTextDigits))

function tooMany(name: string) {
  const { most, characters } = limits.shopperParameters
  const why = `a shopper's browser may send ${most} parameters of its own with ${characters} characters in all`
  return refuse('200.300.404', name, why)
}
