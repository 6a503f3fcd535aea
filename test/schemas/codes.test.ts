import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  brandOf,
  brands,
  countries,
  currencies,
  currencyOf,
  endpoints,
  groups,
  isChargeback,
  isCountry,
  isCountryAlpha3,
  isCountryNumeric,
  isFailure,
  isPayable,
  isPending,
  isResultCode,
  isSuccess,
  limits,
  mayFollow,
  noPaymentSession,
  paymentTypeOf,
  paymentTypes,
  queryPaymentMethods,
  queryPaymentTypes,
  type Reason,
  resultAdvice,
  resultDescription,
  resultGroup,
  results,
  scheduledPaymentTypes,
} from '@tollgate/schemas'

const codes: readonly string[] = results.map(([code]) => code)
const repeated = (values: readonly string[]) =>
  values.filter((value, index) => values.indexOf(value) !== index)

describe('result codes', () => {
  test('the catalogue is complete: each group has its number of codes', () => {
    const counts = new Map<string, number>()
    for (const [, group] of results) counts.set(group, (counts.get(group) ?? 0) + 1)
    assert.deepEqual(Object.fromEntries(counts), {
      success: 18,
      'success-review': 12,
      pending: 8,
      'pending-long': 4,
      'rejected-3ds-risk': 10,
      'soft-decline': 1,
      communication: 15,
      system: 7,
      'declined-bank': 50,
      'rejected-async': 10,
      'rejected-risk': 9,
      'rejected-3ds': 12,
      'rejected-address': 4,
      blacklist: 8,
      'risk-validation': 9,
      configuration: 22,
      registration: 17,
      job: 17,
      reference: 36,
      'merchant-advice': 4,
      format: 35,
      address: 11,
      contact: 13,
      account: 23,
      amount: 9,
      'risk-management': 4,
      chargeback: 18,
    })
    assert.equal(codes.length, 386)
  })

  test('every code is listed once, has the form of a code and a text that fits its field', () => {
    assert.deepEqual(repeated(codes), [])
    for (const [code, , description] of results) {
      assert.match(code, /^[0-9]{3}\.[0-9]{3}\.[0-9]{3}$/)
      assert.ok(description.length > 0 && description.length <= 255, code)
    }
  })

  test('descriptions contain the words that deployed clients look for', () => {
    const words: readonly (readonly [Reason, string])[] = [
      ['000.000.000', 'Request successfully processed'],
      ['000.100.110', 'Request successfully processed'],
      ['000.100.112', 'Request successfully processed'],
      ['100.100.101', 'invalid creditcard'],
      ['700.400.510', 'capture needs at least one successful transaction'],
      ['700.400.530', 'reversal needs at least one successful transaction'],
      ['200.300.404', 'invalid or missing parameter'],
      ['000.200.100', 'successfully created checkout'],
      ['000.200.000', 'transaction pending'],
      ['000.000.100', 'successful request'],
      ['800.120.100', 'too many requests'],
      ['800.120.100', 'try again later'],
    ]
    for (const [code, text] of words) assert.ok(resultDescription(code).includes(text), code)
    assert.equal(noPaymentSession, 'No payment session found for the requested id')
    for (const code of codes.filter((code) => resultGroup(code) === 'success')) {
      const text = code === '000.000.100' ? 'successful request' : 'Request successfully processed'
      assert.ok(resultDescription(code).startsWith(text), code)
    }
  })

  test('success, pending, chargeback and failure divide the catalogue', () => {
    for (const code of codes) {
      const kinds = [isSuccess, isPending, isChargeback, isFailure].filter((is) => is(code))
      assert.equal(kinds.length, 1, code)
    }
  })

  test('a failed authentication or a chargeback is no success, although its code begins with 000', () => {
    assert.equal(isFailure('000.400.101'), true)
    assert.equal(isFailure('000.400.030'), true)
    assert.equal(isChargeback('000.100.220'), true)
    assert.equal(isPending('000.200.001'), true)
    assert.equal(isPending('800.400.501'), true)
    assert.equal(isSuccess('000.400.000'), true)
    assert.equal(isSuccess('000.400.110'), true)
    assert.equal(isFailure('900.100.300'), true)
  })

  test('a code outside the catalogue belongs to no group, and asking for its text is a bug', () => {
    assert.equal(isResultCode('800.100.152'), true)
    assert.equal(isResultCode('800.100.999'), false)
    assert.equal(isResultCode('__proto__'), false)
    for (const is of [isSuccess, isPending, isChargeback, isFailure]) {
      assert.equal(is('800.100.999'), false)
    }
    assert.throws(() => resultDescription('800.100.999'), RangeError)
    assert.throws(() => resultGroup('800.100.999'), RangeError)
    assert.throws(() => resultAdvice('800.100.999'), RangeError)
  })

  test('only declines for funds, a limit or a temporary state can be retried later', () => {
    assert.deepEqual(
      codes.filter((code) => resultAdvice(code) === 'later'),
      // In the order of the catalogue.
      [
        '800.100.155',
        '800.100.162',
        '800.100.163',
        '800.100.164',
        '800.100.176',
        '800.100.179',
        '800.100.203',
      ],
    )
    assert.equal(resultAdvice('300.100.100'), undefined)
    for (const code of ['800.100.165', '800.100.159', '800.100.160']) {
      assert.equal(resultAdvice(code), 'never', code)
    }
    assert.equal(resultAdvice('800.100.157'), 'new-instrument')
    assert.deepEqual(
      codes.filter((code) => resultAdvice(code) !== undefined && !isFailure(code)),
      [],
    )
  })
})

describe('payment types', () => {
  test('each follow-up is allowed exactly on the types of its rule', () => {
    const on = (type: string) =>
      ['PA', 'DB', 'CD', 'CP', 'RB', 'RC', 'RF', 'RV', 'CB', 'CR'].filter((on) =>
        mayFollow(type, on),
      )
    assert.deepEqual(on('CP'), ['PA'])
    assert.deepEqual(on('RV'), ['PA', 'DB', 'CP', 'RB', 'RC'])
    assert.deepEqual(on('RF'), ['DB', 'CD', 'CP', 'RB', 'RC'])
    assert.deepEqual(on('RB'), ['DB'])
    assert.deepEqual(on('RC'), ['PA'])
    assert.deepEqual(on('CB'), ['DB', 'CP', 'RB', 'RC', 'RF'])
    assert.deepEqual(on('CR'), ['CB'])
    assert.deepEqual(on('DB'), [])
    assert.equal(mayFollow('XX', 'PA'), false)
    assert.equal(mayFollow('DR', 'RG'), false)
  })

  test('a capture and a refund need an amount, and a reversal can omit it', () => {
    assert.equal(paymentTypeOf('CP')?.amount, 'required')
    assert.equal(paymentTypeOf('RF')?.amount, 'required')
    assert.equal(paymentTypeOf('RV')?.amount, 'optional')
  })

  test('every type is listed once and refers to existing types and codes', () => {
    assert.deepEqual(repeated(paymentTypes.map(({ code }) => code)), [])
    for (const type of paymentTypes) {
      for (const code of type.refersTo) assert.ok(paymentTypeOf(code), code)
      for (const code of [type.refusedUnusable, type.refusedExhausted]) {
        assert.ok(code === undefined || isFailure(code))
      }
      assert.equal(type.use === 'followUp', type.refusedUnusable !== undefined, type.code)
    }
  })

  test('the query filter holds every type and method that the engine writes', () => {
    assert.equal(queryPaymentTypes.length, 62)
    assert.equal(queryPaymentMethods.length, 14)
    assert.deepEqual(repeated(queryPaymentTypes), [])
    const filter: readonly string[] = queryPaymentTypes
    for (const { code } of paymentTypes) {
      // The two steps of PA.CP are recorded separately.
      if (code !== 'PA.CP') assert.ok(filter.includes(code), code)
    }
    const methods: readonly string[] = queryPaymentMethods
    for (const brand of brands) assert.ok(methods.includes(brand.method), brand.code)
    for (const code of scheduledPaymentTypes) assert.equal(paymentTypeOf(code)?.use, 'payment')
  })
})

describe('brands', () => {
  test('names are unique, fit their field, and hosts exist', () => {
    const names = brands.flatMap(({ code, aliases }) => [code, ...aliases])
    assert.deepEqual(repeated(names), [])
    for (const brand of brands) {
      for (const name of [brand.code, ...brand.aliases]) assert.match(name, /^[A-Z0-9_]{1,32}$/)
      for (const host of brand.hosts) assert.equal(brandOf(host)?.code, host)
      for (const [from, to] of brand.ranges) {
        assert.match(from + to, /^[0-9]+$/)
        assert.ok(from.length === to.length && from.length <= 8 && from <= to, brand.code)
      }
    }
  })

  test('older spellings lead to the same brand', () => {
    assert.equal(brandOf('AMERICAN_EXPRESS'), brandOf('AMEX'))
    assert.equal(brandOf('DINERS_CLUB'), brandOf('DINERS'))
    assert.equal(brandOf('visa'), undefined)
    assert.equal(brandOf('constructor'), undefined)
  })

  test('a detected brand fits brandResult', () => {
    for (const brand of brands.filter(({ account }) => account === 'card')) {
      assert.ok(brand.code.length <= 16, brand.code)
    }
  })
})

describe('currencies', () => {
  const active = currencies.filter(([, , , , dates]) => dates?.to === undefined)
  const withExponent = (exponent: number | null) =>
    active.filter((row) => row[2] === exponent).map(([code]) => code)

  test('the list is complete: 178 active codes, 165 of them with minor units', () => {
    assert.equal(active.length, 178)
    assert.equal(active.filter(([, , exponent]) => exponent !== null).length, 165)
    const codes = currencies.map(([code]) => code)
    assert.deepEqual(repeated(codes), [])
    // A withdrawn code may have left its number to its successor (ANG to XCG), active ones never
    // share one.
    assert.deepEqual(repeated(active.map(([, numeric]) => numeric)), [])
    for (const [code, numeric] of currencies)
      assert.match(`${code}${numeric}`, /^[A-Z]{3}[0-9]{3}$/)
  })

  test('exponents are those of ISO 4217, not those of the runtime', () => {
    const zero = 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'
    assert.equal(withExponent(0).join(' '), zero)
    assert.equal(withExponent(3).join(' '), 'BHD IQD JOD KWD LYD OMR TND')
    assert.equal(withExponent(4).join(' '), 'CLF UYW')
    assert.equal(
      withExponent(null).join(' '),
      'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX',
    )
  })

  test('recent changes apply from their day on', () => {
    const payable = (code: string, day: string) => {
      const currency = currencyOf(code)
      assert.ok(currency, code)
      return isPayable(currency, day)
    }
    assert.equal(payable('BGN', '2025-12-31'), true)
    assert.equal(payable('BGN', '2026-01-01'), false)
    assert.equal(currencyOf('BGN')?.successor, 'EUR')
    assert.equal(payable('HRK', '2026-01-01'), false)
    assert.equal(payable('XCG', '2025-03-30'), false)
    assert.equal(payable('XCG', '2025-03-31'), true)
    assert.equal(payable('SLE', '2026-01-01'), true)
    assert.equal(payable('SLL', '2026-01-01'), false)
    assert.equal(payable('VED', '2026-01-01'), true)
    assert.equal(payable('ZWG', '2026-01-01'), true)
    assert.equal(payable('ZWL', '2026-01-01'), false)
    assert.equal(payable('XAU', '2026-01-01'), false)
    assert.equal(payable('XTS', '2026-01-01'), false)
    assert.equal(currencyOf('EURO'), undefined)
  })
})

describe('countries', () => {
  test('the list is complete: ISO 3166-1 and Kosovo, every code once', () => {
    assert.equal(countries.length, 250)
    for (const column of [0, 1, 2] as const) {
      assert.deepEqual(repeated(countries.map((row) => row[column])), [])
    }
    for (const row of countries) assert.match(row.join(' '), /^[A-Z]{2} [A-Z]{3} [0-9]{3}$/)
  })

  test('every alpha-2 code is a country to the runtime as well', () => {
    const names = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
    for (const [alpha2] of countries) assert.ok(names.of(alpha2), alpha2)
    assert.equal(isCountry('DE') && isCountryAlpha3('DEU') && isCountryNumeric('276'), true)
    assert.equal(isCountry('UK') || isCountry('EU') || isCountryAlpha3('GER'), false)
    assert.equal(isCountryNumeric('8'), false)
    assert.equal(isCountryNumeric('008'), true)
  })
})

describe('endpoints', () => {
  test('rows are plain data with unique operations and places', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(endpoints)), endpoints)
    assert.deepEqual(repeated(endpoints.map(({ operation }) => operation)), [])
    assert.deepEqual(repeated(endpoints.map(({ method, path }) => `${method} ${path}`)), [])
  })

  test('rows name existing tables and their fields', () => {
    const byName = new Map(groups.map((group) => [group.name, group]))
    for (const { operation, accepts, answers, required, refused } of endpoints) {
      for (const name of [...accepts, ...answers]) {
        assert.ok(byName.has(name), `${operation} names the table ${name}`)
      }
      const fields = accepts
        .flatMap((name) => byName.get(name)?.fields ?? [])
        .map(({ name }) => name)
      for (const name of [...(required ?? []), ...(refused ?? [])]) {
        assert.ok(fields.includes(name), `${operation} names the field ${name}`)
      }
    }
  })

  test('only endpoints that reveal nothing need no login', () => {
    const open = endpoints.filter(({ login }) => login === 'none').map(({ operation }) => operation)
    assert.deepEqual(open, [
      'resultCodes.list',
      // Proven by the acquirer's signature instead.
      'connectors.event',
      'connectors.eventByGet',
      'widget.script',
      'widget.asset',
      'health.live',
      'health.ready',
      'openapi.get',
      'reference.get',
    ])
  })

  test('a follow-up takes no instrument', () => {
    const followUp = endpoints.find(({ operation }) => operation === 'payments.followUp')
    const instruments = [
      'card',
      'bankAccount',
      'virtualAccount',
      'tokenAccount',
      'applePay',
      'googlePay',
      'samsungPay',
      'tokenization',
    ]
    assert.deepEqual(
      followUp?.accepts.filter((name) => instruments.includes(name)),
      [],
    )
  })
})

describe('limits', () => {
  test('the limits are the published ones', () => {
    assert.equal(limits.bodyBytes, 2_097_152)
    assert.equal(limits.parameters, 65_536)
    assert.deepEqual(limits.enquiryLadderMs, [10_000, 60_000, 300_000, 3_600_000, 86_400_000])
    assert.equal(limits.idempotencyDays, 30)
    assert.equal(limits.checkoutLifeMs, 1_800_000)
  })

  test('an unknown token is cached for less time than a known one, and both expire before trust ends', () => {
    assert.ok(limits.unknownTokenCacheMs < limits.tokenCacheMs)
    assert.ok(limits.tokenCacheMs < limits.tokenFailClosedMs)
  })
})
