import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { RequestFields } from '@tollgate/plugin-kit'
import { brands } from '@tollgate/schemas'
import { GatewayError } from '../../../core/errors.ts'
import { type AccountOptions, checkAccount, checkCvv } from '../../../core/request/account.ts'
import { cardOf, pay, refused } from '../../rig/payment-request.ts'

const now = new Date('2026-11-20T10:00:00Z')
const options: AccountOptions = { now, cvvAsked: false }
describe('expiry', () => {
  const expiring = (expiryMonth: string, expiryYear: string, at: string) => () =>
    checkAccount(pay('VISA', { card: cardOf('4200000000000000', { expiryMonth, expiryYear }) }), {
      ...options,
      now: new Date(at),
    })

  test('a card is valid until the end of its expiry month, in business time', () => {
    assert.equal(expiring('11', '2026', '2026-11-30T23:59:59.999Z')().kind, 'card')
    refused(expiring('11', '2026', '2026-12-01T00:00:00.000Z'), '100.100.303', 'card.expiryYear')
    assert.equal(expiring('12', '2026', '2026-12-31T23:59:59.999Z')().kind, 'card')
    refused(expiring('12', '2026', '2027-01-01T00:00:00.000Z'), '100.100.303', 'card.expiryYear')
    assert.equal(expiring('01', '2027', '2026-12-01T00:00:00.000Z')().kind, 'card')
    refused(expiring('05', '1999', '2026-11-20T00:00:00.000Z'), '100.100.303', 'card.expiryYear')
  })

  test('an expired token is refused, and one without expiry is accepted', () => {
    const token = { number: '4200000000000000', type: 'NETWORK' }
    const expired = { ...token, expiryMonth: '10', expiryYear: '2026' }
    refused(
      () => checkAccount(pay('VISA', { tokenAccount: expired }), options),
      '100.100.303',
      'tokenAccount.expiryYear',
    )
    assert.equal(checkAccount(pay('VISA', { tokenAccount: token }), options).kind, 'tokenAccount')
  })
})

describe('security codes', () => {
  const withCvv = (
    brand: string,
    number: string,
    cvv: string | undefined,
    more: RequestFields = {},
  ) => {
    const { cvv: _, ...card } = cardOf(number)
    return pay(brand, { card: cvv === undefined ? card : { ...card, cvv }, ...more })
  }
  const asking: AccountOptions = { now, cvvAsked: true }

  test("a security code has the brand's length: four digits for American Express, three for others", () => {
    const run = (brand: string, number: string, cvv: string) => () =>
      checkAccount(withCvv(brand, number, cvv), options)
    assert.equal(run('AMEX', '378282246310005', '1234')().kind, 'card')
    refused(run('AMEX', '378282246310005', '123'), '100.100.601', 'card.cvv')
    refused(run('VISA', '4200000000000000', '1234'), '100.100.601', 'card.cvv')
    refused(run('AMERICAN_EXPRESS', '378282246310005', '123'), '100.100.601', 'card.cvv')
    const visa = brands.find(({ code }) => code === 'VISA')
    assert.ok(visa)
    refused(() => checkCvv('1234', visa), '100.100.601', 'card.cvv')
    checkCvv('123', visa)
  })

  test('a security code is optional unless the channel or the brand asks for it', () => {
    const visa = withCvv('VISA', '4200000000000000', undefined)
    assert.equal(checkAccount(visa, options).kind, 'card')
    refused(() => checkAccount(visa, asking), '100.100.600', 'card.cvv')
    const hipercard = withCvv('HIPERCARD', '6062820000000003', undefined)
    refused(() => checkAccount(hipercard, options), '100.100.600', 'card.cvv')
  })

  test('a security code is not asked for where none exists', () => {
    const mit = { standingInstruction: { source: 'MIT', mode: 'REPEATED', type: 'RECURRING' } }
    const cases: RequestFields[] = [
      withCvv('VISA', '4200000000000000', undefined, mit),
      withCvv('VISA', '4200000000000000', undefined, { paymentType: 'CD' }),
      withCvv('VISA', '4200000000000000', undefined, { paymentType: '3D' }),
      withCvv('VISA', '4200000000000000', undefined, { applePay: { source: 'web' } }),
    ]
    for (const fields of cases) assert.equal(checkAccount(fields, asking).kind, 'card')
    const { cvv: _, ...device } = cardOf('4200000000000000', { numberType: 'DPAN' })
    assert.equal(checkAccount(pay('VISA', { card: device }), asking).kind, 'card')
    const cit = withCvv('VISA', '4200000000000000', undefined, {
      standingInstruction: { source: 'CIT', mode: 'INITIAL' },
    })
    refused(() => checkAccount(cit, asking), '100.100.600', 'card.cvv')
  })
})

describe('the account of a request', () => {
  test('an unknown brand is refused and shown, unless it resembles an account number', () => {
    assert.throws(
      () => checkAccount(pay('VISSA', { card: cardOf('4200000000000000') }), options),
      (error) =>
        error instanceof GatewayError &&
        error.code === '100.100.501' &&
        error.parameterErrors[0]?.value === 'VISSA',
    )
    refused(() => checkAccount(pay('4200000000000000', {}), options), '100.100.501', 'paymentBrand')
    refused(() => checkAccount(pay('visa', {}), options), '100.100.501', 'paymentBrand')
  })

  test('a request without an account is refused and names the fields its brand needs', () => {
    refused(() => checkAccount(pay(undefined, {}), options), '100.150.100', 'card.number')
    refused(() => checkAccount(pay('VISA', {}), options), '100.150.100', 'card.number')
    refused(
      () => checkAccount(pay('VISA', { card: { holder: 'J' } }), options),
      '100.150.100',
      'card.number',
    )
    refused(
      () => checkAccount(pay('DIRECTDEBIT_SEPA', {}), options),
      '100.150.100',
      'bankAccount.iban',
    )
    refused(
      () => checkAccount(pay('DIRECTDEBIT_SEPA', { bankAccount: { holder: 'Jane' } }), options),
      '100.150.100',
      'bankAccount.iban',
    )
    refused(
      () => checkAccount(pay('NETELLER', {}), options),
      '100.150.100',
      'virtualAccount.accountId',
    )
    refused(
      () => checkAccount(pay('APPLEPAY', {}), options),
      '100.150.100',
      'applePay.paymentToken',
    )
    refused(
      () => checkAccount(pay('APPLEPAY', { card: cardOf('4200000000000000') }), options),
      '100.150.100',
      'applePay.paymentToken',
    )
  })

  test('accounts other than cards need their brand', () => {
    const iban = 'DE89370400440532013000'
    refused(
      () => checkAccount(pay(undefined, { bankAccount: { iban } }), options),
      '100.100.500',
      'paymentBrand',
    )
    refused(
      () => checkAccount(pay(undefined, { virtualAccount: { accountId: 'a' } }), options),
      '100.210.102',
      'paymentBrand',
    )
  })

  test('methods with a redirect need no account', () => {
    for (const brand of ['PAYPAL', 'IDEAL', 'SOFORTUEBERWEISUNG', 'GIROPAY']) {
      const account = checkAccount(pay(brand, {}), options)
      assert.deepEqual([account.kind, account.brand?.code], ['none', brand])
      assert.equal(account.brand?.flow, 'redirect')
    }
    const paypal = checkAccount(pay('PAYPAL', { virtualAccount: { accountId: 'jane' } }), options)
    assert.equal(paypal.kind, 'virtualAccount')
  })

  test('a card number that is not used is refused', () => {
    for (const brand of ['PAYPAL', 'IDEAL', 'DIRECTDEBIT_SEPA', 'INVOICE']) {
      const run = () => checkAccount(pay(brand, { card: cardOf('4200000000000000') }), options)
      refused(run, '100.100.501', 'paymentBrand')
    }
  })

  test('a card beside a bank account is refused, and both are named', () => {
    const both = {
      card: cardOf('4200000000000000'),
      bankAccount: { iban: 'DE89370400440532013000', holder: 'Jane Jones' },
    }
    for (const brand of ['VISA', 'DIRECTDEBIT_SEPA']) {
      const run = () => checkAccount(pay(brand, both), options)
      refused(run, '200.300.404', 'card.number', 'bankAccount.iban')
    }
    const { paymentBrand: _, ...plain } = pay('VISA', both)
    refused(() => checkAccount(plain, options), '200.300.404', 'card.number', 'bankAccount.iban')
    const holder = { ...both, bankAccount: { holder: 'Jane Jones' } }
    assert.equal(checkAccount(pay('VISA', holder), options).kind, 'card')
  })

  test("a wallet token is accepted with the wallet's brand, a card brand, or none", () => {
    const token = { applePay: { paymentToken: '{}' } }
    for (const brand of ['APPLEPAY', 'VISA', undefined]) {
      const account = checkAccount(pay(brand, token), options)
      assert.ok(account.kind === 'wallet' && account.wallet === 'applePay')
      assert.equal(account.brand?.code, brand)
    }
    refused(
      () => checkAccount(pay('GOOGLEPAY', token), options),
      '100.150.100',
      'googlePay.paymentToken',
    )
  })

  test('a decrypted wallet token is a card of the scheme of its number', () => {
    const fields = { card: cardOf('5454545454545454'), googlePay: { source: 'web' } }
    const account = checkAccount(pay('GOOGLEPAY', fields), options)
    assert.deepEqual(
      { ...account, brand: account.brand?.code },
      {
        kind: 'card',
        brand: 'MASTER',
        detected: true,
        wallet: 'googlePay',
      },
    )
    const wrong = { ...fields, card: cardOf('5454545454545455') }
    refused(() => checkAccount(pay('GOOGLEPAY', wrong), options), '100.100.101', 'card.number')
  })

  test("network tokens follow the rules of cards, and an acquirer's own tokens do not", () => {
    const token = (number: string, type: string) => ({ tokenAccount: { number, type } })
    const account = checkAccount(pay(undefined, token('4200000000000000', 'NETWORK')), options)
    assert.deepEqual([account.kind, account.brand?.code], ['tokenAccount', 'VISA'])
    refused(
      () => checkAccount(pay('VISA', token('4200000000000001', 'NETWORK')), options),
      '100.100.101',
      'tokenAccount.number',
    )
    refused(
      () => checkAccount(pay('MASTER', token('4200000000000000', 'NETWORK')), options),
      '100.100.700',
      'tokenAccount.number',
      'paymentBrand',
    )
    assert.equal(
      checkAccount(pay('VISA', token('990000000001', 'EXTERNAL')), options).kind,
      'tokenAccount',
    )
    refused(
      () => checkAccount(pay(undefined, token('990000000001', 'EXTERNAL')), options),
      '100.100.500',
      'paymentBrand',
    )
  })
})

describe('bank accounts', () => {
  const sepa = (bankAccount: RequestFields) => () =>
    checkAccount(pay('DIRECTDEBIT_SEPA', { bankAccount }), options)

  test('the published test accounts are accepted', () => {
    for (const iban of [
      'DE89370400440532013000',
      'DE62370400440532013001',
      'DE35370400440532013002',
    ]) {
      const account = sepa({ holder: 'Jane Jones', iban, bic: 'COBADEFFXXX', country: 'DE' })()
      assert.ok(account.kind === 'bankAccount' && account.iban === iban)
    }
  })

  test('an IBAN in lower case is stored in upper case', () => {
    const account = sepa({ iban: 'nl91abna0417164300' })()
    assert.ok(account.kind === 'bankAccount' && account.iban === 'NL91ABNA0417164300')
  })

  test('wrong check digits, length or country are refused', () => {
    for (const iban of [
      'DE89370400440532013001',
      'DE8937040044053201300',
      'XX89370400440532013000',
    ]) {
      refused(sepa({ iban }), '100.100.101', 'bankAccount.iban')
    }
  })

  test('a BIC without a country and an unknown country are refused', () => {
    const iban = 'DE89370400440532013000'
    refused(sepa({ iban, bic: 'COBAXXFF' }), '100.100.101', 'bankAccount.bic')
    refused(sepa({ iban, bic: '1234DEFF' }), '100.100.101', 'bankAccount.bic')
    assert.equal(sepa({ iban, bic: 'COBADEFF' })().kind, 'bankAccount')
    refused(sepa({ iban, country: 'UK' }), '100.200.100', 'bankAccount.country')
  })

  test('a domestic account number is accepted unchanged', () => {
    assert.deepEqual(Object.keys(sepa({ number: '0532013000', bankCode: '37040044' })()), [
      'kind',
      'brand',
    ])
  })
})
