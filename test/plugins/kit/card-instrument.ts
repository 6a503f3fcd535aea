import { type Instrument, Sensitive } from '@tollgate/plugin-kit'

/** A card as connectors get it. */
export const card = (number: string): Instrument => ({
  kind: 'card',
  brand: 'VISA',
  number: new Sensitive(number),
  bin: number.slice(0, 6),
  last4: number.slice(-4),
  expiryMonth: '12',
  expiryYear: '2034',
  holder: 'Jane Jones',
  cvv: new Sensitive('837'),
})
