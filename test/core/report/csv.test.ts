/** The bytes of report files: exact, readable by the readers of others, and harmless in spreadsheets. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { csvLine } from '../../../core/report/csv.ts'
import { groupsByName, reconciliationColumns, reportedAmount } from '../../../schemas/index.ts'
import { readByPostgres, readByPython } from '../../rig/csv-readers.ts'
import type { Line } from '../settlement/matching-run.ts'
import { type ReportRun, startReports } from './report-run.ts'

const golden = (name: string) => readFileSync(join(import.meta.dirname, 'golden', name), 'utf8')

describe('a report file', () => {
  let run: ReportRun
  before(async () => {
    run = await startReports()
  })
  beforeEach(() => run.forget())
  after(() => run.close())

  /** One file of these lines, in their order. */
  const reportOf = async (lines: readonly Line[]) => {
    for (const line of lines) await run.file([line])
    const [id, ...others] = await run.cut()
    assert.deepEqual(others, [])
    return id!
  }

  test('has exactly these bytes', async () => {
    const pay = (more: object) =>
      run.pay({ testMode: 'EXTERNAL', merchantTransactionId: 'order-2041', ...more })
    const sale = await pay({})
    const refund = await run.gateway.payments.refund(sale.id, { amount: '10.00', currency: 'EUR' })
    const twins = [await pay({ amount: '30.00' }), await pay({ amount: '30.00' })]
    const common = {
      ...{ batch: 'payout-1', date: '2026-03-31', requestedAt: '2026-03-29 01:59:59' },
      ...{ brand: 'VISA', last4: '0000', holder: 'Jane Jones', descriptor: 'Shop 4711' },
    }
    const id = await reportOf([
      {
        ...{ ...common, settlementId: 'settled', paymentId: sale.id, fee: 155n },
        ...{ refs: ['reference-1', 'reference-2', 'reference-3'] },
      },
      {
        ...{ ...common, settlementId: 'refunded', paymentId: refund.id, minor: 1000n },
        ...{ transactionType: 'REFUND', settledMinor: 1083n, settledCurrency: 'USD' },
        fxRate: '1.083412',
      },
      {
        ...{ ...common, settlementId: 'charged-back', paymentId: sale.id },
        ...{ recordType: 'CHARGEBACK', cashflow: 'NEG', reason: '000.100.203' },
      },
      {
        ...{ ...common, settlementId: 'several', merchantTransactionId: 'order-2041' },
        minor: 3000n,
      },
      {
        ...{ settlementId: 'monthly', date: '2026-03-31', requestedAt: '2026-03-31 00:00:00' },
        ...{ recordType: 'FEE', transactionType: 'MONTHLY', cashflow: 'NEG', minor: 1900n },
      },
      {
        ...{ ...common, settlementId: 'yen', minor: 5000n, currency: 'JPY' },
        ...{ brand: 'MASTER', bankCode: '10070000' },
      },
      {
        ...{ ...common, settlementId: 'dinar', minor: 9255n, currency: 'KWD', status: 'FAILED' },
        ...{ brand: 'DIRECTDEBIT_SEPA', bankCode: '10070000', holder: '=1+1;"x"' },
        descriptor: '@shop\nline two',
      },
    ] as Line[])
    const ids = {
      ...{ psp: run.psp, division: run.division, merchant: run.merchant, account: run.account },
      ...{ sale: sale.id, saleShortId: sale.shortId },
      ...{ refund: refund.id, refundShortId: refund.shortId },
      twins: twins
        .map((payment) => payment.id)
        .sort()
        .join(','),
    }
    const expected = (name: string) =>
      golden(name).replaceAll(/\{(\w+)\}/g, (_, key: string) => ids[key as keyof typeof ids])
    assert.equal((await run.bytesOf(id)).toString(), expected('records.csv'))
    assert.equal((await run.bytesOf(id, 'raw')).toString(), expected('records-raw.csv'))
  })

  test('says what a reader of RFC 4180 gets from it', async (t) => {
    const odd = [
      ...['=1+1', '+49 30', '-1', '@import', '\ttab', '\rreturn', "'quote", '"', '""', ';;'],
      ...[
        'a;b',
        'a"b',
        'a,b',
        'two\nlines',
        'two\r\nlines',
        'ä€😀',
        '\u202eabc',
        ' blanks ',
        '\\.',
        '\\N',
      ],
    ]
    await run.file(
      odd.map((text, at) => ({
        ...{ settlementId: `S-${at}`, holder: `${text}x`, descriptor: `x${text}` },
        refs: [text === ' blanks ' ? 'x' : text],
      })),
    )
    const [id = ''] = await run.cut()
    for (const form of ['guarded', 'raw'] as const) {
      const [header, ...rows] = await readBoth(t, await run.bytesOf(id, form))
      assert.deepEqual(header, reconciliationColumns)
      const cell = (row: string[], column: string) => row[reconciliationColumns.indexOf(column)]
      const guard = (text: string) =>
        form === 'guarded' && '=+-@\t\r\n'.includes(text[0]!) ? `'${text}` : text
      for (const [at, text] of odd.entries()) {
        const row = rows.find((one) => cell(one, 'SettlementTxId') === `S-${at}`)!
        assert.equal(row.length, 36)
        assert.equal(cell(row, 'Amount'), '92.00')
        assert.equal(cell(row, 'AccountHolder'), guard(`${text}x`.trim()))
        assert.equal(cell(row, 'Descriptor'), `x${text}`.trim())
        if (text.trim() === text) assert.equal(cell(row, 'ConnectorTxId1'), guard(text))
      }
      assert.equal(rows.length, odd.length)
    }
  })

  test('keeps any text through any reader, and guards it where it could be a formula', async (t) => {
    const texts = reconciliationColumns.flatMap((column) => {
      const of = fieldsOf(column).filter((field) => field.format !== reportedAmount)
      return of.length === 0 ? [] : [{ column, name: of[0]!.name }]
    })
    const special = fc.constantFrom(...'=+-@\t\r\n;"\',\\. ä😀0')
    const text = fc.string({ unit: special, minLength: 1, maxLength: 8 })
    const records = fc.array(fc.array(text, { minLength: texts.length, maxLength: texts.length }), {
      minLength: 20,
      maxLength: 20,
    })
    const samples = fc.sample(records, { numRuns: 20, seed: 4711 }).flat()
    const values = samples.map((cells) =>
      Object.fromEntries(texts.map(({ name }, at) => [name, cells[at]!])),
    )
    for (const form of ['guarded', 'raw'] as const) {
      const bytes = Buffer.from(values.map((value) => csvLine(value, form)).join(''))
      const rows = await readBoth(t, bytes)
      const expected = samples.map((cells) =>
        reconciliationColumns.map((column) => {
          const at = texts.findIndex((one) => one.column === column)
          const cell = cells[at] ?? ''
          return form === 'guarded' &&
            /^[\u200B-\u200F\u2060\uFEFF]*[=+\-@\t\r\n＝＋－＠]/.test(cell)
            ? `'${cell}`
            : cell
        }),
      )
      assert.deepEqual(rows, expected)
    }
  })

  test('guards what spreadsheets take for a formula in spite of its first character', () => {
    for (const start of ['\n=', '\u200B=', '\uFEFF+', '\u2060\u200B-', '＝', '＋', '－', '＠']) {
      const cells = csvLine({ descriptor: `${start}1+1` }, 'guarded').split(';')
      assert.ok(
        cells.some((cell) => cell.replace('"', '').startsWith(`'${start}`)),
        start,
      )
    }
    assert.ok(csvLine({ descriptor: '\u200Btext' }, 'guarded').includes(';\u200Btext'))
  })

  test('never guards an amount', () => {
    const amounts = { amount: '-1.00', 'settlement.amount': '-2.00', 'settlement.fee': '-3.00' }
    const cells = csvLine(amounts, 'guarded').split(';')
    const cell = (column: string) => cells[reconciliationColumns.indexOf(column)]
    assert.deepEqual(
      [cell('Amount'), cell('SettlementAmount'), cell('SettlementFee')],
      ['-1.00', '-2.00', '-3.00'],
    )
  })

  test('has no account number, wherever a line had one', async () => {
    const numbers = ['4200000000000000', '5555 5555 5555 4444', 'DE89370400440532013000']
    await run.file(
      numbers.map((number, at) => ({
        ...{ settlementId: `S-${at}`, batch: number, holder: number, descriptor: `for ${number}` },
        ...{ refs: [number, number, number], merchantTransactionId: `order ${number}` },
        ...{ merchantInvoiceId: number, reason: number, reference: number, last4: '4444' },
        recordType: at === 1 ? 'CHARGEBACK' : 'SETTLED',
      })),
    )
    const [id = ''] = await run.cut()
    const { aggregations } = await run.gateway.reports.aggregations({
      ...{ date: { from: '2026-01-01', to: '2199-01-01' }, currency: 'EUR', testMode: 'EXTERNAL' },
    })
    assert.equal(aggregations.length, 3)
    const told = [
      (await run.bytesOf(id)).toString(),
      (await run.bytesOf(id, 'raw')).toString(),
      JSON.stringify(aggregations),
    ]
    for (const aggregation of aggregations) {
      const page = await run.gateway.reports.recordPage(aggregation.id)
      assert.equal(page.records.length, 1)
      told.push(JSON.stringify(page))
    }
    for (const text of told) {
      const plain = text.replaceAll(/[0-9a-f]{32}/g, '').replaceAll(' ', '')
      for (const number of numbers) assert.ok(!plain.includes(number.replaceAll(' ', '')), number)
    }
    assert.ok(told[0]!.includes(';4444;'))
  })

  const fieldsOf = (column: string) =>
    groupsByName
      .get('reconciliation record')!
      .fields.filter(({ options }) => options.column === column)

  /** The same from PostgreSQL and, where it is installed, Python. */
  async function readBoth(t: TestContext, bytes: Buffer): Promise<string[][]> {
    const rows = await readByPostgres(run.database.url, bytes, reconciliationColumns.length)
    const again = readByPython(bytes)
    if (again === undefined) t.diagnostic('no python3 here: read by PostgreSQL alone')
    else assert.deepEqual(again, rows)
    return rows
  }
})
