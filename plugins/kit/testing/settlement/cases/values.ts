import assert from 'node:assert/strict'
import type { SettlementItem, SettlementRecord } from '../../../settlement.ts'
import type { SettlementCase } from '../case.ts'
import { sample } from '../harness.ts'

/** By currency: amounts that a wrong exponent or a number of floating point changes. */
const amounts: Readonly<Record<string, readonly bigint[]>> = {
  EUR: [1n, 10n, 1999n, 9200n, 123_456_789_01n],
  JPY: [1n, 5000n, 123_456n],
  KWD: [1n, 10n, 1500n, 123_456n],
}
const others = [1n, 100n, 123_456n]
const usual = ['EUR', 'JPY', 'KWD']

/** Numbers, exponents and leading zeros that must stay texts. */
const references = ['007', '1e5', '12345678901234567890', 'aBcD', '-12', '0.10', 'null']

const namesOf = ({ key, paymentId, merchantTransactionId, shortId, refs = [] }: SettlementRecord) =>
  [key, paymentId, merchantTransactionId, shortId, ...refs].filter((name) => name !== undefined)

/** A line says about a payment what the institute wrote. */
export const values: readonly SettlementCase[] = [
  {
    name: 'amounts are gross, in minor units by the exponent of the currency',
    async run({ sandbox: { currencies = usual }, recordsOf }) {
      for (const currency of currencies) {
        const payments = (amounts[currency] ?? others).map((minor) =>
          sample({ amount: { minor, currency }, fee: 1n }),
        )
        for (const [at, record] of (await recordsOf(...payments)).entries()) {
          const { amount, fee } = payments[at]!
          assert.deepEqual(record.amount, amount, 'amount is what the shopper paid')
          assert.deepEqual(record.settled, amount, 'settled is gross as well')
          assert.ok(record.fee === undefined || record.fee === fee, 'fee is in minor units')
        }
      }
    },
  },
  {
    name: 'the merchant number of a record is that of its account',
    without: (_settlement, { account }) =>
      account === undefined ? 'the sandbox names no account of its files' : undefined,
    async run({ settlement, sandbox, recordsOf }) {
      const number = settlement.merchantOf(sandbox.account!)
      const [record] = await recordsOf(sample())
      // As Tollgate compares them.
      const plain = (text: string) => text.trim().toLowerCase()
      const rule = 'Tollgate finds the account of a line by it, and leaves out the lines of others'
      assert.equal(plain(record!.merchantNumber), plain(number), rule)
    },
  },
  {
    name: 'sales are POS, refunds are NEG, and no amount is negative',
    async run({ recordsOf }) {
      const [sale, refund] = await recordsOf(sample(), sample({ cashflow: 'NEG' }))
      const kind = ({ recordType, transactionType, cashflow, status }: SettlementRecord) =>
        `${recordType} ${transactionType} ${cashflow} ${status}`
      assert.equal(kind(sale!), 'SETTLED DEBIT POS SUCCESS')
      assert.equal(kind(refund!), 'SETTLED REFUND NEG SUCCESS')
      assert.deepEqual(refund!.amount, sample().amount)
    },
  },
  {
    name: 'references are texts, exactly as they came',
    async run({ recordsOf }) {
      const payments = references.map((reference) => sample({ reference }))
      for (const [at, record] of (await recordsOf(...payments)).entries()) {
        const names = namesOf(record)
        assert.ok(names.includes(references[at]!), `${references[at]} is not among ${names}`)
      }
    },
  },
  {
    name: 'days and times stay those of the institute',
    async run({ recordsOf }) {
      const times = [
        ['2028-02-29', '2028-02-28 23:59:59'],
        ['2026-03-29', '2026-03-29 00:00:00'],
        ['2026-12-31', '2026-12-30 00:30:00'],
        ['2026-05-04', '2026-05-03 12:00:01'],
      ] as const
      const payments = times.map(([date, requestedAt]) => sample({ date, requestedAt }))
      for (const [at, record] of (await recordsOf(...payments)).entries()) {
        const { date, requestedAt } = payments[at]!
        assert.equal(record.date, date, 'date is the day of settlement')
        assert.ok(
          [undefined, requestedAt].includes(record.requestedAt),
          'requestedAt is local time',
        )
      }
    },
  },
  {
    name: 'no value shows more than four digits of a card number',
    async run({ read, recordsOf, sandbox }) {
      const cardNumber = '4111111111111111'
      const [record] = await recordsOf(sample({ cardNumber }))
      assert.ok(record!.last4 === undefined || record!.last4 === '1111', 'last4 has four digits')
      const file = sandbox.write([sample({ cardNumber })])
      const { items } = await read(sandbox.damage.amount(file))
      for (const item of [record!, ...items]) mustHideCard(item, cardNumber)
    },
  },
  {
    name: 'text is the line as it came',
    async run({ recordsOf, sandbox }) {
      const payments = [sample(), sample({ reference: 'order-2' })]
      const file = new TextDecoder('latin1').decode(sandbox.write(payments))
      const records = await recordsOf(...payments)
      for (const { text } of records) {
        assert.ok(text.trim() !== '', 'text is not empty')
        const isPart = file.includes(Buffer.from(text, 'utf8').toString('latin1'))
        assert.ok(isPart || file.includes(text), 'text is a part of the file')
      }
      assert.ok(records[0]!.line < records[1]!.line, 'line counts the lines of the file')
      assert.notEqual(records[0]!.text, records[1]!.text)
    },
  },
  {
    name: 'a new column changes nothing',
    without: (_settlement, { damage }) =>
      damage.column === undefined ? 'the format is read by position' : undefined,
    async run({ recordsOf, read, sandbox }) {
      const payments = [sample(), sample({ cashflow: 'NEG' })]
      const plain = await recordsOf(...payments)
      const reading = await read(sandbox.damage.column!(sandbox.write(payments)))
      if (reading.is === 'refused') assert.fail(`the file is refused: ${reading.why}`)
      const records = reading.items.filter((item) => item.is === 'record')
      const facts = (all: readonly SettlementRecord[]) => all.map((one) => ({ ...one, text: '' }))
      assert.deepEqual(facts(records), facts(plain))
    },
  },
]

/** `text` is hashed and never stored. */
function mustHideCard(item: SettlementItem, cardNumber: string): void {
  const { text: _hashed, ...shown } = { text: '', ...item }
  for (const value of Object.values(shown).flat()) {
    if (typeof value !== 'string') continue
    const digits = value.replaceAll(/[ -]/g, '')
    assert.ok(!digits.includes(cardNumber), 'a value holds the card number')
    const isPart = [cardNumber.slice(0, 12), cardNumber.slice(-8)].some((part) =>
      digits.includes(part),
    )
    assert.ok(!isPart, 'a value holds more than four digits of the card number')
  }
}
