import { AN, C, type Condition, currency, echoed, type Format, flag, group, match, N, none, O, oneOf, person, type Row, reference, request, sad, stored, together } from '../table.ts'

/** Card schemes with their own name and id of the requestor. */
export const threeDSecureSchemes = ['visa', 'mastercard', 'amex', 'diners', 'jcb', 'cartesbancaires'] as const

const countryAlpha3: Format = { kind: 'country-alpha3' }
const nineDigits: Format = { kind: 'amount', integer: 9 }

const merchantPurpose = oneOf('RECURRING', 'SPLIT_SHIPMENT', 'DELAYED_SHIPMENT')
// The leading underscore of one value is part of the interface.
const purpose = oneOf(
  'PAYMENT', 'RECURRING', 'INSTALLMENT', 'ADD_CARD', 'MAINTAIN_CARD', 'EMV_ID', 'BILLING_AGREEMENT',
  'SPLIT_SHIPMENT', '_DELAYED_SHIPMENT', 'SPLIT_PAYMENT',
)

const requestors = threeDSecureSchemes.flatMap((scheme): Row[] => [
  [`v2.${scheme}.requestorId`, AN(100), O, stored, none, `Requestor id that ${scheme} gave the merchant.`, reference],
  [`v2.${scheme}.requestorName`, AN(100), O, stored, none, `Requestor name that ${scheme} gave the merchant.`],
])

/** Fields of an authentication. Any of them requests one. */
export const threeDSecureAuthentication = group('threeDSecure', '3-D Secure authentication', [
  // name              format         need direction class   meaning
  ['amount',           nineDigits,    O,   stored,  none,   'Amount to authenticate, if it differs from the payment.'],
  ['currency',         currency,      O,   stored,  none,   'Currency of that amount.'],
  ['deviceInfo',       AN(64000),     C,   request, person, 'Encrypted device data of the mobile SDK. Starts the app-based flow.', { because: 'The document gives no length; this is the maximum of the 3-D Secure protocol.' }],
  ['merchant.name',    AN(100),       O,   stored,  none,   'Merchant name shown by the issuer.'],
  ['merchant.url',     AN(2048),      O,   stored,  none,   "Merchant's web site shown by the issuer."],
  ['merchant.country', countryAlpha3, O,   stored,  none,   "Merchant's country, three letters."],
  ...requestors,
  // name               format                                   need direction class meaning
  ['channel',           match('0?[1-9]|[1-9][0-9]', '03', 1, 2), O,   stored, none, 'Marks a merchant-initiated authentication, for one network.'],
  ['npa',               flag,                                    O,   stored, none, 'Authentication without a payment.'],
  ['decoupled',         flag,                                    O,   stored, none, 'Lets the issuer authenticate the shopper outside this session.'],
  ['threeRIInd',        merchantPurpose,                         O,   stored, none, 'Reason of a merchant-initiated authentication.'],
  ['authenticationInd', purpose,                                 O,   stored, none, 'Purpose of the authentication.'],
], [], 'threeDSecure authentication')

/** Result of an external authentication. Passed on unchanged. */
export const threeDSecureExternal = group('threeDSecure', 'External 3-D Secure result', [
  // name                        format                                         need direction class meaning
  ['eci',                        match('0[1-8]', '05', 2, 2),                   C,   echoed,  none, 'Electronic commerce indicator.'],
  ['verificationId',             AN(28, 28),                                    C,   request, sad,  'Proof of authentication (CAVV, AAV). Used once, never stored.'],
  ['authenticationStatus',       oneOf('Y', 'A', 'U', 'N'),                     C,   echoed,  none, 'Authenticated, attempted, unavailable or not authenticated.'],
  ['dsTransactionId',            AN(36, 36),                                    O,   echoed,  none, "Directory server's number of the authentication.", reference],
  ['acsTransactionId',           AN(36, 36),                                    O,   echoed,  none, "Issuer's number of the authentication.", reference],
  ['challengeMandatedIndicator', oneOf('Y', 'N'),                               O,   stored,  none, 'Whether the issuer required a challenge.'],
  ['version',                    match('(1|2)\\.[0-9]\\.[0-9]', '2.2.0', 5, 5), O,   echoed,  none, 'Version of the protocol.'],
  ['authType',                   match('0[1-4]', '02', 2, 2),                   O,   echoed,  none, 'Method of authentication.'],
  ['transactionStatusReason',    N(2),                                          O,   echoed,  none, 'Reason of the status.'],
], [], 'threeDSecure external')

/** Preferences for the authentication and exemptions from it, for both steps. */
export const threeDSecureExemption = group('threeDSecure', '3-D Secure exemption', [
  ['challengeIndicator', match('0[1-9]', '04', 2, 2), O, stored, none, 'Whether the merchant wants a challenge; 04 requires one.'],
  ['exemptionFlag',      match('0[1-4]', '01', 2, 2), O, stored, none, 'Exemption from strong authentication that the merchant claims.'],
], [], 'threeDSecure exemption')

const schemeData = group('threeDSecure', '3-D Secure scheme data', [
  ['schemeData[CB-ITEMSNB]',        N(2),   C, stored, none, 'Cartes Bancaires: number of articles. Recommended.'],
  ['schemeData[CB-SCORE_MERCHANT]', AN(20), C, stored, none, "Cartes Bancaires: the merchant's own risk score. Recommended."],
  ['schemeData[CB-USECASE]',        N(2),   C, stored, none, 'Cartes Bancaires: use case of the payment.'],
])

const scored = ['threeDSecure.schemeData[CB-ITEMSNB]', 'threeDSecure.schemeData[CB-SCORE_MERCHANT]']
const useCase = ['threeDSecure.schemeData[CB-USECASE]']

/** 3-D Secure: authentication by the gateway, and results of external authentications. */
export const threeDSecure = together('threeDSecure', '3-D Secure', [
  threeDSecureAuthentication,
  threeDSecureExternal,
  threeDSecureExemption,
  schemeData,
], [
  {
    rule: 'requires',
    when: scored,
    need: useCase,
    unless: { field: 'threeDSecure.npa', is: ['true'] },
    message: 'Cartes Bancaires data of a payment needs threeDSecure.schemeData[CB-USECASE]',
  },
  {
    rule: 'requires',
    when: scored,
    need: useCase,
    onlyIf: { field: 'threeDSecure.authenticationInd', is: ['RECURRING', 'INSTALLMENT'] },
    message: 'Cartes Bancaires data needs threeDSecure.schemeData[CB-USECASE] for RECURRING and INSTALLMENT',
  },
])

/**
 * The fields that protocol version 2 needs. Checked only when the gateway is asked to authenticate:
 * payments without authentication, with an external result or initiated by the merchant need none
 * of them. An app describes no browser; it sends its encrypted device data instead.
 */
export const threeDSecureMandatory: readonly Condition[] = [
  {
    rule: 'mandatory',
    need: ['billing.street1', 'billing.city', 'billing.postcode', 'billing.country'],
    message: '3-D Secure needs the billing address: street1, city, postcode and country',
  },
  {
    rule: 'mandatory',
    need: [
      'customer.browser.acceptHeader',
      'customer.browser.language',
      'customer.browser.screenHeight',
      'customer.browser.screenWidth',
      'customer.browser.timezone',
      'customer.browser.userAgent',
      'customer.browser.javaEnabled',
    ],
    unless: { field: 'threeDSecure.deviceInfo' },
    message: '3-D Secure in a browser needs customer.browser.*; an app sends threeDSecure.deviceInfo instead',
  },
  {
    rule: 'implies',
    when: { field: 'standingInstruction.type', is: ['INSTALLMENT'] },
    need: ['standingInstruction.numberOfInstallments'],
    message: '3-D Secure for instalments needs standingInstruction.numberOfInstallments',
  },
]
