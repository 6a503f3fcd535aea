/** The cards beside the widget, from the simulator's own table. */

import { type Effect, rules } from '@tollgate/connector-simulator'
import { brandOf } from '@tollgate/schemas'
import { brands } from './merchant.ts'

export type TestCard = { readonly number: string; readonly meaning: string }
export type CardGroup = { readonly title: string; readonly cards: readonly TestCard[] }

const groups: readonly { readonly title: string; readonly has: (effect: Effect) => boolean }[] = [
  { title: 'Approved', has: (effect) => Object.keys(effect).length === 0 },
  {
    title: '3-D Secure, with a challenge',
    has: ({ authentication }) => authentication?.flow === 'challenge',
  },
  {
    title: '3-D Secure, without a challenge',
    has: ({ authentication }) => authentication?.flow === 'frictionless',
  },
  {
    title: 'Declined',
    has: ({ decision, authentication }) =>
      decision?.is === 'declined' && authentication === undefined,
  },
  {
    title: 'Special',
    has: ({ decision }) => decision?.is === 'pending' || decision?.is === 'answerLost',
  },
]

/** One card of each row, in the order of the table. */
export const testCards: readonly CardGroup[] = groups.map(({ title, has }) => ({
  title,
  cards: rules.flatMap(([sign, is, effect, meaning]) =>
    sign === 'number' && Array.isArray(is) && has(effect) && isTaken(meaning)
      ? [{ number: spaced(is[0] as string), meaning: brandOf(meaning)?.title ?? meaning }]
      : [],
  ),
}))

/** Rows of approved cards are named by their brand. */
function isTaken(meaning: string): boolean {
  const brand = brandOf(meaning)?.code
  return brand === undefined || brands.some((one) => one === brand)
}

/** The code that the bank's page of the simulator accepts. */
export const challengeCode = '1234'

/** As on the card: American Express 4-6-5, Diners 4-6-4, others in fours. */
function spaced(number: string): string {
  if (/^3[4678]/.test(number)) {
    return `${number.slice(0, 4)} ${number.slice(4, 10)} ${number.slice(10)}`
  }
  return number.replaceAll(/(.{4})(?=.)/g, '$1 ')
}
