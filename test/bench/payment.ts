/** The payment of all contestants: the same bytes except for the merchant's own number. */

export const card = {
  number: '4200000000000000',
  holder: 'Jane Jones',
  expiryMonth: '05',
  expiryYear: '2034',
  cvv: '123',
}

/** Numbers of equal length give every request the same size. */
export function transactionId(no: number): string {
  return `order-${String(no).padStart(10, '0')}`
}

/** The payment as an embedder's object. */
export function paymentRequest(entityId: string, no: number) {
  return {
    entityId,
    amount: '92.00',
    currency: 'EUR',
    paymentBrand: 'VISA',
    paymentType: 'DB',
    merchantTransactionId: transactionId(no),
    card,
  } as const
}

/** The payment as a merchant's form. */
export function paymentForm(entityId: string, no: number): string {
  const { card: cardFields, ...rest } = paymentRequest(entityId, no)
  const form = new URLSearchParams(rest)
  for (const [name, value] of Object.entries(cardFields)) form.set(`card.${name}`, value)
  return form.toString()
}
