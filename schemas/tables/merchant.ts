import { AN, country, echoed, type Format, group, none, O, reference } from '../table.ts'
import { containerKey, coordinates } from './formats.ts'

const countryNumeric: Format = { kind: 'country-numeric' }

/** Merchant as the statement shows it, and the identifiers that payment facilitators send. */
export const merchant = group('merchant', 'Merchant', [
  // name                                  format          need direction class meaning
  ['name',                                 AN(100),        O,   echoed, none, 'Name on the statement, often business name, asterisk, product. Goes before descriptor.'],
  ['mcc',                                  AN(4),          O,   echoed, none, 'Merchant category code.'],
  ['street',                               AN(100),        O,   echoed, none, 'Street.'],
  ['city',                                 AN(100),        O,   echoed, none, 'Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop.'],
  ['state',                                AN(50),         O,   echoed, none, 'State or region.'],
  ['countryCode',                          countryNumeric, O,   echoed, none, 'Country, three digits.'],
  ['country',                              country,        O,   echoed, none, 'Country, two letters.'],
  ['postcode',                             AN(16),         O,   echoed, none, 'Postal code.'],
  ['geographicCoordinates',                coordinates,    O,   echoed, none, 'Latitude and longitude of the shop.', reference],
  ['serviceLocationCity',                  AN(100),        O,   echoed, none, 'Town where the service is given.'],
  ['serviceLocationState',                 AN(50),         O,   echoed, none, 'State where the service is given.'],
  ['serviceLocationCountryCode',           AN(3),          O,   echoed, none, 'Country where the service is given.'],
  ['serviceLocationPostCode',              AN(16),         O,   echoed, none, 'Postal code where the service is given.'],
  ['serviceLocationGeographicCoordinates', coordinates,    O,   echoed, none, 'Latitude and longitude where the service is given.', reference],
  ['additionalContact',                    AN(255),        O,   echoed, none, 'Further way to reach the merchant.'],
  ['phone',                                AN(25),         O,   echoed, none, 'Phone number.', reference],
  ['customerContactPhone',                 AN(25),         O,   echoed, none, 'Phone number that shoppers call.', reference],
  ['websiteId',                            AN(255),        O,   echoed, none, 'Identifier of the web site.', reference],
  ['url',                                  AN(255),        O,   echoed, none, 'Address of the web site.'],
  ['partnerIdCode',                        AN(60),         O,   echoed, none, 'Code of the partner that brought the merchant.', reference],
  ['isoId',                                AN(255),        O,   echoed, none, 'Independent sales organisation.', reference],
  ['payFacId',                             AN(255),        O,   echoed, none, 'Payment facilitator, its id.', reference],
  ['payFacName',                           AN(255),        O,   echoed, none, 'Payment facilitator, its name.'],
  ['marketplaceId',                        AN(255),        O,   echoed, none, 'Marketplace.', reference],
  ['submerchantId',                        AN(100),        O,   echoed, none, "Facilitator's merchant, for one card network.", reference],
  ['taxId',                                AN(60),         O,   echoed, none, 'Tax number.', reference],
  ['data[name]',                           AN(2048),       O,   echoed, none, 'Further data of the merchant, by name.', { key: containerKey }],
  ['foreignRetailIndicator',               AN(25),         O,   echoed, none, 'Marks a marketplace sale by a retailer abroad.'],
  ['legalName',                            AN(100),        O,   echoed, none, 'Registered name.'],
  ['app.schemeUrl',                        AN(255),        O,   echoed, none, "Custom URL scheme that brings the shopper back into the merchant's app."],
])
