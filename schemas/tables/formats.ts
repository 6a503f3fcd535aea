import { match } from '../table.ts'

/** Formats shared by several tables, with the reasons for wider formats than documented. */

/** Identifier of a payment or registration. */
export const id32 = match('[a-zA-Z0-9]{32}', '8a82944a4cc25ebf014cc2c782423202', 32, 32)

/** The merchant's own reference of a payment. */
export const merchantReference = match('[\\s\\S]{8,255}', 'order-2041-7', 8, 255)

/** The same in a search, also of references of earlier systems. */
export const anyReference = match('[\\s\\S]{1,255}', 'order-2041-7', 1, 255)

export const month = match('0[1-9]|1[0-2]', '12')
export const year = match('(19|20)[0-9]{2}', '2034')

export const phone = match('[+0-9(][0-9 .()/?!-]{0,24}', '+49 (89) 1234-567', 1, 25)
export const phoneBecause =
  'The documented forms refuse valid numbers: a leading bracket, extensions, few digits.'

export const postcode = match('[A-Za-z0-9 -]{1,16}', 'SW1A 2AA', 1, 16)
export const postcodeBecause =
  'Blank and hyphen are also allowed, because British, Dutch, Polish and Portuguese codes contain them.'

/** Bank identifier code: eight characters, or eleven with the branch. */
export const bic = match('[a-zA-Z0-9]{8}([a-zA-Z0-9]{3})?', 'COBADEFFXXX', 8, 11)

export const shortId = match('[0-9]{4}\\.[0-9]{4}\\.[0-9]{4}', '4471.0382.9156', 14, 14)

/** Point in time with its offset from UTC. */
export const timestamp = match(
  '[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}[+-][0-9]{4}',
  '2026-03-14 09:26:53+0000',
  24,
  24,
)

/** Latitude and longitude in degrees. */
export const coordinates = match(
  '[+-]?[0-9]{1,2}(\\.[0-9]{1,15})?, ?[+-]?[0-9]{1,3}(\\.[0-9]{1,15})?',
  '48.137154,11.576124',
  3,
  20,
)

/** Key of a free name-value container. */
export const containerKey = { pattern: '[a-zA-Z0-9._]{3,64}', max: 64 } as const
/** Key of a container with a documented length only: anything but the brackets around it. */
export const openKey = { pattern: '[^\\[\\]]{1,64}', max: 64 } as const

/** The id of an event; a second notification of the same event has another one. */
export const notificationId = match('[0-9a-f]{32}(-[a-z]{1,16})?', '0192f0c41b7a7cc2a3f0d1e2c3b4a596', 32, 49)
