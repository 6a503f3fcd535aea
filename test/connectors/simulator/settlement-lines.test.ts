/** Lines of the simulated acquirer's settlement files: odd ones, disputes, and ones that cannot be read. */
import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Operation, SettlementRecord } from '@tollgate/plugin-kit'
import { cellsOf } from '../../../connectors/simulator/settlement/format.ts'
import {
  bytesOf,
  dayMs,
  filesOf,
  itemsIn,
  mustAddUp,
  pay,
  recordsIn,
  settledDay,
  shown,
} from './settled-days.ts'
import { bankAccount, card, euros, followUp, overHttp, payment } from './support.ts'

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
    assert.deepEqual(
      batchLines.map(({ kind }) => kind),
      ['opening', 'payout', 'closing'],
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

  it('a file cut off at any byte before its last line end has no end, or another count or sum', async (test) => {
    const bytes = await whole(test)
    const end = (await itemsIn(bytes)).at(-1)
    for (let length = 0; length < bytes.length - 1; length += 1) {
      const items = await itemsIn(bytes.subarray(0, length)).catch(() => [])
      assert.notDeepEqual(items.at(-1), end, `${length} bytes`)
    }
  })

  it('lines that cannot be read say why, and unknown types are kept', async (test) => {
    const text = (await whole(test)).toString()
    const read = async (changed: string) => (await itemsIn(Buffer.from(changed)))[1]
    assert.deepEqual((await itemsIn(Buffer.from(text.replaceAll(';', ','))))[0], {
      ...{ is: 'bad', line: 1 },
      why: 'the cells are separated by commas, and must be by semicolons',
    })
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
