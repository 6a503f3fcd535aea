import type { RequestFields } from '@tollgate/plugin-kit'
import { type AccountGroup, type Brand, brandOf, isCountry } from '@tollgate/schemas'
import { electronicFormatIBAN, isValidBIC, isValidIBAN } from 'ibantools'
import { GatewayError } from '../errors.ts'
import { detectBrand, fitsBrand, isOfOtherScheme, passesLuhn } from '../redaction/card-number.ts'
import { groupOf, refuse, textOf } from './values.ts'

/**
 * Checks of well-formed values: a card number with a typing error, an expired card, an unknown
 * currency. Each has its own result code. All checks run once per payment, so tables are indexed
 * when the module loads.
 */

type Wallet = Extract<AccountGroup, 'applePay' | 'googlePay' | 'samsungPay'>

/** The account of a request after the checks. `detected`: the brand comes from the number. */
export type CheckedAccount =
  | { kind: 'card'; brand: Brand; detected: boolean; wallet?: Wallet }
  | { kind: 'tokenAccount'; brand: Brand; detected: boolean }
  /** `iban` is in its electronic form: capitals, no blanks. */
  | { kind: 'bankAccount'; brand: Brand; iban?: string }
  | { kind: 'virtualAccount'; brand: Brand }
  /** An encrypted wallet token that is not opened yet: it has the number, and so the brand. */
  | { kind: 'wallet'; brand?: Brand; wallet: Wallet }
  /** The brand needs no account data, and none was sent. */
  | { kind: 'none'; brand: Brand }

export type AccountOptions = {
  /** Business time of the channel. */
  readonly now: Date
  /** The channel requires a security code whenever the shopper is present. */
  readonly cvvAsked: boolean
  /** The card came out of a token of this wallet, which was opened. */
  readonly opened?: Wallet | undefined
  /** A shopper chose the brand, who could choose one that is never authenticated. */
  readonly isFromBrowser?: boolean
}

const wallets: readonly Wallet[] = ['applePay', 'googlePay', 'samsungPay']

/** The wallet whose encrypted token the request has. */
export const encryptedWallet = (fields: RequestFields): Wallet | undefined =>
  walletWith(fields, 'paymentToken')

/** The wallet whose group holds this field. */
const walletWith = (fields: RequestFields, field: 'paymentToken' | 'source') =>
  wallets.find((name) => textOf(groupOf(fields, name), field) !== undefined)

function checkExpiry(account: RequestFields, prefix: string, now: Date): void {
  const year = textOf(account, 'expiryYear')
  const month = textOf(account, 'expiryMonth')
  if (year === undefined || month === undefined) return
  const lastMonth = Number(year) * 12 + Number(month) - 1
  if (lastMonth >= now.getUTCFullYear() * 12 + now.getUTCMonth()) return
  throw refuse('100.100.303', `${prefix}.expiryYear`, 'the expiry month is over')
}

/**
 * Whether a security code has as many digits as the brand prints.
 *
 * @throws GatewayError 100.100.601
 */
export function checkCvv(cvv: string, brand: Brand): void {
  if (brand.cvvLengths.length === 0 || brand.cvvLengths.includes(cvv.length)) return
  const digits = brand.cvvLengths.join(' or ')
  throw refuse('100.100.601', 'card.cvv', `must have ${digits} digits for ${brand.code}`)
}

/** Only a present shopper can enter a code, and only for a card: device numbers have none. */
function shopperHasCvv(
  fields: RequestFields,
  card: RequestFields,
  wallet: Wallet | undefined,
): boolean {
  const type = textOf(fields, 'paymentType')
  return (
    (type === 'PA' || type === 'DB' || type === 'PA.CP') &&
    wallet === undefined &&
    textOf(card, 'numberType') !== 'DPAN' &&
    textOf(groupOf(fields, 'standingInstruction'), 'source') !== 'MIT'
  )
}

/** A wallet is no card scheme; the decrypted number determines the scheme. */
const schemeOf = (sent: Brand | undefined) => (sent?.account === 'card' ? sent : undefined)

function brandOfNumber(number: string, name: string): Brand {
  const brand = detectBrand(number)
  if (brand !== undefined) return brand
  throw refuse('100.100.500', 'paymentBrand', `required: the ${name} does not tell the brand`)
}

function checkNumber(
  number: string,
  name: string,
  brand: Brand,
  sent: Brand | undefined,
  isFromBrowser = false,
): void {
  if (fitsBrand(number, brand) && !(isFromBrowser && isOfOtherScheme(number, brand))) return
  const wrong = { name, message: `is not a number of ${brand.code}` }
  // Either field may be wrong, so the error names both.
  const asSent = { name: 'paymentBrand', value: brand.code, message: 'does not fit the number' }
  throw new GatewayError('100.100.700', {
    parameterErrors: sent === undefined ? [wrong] : [wrong, asSent],
  })
}

function checkCard(
  fields: RequestFields,
  card: RequestFields,
  sent: Brand | undefined,
  options: AccountOptions,
): CheckedAccount {
  const number = textOf(card, 'number') as string
  if (!passesLuhn(number)) throw refuse('100.100.101', 'card.number', 'has a wrong check digit')
  const wallet = options.opened ?? walletWith(fields, 'source')
  const cardBrand = schemeOf(sent)
  const brand = cardBrand ?? brandOfNumber(number, 'card number')
  checkNumber(number, 'card.number', brand, cardBrand, options.isFromBrowser)
  checkExpiry(card, 'card', options.now)
  const cvv = textOf(card, 'cvv')
  if (cvv !== undefined) checkCvv(cvv, brand)
  else if ((options.cvvAsked || brand.cvvNeeded) && shopperHasCvv(fields, card, wallet)) {
    throw refuse(
      '100.100.600',
      'card.cvv',
      brand.cvvNeeded ? `required for ${brand.code}` : 'required by this channel',
    )
  }
  const detected = cardBrand === undefined
  return wallet === undefined
    ? { kind: 'card', brand, detected }
    : { kind: 'card', brand, detected, wallet }
}

function checkTokenAccount(
  token: RequestFields,
  sent: Brand | undefined,
  now: Date,
): CheckedAccount {
  const number = textOf(token, 'number') as string
  // An acquirer's own tokens (EXTERNAL) resemble card numbers by chance.
  const isNetwork = textOf(token, 'type') === 'NETWORK'
  if (isNetwork && !passesLuhn(number)) {
    throw refuse('100.100.101', 'tokenAccount.number', 'has a wrong check digit')
  }
  const cardBrand = schemeOf(sent)
  const brand = cardBrand ?? brandOfNumber(number, 'token number')
  if (isNetwork) checkNumber(number, 'tokenAccount.number', brand, cardBrand)
  checkExpiry(token, 'tokenAccount', now)
  return { kind: 'tokenAccount', brand, detected: cardBrand === undefined }
}

// Bank accounts.

/**
 * Checks the values of a bank account and returns its IBAN in electronic form.
 *
 * @throws GatewayError 100.100.101 for an IBAN or BIC that cannot exist, 100.200.100 for the
 * country.
 */
export function checkBankAccount(account: RequestFields): { iban?: string } {
  const country = textOf(account, 'country')
  if (country !== undefined && !isCountry(country)) {
    throw refuse('100.200.100', 'bankAccount.country', 'must be an ISO 3166-1 country code')
  }
  const bic = textOf(account, 'bic')
  if (bic !== undefined && !isValidBIC(bic)) {
    throw refuse('100.100.101', 'bankAccount.bic', 'is not a bank identifier code')
  }
  const sent = textOf(account, 'iban')
  if (sent === undefined) return {}
  const iban = electronicFormatIBAN(sent)
  if (iban === null || !isValidIBAN(iban)) {
    throw refuse(
      '100.100.101',
      'bankAccount.iban',
      'is not an IBAN: country, length or check digits are wrong',
    )
  }
  return { iban }
}

const accountField: Readonly<Record<AccountGroup, string>> = {
  card: 'card.number',
  bankAccount: 'bankAccount.iban',
  virtualAccount: 'virtualAccount.accountId',
  applePay: 'applePay.paymentToken',
  googlePay: 'googlePay.paymentToken',
  samsungPay: 'samsungPay.paymentToken',
}

function sentBrand(fields: RequestFields): Brand | undefined {
  const name = textOf(fields, 'paymentBrand')
  if (name === undefined) return undefined
  const brand = brandOf(name)
  if (brand === undefined) throw refuse('100.100.501', 'paymentBrand', 'is not a known brand', name)
  return brand
}

/** Card data from any source: a wallet's encrypted token, a number, an acquirer token. */
function cardAccount(
  fields: RequestFields,
  brand: Brand | undefined,
  options: AccountOptions,
): CheckedAccount | undefined {
  const wallet = walletWith(fields, 'paymentToken')
  if (
    wallet !== undefined &&
    (brand === undefined || brand.account === 'card' || brand.account === wallet)
  ) {
    return brand === undefined ? { kind: 'wallet', wallet } : { kind: 'wallet', brand, wallet }
  }
  // Without `source`, a number is not a decrypted token of that wallet.
  const opened = options.opened ?? walletWith(fields, 'source')
  if (brand?.method === 'WA' && opened !== brand.account) return undefined
  const card = groupOf(fields, 'card')
  if (card !== undefined && textOf(card, 'number') !== undefined) {
    return checkCard(fields, card, brand, options)
  }
  const token = groupOf(fields, 'tokenAccount')
  if (token !== undefined && textOf(token, 'number') !== undefined) {
    return checkTokenAccount(token, brand, options.now)
  }
  return undefined
}

function accountWithoutBrand(fields: RequestFields, options: AccountOptions): CheckedAccount {
  const card = cardAccount(fields, undefined, options)
  if (card !== undefined) return card
  if (groupOf(fields, 'bankAccount') !== undefined) {
    throw refuse('100.100.500', 'paymentBrand', 'required with a bank account')
  }
  if (groupOf(fields, 'virtualAccount') !== undefined) {
    throw refuse('100.210.102', 'paymentBrand', 'required with a virtual account')
  }
  throw refuse(
    '100.150.100',
    'card.number',
    'nothing to pay with: send an account, or paymentBrand for a method without one',
  )
}

const cardNumbers = ['card.number', 'tokenAccount.number'] as const
const bankNumbers = ['bankAccount.iban', 'bankAccount.number'] as const

/** @throws GatewayError 200.300.404 that names both accounts: one would be charged, and the other stored unused. */
function refuseTwoAccounts(fields: RequestFields): void {
  const sentOf = (names: readonly string[]) =>
    names.find((name) => {
      const [group = '', field = ''] = name.split('.')
      return textOf(groupOf(fields, group), field) !== undefined
    })
  const card = sentOf(cardNumbers)
  const bank = card === undefined ? undefined : sentOf(bankNumbers)
  if (card === undefined || bank === undefined) return
  throw new GatewayError('200.300.404', {
    parameterErrors: [card, bank].map((name) => ({
      name,
      message: 'is one of two accounts in this request; send one of them',
    })),
  })
}

/**
 * Finds the account of a request and checks its values. For operations with an instrument; payments
 * on registrations and follow-ups already have one.
 *
 * @throws GatewayError, naming the field, for the first wrong value: 100.100.501 unknown brand,
 * 100.150.100 no account, 100.100.101 number or IBAN, 100.100.700 number of another brand,
 * 100.100.303 expired, 100.100.601 and 100.100.600 security code wrong or missing.
 */
export function checkAccount(fields: RequestFields, options: AccountOptions): CheckedAccount {
  const brand = sentBrand(fields)
  refuseTwoAccounts(fields)
  if (brand === undefined) return accountWithoutBrand(fields, options)
  const { account, code } = brand
  if (account === 'card' || brand.method === 'WA') {
    const found = cardAccount(fields, brand, options)
    if (found !== undefined) return found
  } else if (textOf(groupOf(fields, 'card'), 'number') !== undefined) {
    throw refuse('100.100.501', 'paymentBrand', `${code} is not paid with a card number`, code)
  } else if (account === 'bankAccount') {
    const bank = groupOf(fields, 'bankAccount')
    const { iban } = bank === undefined ? {} : checkBankAccount(bank)
    if (iban !== undefined) return { kind: 'bankAccount', brand, iban }
    if (textOf(bank, 'number') !== undefined) return { kind: 'bankAccount', brand }
  } else if (account === 'virtualAccount') {
    if (textOf(groupOf(fields, account), 'accountId') !== undefined)
      return { kind: 'virtualAccount', brand }
  }
  if (account !== null && brand.accountNeeded) {
    throw refuse('100.150.100', accountField[account], `required for ${code}`)
  }
  return { kind: 'none', brand }
}
