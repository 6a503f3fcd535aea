import { AN, C, country, date, echoed, fixedAmount, group, none, O, oneOf, person, reference, under } from '../table.ts'
import { addressConditions } from './address.ts'
import { phone, phoneBecause } from './formats.ts'

const methods = oneOf(
  'CARRIER_DESIGNATED_BY_CUSTOMER', 'ELECTRONIC_DELIVERY', 'EXPEDITED', 'GROUND', 'INTERNATIONAL',
  'LOWEST_COST', 'MILITARY', 'NEXT_DAY_OVERNIGHT', 'OTHER', 'POINT_PICKUP', 'PUDO',
  'SAME_DAY_SERVICE', 'STORE_PICKUP', 'THREE_DAY_SERVICE', 'TWO_DAY_SERVICE',
)

/** Where the goods go, and how. */
export const shipping = group('shipping', 'Shipping address', [
  // name                  format                                                         need direction class   meaning
  ['street1',              AN(100),                                                       C,   echoed, person, 'Street with its number; only its name when houseNumber1 is sent.'],
  ['street2',              AN(100),                                                       C,   echoed, person, 'Second line of the street. Ignored when houseNumber1 is sent.'],
  ['houseNumber1',         AN(100),                                                       O,   echoed, person, 'House number.'],
  ['houseNumber2',         AN(100),                                                       O,   echoed, person, 'Addition to the house number.'],
  ['city',                 AN(80),                                                        C,   echoed, person, 'Town or city.', { because: 'As billing.city: letters alone would refuse New York and São Paulo.' }],
  ['state',                AN(50),                                                        C,   echoed, person, 'State, county or region.'],
  ['postcode',             AN(16),                                                        C,   echoed, person, 'Postal code.'],
  ['country',              country,                                                       C,   echoed, none,   'Country.'],
  ['method',               methods,                                                       C,   echoed, none,   'How the goods are delivered.'],
  ['cost',                 fixedAmount,                                                   C,   echoed, none,   'Price of the delivery; part of the amount already.'],
  ['comment',              AN(160),                                                       C,   echoed, person, 'Words for the delivery.'],
  ['expectedDate',         date,                                                          O,   echoed, none,   'When the delivery should arrive.'],
  ['logisticsProvider',    AN(255),                                                       O,   echoed, none,   'Carrier.'],
  ['trackingNumber',       AN(255),                                                       O,   echoed, none,   "The carrier's number of the parcel.", reference],
  ['returnTrackingNumber', AN(255),                                                       O,   echoed, none,   "The carrier's number of the returned parcel.", reference],
  ['normalized',           AN(255),                                                       O,   echoed, person, 'The address in the form that an address check gave it.'],
  ['validationStatus',     AN(255),                                                       O,   echoed, none,   'Whether the address was checked and confirmed.'],
  ['warehouse',            AN(100),                                                       O,   echoed, none,   'Warehouse that the goods leave from.'],
  ['preference',           oneOf('GET_FROM_FILE', 'NO_SHIPPING', 'SET_PROVIDED_ADDRESS'), O,   echoed, none,   'Which delivery address a payment method should use.'],
  ['middleName',           AN(255),                                                       O,   echoed, person, 'Middle name of the receiver.', { because: 'The document gives no length.' }],
  ['companyName',          AN(60),                                                        O,   echoed, person, 'Company at that address.'],
  ['phone',                phone,                                                         O,   echoed, person, 'Phone number of the receiver.', { because: phoneBecause, reference: true }],
  ['mobile',               phone,                                                         O,   echoed, person, 'Mobile number of the receiver.', { because: phoneBecause, reference: true }],
  ['workPhone',            AN(25),                                                        O,   echoed, person, 'Phone number of the receiver at work.', reference],
  ['email',                AN(6, 128),                                                    O,   echoed, person, 'E-mail address of the receiver.'],
  ['type',                 oneOf('RETURN', 'SHIPMENT'),                                   O,   echoed, none,   'Delivery to the shopper, or back from them.'],
], addressConditions('shipping'))

/** Where the goods come from, on the merchant's side. */
export const merchantShipping = under(shipping, 'shipping', 'merchant.shipping', "Merchant's shipping origin", {
  need: O,
  conditions: addressConditions('merchant.shipping'),
})
