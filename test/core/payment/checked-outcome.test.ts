/**
 * A connector's outcome is checked where it enters: a malformed one is unknown, never a later
 * error.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { inspect } from 'node:util'
import {
  type Context,
  type Found,
  type Operation,
  type Outcome,
  type Reversed,
  Sensitive,
  unknown,
} from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import {
  checked,
  checkedFound,
  checkedMoney,
  checkedReversed,
} from '../../../core/payment/checked-outcome.ts'
import { type AcquirerRun, approvedAs, enquire, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'

const refs = { id: 'a' }
const day = 24 * 60 * 60_000
const card = '4200000000000000'

describe('the check of an outcome', () => {
  const wrongAmounts: readonly unknown[] = [
    null,
    9200,
    '92.00',
    {},
    { minor: 9200, currency: 'EUR' },
    { minor: '9200', currency: 'EUR' },
    { minor: -1n, currency: 'EUR' },
    { minor: 2n ** 63n, currency: 'EUR' },
    { minor: 9200n },
    { minor: 9200n, currency: 'EURO' },
    { minor: 9200n, currency: 'eur' },
    { minor: 9200n, currency: 'XAU' },
    { minor: 9200n, currency: { toString: () => 'EUR' } },
  ]

  test('an outcome with an invalid amount is unknown, with the reason', () => {
    for (const amount of wrongAmounts) {
      const { is, why } = checked({ is: 'approved', refs, amount }) as { is: string; why?: string }
      assert.equal(is, 'unknown', inspect(amount))
      assert.match(why ?? '', /amount/)
      assert.equal(checkedMoney(amount), undefined)
    }
    const amount = { minor: 2n ** 63n - 1n, currency: 'KWD' }
    assert.deepEqual(checked({ is: 'approved', refs, amount }), { is: 'approved', refs, amount })
  })

  test('a poll interval is rounded to whole milliseconds, from a second to 31 days', () => {
    for (const [poll, expected] of [
      [60_000.5, 60_001],
      [0.1, 1_000],
      [10, 1_000],
      [1e300, 31 * day],
      [31 * day + 0.5, 31 * day],
    ] as const) {
      assert.deepEqual(checked({ is: 'accepted', refs, finalBy: { poll } }), {
        is: 'accepted',
        refs,
        finalBy: { poll: expected },
      })
      const pending = checked({ is: 'pending', next: { poll } })
      assert.deepEqual(pending, { is: 'pending', next: { poll: expected } })
    }
    const none = [Number.NaN, Number.POSITIVE_INFINITY, -1, 0, '60000', null, undefined, 60_000n]
    for (const poll of none) {
      assert.equal(checked({ is: 'accepted', refs, finalBy: { poll } }).is, 'unknown')
      assert.equal(checked({ is: 'pending', next: { poll } }).is, 'unknown')
    }
  })

  test('an outcome whose getters change is used with the checked values', () => {
    let looks = 0
    const shifty = {
      get poll() {
        looks += 1
        return looks === 1 ? 5_000 : Number.NaN
      },
    }
    const outcome = checked({ is: 'pending', next: shifty })
    assert.deepEqual(outcome, { is: 'pending', next: { poll: 5_000 } })
    assert.equal(looks, 1)
  })

  test('the expiry of a pending outcome is bounded', () => {
    const now = new Date('2026-05-01T00:00:00Z')
    const at = (ms: number) => new Date(now.getTime() + ms)
    for (const [given, expected] of [
      [30 * 60_000, 30 * 60_000],
      [-60_000, -60_000],
      [-2 * day, -day],
      [500 * day, 400 * day],
    ] as const) {
      const outcome = checked({ is: 'pending', next: 'event', expiresAt: at(given) }, now)
      assert.deepEqual(outcome.is === 'pending' && outcome.expiresAt, at(expected))
    }
    for (const expiresAt of [new Date(Number.NaN), 'tomorrow', 0, null]) {
      assert.equal(checked({ is: 'pending', next: 'event', expiresAt }, now).is, 'unknown')
    }
  })

  test('references are kept up to a bound, and the record notes cuts, because money moved', () => {
    const whole = Object.fromEntries(
      Array.from({ length: limits.refs }, (_, n) => [`ref${n}`, 'x'.repeat(limits.refCharacters)]),
    )
    assert.deepEqual(checked({ is: 'approved', refs: whole }), { is: 'approved', refs: whole })
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`ref${n}`, `${n}`]))
    const long = { first: 'kept', token: 'y'.repeat(600), ['n'.repeat(80)]: 'z' }
    for (const [given, note] of [
      [many, '69 cut or left out'],
      [long, '2 cut or left out'],
    ] as const) {
      const outcome = checked({ is: 'approved', refs: given })
      assert.ok(outcome.is === 'approved')
      const kept = Object.entries(outcome.refs)
      assert.ok(kept.length <= limits.refs)
      assert.equal(outcome.refs['tollgate.cut'], note)
      for (const [name, text] of kept) {
        assert.ok(name.length <= limits.refNameCharacters)
        assert.ok(text.length <= limits.refCharacters)
      }
    }
    for (const none of [null, 'id', { id: 1 }, { id: new Sensitive(card) }, new Sensitive(card)]) {
      assert.equal(checked({ is: 'approved', refs: none }).is, 'unknown', inspect(none))
      assert.equal(checked({ is: 'declined', reason: '800.100.203', refs: none }).is, 'unknown')
    }
  })

  test('members that outcomes do not have are dropped, whatever they hold', () => {
    const raw = { pan: card, cvv: '123', body: 'R'.repeat(1_000_000) }
    const common = { refs, text: 'said', raw, extra: raw, [card]: card }
    for (const given of [
      { is: 'approved', refs },
      { is: 'accepted', refs, finalBy: 'event' },
      { is: 'declined', refs, reason: '800.100.203' },
      { is: 'pending', refs, next: 'event' },
      { is: 'unknown', refs, why: 'no line' },
    ]) {
      const told = checked({ ...given, ...common })
      assert.deepEqual(told, given.is === 'unknown' ? given : { ...given, text: 'said' }, given.is)
    }
  })

  test('a memo beyond its limit is left out, and the references say so', () => {
    const fits = 'm'.repeat(limits.memoCharacters - 2)
    const memo = { is: 'approved', refs, memo: fits }
    assert.deepEqual(checked(memo), memo)
    const cut = checked({ ...memo, memo: `${fits}m` })
    assert.deepEqual(JSON.parse(JSON.stringify(cut)), {
      is: 'approved',
      refs: { ...refs, 'tollgate.cut': '1 cut or left out' },
    })
    assert.deepEqual(checked({ is: 'unknown', why: 'no line', memo: [fits] }), {
      is: 'unknown',
      why: 'no line',
    })
  })

  test('texts of an outcome are made storable or dropped', () => {
    const told = checked({
      is: 'declined',
      reason: '800.100.203',
      text: 'half \ud800, NUL \u0000',
      code: 51,
      avs: new Sensitive('A'),
      refs: { '\u0000': '\udfff' },
    })
    assert.deepEqual(JSON.parse(JSON.stringify(told)), {
      is: 'declined',
      reason: '800.100.203',
      text: 'half \ufffd, NUL \ufffd',
      refs: { '\ufffd': '\ufffd' },
    })
    const why = `${'x'.repeat(490)}${card}`
    for (const given of [
      { is: 'unknown', why },
      { is: 'notSent', why },
    ]) {
      assert.doesNotMatch(JSON.stringify(checked(given)), /42000/)
    }
  })

  test('cards and details show only text, with card numbers masked', () => {
    for (const none of [null, 'abc', 5, [1, null], {}, { bin: { a: 1 } }, new Sensitive(card)]) {
      const told = checked({ is: 'approved', refs, card: none, details: none })
      assert.deepEqual(JSON.parse(JSON.stringify(told)), { is: 'approved', refs }, inspect(none))
    }
    const many = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`name${n}`, 'text']))
    const told = checked({
      is: 'approved',
      refs: { id: card },
      networkTxId: card,
      memo: { state: card },
      advice: card,
      card: { type: 'CREDIT', number: card, cvv: '123', expiryMonth: 1 },
      details: { [card]: `paid with ${card}`, long: `${'x'.repeat(2040)}${card}`, ...many },
      code: card,
      avs: card,
      cvv: `${card} `,
    })
    assert.ok(told.is === 'approved')
    const { details, ...rest } = JSON.parse(JSON.stringify(told))
    const masked = '************0000'
    assert.deepEqual(rest, {
      is: 'approved',
      // References are returned to the acquirer and may resemble a card number by chance, so no
      // digit may change.
      refs: { id: card },
      networkTxId: card,
      memo: { state: card },
      card: { type: 'CREDIT', number: masked },
      code: masked,
      avs: masked,
      cvv: `${masked} `,
    })
    assert.equal(Object.keys(details).length, limits.shownTexts)
    assert.equal(details[masked], `paid with ${masked}`)
    assert.equal(details.long, `${'x'.repeat(2040)}********`)
  })

  test('a redirect is kept only to an address of a page', () => {
    const url = 'https://acs.example/'
    const of = (redirect: unknown) => checked({ is: 'pending', next: { redirect } })
    const field = { name: 'n', value: 'v' }
    const bad: unknown[] = [null, 7, 'x', {}, { a: 1 }]
    for (const one of bad) {
      if (one !== null) assert.equal(of({ url, parameters: one }).is, 'unknown', inspect(one))
      assert.equal(of({ url, parameters: [field, one] }).is, 'unknown', inspect(one))
      assert.equal(of({ url, method: one }).is, 'unknown', inspect(one))
      const without = { is: 'pending', next: { redirect: { url } } }
      assert.deepEqual(of({ url, preconditions: one }), without)
      assert.deepEqual(of({ url, preconditions: [one] }), without)
    }
    const precondition = {
      origin: 'iframe',
      waitUntil: 'load',
      method: 'POST',
      url,
      parameters: [field],
    }
    const redirect = { url, method: 'POST', parameters: [field], preconditions: [precondition] }
    assert.deepEqual(of(redirect), { is: 'pending', next: { redirect } })
  })

  test('an unknown outcome stays unknown, whatever comes with it', () => {
    const own: Record<string, unknown> = {}
    own.own = own
    const bad = [{ refs: 7, memo: own }, { refs: { id: 1 }, memo: { big: 1n } }, { why: { a: 1 } }]
    for (const more of bad) {
      const outcome = checked({ is: 'unknown', ...more })
      assert.deepEqual(outcome, { is: 'unknown', why: 'no reason was given' })
    }
    const kept = { is: 'unknown', why: 'no line', refs, memo: { a: [1] } }
    assert.deepEqual(checked(kept), kept)
  })
})

test('an answer to an enquiry is an outcome or says that nothing is known', () => {
  assert.deepEqual(checkedFound({ is: 'notFound' }), { is: 'notFound' })
  assert.deepEqual(checkedFound({ is: 'notFound', why: `no ${card}`, refs: 1 }), {
    is: 'notFound',
    why: 'no ************0000',
  })
  for (const given of [undefined, null, 'notFound', ['notFound'], {}, { is: 'found' }]) {
    assert.equal(checkedFound(given).is, 'unknown', inspect(given))
  }
  assert.equal(checkedFound({ is: 'approved', refs, amount: null }).is, 'unknown')
})

test('an answer to a reversal by key is accepted only if it is well-formed', () => {
  const right = [
    { is: 'reversed' },
    { is: 'reversed', refs },
    { is: 'nothing' },
    { is: 'refused', why: 'settled', reason: '800.100.203' },
    { is: 'unknown', why: 'no line' },
  ]
  for (const given of right) assert.deepEqual(checkedReversed(given), given)
  const wrong = [
    undefined,
    null,
    true,
    'reversed',
    {},
    { is: 'approved', refs },
    { is: 'reversed', refs: null },
    { is: 'reversed', refs: { id: 7 } },
    { is: 'nothing', refs: 'none' },
    { is: 'reversed', refs: { card: new Sensitive(card) } },
  ]
  for (const given of wrong) {
    const reversed = checkedReversed(given)
    assert.ok(reversed.is === 'unknown' && reversed.why.length > 0, inspect(given))
  }
  const refused = checkedReversed({ is: 'refused', why: 7, reason: 'because' })
  assert.deepEqual(refused, { is: 'refused', why: 'no reason was given' })
})

describe('outcomes in the engine', () => {
  let run: AcquirerRun
  before(async () => {
    run = await startWithAcquirer({ connectorTimeoutMs: 1_000 })
  })
  after(() => closeChecked(run))

  const saying = (outcome: unknown) => (_: Operation, context: Context) => {
    context.sending()
    return outcome as Outcome
  }
  const lost = saying(unknown('the line went dead'))
  const code = async (id: string) => (await run.gateway.payments.get(id)).result.code

  test('a malformed card breaks no answer, also when it was stored', async () => {
    for (const junk of [null, 'abc', { issuer: 'a', 'issuer.bank': 7 }]) {
      const debit = saying({ is: 'approved', refs, card: junk, details: junk })
      const { id } = await run.debit('card-of-nothing', { debit })
      assert.equal(await code(id), '000.100.112', inspect(junk))
      await run.sql(
        `update tollgate.payment set answer = answer || $2::jsonb, result_code = $3 where id = $1`,
        [id, JSON.stringify({ card: junk, details: junk }), '4853'],
      )
      assert.equal(await code(id), '4853', inspect(junk))
      await run.sql('update tollgate.payment set result_code = $2 where id = $1', [
        id,
        '000.100.112',
      ])
    }
  })

  test('answers to enquiries and reversals are stored without card numbers', async () => {
    const said = {
      refs: { id: card, order: '4111111111111111' },
      memo: { pan: card },
      networkTxId: card,
      details: { [card]: card },
      card: { number: card },
      avs: card,
      text: card,
    }
    const { id } = await run.debit('numbers-told', {
      debit: lost,
      enquire: () => ({ is: 'approved', ...said }) as Found,
    })
    await enquire(run, id)
    assert.equal(await code(id), '000.100.112')
    const [row] = await run.sql<{ answer: { refs: object } }>(
      'select answer from tollgate.payment where id = $1',
      [id],
    )
    assert.doesNotMatch(JSON.stringify(row), new RegExp(card))
    assert.deepEqual(row?.answer.refs, { id: '[masked]', order: '4111111111111111' })
  })

  test('a poll interval with half a millisecond becomes an ordinary timer', async () => {
    const debit = saying({ is: 'accepted', refs, finalBy: { poll: 60_000.5 } })
    const { id } = await run.debit('half-a-millisecond', { debit })
    assert.equal(await code(id), '000.100.112')
    const timers = await run.sql<{ kind: string }>('select kind from tollgate.timer where ref=$1', [
      await run.keyOf(id),
    ])
    assert.deepEqual(timers, [{ kind: 'look' }])
  })

  test('an approval without an amount leaves the payment open, and an enquiry decides', async () => {
    for (const amount of [null, { minor: 2n ** 64n, currency: 'EUR' }]) {
      const debit = saying({ is: 'approved', refs, amount })
      const { id } = await run.debit('amount-of-nothing', { debit, enquire: approvedAs })
      assert.equal(await code(id), '000.200.001')
      await enquire(run, id)
      assert.equal(await code(id), '000.100.112')
    }
  })

  test('malformed answers to an enquiry decide nothing, and the enquiry is repeated', async () => {
    const answers: unknown[] = [
      true,
      'notFound',
      { is: 'found' },
      { is: 'approved', refs, amount: null },
      { is: 'accepted', refs, finalBy: { poll: Number.NaN } },
    ]
    const script = { debit: lost, enquire: () => answers.shift() as Found }
    const { id } = await run.debit('wrong-enquiries', script)
    for (let left = answers.length; left > 0; left -= 1) {
      await enquire(run, id)
      assert.equal(answers.length, left - 1)
      assert.equal(await code(id), '000.200.001')
    }
    run.acquirer.tell('wrong-enquiries', { enquire: approvedAs })
    await enquire(run, id)
    assert.equal(await code(id), '000.100.112')
  })

  test('malformed answers to a reversal by key prove nothing, and operators are told', async () => {
    for (const reversed of [
      true,
      'reversed',
      { is: 'done' },
      { is: 'reversed', refs: { id: 7 } },
    ]) {
      const script = {
        debit: lost,
        enquire: () => ({ is: 'approved', refs, amount: { minor: 1n, currency: 'EUR' } }) as Found,
        reverseByKey: () => reversed as Reversed,
      }
      const { id } = await run.debit('wrong-reversals', script)
      await enquire(run, id)
      assert.equal(await code(id), '000.200.001', inspect(reversed))
      const listed = (await run.gateway.attention()).filter((row) => row.payment_id === id)
      assert.deepEqual(
        listed.map((row) => row.kind),
        ['undecided', 'undecided'],
      )
    }
  })
})
