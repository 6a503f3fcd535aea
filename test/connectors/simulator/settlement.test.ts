/** The simulated acquirer settles: a file for every business day of a merchant. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { openBooks } from '../../../connectors/simulator/books.ts'
import { entryFromJson } from '../../../connectors/simulator/entry.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import { partBytes } from '../../../connectors/simulator/settlement/serve.ts'
import {
  amountsOf,
  bytesOf,
  dayMs,
  filesOf,
  itemsIn,
  pay,
  recordsIn,
  settledDay,
  settlementOf,
  shown,
} from './settled-days.ts'
import {
  account,
  card,
  collected,
  euros,
  followUp,
  merchantAt,
  overHttp,
  payment,
} from './support.ts'

describe('the settlement file of a day', () => {
  it('every approved payment has a line that names it, and nothing else has one', async (test) => {
    const merchant = await overHttp(test)
    const sale = payment('debit', { merchantTransactionId: 'order; "7"', descriptor: 'Shop' })
    const authorisation = payment('authorize', { amount: euros(5000) })
    const capture = followUp('capture', authorisation, 3000)
    const credit = payment('credit', { amount: euros(700) })
    await pay(merchant, sale, authorisation, capture, credit, followUp('refund', sale, 1200))
    await merchant.run(payment('debit', { instrument: card('4000000000000002') }))
    const { files, items, records, batchLines } = await settledDay(merchant)
    assert.deepEqual(
      files.map(({ name, cursor }) => [name, cursor]),
      [['simulator-2030-01-01.csv', '2030-01-01']],
    )
    assert.deepEqual(items[0], { is: 'file', reference: '0shop of 2030-01-01' })
    assert.deepEqual(records.map(shown), [
      ['SETTLED', 'DEBIT', 'POS', 9200n, 139n],
      ['SETTLED', 'DEBIT', 'POS', 3000n, 52n],
      ['SETTLED', 'CREDIT', 'NEG', 700n, 25n],
      ['SETTLED', 'REFUND', 'NEG', 1200n, 0n],
    ])
    const [first] = records
    const { text: _line, ...facts } = first!
    assert.deepEqual(facts, {
      is: 'record',
      line: 3,
      merchantNumber: '0shop',
      batch: '2030-01-01 EUR',
      date: '2030-01-02',
      cashflow: 'POS',
      amount: { minor: 9200n, currency: 'EUR' },
      recordType: 'SETTLED',
      transactionType: 'DEBIT',
      status: 'SUCCESS',
      settled: { minor: 9200n, currency: 'EUR' },
      fee: 139n,
      refs: [`sim-${sale.key}`],
      settlementId: '2030-01-01-L1',
      requestedAt: '2030-01-01 01:00:00',
      key: sale.key,
      merchantTransactionId: 'order; "7"',
      shortId: '0000.0000.0000',
      brand: 'VISA',
      last4: '0000',
      descriptor: 'Shop',
    })
    assert.deepEqual(
      records.map(({ key }) => key),
      [sale.key, capture.key, credit.key, records[3]!.key],
    )
    assert.deepEqual(amountsOf(batchLines), [
      ['opening', 0n, 'EUR'],
      ['payout', 9200n + 3000n - 700n - 1200n - 139n - 52n - 25n, 'EUR'],
      ['closing', 0n, 'EUR'],
    ])
  })

  it('a day is settled when it is over in the zone of the institute, and not before', async (test) => {
    const merchant = await overHttp(test)
    // 23:30 in Berlin.
    merchant.clock.ms = Date.UTC(2030, 5, 1, 21, 30)
    await pay(merchant, payment('debit'))
    assert.deepEqual(await filesOf(merchant), [])
    merchant.clock.ms += 30 * 60_000
    const [file] = await filesOf(merchant)
    assert.equal(file!.cursor, '2030-06-01')
    await pay(merchant, payment('debit'))
    merchant.clock.ms += dayMs
    const later = await filesOf(merchant, '2030-06-01')
    assert.deepEqual(
      later.map(({ cursor }) => cursor),
      ['2030-06-02'],
    )
  })

  it('a payment that comes late for its day settles with the next one, and the file never changes', async (test) => {
    const merchant = await overHttp(test)
    await pay(merchant, payment('debit'))
    const { files } = await settledDay(merchant)
    const before = await bytesOf(files[0]!)
    merchant.clock.ms -= dayMs
    const late = payment('debit')
    await pay(merchant, late)
    merchant.clock.ms += dayMs
    assert.equal((await filesOf(merchant)).length, 1)
    const next = await settledDay(merchant)
    assert.deepEqual(await bytesOf(next.files[0]!), before)
    assert.deepEqual(
      next.records.map(({ key }) => key),
      [late.key],
    )
  })

  it('money that goes back on its day reduces the line, and money that goes back later is an adjustment', async (test) => {
    const merchant = await overHttp(test)
    const [part, whole, later] = [payment('debit'), payment('debit'), payment('debit')]
    await pay(merchant, part, whole, later)
    await pay(merchant, followUp('reverse', part, 200), followUp('reverse', whole))
    const first = await settledDay(merchant)
    assert.deepEqual(
      first.records.map(({ key, amount }) => [key, amount.minor]),
      [
        [part.key, 9000n],
        [later.key, 9200n],
      ],
    )
    await merchant.connector.resolve.reverseByKey!(later, merchant.context())
    const second = await settledDay(merchant)
    assert.deepEqual(second.records, [])
    assert.deepEqual(amountsOf(second.batchLines), [
      ['adjustment', -9200n, 'EUR'],
      ['opening', 0n, 'EUR'],
      ['payout', 0n, 'EUR'],
      ['closing', -9200n, 'EUR'],
    ])
    await pay(merchant, payment('debit', { amount: euros(20_000) }))
    const third = await settledDay(merchant)
    assert.deepEqual(amountsOf(third.batchLines), [
      ['opening', -9200n, 'EUR'],
      ['payout', 20_000n - 290n - 9200n, 'EUR'],
      ['closing', 0n, 'EUR'],
    ])
  })

  it('merchants have files of their own, each with its currencies', async (test) => {
    const merchant = await overHttp(test)
    const yen = { minor: 5000n, currency: 'JPY' }
    const dinar = { minor: 1234n, currency: 'KWD' }
    await pay(merchant, payment('debit', { amount: yen }), payment('debit', { amount: dinar }))
    const other = merchantAt(test, merchant.server.url)
    const their = { account: { ...account, merchantId: 'another' } }
    await other.run(payment('debit'), their)
    const { records, batchLines } = await settledDay(merchant)
    assert.deepEqual(
      records.map(({ amount }) => amount),
      [yen, dinar],
    )
    assert.equal(batchLines.length, 6)
    other.clock.ms += dayMs
    const [file] = await collected(settlementOf(other).fetch!(undefined, other.context(their)))
    const [record] = recordsIn(await itemsIn(await bytesOf(file!)))
    assert.equal(record!.merchantNumber, 'another')
  })
})

describe('files of the acquirer', () => {
  it('a restarted acquirer has the same files, settles what was open, and nothing twice', async (test) => {
    const folder = mkdtempSync(join(tmpdir(), 'simulator-'))
    test.after(() => rmSync(folder, { recursive: true }))
    const ledger = join(folder, 'ledger')
    const server = await startSimulator({ ledger })
    const first = merchantAt(test, server.url)
    await pay(first, payment('debit', { instrument: card('4000000000000259') }))
    const { files } = await settledDay(first)
    const before = await bytesOf(files[0]!)
    // Late for its day, whose file is written.
    first.clock.ms -= dayMs
    const open = payment('debit')
    await pay(first, open)
    first.clock.ms += dayMs
    await server.close()
    const second = await overHttp(test, { ledger })
    second.clock.ms = first.clock.ms
    const again = await filesOf(second)
    assert.deepEqual(await bytesOf(again[0]!), before)
    assert.equal(again.length, 1)
    second.clock.ms += 10 * dayMs
    const later = await filesOf(second, again[0]!.cursor)
    const days = await Promise.all(later.map(async (file) => itemsIn(await bytesOf(file))))
    assert.deepEqual(
      days.flatMap(recordsIn).map(({ recordType, key }) => [recordType, key === open.key]),
      [
        ['SETTLED', true],
        ['CHARGEBACK', false],
      ],
    )
  })

  it('a file longer than one answer comes in parts', async (test) => {
    const merchant = await overHttp(test)
    const descriptor = 'x'.repeat(1_900)
    for (let sent = 0; sent < 300; sent += 20) {
      const operations = Array.from({ length: 20 }, () => payment('debit', { descriptor }))
      await Promise.all(operations.map((operation) => merchant.run(operation)))
    }
    const { files, records } = await settledDay(merchant)
    const parts = await collected(await files[0]!.open())
    assert.deepEqual(
      parts.map(({ length }) => length === partBytes),
      [true, false],
    )
    assert.equal(records.length, 300)
  })

  it('every charged amount of the ledger is settled exactly once', () => {
    const books = openBooks()
    const now = Date.UTC(2030, 0, 1)
    const request = { kind: 'debit', paymentId: 'p', instrument: '', signs: {} } as const
    for (const [index, minor] of [9200n, 4500n, 1n].entries()) {
      books.decide('merchant', { ...request, key: `k${index}`, amount: euros(minor) }, now)
      books.settle('merchant', now + (index + 1) * dayMs)
    }
    books.reverseByKey('merchant', 'k1', now + 5 * dayMs)
    const days = books.settle('merchant', now + 9 * dayMs)
    const settled = days.flatMap((day) => day.settled)
    assert.deepEqual(settled, [
      ['k0', 1],
      ['k1', 1],
      ['k2', 1],
      ['k1', 2],
    ])
    const charged = books.page(0, 10).entries.map(entryFromJson)
    assert.equal(charged.flatMap(({ movements }) => movements).length, settled.length)
  })
})
