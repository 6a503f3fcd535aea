import { AN, C, excerpt, type Group, group, match, none, O, oneOf, person, R, request, response, together, url } from '../table.ts'
import { bankAccount } from './bank-account.ts'
import { basic } from './basic.ts'
import { billing } from './billing.ts'
import { card } from './card.ts'
import { customer } from './customer.ts'
import { id32 } from './formats.ts'
import { tokenization } from './tokenization.ts'

const checkoutId = match('[a-zA-Z0-9.-]{32,48}', '8AC7A4CA5B0E4D7C9F21D3A86E4B7710.node-1', 32, 48)

/** The fields of a checkout beside those of its payment. */
export const checkout = group('', 'Checkout', [
  ['registrations[n].id', id32, O, request, none, 'Registrations that the widget offers to the shopper. Removed ones are left out.'],
], [], 'checkout')

/** Answer about a checkout. Its id is valid for 30 minutes. */
export const checkoutResponse = group('', 'Checkout answer', [
  ['id',        checkoutId, R, response, none, 'Id of the checkout, for the widget.'],
  ['integrity', AN(255),    C, response, none, 'Hash of the widget script of this checkout, if it was requested.'],
], [], 'checkout response')

const nonce = match('[A-Za-z0-9_-]{16,64}', 'Zk3fV0pQ8sLr2TnX', 16, 64)

/** Says for which press of the pay button a browser asks. */
export const checkoutPress = group('', 'Press of the pay button', [
  ['nonce', nonce, O, request, none, 'That of the press that asks. The redirect of a payment is for the press that began it.'],
], [], 'checkout press')

const fromShopper = (source: Group, names: readonly string[]): Group =>
  excerpt(source, names, source.name, source.title)

const press = group('', 'Submission', [
  // name           format           need direction class meaning
  ['nonce',          nonce,           R, request,  none,  'New for every press of the pay button. The same nonce is the same payment.'],
  ['resultUrl',      url(2048, 6),    O, request,  none,  'Page that the shopper goes on to. The shopperResultUrl of the checkout wins.'],
  ['origin',         AN(255),         O, request,  none,  "Origin of the merchant's page."],
  ['challenge',      oneOf('frame', 'tab'), O, request,  none,  "Where the issuer's page opens.", { default: 'tab' }],
  ['shown',          match('(?:[0-9.]{1,16} [A-Z]{3}|registration)', '92.00 EUR', 5, 20), O, request, none, 'What the page showed: `shown` of its offer. Nothing is paid where the merchant has changed it since.'],
  ['registrationId', id32,            O, request,  none,  'One of the registrations of the checkout, to pay with it.'],
])

const own = group('', "The shopper's own parameters", [
  ['customParameters[name]', AN(2048), O, request, person, 'Value under a name that begins with SHOPPER_.', { key: { pattern: 'SHOPPER_[a-zA-Z0-9._]{1,56}', max: 64 } }],
])

/**
 * Everything that a shopper's browser may send: nothing else of a payment comes from there. Names
 * and addresses fill only fields that the merchant left empty.
 */
export const checkoutSubmission = together('checkout submission', 'Submission of the widget', [
  press,
  fromShopper(basic, ['paymentBrand']),
  fromShopper(card, ['card.number', 'card.holder', 'card.expiryMonth', 'card.expiryYear', 'card.cvv']),
  fromShopper(bankAccount, ['bankAccount.holder', 'bankAccount.iban', 'bankAccount.bic', 'bankAccount.country']),
  fromShopper(tokenization, ['createRegistration']),
  fromShopper(customer, [
    'customer.givenName', 'customer.middleName', 'customer.surname', 'customer.email', 'customer.phone', 'customer.mobile',
    'customer.companyName', 'customer.browser.language', 'customer.browser.screenHeight', 'customer.browser.screenWidth',
    'customer.browser.timezone', 'customer.browser.userAgent', 'customer.browser.javaEnabled',
    'customer.browser.screenColorDepth', 'customer.browser.challengeWindow',
  ]),
  fromShopper(billing, [
    'billing.street1', 'billing.street2', 'billing.houseNumber1', 'billing.houseNumber2', 'billing.city', 'billing.state',
    'billing.postcode', 'billing.country',
  ]),
  own,
])
