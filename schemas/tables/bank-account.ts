import { AN, C, country, date, echoed, group, match, none, pan, person, request, together } from '../table.ts'
import { brands } from './brands.ts'
import { bic } from './formats.ts'

const accountNumber = match('[a-zA-Z0-9]{3,64}', '5320130000', 3, 64)
const iban = match('[a-zA-Z]{2}[0-9]{2}[a-zA-Z0-9]{11,27}', 'DE89370400440532013000', 15, 31)
const mandateId = match('[a-zA-Z0-9-]{0,256}', 'MANDATE-2026-0117', 0, 256)

const account = group('bankAccount', 'Bank account', [
  // name                     format         need direction class   meaning
  ['holder',                  AN(4, 128),    C,   echoed,  person, "Name of the account's owner.", { because: 'Brands that redirect the shopper to the bank learn the owner there: deployed clients send them the country or the bank alone.' }],
  ['bankName',                AN(255),       C,   echoed,  none,   'Name of the bank.'],
  ['number',                  accountNumber, C,   request, pan,    'Domestic account number.'],
  ['iban',                    iban,          C,   request, pan,    'International account number.'],
  ['bankCode',                AN(12),        C,   echoed,  none,   'Domestic code of the bank.'],
  ['bic',                     bic,           C,   echoed,  none,   'International code of the bank.', { because: 'Letters and digits only: the document gives the two lengths, and no code holds anything else.' }],
  ['country',                 country,       C,   echoed,  none,   'Country of the account.'],
  ['mandate.id',              mandateId,     C,   echoed,  none,   'Direct-debit mandate. Not used for risk checks.', { because: 'Digits are allowed as well: most mandate ids hold some.', reference: true }],
  ['mandate.dateOfSignature', date,          C,   echoed,  none,   "Date of the mandate's signature. Not used for risk checks."],
])

const dueDate = group('', 'Due date', [
  ['transactionDueDate', date, C, echoed, none, 'Collection date of a direct debit. Not used for risk checks.'],
])

const names = account.fields.map((field) => field.name)

/** Brands that need no account: what a request says about one is a hint for the bank's page. */
const unless = {
  field: 'paymentBrand',
  is: brands
    .filter((brand) => brand.account === 'bankAccount' && !brand.accountNeeded)
    .flatMap((brand) => [brand.code, ...brand.aliases]),
}

/** Bank account, for direct debits and transfers. */
export const bankAccount = together('bankAccount', 'Bank account', [account, dueDate], [
  {
    rule: 'requires',
    when: names,
    need: ['bankAccount.holder'],
    unless,
    message: 'a bank account needs bankAccount.holder, except with a brand that redirects to the bank',
  },
  {
    rule: 'any',
    when: names,
    unless,
    of: ['bankAccount.number', 'bankAccount.iban'],
    message: 'a bank account needs bankAccount.number or bankAccount.iban',
  },
  {
    rule: 'any',
    when: names,
    unless,
    of: ['bankAccount.bankCode', 'bankAccount.bic', 'bankAccount.iban'],
    message: 'an account number needs bankAccount.bankCode or bankAccount.bic; an IBAN needs neither',
  },
])
