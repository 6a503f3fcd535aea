import { AN, echoed, group, none, O, oneOf, person, reference } from '../table.ts'
import { phone, phoneBecause } from './formats.ts'

/** Buying company, for commercial cards. */
export const corporate = group('corporate', 'Corporate', [
  // name           format           need direction class   meaning
  ['name',          AN(30),          O,   echoed, person, 'Name of the company.'],
  ['description',   AN(160),         O,   echoed, none,   'Business of the company.'],
  ['street',        AN(100),         O,   echoed, person, 'Street.'],
  ['address',       AN(100),         O,   echoed, person, 'Address in one line.'],
  ['city',          AN(80),          O,   echoed, person, 'Town or city.'],
  ['state',         AN(50),          O,   echoed, person, 'State or region.'],
  ['postCode',      AN(16),          O,   echoed, person, 'Postal code.'],
  ['suite',         AN(30),          O,   echoed, person, 'Suite or floor.'],
  ['postboxNumber', AN(15),          O,   echoed, person, 'Post office box.'],
  ['purchase',      oneOf('Y', 'N'), O,   echoed, none,   'Whether the company is the buyer.'],
  ['phone',         phone,           O,   echoed, person, 'Phone number.', { because: phoneBecause, reference: true }],
  ['fax',           phone,           O,   echoed, person, 'Fax number.', { because: phoneBecause, reference: true }],
  ['vatId',         AN(255),         O,   echoed, none,   'VAT number.', reference],
])
