/** The simulated acquirer settles: a file for every business day of a merchant. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import type {
  BatchLine,
  Operation,
  RemoteFile,
  SettlementItem,
  SettlementRecord,
} from '@tollgate/plugin-kit'
import { openBooks } from '../../../connectors/simulator/books.ts'
import { entryFromJson } from '../../../connectors/simulator/entry.ts'
import { startSimulator } from '../../../connectors/simulator/server.ts'
import { cellsOf } from '../../../connectors/simulator/settlement/format.ts'
import { parse } from '../../../connectors/simulator/settlement/parse.ts'
import { partBytes } from '../../../connectors/simulator/settlement/serve.ts'
import {
  account,
  bankAccount,
  card,
  collected,
  euros,
  followUp,
  type Merchant,
  merchantAt,
  overHttp,
  payment,
} from './support.ts'

const dayMs = 24 * 60 * 60_000
const settlementOf = (merchant: Merchant) => merchant.connector.settlement!

async function filesOf(merchant: Merchant, cursor?: string): Promise<RemoteFile[]> {
  return collected(settlementOf(merchant).fetch!(cursor, merchant.context()))
}

async function bytesOf(file: RemoteFile): Promise<Buffer> {
  return Buffer.concat(await collected(await file.open()))
}

async function* streamed(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const itemsIn = (bytes: Uint8Array, size?: number): Promise<SettlementItem[]> =>
  collected(parse(streamed(bytes, size)))

const recordsIn = (items: readonly SettlementItem[]): SettlementRecord[] =>
  items.filter((item) => item.is === 'record')
const batchLinesIn = (items: readonly SettlementItem[]): BatchLine[] =>
  items.filter((item) => item.is === 'batch')

/** Opening + signed gross − fees + other lines = payout + closing, for every batch; and the trailer. */
function mustAddUp(items: readonly SettlementItem[]): void {
  const sums = new Map<string, bigint>()
  const totals = new Map<string, bigint>()
  const add = (to: Map<string, bigint>, name: string, minor: bigint) =>
    to.set(name, (to.get(name) ?? 0n) + minor)
  const signed = (line: SettlementRecord | BatchLine, minor: bigint) =>
    line.cashflow === 'POS' ? minor : -minor
  for (const record of recordsIn(items)) {
    add(sums, record.batch!, signed(record, record.settled.minor) - (record.fee ?? 0n))
    add(totals, record.settled.currency, signed(record, record.settled.minor))
  }
  for (const line of batchLinesIn(items)) {
    const minor = signed(line, line.amount.minor)
    add(sums, line.batch!, line.kind === 'payout' || line.kind === 'closing' ? -minor : minor)
  }
  for (const [batch, sum] of sums) assert.equal(sum, 0n, `${batch} adds up`)
  const end = items.at(-1)
  assert.ok(end?.is === 'end')
  assert.equal(end.count, recordsIn(items).length + batchLinesIn(items).length)
  const given = new Map(end.totals?.map(({ currency, minor }) => [currency, minor]))
  assert.deepEqual(given, totals)
}

/** The records of the payments of a day, and its file. */
async function settledDay(merchant: Merchant, cursor?: string) {
  merchant.clock.ms += dayMs
  const files = await filesOf(merchant, cursor)
  const items = await itemsIn(await bytesOf(files.at(-1)!))
  mustAddUp(items)
  return { files, items, records: recordsIn(items), batchLines: batchLinesIn(items) }
}

async function pay(merchant: Merchant, ...operations: Operation[]): Promise<void> {
  for (const operation of operations) {
    const outcome = await merchant.run(operation)
    assert.equal(
      outcome.is,
      'approved',
      JSON.stringify(outcome, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    )
  }
}

const shown = ({ recordType, transactionType, cashflow, amount, fee }: SettlementRecord) => [
  recordType,
  transactionType,
  cashflow,
  amount.minor,
  fee,
]
const amountsOf = (lines: readonly BatchLine[]) =>
  lines.map(({ kind, cashflow, amount: { minor, currency } }) => [
    kind,
    cashflow === 'POS' ? minor : -minor,
    currency,
  ])

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

describe('odd lines', () => {
  const odd = async (test: TestContext, more: Partial<Operation>) => {
    const merchant = await overHttp(test)
    const operation = payment('debit', more)
    // A plain payment keeps the file from being empty.
    await pay(merchant, payment('debit', { amount: euros(100) }), operation)
    const { records, ...rest } = await settledDay(merchant)
    return { ...rest, operation, records: records.slice(1) }
  }

  it('card 4000000000005423: the amount is one minor unit too low', async (test) => {
    const { records } = await odd(test, { instrument: card('4000000000005423') })
    assert.deepEqual(records[0]!.amount, euros(9199))
    assert.deepEqual(records[0]!.settled, euros(9199))
  })

  it('a capture follows the card of its authorisation', async (test) => {
    const merchant = await overHttp(test)
    const instrument = card('4000000000005423')
    const authorisation = payment('authorize', { instrument, amount: euros(9191) })
    await pay(merchant, authorisation, followUp('capture', authorisation, 5000))
    const { records } = await settledDay(merchant)
    assert.deepEqual(
      records.map(({ amount }) => amount.minor),
      [4999n],
    )
  })

  it('.91: no line', async (test) => {
    assert.deepEqual((await odd(test, { amount: euros(9291) })).records, [])
  })

  it('.92: two lines of the same payment, each with an id', async (test) => {
    const { records, operation } = await odd(test, { amount: euros(9292) })
    assert.deepEqual(
      records.map(({ key, amount }) => [key, amount.minor]),
      [
        [operation.key, 9292n],
        [operation.key, 9292n],
      ],
    )
    assert.notEqual(records[0]!.settlementId, records[1]!.settlementId)
  })

  it('.93: another currency with a rate, in a batch of its own', async (test) => {
    const { records, batchLines } = await odd(test, { amount: euros(393) })
    const [{ amount, settled, fxRate, fee, batch }] = records as [SettlementRecord]
    assert.deepEqual(
      [amount, settled, fxRate, fee, batch],
      [euros(393), { minor: 426n, currency: 'USD' }, '1.083412', 16n, '2030-01-01 USD'],
    )
    assert.equal(batchLines.filter((line) => line.amount.currency === 'USD').length, 3)
  })

  it('.94: FAILED, without a payout', async (test) => {
    const { records, batchLines } = await odd(test, { amount: euros(9294) })
    assert.equal(records[0]!.status, 'FAILED')
    assert.equal(records[0]!.fee, 0n)
    assert.ok(
      amountsOf(batchLines).some(([kind, minor]) => kind === 'adjustment' && minor === -9294n),
    )
  })

  it('.95: a line without any id', async (test) => {
    const { records } = await odd(test, { amount: euros(9295), merchantTransactionId: 'order' })
    const { settlementId, key, refs, merchantTransactionId, shortId, paymentId } = records[0]!
    const ids = [settlementId, key, merchantTransactionId, shortId, paymentId, ...refs!]
    assert.deepEqual(new Set(ids), new Set([undefined]))
    assert.equal(records[0]!.last4, '0000')
  })
})

describe('disputes in settlement files', () => {
  it('card 4000000000002685: a chargeback two days after settlement, reversed three days later', async (test) => {
    const merchant = await overHttp(test)
    const sale = payment('debit', { instrument: card('4000000000002685') })
    await pay(merchant, sale)
    merchant.clock.ms += 30 * dayMs
    const files = await filesOf(merchant)
    assert.deepEqual(
      files.map(({ cursor }) => cursor),
      ['2030-01-01', '2030-01-04', '2030-01-07'],
    )
    const days = await Promise.all(files.map(async (file) => itemsIn(await bytesOf(file))))
    for (const items of days) mustAddUp(items)
    const records = days.flatMap(recordsIn)
    assert.deepEqual(records.map(shown), [
      ['SETTLED', 'DEBIT', 'POS', 9200n, 139n],
      ['CHARGEBACK', 'DEBIT', 'NEG', 9200n, 1500n],
      ['CHARGEBACK REVERSAL', 'DEBIT', 'POS', 9200n, 0n],
    ])
    for (const { key, refs } of records) {
      assert.deepEqual([key, refs], [sale.key, [`sim-${sale.key}`]])
    }
    assert.deepEqual(
      records.map(({ reason }) => reason),
      [undefined, '000.100.221', '000.100.221'],
    )
    assert.deepEqual(
      records.map(({ reference }) => reference),
      [undefined, `sim-cb-${sale.key}`, `sim-cb-${sale.key}`],
    )
    assert.equal(merchant.totals().charged, 9200n)
  })

  it('the card and the account with a chargeback alone, two days after settlement and after booking', async (test) => {
    const merchant = await overHttp(test)
    const sale = payment('debit', { instrument: card('4000000000000259') })
    const debit = payment('debit', { instrument: bankAccount('DE35370400440532013002') })
    await pay(merchant, sale, debit)
    merchant.clock.ms += 30 * dayMs
    const files = await filesOf(merchant)
    const days = await Promise.all(files.map(async (file) => itemsIn(await bytesOf(file))))
    const found = days.map((items) =>
      recordsIn(items).map(({ key, recordType, reason }) => [key, recordType, reason]),
    )
    assert.deepEqual(found.slice(1), [
      [[debit.key, 'CHARGEBACK', '000.100.203']],
      [[sale.key, 'CHARGEBACK', '000.100.220']],
    ])
    assert.deepEqual(
      files.map(({ cursor }) => cursor),
      ['2030-01-01', '2030-01-03', '2030-01-04'],
    )
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

describe('reading a file', () => {
  it('cells can be quoted, with doubled quotation marks inside', () => {
    assert.deepEqual(cellsOf('a;"b;""c""";;"";d'), ['a', 'b;"c"', '', '', 'd'])
    assert.deepEqual(cellsOf('"a";'), ['a', ''])
    assert.deepEqual(cellsOf('a;'), ['a', ''])
    for (const broken of ['"a', '"a"b', 'a;"b""', '"']) assert.equal(cellsOf(broken), undefined)
  })

  const whole = async (test: TestContext) => {
    const merchant = await overHttp(test)
    await pay(merchant, payment('debit', { merchantTransactionId: 'größe' }))
    return bytesOf((await settledDay(merchant)).files[0]!)
  }

  it('a file cut off at any byte has no end', async (test) => {
    const bytes = await whole(test)
    for (let length = 0; length < bytes.length; length += 1) {
      const items = await itemsIn(bytes.subarray(0, length)).catch(() => [])
      assert.notEqual(items.at(-1)?.is, 'end', `${length} bytes`)
    }
  })

  it('lines that cannot be read say why, and unknown types are kept', async (test) => {
    const text = (await whole(test)).toString()
    const read = async (changed: string) => (await itemsIn(Buffer.from(changed)))[1]
    const bad = async (changed: string) => {
      const item = await read(changed)
      return item?.is === 'bad' && item.why
    }
    assert.equal(
      await bad(text.replace('92.00', '9z.00')),
      'Amount must be a decimal number such as 12.34',
    )
    assert.equal(
      await bad(text.replace('92.00', '92.001')),
      'Amount must be a decimal number such as 12.34',
    )
    assert.equal(await bad(text.replace('SETTLED;', 'SETTLED;"')), 'a quotation mark is not closed')
    assert.match(String(await bad(text.replace('SETTLED;', ''))), /has 26 cells/)
    const other = await read(text.replace('SETTLED;', 'LOAN;'))
    assert.equal(other?.is === 'other' && other.type, 'LOAN')
    assert.deepEqual(
      await read(text.replaceAll('92.00', '92.0')),
      await read(text).then((item) => ({
        ...item,
        text: text.split('\n')[2]!.replaceAll('92.00', '92.0'),
      })),
    )
  })
})
