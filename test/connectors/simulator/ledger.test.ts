import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { entryFromJson, entryToJson } from '../../../connectors/simulator/entry.ts'
import {
  apply,
  decide,
  entriesOf,
  entryOf,
  type Ledger,
  openLedger,
  type Request,
  reverseByKey,
  totals,
} from '../../../connectors/simulator/ledger.ts'
import { reasonFor } from '../../../connectors/simulator/reasons.ts'

const at = Date.UTC(2030, 0, 1)

/** Decides and books, as a transport does; returns `00` or the acquirer's refusal. */
function book(
  ledger: Ledger,
  kind: Request['kind'],
  key: string,
  minor: number,
  more: Partial<Request> = {},
) {
  const amount = { minor: BigInt(minor), currency: 'EUR' }
  const change = decide(
    ledger,
    { kind, key, paymentId: key, amount, instrument: '', signs: {}, ...more },
    at,
  )
  apply(ledger, change.writes)
  return change.answer.code
}
function undo(ledger: Ledger, key: string) {
  const change = reverseByKey(ledger, key, at)
  apply(ledger, change.writes)
  return change.answer.status
}
const eur = (ledger: Ledger) => totals(ledger).EUR ?? { held: 0n, charged: 0n }

describe('captures', () => {
  it('captures add up to the authorised amount and not one cent more', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    assert.equal(book(ledger, 'capture', 'c1', 60, { original: 'auth' }), '00')
    assert.equal(book(ledger, 'capture', 'c2', 41, { original: 'auth' }), 'over-capture')
    assert.equal(book(ledger, 'capture', 'c3', 40, { original: 'auth' }), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 100n })
  })

  it('a final capture ends the captures, unless it is undone', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    book(ledger, 'capture', 'c1', 10, { original: 'auth', final: true })
    assert.equal(book(ledger, 'capture', 'c2', 10, { original: 'auth' }), 'over-capture')
    assert.equal(undo(ledger, 'c1'), 'reversed')
    assert.equal(book(ledger, 'capture', 'c3', 100, { original: 'auth' }), '00')
  })

  it('a capture needs an approved authorisation in the same currency', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    book(ledger, 'authorize', 'no', 100, { signs: { number: '4000000000000002' } })
    book(ledger, 'authorize', 'open', 100, { signs: { number: '4000000000000077' } })
    book(ledger, 'debit', 'debit', 100)
    const usd = { minor: 10n, currency: 'USD' }
    assert.equal(book(ledger, 'capture', 'c1', 10, { original: 'nobody' }), 'no-authorisation')
    assert.equal(book(ledger, 'capture', 'c2', 10, { original: 'no' }), 'no-authorisation')
    assert.equal(book(ledger, 'capture', 'c3', 10, { original: 'open' }), 'original-open')
    assert.equal(book(ledger, 'capture', 'c4', 10, { original: 'debit' }), 'wrong-original')
    assert.equal(
      book(ledger, 'capture', 'c5', 10, { original: 'auth', amount: usd }),
      'wrong-currency',
    )
    assert.deepEqual(eur(ledger), { held: 100n, charged: 100n })
  })
})

describe('refunds and reversals', () => {
  it('refunds and reversals share the charged amount', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    assert.equal(book(ledger, 'reverse', 'v1', 30, { original: 'd' }), '00')
    assert.equal(book(ledger, 'refund', 'f1', 71, { original: 'd' }), 'over-refund')
    assert.equal(book(ledger, 'refund', 'f2', 70, { original: 'd' }), '00')
    assert.equal(book(ledger, 'reverse', 'v2', 1, { original: 'd' }), 'over-reversal')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
  })

  it('the reversal of an authorisation releases the open rest, never a captured amount', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    book(ledger, 'capture', 'c', 60, { original: 'auth' })
    assert.equal(book(ledger, 'reverse', 'v1', 41, { original: 'auth' }), 'over-reversal')
    assert.equal(book(ledger, 'reverse', 'v2', 40, { original: 'auth' }), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 60n })
  })

  it('the reversal of a capture gives its amount back to the authorisation', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    book(ledger, 'capture', 'c1', 100, { original: 'auth' })
    assert.equal(book(ledger, 'reverse', 'v', 100, { original: 'c1' }), '00')
    assert.deepEqual(eur(ledger), { held: 100n, charged: 0n })
    assert.equal(book(ledger, 'capture', 'c2', 100, { original: 'auth' }), '00')
  })

  it('a final refund ends the refunds, a final reversal the reversals', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    assert.equal(book(ledger, 'reverse', 'v1', 10, { original: 'd', final: true }), '00')
    assert.equal(book(ledger, 'reverse', 'v2', 10, { original: 'd' }), 'over-reversal')
    assert.equal(book(ledger, 'refund', 'f1', 10, { original: 'd', final: true }), '00')
    assert.equal(book(ledger, 'refund', 'f2', 10, { original: 'd' }), 'over-refund')
  })

  it('the reversal of a credit takes the money back', () => {
    const ledger = openLedger()
    book(ledger, 'credit', 'cd', 100)
    assert.deepEqual(eur(ledger), { held: 0n, charged: -100n })
    assert.equal(book(ledger, 'refund', 'f', 100, { original: 'cd' }), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
  })
})

describe('increments and reauthorisations', () => {
  it('an increment adds to the authorisation, and every member counts against the total', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    assert.equal(book(ledger, 'increment', 'i1', 50, { original: 'auth' }), '00')
    assert.equal(book(ledger, 'increment', 'i2', 10, { original: 'i1' }), '00')
    assert.equal(book(ledger, 'capture', 'c1', 161, { original: 'auth' }), 'over-capture')
    assert.equal(book(ledger, 'capture', 'c2', 160, { original: 'i1' }), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 160n })
  })

  it('increments and reauthorisations after the final capture or a full reversal are refused', () => {
    const ledger = openLedger()
    for (const key of ['one', 'two']) book(ledger, 'authorize', key, 100)
    book(ledger, 'capture', 'c', 10, { original: 'one', final: true })
    book(ledger, 'reverse', 'v', 100, { original: 'two' })
    for (const original of ['one', 'two']) {
      assert.equal(book(ledger, 'increment', `i ${original}`, 1, { original }), 'closed')
      const replaces = { original, replaces: true }
      assert.equal(book(ledger, 'authorize', `r ${original}`, 1, replaces), 'closed')
    }
  })

  it('a reauthorisation replaces the old authorisation and releases its rest', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'old', 100)
    book(ledger, 'capture', 'c', 30, { original: 'old' })
    assert.equal(book(ledger, 'authorize', 'new', 80, { original: 'old', replaces: true }), '00')
    assert.deepEqual(eur(ledger), { held: 80n, charged: 30n })
    assert.equal(book(ledger, 'capture', 'c2', 1, { original: 'old' }), 'over-capture')
    assert.equal(book(ledger, 'reverse', 'v', 30, { original: 'c' }), '00')
    assert.deepEqual(eur(ledger), { held: 80n, charged: 0n }, 'a late reversal leaves nothing held')
  })

  it('increments and reauthorisations of a replaced authorisation are refused, even when it had no rest', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'old', 80)
    book(ledger, 'capture', 'c', 80, { original: 'old' })
    book(ledger, 'authorize', 'new', 80, { original: 'old', replaces: true })
    assert.equal(book(ledger, 'increment', 'i', 1, { original: 'old' }), 'closed')
    assert.equal(book(ledger, 'authorize', 'r', 1, { original: 'old', replaces: true }), 'closed')
  })

  it('a replaced reauthorisation cannot be undone', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'old', 80)
    book(ledger, 'authorize', 'new', 80, { original: 'old', replaces: true })
    book(ledger, 'authorize', 'newer', 80, { original: 'new', replaces: true })
    for (const key of ['old', 'new']) assert.equal(undo(ledger, key), 'refused')
    assert.deepEqual(eur(ledger), { held: 80n, charged: 0n })
  })

  it('a reauthorisation that is approved by delay is undone together with its approval', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'old', 80)
    const signs = { number: '4000000000000077' }
    book(ledger, 'authorize', 'new', 50, { original: 'old', replaces: true, signs })
    assert.deepEqual(eur(ledger), { held: 80n, charged: 0n })
    apply(ledger, reverseByKey(ledger, 'new', at + 30_000).writes)
    assert.deepEqual(eur(ledger), { held: 80n, charged: 0n })
    assert.equal(book(ledger, 'capture', 'c', 80, { original: 'old' }), '00')
  })

  it('an undone reauthorisation restores the old authorisation', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'old', 100)
    book(ledger, 'authorize', 'new', 80, { original: 'old', replaces: true })
    assert.equal(undo(ledger, 'new'), 'reversed')
    assert.deepEqual(eur(ledger), { held: 100n, charged: 0n })
    assert.equal(book(ledger, 'capture', 'c', 100, { original: 'old' }), '00')
  })
})

describe('a reversal by key', () => {
  it('a reversal closes an unused key: an operation that arrives later is declined', () => {
    const ledger = openLedger()
    assert.equal(undo(ledger, 'late'), 'nothing')
    assert.equal(book(ledger, 'authorize', 'late', 100), 'key-closed')
    assert.equal(undo(ledger, 'late'), 'nothing', 'a repeat gives the same answer')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
  })

  it('a reversal undoes the operation once, and the key stays closed', () => {
    for (const kind of ['authorize', 'debit', 'credit'] as const) {
      const ledger = openLedger()
      book(ledger, kind, 'key', 100)
      for (const _time of [1, 2]) assert.equal(undo(ledger, 'key'), 'reversed')
      assert.equal(book(ledger, kind, 'key', 100), 'key-reversed')
      assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
    }
  })

  it('a reversal undoes a follow-up and frees its amount', () => {
    for (const kind of ['capture', 'reverse', 'increment'] as const) {
      const ledger = openLedger()
      book(ledger, 'authorize', 'auth', 100)
      book(ledger, kind, 'follow-up', 100, { original: 'auth' })
      assert.equal(undo(ledger, 'follow-up'), 'reversed')
      assert.deepEqual(eur(ledger), { held: 100n, charged: 0n }, kind)
      assert.equal(book(ledger, 'capture', 'c', 100, { original: 'auth' }), '00')
    }
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    book(ledger, 'refund', 'f', 100, { original: 'd' })
    assert.equal(undo(ledger, 'f'), 'reversed')
    assert.equal(book(ledger, 'refund', 'f2', 100, { original: 'd' }), '00')
  })

  it('a reversal of a key with follow-ups is refused and changes nothing', () => {
    const ledger = openLedger()
    book(ledger, 'authorize', 'auth', 100)
    book(ledger, 'increment', 'i', 50, { original: 'auth' })
    book(ledger, 'capture', 'c', 120, { original: 'auth' })
    book(ledger, 'refund', 'f', 20, { original: 'c' })
    const before = [...entriesOf(ledger)]
    for (const key of ['auth', 'i', 'c']) assert.equal(undo(ledger, key), 'refused', key)
    assert.deepEqual([...entriesOf(ledger)], before)
  })

  it('a reversal of a declined key moves nothing and closes the key', () => {
    const ledger = openLedger()
    const signs = { number: '4000000000000002' }
    book(ledger, 'debit', 'no', 100, { signs })
    assert.equal(undo(ledger, 'no'), 'nothing')
    assert.equal(book(ledger, 'debit', 'no', 100, { signs }), 'key-closed')
  })

  it('a reversal of a payment whose delayed approval is due takes the money back in the same step', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100, { signs: { number: '4000000000000077' } })
    const change = reverseByKey(ledger, 'd', at + 30_000)
    apply(ledger, change.writes)
    assert.equal(change.answer.status, 'reversed')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
    assert.equal(entryOf(ledger, 'd')!.movements.length, 2)
  })
})

describe('chargebacks', () => {
  const fraud = { original: 'd', reason: '000.100.220' } as const

  it('a chargeback takes the money back once, and its reversal returns it once', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    assert.equal(book(ledger, 'chargebackReversal', 'cr0', 100, fraud), 'no-chargeback')
    assert.equal(book(ledger, 'chargeback', 'cb', 100, fraud), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
    assert.equal(book(ledger, 'chargeback', 'cb2', 100, fraud), 'second-chargeback')
    assert.equal(book(ledger, 'chargebackReversal', 'cr', 100, { ...fraud, original: 'cb' }), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 100n })
    assert.equal(book(ledger, 'chargebackReversal', 'cr2', 100, fraud), 'chargeback-reversed')
    assert.equal(book(ledger, 'chargeback', 'cb3', 100, fraud), 'second-chargeback')
  })

  it('refunds and reversals wait until a chargeback is reversed', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    book(ledger, 'chargeback', 'cb', 100, fraud)
    for (const kind of ['refund', 'reverse'] as const) {
      assert.equal(book(ledger, kind, kind, 1, { original: 'd' }), 'charged-back')
    }
    book(ledger, 'chargebackReversal', 'cr', 100, fraud)
    assert.equal(book(ledger, 'refund', 'f', 100, { original: 'd' }), '00')
  })

  it('a chargeback blocks the reversal by key, and no reversal by key undoes a chargeback', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    book(ledger, 'chargeback', 'cb', 100, fraud)
    for (const key of ['d', 'cb']) assert.equal(undo(ledger, key), 'refused')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 0n })
  })

  it('a chargeback can exceed every sum, because the issuer does not ask', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    book(ledger, 'refund', 'f', 100, { original: 'd' })
    assert.equal(book(ledger, 'chargeback', 'cb', 100, fraud), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: -100n })
  })
})

describe('a key', () => {
  it('a key that repeats its operation gets the same answer and moves nothing', () => {
    const ledger = openLedger()
    for (const _time of [1, 2, 3]) assert.equal(book(ledger, 'debit', 'd', 100), '00')
    assert.deepEqual(eur(ledger), { held: 0n, charged: 100n })
  })

  it('a key that is used for another operation is refused', () => {
    const ledger = openLedger()
    book(ledger, 'debit', 'd', 100)
    book(ledger, 'debit', 'other', 100)
    assert.equal(book(ledger, 'debit', 'd', 101), 'key-reused')
    assert.equal(book(ledger, 'authorize', 'd', 100), 'key-reused')
    assert.equal(book(ledger, 'debit', 'd', 100, { instrument: 'card 420000' }), 'key-reused')
    assert.equal(book(ledger, 'debit', 'd', 100, { original: 'other' }), 'key-reused')
    const amount = { minor: 100n, currency: 'USD' }
    assert.equal(book(ledger, 'debit', 'd', 100, { amount }), 'key-reused')
    assert.equal(reasonFor('key-reused'), '200.300.405')
    assert.deepEqual(totals(ledger), { EUR: { held: 0n, charged: 200n } })
  })
})

it('a decision changes nothing until it is written', () => {
  const ledger = openLedger()
  const request = { kind: 'debit', key: 'd', paymentId: 'd', instrument: '', signs: {} } as const
  decide(ledger, { ...request, amount: { minor: 1n, currency: 'EUR' } }, at)
  assert.equal(entryOf(ledger, 'd'), undefined)
})

it('a bounded ledger keeps the newest entries and never exceeds its limit', () => {
  const ledger = openLedger(100)
  for (let index = 0; index < 1_000; index += 1) {
    book(ledger, 'debit', `d${index}`, 1)
    assert.ok([...entriesOf(ledger)].length <= 100)
  }
  for (let index = 951; index < 1_000; index += 1) assert.ok(entryOf(ledger, `d${index}`))
  assert.equal(entryOf(ledger, 'd0'), undefined)
})

it('an authorisation that the ledger forgot gets back only amounts the ledger knows', () => {
  const ledger = openLedger()
  book(ledger, 'authorize', 'auth', 100)
  book(ledger, 'capture', 'c', 60, { original: 'auth' })
  const { movements: _forgotten, ...auth } = entryOf(ledger, 'auth')!
  apply(ledger, [{ ...auth, movements: [], sums: { ...auth.sums, captured: 0n } }])
  assert.equal(book(ledger, 'reverse', 'v', 60, { original: 'c' }), '00')
  assert.equal(book(ledger, 'capture', 'c2', 101, { original: 'auth' }), 'over-capture')
})

it('an entry survives a round trip through JSON', () => {
  const ledger = openLedger()
  book(ledger, 'authorize', 'auth', 100, { signs: { number: '4000000000000077', postcode: '1' } })
  book(ledger, 'authorize', 'b', 2 ** 53)
  book(ledger, 'capture', 'c', 9, { original: 'b', final: true })
  book(ledger, 'chargeback', 'cb', 9, { original: 'c', reason: '000.100.220' })
  for (const entry of entriesOf(ledger)) {
    assert.deepEqual(entryFromJson(JSON.parse(JSON.stringify(entryToJson(entry)))), entry)
  }
  assert.throws(() => entryFromJson('nothing'), /ledger entry cannot be read/)
})
