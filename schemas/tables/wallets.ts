import { AN, C, type Condition, echoed, type Group, group, none, O, oneOf, type Row, request, sad, stored } from '../table.ts'

/** Some programs write JSON in several lines. */
const tokenText = { kind: 'text', min: 1, max: 16_384, multiline: true } as const

/*
 * A mobile wallet passes on its encrypted token, which the gateway opens; or the merchant opens it
 * and sends a device number with its cryptogram. A request with both is ambiguous, so it is
 * refused.
 */
const shape: readonly Row[] = [
  ['paymentToken', tokenText,           C, request, sad,  'Encrypted token exactly as the wallet made it.', { because: 'Required in encrypted mode only. The document gives no length.' }],
  ['source',       oneOf('web', 'app'), C, stored,  none, 'Source of the token, for one decrypted by the merchant.', { because: 'Required in decrypted mode only.' }],
]

function modes(prefix: string, others: readonly string[]): readonly Condition[] {
  const token = `${prefix}.paymentToken`
  const source = `${prefix}.source`
  // The token has the card and its proof.
  const inside = ['card.number', 'card.cvv', 'threeDSecure.verificationId', 'threeDSecure.eci']
  return [
    ...inside.map((name): Condition => ({
      rule: 'not-together',
      of: [name, token],
      message: `${name} stands in the encrypted token already: send it or ${token}`,
    })),
    ...others.map((other): Condition => ({
      rule: 'not-together',
      of: [token, `${other}.paymentToken`],
      message: 'a payment has the token of one wallet',
    })),
    {
      rule: 'not-together',
      of: [source, token],
      message: `${source} belongs to a decrypted token: send it or ${token}`,
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
  ['cardNetwork', AN(32), O, echoed, none, 'Card network reported by the wallet.', { because: 'The wallet extends its list of networks.' }],
  ['cardType',    AN(32), O, echoed, none, 'Kind of card reported by the wallet: debit, credit, prepaid, store.', { because: 'The wallet extends its list of kinds.' }],
], [
  {
    rule: 'any',
    when: ['applePay.cardNetwork', 'applePay.cardType'],
    of: ['applePay.paymentToken', 'applePay.source'],
    message: 'send applePay.paymentToken, or applePay.source with the decrypted card data',
  },
  ...modes('applePay', ['googlePay', 'samsungPay']),
])

/** Wallet 2. */
export const googlePay: Group = group('googlePay', 'Google Pay', shape, modes('googlePay', ['samsungPay']))

/** Wallet 3. */
export const samsungPay: Group = group('samsungPay', 'Samsung Pay', shape, modes('samsungPay', []))
