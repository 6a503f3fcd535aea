import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { currencies } from '@tollgate/schemas'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import { fitsWire, formatAmount, parseAmount } from '../../core/money.ts'

const refusedWith = (code: string, name: string) => (error: unknown) =>
  error instanceof GatewayError && error.code === code && error.parameterErrors[0]?.name === name

const codesWith = (...exponents: number[]) =>
  currencies
    .filter(([, , exponent]) => exponent !== null && exponents.includes(exponent))
    .map(([code]) => code)
const payable = codesWith(0, 2, 3, 4)
const twoDecimals = fc
  .tuple(fc.bigInt(0n, 9_999_999_999n), fc.integer({ min: 0, max: 99 }))
  .map(([whole, cents]) => `${whole}.${String(cents).padStart(2, '0')}`)

describe('amounts', () => {
  test('an amount that was read is written with the same digits, in every currency with decimals', () => {
    fc.assert(
      fc.property(fc.constantFrom(...codesWith(2, 3, 4)), twoDecimals, (code, text) => {
        assert.equal(formatAmount(parseAmount(text, code), code), text)
      }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...codesWith(0)),
        fc.bigInt(0n, 9_999_999_999n),
        (code, whole) => {
          assert.equal(formatAmount(parseAmount(`${whole}`, code), code), `${whole}.00`)
        },
      ),
    )
  })

  test('a written amount is read back as the same money', () => {
    const minor = fc.bigInt(0n, 10n ** 10n - 1n)
    fc.assert(
      fc.property(fc.constantFrom(...payable), minor, (code, amount) => {
        fc.pre(fitsWire(amount, code))
        assert.equal(parseAmount(formatAmount(amount, code), code), amount)
      }),
    )
  })

  test('an amount without decimals equals the one with two zeros', () => {
    assert.equal(parseAmount('92', 'EUR'), 9200n)
    assert.equal(parseAmount('92.00', 'EUR'), 9200n)
    assert.equal(parseAmount('0.01', 'EUR'), 1n)
    assert.equal(parseAmount('007.50', 'EUR'), 750n)
    assert.equal(parseAmount('9999999999.99', 'EUR'), 999_999_999_999n)
  })

  test('a currency without decimals takes .00 and nothing else', () => {
    assert.equal(parseAmount('92', 'JPY'), 92n)
    assert.equal(parseAmount('92.00', 'JPY'), 92n)
    assert.equal(formatAmount(92n, 'JPY'), '92.00')
    assert.throws(() => parseAmount('92.50', 'JPY'), refusedWith('100.550.303', 'amount'))
    assert.throws(() => parseAmount('0.01', 'CLP'), refusedWith('100.550.303', 'amount'))
  })

  test('a third decimal exists inside the engine and not on the wire', () => {
    assert.equal(parseAmount('9.25', 'KWD'), 9250n)
    assert.equal(parseAmount('1', 'CLF'), 10_000n)
    assert.equal(formatAmount(9250n, 'KWD'), '9.25')
    assert.equal(fitsWire(9251n, 'KWD'), false)
    assert.equal(fitsWire(9251n, 'EUR'), true)
    assert.throws(() => formatAmount(9251n, 'KWD'), RangeError)
    assert.throws(() => parseAmount('9.251', 'KWD'), refusedWith('200.300.404', 'amount'))
  })

  test('small and negative sums keep their zeros and sign', () => {
    assert.equal(formatAmount(0n, 'EUR'), '0.00')
    assert.equal(formatAmount(5n, 'EUR'), '0.05')
    assert.equal(formatAmount(-5n, 'EUR'), '-0.05')
    assert.equal(formatAmount(-100n, 'EUR'), '-1.00')
    assert.equal(formatAmount(-92n, 'JPY'), '-92.00')
  })

  test('other spellings are refused by name and not repeated', () => {
    const wrong = [
      '',
      '-1',
      '+1',
      '1.',
      '.50',
      '1.5',
      '1,50',
      '1e3',
      ' 1',
      '1 ',
      '1.000',
      '12345678901',
      '١',
      '1\n',
    ]
    for (const text of wrong) {
      assert.throws(() => parseAmount(text, 'EUR'), refusedWith('200.300.404', 'amount'), text)
    }
    assert.throws(
      () => parseAmount('4200000000000000', 'EUR'),
      (error) => !JSON.stringify(error).includes('42000000') && error instanceof GatewayError,
    )
  })

  test('an unknown currency, or one that holds no money, is refused by name', () => {
    for (const code of ['EUX', 'XAU', 'XXX', 'eur', '', 'constructor']) {
      assert.throws(() => parseAmount('1.00', code), refusedWith('100.550.401', 'currency'), code)
    }
    const names = { amount: 'forex.amount', currency: 'forex.currency' }
    assert.throws(
      () => parseAmount('1.00', 'EUX', names),
      refusedWith('100.550.401', 'forex.currency'),
    )
    assert.throws(
      () => parseAmount('1.50', 'JPY', names),
      refusedWith('100.550.303', 'forex.amount'),
    )
    assert.throws(() => formatAmount(1n, 'XAU'), RangeError)
    assert.throws(() => formatAmount(1n, 'EUX'), RangeError)
  })

  test('a withdrawn currency is still read, because refunds of old payments are owed in it', () => {
    assert.equal(parseAmount('19.56', 'BGN'), 1956n)
    assert.equal(formatAmount(1956n, 'BGN'), '19.56')
  })
})
