import { AN, country, echoed, type Format, group, none, O, reference } from '../table.ts'
import { containerKey, coordinates } from './formats.ts'

const countryNumeric: Format = { kind: 'country-numeric' }

/** The merchant as shown on the statement, and the identifiers that payment facilitators send. */
export const merchant = group('merchant', 'Merchant', [
  // name                                  format          need direction class meaning
  ['name',                                 AN(100),        O,   echoed, none, 'Name on the statement, often business name, asterisk, product. Takes precedence over descriptor.'],
  ['mcc',                                  AN(4),          O,   echoed, none, 'Merchant category code.'],
  ['street',                               AN(100),        O,   echoed, none, 'Street.'],
  ['city',                                 AN(100),        O,   echoed, none, 'Second line of the statement: the town, or a phone number, e-mail address or URL of an online shop.'],
  ['state',                                AN(50),         O,   echoed, none, 'State or region.'],
  ['countryCode',                          countryNumeric, O,   echoed, none, 'Country, three digits.'],
  ['country',                              country,        O,   echoed, none, 'Country, two letters.'],
  ['postcode',                             AN(16),         O,   echoed, none, 'Postal code.'],
  ['geographicCoordinates',                coordinates,    O,   echoed, none, 'Latitude and longitude of the shop.', reference],
  ['serviceLocationCity',                  AN(100),        O,   echoed, none, 'Town of the service.'],
  ['serviceLocationState',                 AN(50),         O,   echoed, none, 'State of the service.'],
  ['serviceLocationCountryCode',           AN(3),          O,   echoed, none, 'Country of the service.'],
  ['serviceLocationPostCode',              AN(16),         O,   echoed, none, 'Postal code of the service.'],
  ['serviceLocationGeographicCoordinates', coordinates,    O,   echoed, none, 'Latitude and longitude of the service.', reference],
  ['additionalContact',                    AN(255),        O,   echoed, none, 'Further contact of the merchant.'],
  ['phone',                                AN(25),         O,   echoed, none, 'Phone number.', reference],
  ['customerContactPhone',                 AN(25),         O,   echoed, none, 'Phone number for shoppers.', reference],
  ['websiteId',                            AN(255),        O,   echoed, none, 'Identifier of the web site.', reference],
  ['url',                                  AN(255),        O,   echoed, none, 'Address of the web site.'],
  ['partnerIdCode',                        AN(60),         O,   echoed, none, 'Code of the referring partner.', reference],
  ['isoId',                                AN(255),        O,   echoed, none, 'Independent sales organisation.', reference],
  ['payFacId',                             AN(255),        O,   echoed, none, 'Payment facilitator, its id.', reference],
  ['payFacName',                           AN(255),        O,   echoed, none, 'Payment facilitator, its name.'],
  ['marketplaceId',                        AN(255),        O,   echoed, none, 'Marketplace.', reference],
  ['submerchantId',                        AN(100),        O,   echoed, none, "Facilitator's merchant, for one card network.", reference],
  ['taxId',                                AN(60),         O,   echoed, none, 'Tax number.', reference],
  ['data[name]',                           AN(2048),       O,   echoed, none, 'Further data of the merchant, by name.', { key: containerKey }],
  ['foreignRetailIndicator',               AN(25),         O,   echoed, none, 'Marks a marketplace sale by a foreign retailer.'],
  ['legalName',                            AN(100),        O,   echoed, none, 'Registered name.'],
  ['app.schemeUrl',                        AN(255),        O,   echoed, none, "Custom URL scheme for the return to the merchant's app."],
])
