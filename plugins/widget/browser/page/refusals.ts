import type { Texts } from '../../texts/types.ts'

/** The message for a field that the gateway refuses. */
export function fieldMessage(
  { errors }: Pick<Texts, 'errors'>,
  field: string,
  reason: string,
): string {
  if (reason === 'required' && !field.startsWith('card.') && !field.startsWith('bankAccount.')) {
    return errors.requiredError
  }
  switch (field) {
    case 'paymentBrand':
      return errors.brandError
    case 'card.number':
      return errors.cardNumberError
    case 'card.expiryMonth':
    case 'card.expiryYear':
      return reason === 'expired' ? errors.cardExpiredError : errors.expiryDateError
    case 'card.holder':
      return errors.cardHolderError
    case 'card.cvv':
      return errors.cvvError
    case 'bankAccount.holder':
      return errors.accountHolderError
    case 'bankAccount.iban':
      return errors.accountIbanError
  }
  return errors.invalidError
}
