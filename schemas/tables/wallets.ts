import { AN, C, type Condition, echoed, type Group, group, none, O, oneOf, type Row, request, sad, stored } from '../table.ts'

/*
 * A mobile wallet hands over its encrypted token, which the gateway opens; or the merchant opens it
 * and sends a device number with its cryptogram. A request that does both leaves open which of the
 * two is charged, so it is refused.
 */
const shape: readonly Row[] = [
  ['paymentToken', AN(16384),           C, request, sad,  'Encrypted token exactly as the wallet made it.', { because: 'Required in encrypted mode only. The document gives no length.' }],
  ['source',       oneOf('web', 'app'), C, stored,  none, 'Where the token came from, when the merchant decrypted it.', { because: 'Required in decrypted mode only.' }],
]

function modes(prefix: string): readonly Condition[] {
  const token = `${prefix}.paymentToken`
  const source = `${prefix}.source`
  return [
    {
      rule: 'not-together',
      of: [token, source],
      message: `${source} goes with a token that you decrypted yourself: send it or ${token}`,
    },
    {
      rule: 'requires',
      when: [source],
      need: ['card.number', 'card.expiryMonth', 'card.expiryYear', 'threeDSecure.verificationId', 'threeDSecure.eci'],
      message: `a decrypted token (${source}) needs card number, expiry month and year, verificationId and eci`,
    },
  ]
}

/** Wallet 1. */
export const applePay: Group = group('applePay', 'Apple Pay', [
  ...shape,
  ['cardNetwork', AN(32), O, echoed, none, 'Card network as the wallet reported it.', { because: 'The wallet keeps the list of networks and adds to it.' }],
  ['cardType',    AN(32), O, echoed, none, 'Kind of card as the wallet reported it: debit, credit, prepaid, store.', { because: 'The wallet keeps the list of kinds and adds to it.' }],
], [
  {
    rule: 'any',
    when: ['applePay.cardNetwork', 'applePay.cardType'],
    of: ['applePay.paymentToken', 'applePay.source'],
    message: 'send applePay.paymentToken, or applePay.source with the decrypted card data',
  },
  ...modes('applePay'),
])

/** Wallet 2. */
export const googlePay: Group = group('googlePay', 'Google Pay', shape, modes('googlePay'))

/** Wallet 3. */
export const samsungPay: Group = group('samsungPay', 'Samsung Pay', shape, modes('samsungPay'))
