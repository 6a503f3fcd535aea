import { AN, amount, dateTime, group, none, O, person, reference, stored } from '../table.ts'
import { openKey } from './formats.ts'

/** Data for risk screening services. */
export const risk = group('risk', 'Risk', [
  // name              format    need direction class   meaning
  ['channelId',        AN(255),  O,   stored, none,   'Channel at the screening service; one service takes 12 characters only.', reference],
  ['serviceId',        AN(255),  O,   stored, none,   'Service to use; one service takes a single character only.', reference],
  ['amount',           amount,   O,   stored, none,   'Amount to screen. 3-D Secure uses it too when it is sent.'],
  ['orderTimestamp',   dateTime, O,   stored, none,   'Time of the order; by default that of the request.'],
  ['brand',            AN(255),  O,   stored, none,   'Brand for the screening.'],
  ['parameters[name]', AN(2048), O,   stored, person, 'Further input of the screening service, by name.', { key: openKey }],
  ['merchantWebsite',  AN(60),   O,   stored, none,   'Web site of the order.'],
  ['accountToken',     AN(64),   O,   stored, person, 'Token of the account at the screening service.', reference],
])
