import { AN, amount, C, currency, echoed, excerpt, type Format, flag, group, integer, match, none, O, oneOf, R, reference, request, stored } from '../table.ts'
import { merchantReference } from './formats.ts'

const brand: Format = { kind: 'brand' }
const paymentType: Format = { kind: 'payment-type' }
const category = match('[a-zA-Z0-9]{0,32}', 'EC', 0, 32)
const promotion = match('[A-Za-z0-9]{0,15}', 'SPRING26', 0, 15)
const entityNumber = match('[a-f0-9]{32}', '8ac7a4c9671f0e2b01672a5d8e3f0b1c', 32, 32)

/** Top-level fields: the amount, the payment method and the references. */
export const basic = group('', 'Basic payment fields', [
  // name                       format                                   need direction class meaning
  ['amount',                    amount,                                  R,   echoed,  none, 'Charged amount, including tax and shipping. No other amount moves money.'],
  ['taxAmount',                 amount,                                  C,   echoed,  none, 'Tax contained in the amount.'],
  ['discountAmount',            amount,                                  O,   echoed,  none, 'Discount on the whole invoice, for level-3 card data.'],
  ['currency',                  currency,                                R,   echoed,  none, 'Currency of the amount.'],
  ['paymentBrand',              brand,                                   C,   echoed,  none, 'Brand of the payment method. Optional where the card number determines it.', { code: '100.100.501' }],
  ['paymentType',               paymentType,                             R,   echoed,  none, 'Type of payment: PA, DB, CD and so on; PA.CP makes two steps in one request.'],
  ['integrity',                 flag,                                    O,   request, none, 'Requests the hash of the widget script, for the integrity attribute. Checkout creation only.'],
  ['overridePaymentType[name]', paymentType,                             O,   stored,  none, 'Payment type for one brand; the others keep paymentType. Checkout creation only.', { key: { pattern: '[a-zA-Z0-9_]{1,32}', max: 32 } }],
  ['descriptor',                AN(127),                                 O,   echoed,  none, 'Text on the statement, complete or partial, depending on the merchant account.'],
  ['merchantTransactionId',     merchantReference,                       C,   echoed,  none, 'Reference of the merchant, preferably unique; used to reconcile.', reference],
  ['merchantInvoiceId',         AN(8, 255),                              O,   stored,  none, 'Invoice number of the merchant. Stored for reports and not passed on.', reference],
  ['merchantMemo',              AN(8, 255),                              O,   stored,  none, 'Note for reports.'],
  ['transactionCategory',       category,                                O,   stored,  none, 'Sales channel or other category.'],
  ['sequence',                  AN(255),                                 O,   stored,  none, 'FINAL announces the last follow-up of this type.', { because: 'The length is not documented.' }],
  ['numberOfCaptures',          integer(1, 98),                          O,   stored,  none, 'Maximum number of partial captures.'],
  ['promotionCode',             promotion,                               O,   stored,  none, 'Promotion code of the order.', reference],
  ['locale',                    AN(10),                                  O,   stored,  none, 'Language and country, if the connector supports them.'],
  ['transactionPurposeCode',    AN(12),                                  O,   stored,  none, 'Purpose of the payment. Some countries require it for account funding and original credits.'],
  ['integrationType',           AN(10),                                  O,   stored,  none, "Kind of the merchant's integration."],
  ['transactionBai',            AN(2),                                   O,   stored,  none, 'Business application identifier of a push payment.'],
  ['transactionTti',            AN(3),                                   O,   stored,  none, 'Transaction type identifier of a card network send service.'],
  ['transactionProcessingCode', oneOf('PURCHASE', 'FUNDING', 'PAYMENT'), O,   stored,  none, 'Purchase, account funding, or original credit.', { default: 'PURCHASE' }],
  ['lifecycleId',               AN(35),                                  O,   stored,  none, 'Links an authorisation with its increments, reversals and captures.', reference],
  ['referenceUuid',             AN(32),                                  O,   request, none, 'Id of an earlier authorisation when the URL does not name it: for increments and reauthorisations.', reference],
  ['testMode',                  oneOf('EXTERNAL', 'INTERNAL'),           O,   request, none, "EXTERNAL goes to the processor's test system, INTERNAL (also when absent) to the simulator."],
  ['entityId',                  entityNumber,                            C,   request, none, 'Channel of the request, or its merchant when payments are dispatched.', { aliases: ['authentication.entityId'], reference: true }],
], [], 'basic')

/** Basic fields of requests without a payment, above all reads and deletions. */
export const entity = excerpt(basic, ['entityId', 'testMode'], 'entity', 'Entity and test mode')
