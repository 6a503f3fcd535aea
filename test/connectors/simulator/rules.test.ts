import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isResultCode, resultGroup, results } from '@tollgate/schemas'
import { precedence, rules } from '../../../connectors/simulator/rules.ts'
import { decimalsOf, judge, type Signs } from '../../../connectors/simulator/verdict.ts'
import { euros, plainCard } from './support.ts'

const decisionOf = (signs: Signs, minor = 9200) => judge(signs, euros(minor)).decision
const declinedWith = (reason: string) => ({ is: 'declined', reason })

function isLuhnValid(number: string): boolean {
  const digits = [...number].reverse().map(Number)
  const sum = digits.reduce((total, digit, index) => {
    const doubled = index % 2 === 0 ? digit : digit * 2
    return total + (doubled > 9 ? doubled - 9 : doubled)
  }, 0)
  return sum % 10 === 0
}

describe('the table of rules', () => {
  it('every card number in the table has a valid check digit', () => {
    for (const [sign, values] of rules) {
      if (sign !== 'number' || values === 'otherwise') continue
      for (const number of values) assert.ok(isLuhnValid(number), number)
    }
  })

  it('each value of a field has one row', () => {
    const named = rules.flatMap(([sign, values]) =>
      (values === 'otherwise' ? [values] : values).map((value) => `${sign} ${value}`),
    )
    assert.deepEqual(named, [...new Set(named)])
  })

  it('the table survives JSON, so that documents and later stages read the same table', () => {
    assert.deepEqual(JSON.parse(JSON.stringify(rules)), rules)
  })

  it('the table includes rows for 3-D Secure, timed events and settlement lines', () => {
    const effects = rules.map(([, , effect]) => effect)
    const statuses = effects.map((effect) => effect.authentication?.status)
    for (const status of ['Y', 'A', 'N', 'R', 'U']) assert.ok(statuses.includes(status as 'Y'))
    const lines = effects.flatMap(({ settlement }) => settlement ?? [])
    assert.equal(new Set(lines).size, 6)
    const events = effects.flatMap(({ later }) => later ?? [])
    assert.deepEqual(
      events.map(({ event, days, reason }) => [event, days, reason]),
      [
        ['chargeback', 2, '000.100.203'],
        ['chargeback', 2, '000.100.220'],
        ['chargeback', 2, '000.100.221'],
        ['chargebackReversal', 3, undefined],
      ],
    )
  })
})

describe('a holder whose name is a result code', () => {
  it('a holder decides by every code of the catalogue that does not begin with 000', () => {
    for (const [code] of results) {
      const decision = decisionOf({ holder: code })
      if (code.startsWith('000')) assert.deepEqual(decision, { is: 'approved' }, code)
      else if (code === '900.100.600') assert.deepEqual(decision, { is: 'notSent' })
      else if (resultGroup(code) === 'pending-long') {
        assert.deepEqual(decision, { is: 'pending', reason: code })
      } else assert.deepEqual(decision, declinedWith(code))
    }
  })

  it('a holder that names no code of the catalogue is an ordinary name', () => {
    assert.equal(isResultCode('123.456.789'), false)
    for (const holder of ['123.456.789', '800.100.152 ', '007', 'Jane Jones', '']) {
      assert.deepEqual(decisionOf({ holder }), { is: 'approved' }, holder)
    }
  })
})

describe('precedence', () => {
  it('the order of precedence is holder, number, CVV, postcode, amount', () => {
    const order: readonly string[] = precedence
    const places = ['holder', 'number', 'cvv', 'postcode', 'amount'].map((s) => order.indexOf(s))
    assert.deepEqual(
      places,
      [...places].sort((one, other) => one - other),
    )
  })

  it('a holder wins over a number, and a number over an amount', () => {
    const number = '4000000000000002'
    assert.deepEqual(decisionOf({ number, holder: '800.100.155' }), declinedWith('800.100.155'))
    assert.deepEqual(decisionOf({ number }, 9287), declinedWith('800.100.152'))
  })

  it('the first rule that answers a question decides it', () => {
    const signs = { number: '4000000000000002', cvv: '200', postcode: '22222' }
    assert.deepEqual(judge(signs, euros(9288)), {
      decision: declinedWith('800.100.152'),
      delivery: 'twice',
      avs: 'Z',
      cvv: 'N',
    })
  })

  it('a card listed as approved leaves the amount rules in force', () => {
    assert.equal(decisionOf({ number: plainCard }, 9287).is, 'pending')
  })
})

describe('the two decimals of an amount', () => {
  it('the decimals follow the currency: JPY 187 is not .87, KWD 1.870 is', () => {
    assert.equal(decimalsOf(euros(9287)), '87')
    assert.equal(decimalsOf(euros(9205)), '05')
    assert.equal(decimalsOf({ minor: 187n, currency: 'JPY' }), undefined)
    assert.equal(decimalsOf({ minor: 1870n, currency: 'KWD' }), '87')
  })
})

it('the beginning of a virtual account declines it before its brand redirects', () => {
  const brand = 'PAYPAL'
  assert.deepEqual(decisionOf({ account: 'decline-jane', brand }), declinedWith('800.100.195'))
  assert.deepEqual(decisionOf({ account: 'jane', brand }), { is: 'redirect' })
  assert.deepEqual(decisionOf({ account: 'no-decline-', brand: 'OTHER' }), { is: 'approved' })
})
