import { AN, amount, C, country, currency, date, echoed, either, type Format, fixedAmount, group, integer, match, N, none, O, oneOf, person, reference, url, withHighestIndex } from '../table.ts'
import { phone, phoneBecause } from './formats.ts'

const quantity: Format = { kind: 'decimal', integer: 12, fraction: 3 }
const percentage = match('100(\\.0{1,2})?|[0-9]{1,2}(\\.[0-9]{1,3})?', '19.00', 1, 6)
const countryNumeric: Format = { kind: 'country-numeric' }

const articleKind = oneOf(
  'PHYSICAL', 'DIGITAL', 'MIXED', 'ANONYMOUS_DONATION', 'AUTHORITIES_PAYMENT',
)

const items = group('cart.items[n]', 'Cart items', [
  // name                    format                                need direction class   meaning
  ['name',                   AN(255),                              C,   echoed, none,   'Name of the article.'],
  ['merchantItemId',         AN(255),                              C,   echoed, none,   "The merchant's own article number.", reference],
  ['description',            AN(2048),                             C,   echoed, none,   'Description of the article.'],
  ['quantity',               quantity,                             C,   echoed, none,   'Quantity, in quantityUnit if sent.'],
  ['type',                   articleKind,                          C,   echoed, none,   'Kind of article.'],
  ['currency',               currency,                             C,   echoed, none,   'Currency of the prices.'],
  ['price',                  fixedAmount,                          C,   echoed, none,   'Price of one piece after discount, with tax.'],
  ['totalAmount',            fixedAmount,                          C,   echoed, none,   'Price of the whole line.'],
  ['taxAmount',              fixedAmount,                          C,   echoed, none,   'Tax in the price of one piece.'],
  ['totalTaxAmount',         fixedAmount,                          C,   echoed, none,   'Tax in the price of the line.'],
  ['shipping',               fixedAmount,                          C,   echoed, none,   'Delivery cost of the line.'],
  ['discount',               fixedAmount,                          C,   echoed, none,   'Discount on the article.'],
  ['tax',                    percentage,                           C,   echoed, none,   'Tax rate in percent, 0 to 100.'],
  ['taxCategory',            oneOf('AA', 'S', 'E', 'Z'),           C,   echoed, none,   'Tax category: lower, standard, exempt or zero rate.'],
  ['sku',                    AN(255),                              O,   echoed, none,   'Stock keeping unit.', reference],
  ['giftMessage',            AN(255),                              O,   echoed, person, 'Message for a gift.'],
  ['shippingMethod',         AN(255),                              O,   echoed, none,   'Delivery method of the article.'],
  ['shippingInstructions',   AN(255),                              O,   echoed, person, 'Instructions for the carrier.'],
  ['shippingTrackingNumber', AN(255),                              O,   echoed, none,   "The carrier's tracking number.", reference],
  ['sellerId',               AN(255),                              O,   echoed, none,   'Seller on a marketplace, as in marketPlace.sellers[n].id.', reference],
  ['originalPrice',          AN(255),                              O,   echoed, none,   'Price before tax and discount.'],
  ['commodityCode',          N(8),                                 O,   echoed, none,   'UNSPSC code of the goods, for level-3 card data.'],
  ['commodityDescription',   AN(50),                               O,   echoed, none,   'Name of that UNSPSC class.'],
  ['quantityUnit',           oneOf('M', 'CM', 'KG', 'G', 'COUNT'), O,   echoed, none,   'Unit of the quantity.', { default: 'COUNT' }],
  ['productUrl',             url(2048),                            O,   echoed, none,   'Page of the article.', { because: 'The document gives no length.', reference: true }],
  ['imageUrl',               url(2048),                            O,   echoed, none,   'Picture of the article.', { because: 'The document gives no length.', reference: true }],
  ['totalDiscountAmount',    amount,                               O,   echoed, none,   'Discount on the line.'],
  ['productCode',            AN(30),                               O,   echoed, none,   'Code of the product.', reference],
  ['partNumber',             AN(30),                               O,   echoed, none,   "Maker's number of the part.", reference],
  ['vatReferenceNumber',     AN(30),                               O,   echoed, none,   'VAT reference of the line.', reference],
  ['itemNumber',             integer(1, 999),                      O,   echoed, none,   'Number of the line.'],
  ['deliveryDate',           date,                                 O,   echoed, none,   'Delivery date of the article.'],
  ['recipient.salutation',   AN(5),                                O,   echoed, person, 'Form of address of the recipient.'],
  ['recipient.firstName',    AN(48),                               O,   echoed, person, 'Given name of the recipient.'],
  ['recipient.middleName',   AN(50),                               O,   echoed, person, 'Middle name of the recipient.'],
  ['recipient.lastName',     AN(48),                               O,   echoed, person, 'Family name of the recipient.'],
  ['recipient.apartment',    AN(100),                              O,   echoed, person, 'Apartment.'],
  ['recipient.street',       AN(100),                              O,   echoed, person, 'Street.'],
  ['recipient.address',      AN(100),                              O,   echoed, person, 'Address in one line.'],
  ['recipient.city',         AN(80),                               O,   echoed, person, 'Town or city.'],
  ['recipient.state',        AN(50),                               O,   echoed, person, 'State or region.'],
  ['recipient.postcode',     AN(16),                               O,   echoed, person, 'Postal code.'],
  ['recipient.country',      either(country, countryNumeric),      O,   echoed, none,   'Country, two letters or three digits.'],
  ['recipient.phone',        phone,                                O,   echoed, person, 'Phone number of the recipient.', { because: phoneBecause, reference: true }],
  ['recipient.email',        AN(128),                              O,   echoed, person, 'E-mail address of the recipient.'],
], [], 'cart.items')

/** The bought articles, one for each line. The lines need not add up to the amount. */
export const cartItems = withHighestIndex(items, 1000)
