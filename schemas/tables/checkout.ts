import { AN, amount, C, currency, excerpt, flag, type Group, group, integer, match, none, O, oneOf, pageOrApp, person, R, request, response, together, url } from '../table.ts'
import { asynchronous } from './asynchronous.ts'
import { bankAccount } from './bank-account.ts'
import { basic } from './basic.ts'
import { billing } from './billing.ts'
import { card } from './card.ts'
import { customer } from './customer.ts'
import { id32, merchantReference, month, year } from './formats.ts'
import { tokenization } from './tokenization.ts'
import { applePay, googlePay, samsungPay } from './wallets.ts'

const checkoutId = match('[a-zA-Z0-9.-]{32,48}', '8AC7A4CA5B0E4D7C9F21D3A86E4B7710.node-1', 32, 48)

/** The fields of a checkout beside those of its payment. */
export const checkout = group('', 'Checkout', [
  ['registrations[n].id', id32, O, request, none, 'Registrations that the widget offers to the shopper, for checkouts only. Removed ones are left out.'],
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
  fromShopper(applePay, ['applePay.paymentToken']),
  fromShopper(googlePay, ['googlePay.paymentToken']),
  fromShopper(samsungPay, ['samsungPay.paymentToken']),
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

const shownPrice = match('(?:[0-9.]{1,16} [A-Z]{3}|registration)', '92.00 EUR', 5, 20)
const onward = fromResponse([
  'redirect.url', 'redirect.method', 'redirect.parameters[n].name', 'redirect.parameters[n].value',
  'redirect.preconditions[n].origin', 'redirect.preconditions[n].waitUntil', 'redirect.preconditions[n].method',
  'redirect.preconditions[n].url', 'redirect.preconditions[n].parameters[n].name',
  'redirect.preconditions[n].parameters[n].value', 'redirect.preconditions[n].description',
])

function fromResponse(names: readonly string[]): Group {
  return excerpt(asynchronous, names, 'redirect', 'Redirect of the shopper')
}

const whereOn = group('', 'Way on', [
  // name       format               need direction class meaning
  ['resultUrl', pageOrApp(4096, 6),  C,   response, none, "The merchant's page, with id and resourcePath."],
  ['inFrame',   flag,                C,   response, none, 'True when the redirect opens in the frame of the widget.'],
])

/** Answer to a question about the state of a checkout. */
export const checkoutStateResponse = together('checkout state response', 'State of a checkout', [
  group('', 'State', [
    ['state',   oneOf('free', 'busy', 'paid', 'closed'), R, response, none, 'State: the shopper may pay (free), a payment is under way (busy), or the checkout is paid or closed.'],
    ['awaited', flag, C, response, none, 'True when only the acquirer is awaited: the shopper may go on to resultUrl.'],
  ]),
  whereOn,
  onward,
])

/** Answer to a submission of the widget. No answer to a browser has the code of a decline. */
export const checkoutSubmissionResponse = together('checkout submission response', 'Answer to a submission', [
  group('', 'Submission answer', [
    // name            format                                                                    need direction class meaning
    ['state',          oneOf('paid', 'declined', 'waiting', 'busy', 'closed', 'invalid', 'changed'), R, response, none, 'Result of the press. waiting: follow redirect, or ask for the state. busy: another press is under way. changed: the merchant changed the checkout since.'],
    ['errors[n].field',  AN(64),                                                                  C, response, none, 'A field to correct.', { maxIndex: 499 }],
    ['errors[n].reason', oneOf('required', 'invalid', 'expired'),                                 C, response, none, 'What is wrong with it.', { maxIndex: 499 }],
    ['attemptsLeft',   integer(0, 99),                                                            C, response, none, 'Number of further tries.'],
  ]),
  whereOn,
  onward,
])

/** Asks a wallet to recognise the merchant's page. */
export const walletSession = group('', 'Session of a wallet', [
  // name   format              need direction class meaning
  ['wallet', oneOf('applePay'), R,   request,  none, 'The wallet whose sheet the page opens.'],
  ['origin', AN(255),           R,   request,  none, "Origin of the merchant's page."],
], [], 'wallet session')

export const walletSessionResponse = group('', 'Session of a wallet', [
  ['session', AN(65536), R, response, none, "The wallet's own object for its sheet, as JSON."],
], [], 'wallet session response')

/** What the widget of a checkout shows. */
export const checkoutOffer = group('', 'Offer of a checkout', [
  // name                       format                            need direction class meaning
  ['kind',                      oneOf('payment', 'registration'), R,   response, none, 'Whether the checkout takes a payment, or only stores an account.'],
  ['amount',                    amount,                           C,   response, none, 'Amount of the payment.'],
  ['currency',                  currency,                         C,   response, none, 'Currency of the payment.'],
  ['shown',                     shownPrice,                       R,   response, none, 'What the page shows; a submission sends it back.'],
  ['brands[n].brand',           { kind: 'brand' },                C,   response, none, 'Brands to choose from.', { maxIndex: 499 }],
  ['brands[n].flow',            oneOf('card', 'redirect', 'bank'), C,  response, none, 'How the shopper pays with the brand.', { maxIndex: 499 }],
  ['wallets[n].field',          oneOf('applePay', 'googlePay'),   C,   response, none, 'Wallets whose button the page may show, where the browser has them.', { maxIndex: 9 }],
  ['wallets[n].environment',    AN(32),                           C,   response, none, "The wallet's own word for the environment.", { maxIndex: 9 }],
  ['wallets[n].gateway',        AN(64),                           C,   response, none, 'Id of the gateway at the wallet.', { maxIndex: 9 }],
  ['wallets[n].gatewayMerchantId', AN(128),                       C,   response, none, 'Id of the merchant at the gateway.', { maxIndex: 9 }],
  ['wallets[n].merchantId',     AN(128),                          C,   response, none, 'Id of the merchant at the wallet.', { maxIndex: 9 }],
  ['wallets[n].merchantName',   AN(64),                           C,   response, none, 'Name that the wallet shows to the shopper.', { maxIndex: 9 }],
  ['wallets[n].country',        { kind: 'country' },              C,   response, none, 'Country of the acquirer.', { maxIndex: 9 }],
  ['registrations[n].id',       id32,                             C,   response, none, 'Stored accounts to choose from.'],
  ['registrations[n].brand',    { kind: 'brand' },                C,   response, none, 'Brand of the account.'],
  ['registrations[n].last4',    match('[a-zA-Z0-9]{4}', '4242', 4, 4), C, response, none, 'Last four characters of its number.'],
  ['registrations[n].expiryMonth', month,                         C,   response, none, 'Expiry month.'],
  ['registrations[n].expiryYear', year,                           C,   response, none, 'Expiry year.'],
  ['registrations[n].cvv',      oneOf('asked', 'not'),            C,   response, none, 'Whether the shopper enters the security code.'],
  ['createRegistration',        flag,                             R,   response, none, 'True when the account is stored in any case.'],
  ['mayRegister',               flag,                             R,   response, none, 'True when the shopper decides whether the account is stored.'],
  ['missingBilling[n]',         AN(64),                           C,   response, none, 'Fields of the billing address that the shopper has to fill in.'],
  ['merchantName',              AN(255),                          C,   response, none, 'Name of the merchant.'],
  ['reference',                 merchantReference,                C,   response, none, 'Reference of the order.'],
  ['locale',                    AN(10),                           C,   response, none, 'Language of the page.'],
  ['widgetOrigins[n]',          AN(2048),                         C,   response, none, "Origins of the merchant's pages, if they are limited."],
  ['test',                      flag,                             R,   response, none, 'True in the test environment.'],
  ['result',                    flag,                             R,   response, none, 'True when the checkout itself names the page after the payment.'],
  ['merchantFields[n]',         AN(64),                           C,   response, none, 'Fields of the shopper that the merchant has filled.'],
  ['fieldsUrl',                 url(2048),                        C,   response, none, 'Origin of card fields, where it is not that of the script.'],
  ['scriptHash',                AN(255),                          C,   response, none, 'Script that the checkout was made with.'],
], [], 'checkout offer')
