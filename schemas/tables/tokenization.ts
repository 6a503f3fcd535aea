import { flag, group, none, O, request } from '../table.ts'

/** Storing the instrument of a payment, and using one that is stored. */
export const tokenization = group('', 'Tokenization', [
  ['createRegistration', flag, O, request, none, 'Stores the instrument; the answer carries registrationId. Usable once the payment is approved.'],
  ['overrideHolder',     flag, O, request, none, 'Lets a holder in this request fill an empty one of the registration, for this payment only.'],
], [], 'tokenization')

/**
 * Groups that describe an instrument. On an operation that works with a stored one, neither their
 * `R` rows nor their conditions apply: it may send a CVV, a holder or a new expiry alone.
 */
export const instrumentGroups: readonly string[] = ['card', 'bankAccount', 'virtualAccount', 'tokenAccount']
