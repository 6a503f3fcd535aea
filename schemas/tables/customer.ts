import { AN, C, date, echoed, flag, group, match, N, none, O, oneOf, person, reference, stored, under } from '../table.ts'
import { phone, phoneBecause } from './formats.ts'

const rows = group('customer', 'Customer', [
  // name                      format                                       need direction class   meaning
  ['merchantCustomerId',       AN(255),                                     O,   echoed, none,   "The merchant's own number of the shopper.", reference],
  ['givenName',                AN(50),                                      C,   echoed, person, 'Given name.'],
  ['middleName',               AN(2, 50),                                   O,   echoed, person, 'Middle name.'],
  ['surname',                  AN(50),                                      C,   echoed, person, 'Family name.'],
  ['sex',                      oneOf('M', 'F'),                             O,   echoed, person, 'Male or female.'],
  ['birthDate',                date,                                        O,   echoed, person, 'Day of birth.'],
  ['phone',                    phone,                                       O,   echoed, person, 'Phone number; some risk checks need it.', { because: phoneBecause, reference: true }],
  ['mobile',                   phone,                                       O,   echoed, person, 'Mobile number; some risk checks need it.', { because: phoneBecause, reference: true }],
  ['workPhone',                AN(25),                                      O,   echoed, person, 'Phone number at work.', reference],
  ['email',                    AN(6, 128),                                  O,   echoed, person, 'E-mail address, for risk checks and direct-debit mandates.'],
  ['companyName',              AN(60),                                      O,   echoed, person, 'Company that the shopper acts for.'],
  ['identificationDocType',    oneOf('IDCARD', 'PASSPORT', 'TAXSTATEMENT'), C,   echoed, none,   'Kind of identity document. Some payment types require it.'],
  ['identificationDocId',      AN(8, 64),                                   C,   echoed, person, 'Number of that document.', reference],
  ['ip',                       AN(255),                                     O,   echoed, person, "Internet address of the shopper's device."],
  ['merchantReference',        AN(255),                                     O,   echoed, none,   'Payer reference shown to the payee.', reference],
  ['salutation',               oneOf('MR', 'MRS', 'MS', 'MX'),              O,   echoed, person, 'Form of address.'],
  ['language',                 match('[A-Z]{2}', 'DE', 2, 2),               O,   echoed, none,   'Preferred language.'],
  ['category',                 oneOf('INDIVIDUAL', 'COMPANY'),              O,   echoed, none,   'Private person or company.'],
  ['status',                   oneOf('NEW', 'EXISTING'),                    O,   echoed, none,   'Whether the merchant knows the shopper.'],
  ['browserFingerprint.id',    AN(255),                                     O,   stored, person, 'Name of a device fingerprint session.', reference],
  ['browserFingerprint.value', AN(4096),                                    O,   stored, person, 'Device fingerprint.', reference],
  ['browser.acceptHeader',     AN(2048),                                    C,   stored, none,   "Accept header of the shopper's browser."],
  ['browser.language',         AN(8),                                       C,   stored, none,   'Language of the browser, as a BCP 47 tag.'],
  ['browser.screenHeight',     AN(6),                                       C,   stored, none,   'Height of the screen in pixels.'],
  ['browser.screenWidth',      AN(6),                                       C,   stored, none,   'Width of the screen in pixels.'],
  ['browser.timezone',         AN(5),                                       C,   stored, none,   'Minutes from local time to UTC; positive west of it.'],
  ['browser.userAgent',        AN(2048),                                    C,   stored, person, 'User-Agent header of the browser.'],
  ['browser.javaEnabled',      flag,                                        C,   stored, none,   'Whether the browser can run Java.'],
  ['browser.screenColorDepth', N(2),                                        O,   stored, none,   'Colour depth in bits per pixel.'],
  ['browser.challengeWindow',  N(1),                                        O,   stored, none,   'Chosen size of the challenge window.'],
  ['browser.deviceId',         AN(32),                                      O,   stored, person, 'Device id given to the browser.', reference],
  ['app.deviceId',             AN(40),                                      O,   stored, person, 'Device id given to the app.', reference],
])

const technical = /^customer\.(ip$|browser\.|browserFingerprint\.|app\.)/

/**
 * The payer. Any personal field needs the customer's name; technical fields (address and browser of
 * the device) do not, because 3-D Secure sends them alone.
 */
export const customer = {
  ...rows,
  conditions: [
    {
      rule: 'requires',
      when: rows.fields.map((field) => field.name).filter((name) => !technical.test(name)),
      need: ['customer.givenName', 'customer.surname'],
      message: 'customer data needs customer.givenName and customer.surname',
    },
    {
      rule: 'requires',
      when: ['customer.identificationDocType'],
      need: ['customer.identificationDocId'],
      message: 'customer.identificationDocType needs customer.identificationDocId',
    },
    {
      rule: 'requires',
      when: ['customer.identificationDocId'],
      need: ['customer.identificationDocType'],
      message: 'customer.identificationDocId needs customer.identificationDocType',
    },
  ],
} as const satisfies typeof rows

/** The recipient of the goods, if it is not the payer. */
export const shippingCustomer = under(customer, 'customer', 'shipping.customer', 'Customer of the delivery', {
  without: ['browserFingerprint.*', 'browser.deviceId', 'app.deviceId'],
  need: O,
})
