/** Rules about settlement details reports. */
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import type { SettlementItem } from '@tollgate/plugin-kit'
import { reportItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import {
  batchLine,
  type Line,
  moneyLine,
  reportOf,
} from '../../../../connectors/adyen/sandbox/report.ts'
import type { Scene } from '../scene.ts'
import { mistake, type Rule } from './rule.ts'

const about = { merchantAccount: 'TestMerchant', batch: 4, day: '2026-03-31' }
const key = 'd'.repeat(32)
const eur = (minor: bigint) => ({ minor, currency: 'EUR' })

const line = (type: string, isCredit: boolean, more: Line = {}, fee = 0n): Line => ({
  ...moneyLine(about, { type, gross: eur(9200n), isCredit, fee }),
  'Psp Reference': 'PAYMENTPAYMENT01',
  'Merchant Reference': key,
  'Modification Reference': 'MODIFICATION0001',
  'Payment Method': 'visa',
  ...more,
})
const payout = batchLine(about, 'MerchantPayout', eur(9200n), 'TX4XT')

async function itemsIn(
  { stage }: Scene,
  ...lines: readonly Line[]
): Promise<readonly SettlementItem[]> {
  const items: SettlementItem[] = []
  const { settlement } = stage.connector
  const bytes = (async function* () {
    yield reportOf(lines)
  })()
  for await (const item of settlement!.parse(bytes)) items.push(item)
  return items
}

async function itemIn(scene: Scene, one: Line) {
  const items = await itemsIn(scene, one, payout)
  return items[1] as Extract<SettlementItem, { is: 'record' | 'batch' }>
}

/** Type of a line, whether it is a credit, and what it says. */
// biome-ignore format: a table reads best with one row on one line.
const types: readonly (readonly [type: string, isCredit: boolean, said: string])[] = [
  ['Settled',                 true,  'SETTLED DEBIT POS'],
  ['SettledInInstallments',   true,  'SETTLED DEBIT POS'],
  ['Refunded',                false, 'SETTLED REFUND NEG'],
  ['Chargeback',              false, 'CHARGEBACK DEBIT NEG'],
  ['SecondChargeback',        false, 'CHARGEBACK DEBIT NEG'],
  ['ChargebackReversed',      true,  'CHARGEBACK REVERSAL DEBIT POS'],
  ['Fee',                     false, 'fee NEG'],
  ['MiscCosts',               false, 'fee NEG'],
  ['PaymentCost',             false, 'fee NEG'],
  ['InvoiceDeduction',        false, 'fee NEG'],
  ['MerchantPayout',          false, 'payout POS'],
  ['MerchantPayout',          true,  'payout NEG'],
  ['DepositCorrection',       false, 'reserve-held NEG'],
  ['DepositCorrection',       true,  'reserve-released POS'],
  ['Balancetransfer',         false, 'transfer NEG'],
  ['Balancetransfer',         true,  'transfer POS'],
  ['RefundedReversed',        true,  'adjustment POS'],
  ['SettledReversed',         false, 'adjustment NEG'],
  ['ManualCorrected',         true,  'adjustment POS'],
  ['MatchedStatement',        true,  'adjustment POS'],
  ['BankInstructionReturned', true,  'adjustment POS'],
  ['EpaPaid',                 false, 'adjustment NEG'],
  ['PaidOut',                 false, 'adjustment NEG'],
  ['PaidOutReversed',         true,  'adjustment POS'],
]

const recordTypes = types.filter(([, , said]) => said === said.toUpperCase())
const names = (rows: typeof types) => [...new Set(rows.map(([type]) => type))]

export const reportRules: readonly Rule[] = [
  {
    rule: 'each type of line is a record or a line of the payout, in its direction, and others are kept apart',
    async run(scene) {
      for (const [type, isCredit, said] of types) {
        const item = await itemIn(scene, line(type, isCredit))
        const is = item.is === 'record' ? `${item.recordType} ${item.transactionType}` : item.kind
        assert.equal(`${is} ${item.cashflow}`, said, `${type}, ${isCredit ? 'credit' : 'debit'}`)
        assert.deepEqual(item.amount, eur(9200n), type)
      }
      const [, other] = await itemsIn(scene, line('Loan', true), payout)
      assert.equal(other?.is, 'other')
    },
    mistakes: [
      ...names(recordTypes)
        .filter((type) => type !== 'Chargeback')
        .map((type) => mistake('settlement', `${type}: ['`, `${type}X: ['`)),
      mistake(
        'settlement',
        "Refunded: ['SETTLED', 'REFUND'], Chargeback: [",
        "Refunded: ['SETTLED', 'REFUND'], ChargebackX: [",
      ),
      ...names(types)
        .filter((type) => !names(recordTypes).includes(type))
        .map((type) => mistake('settlement', `${type}: ['`, `${type}X: ['`)),
      mistake(
        'settlement',
        "['reserve-held', 'reserve-released']",
        "['reserve-released', 'reserve-held']",
      ),
      mistake(
        'settlement',
        "kind === 'payout' ? net.minor <= 0n : net.minor >= 0n",
        'net.minor >= 0n',
      ),
      mistake('settlement', "amount.minor < 0n ? 'NEG' : 'POS'", "'POS'"),
    ],
  },
  {
    rule: 'amounts are gross, costs are one fee, costs that come back are a line of their own, and rates are kept',
    async run(scene) {
      const costs = {
        'Commission (NC)': '0.01',
        'Markup (NC)': '0.02',
        'Scheme Fees (NC)': '0.03',
        'Interchange (NC)': '0.04',
      }
      const sale = await itemIn(
        scene,
        line('Settled', true, { ...costs, 'Net Credit (NC)': '91.90' }),
      )
      assert.deepEqual(sale.is === 'record' && [sale.settled, sale.fee], [eur(9200n), 10n])
      const refund = await itemIn(
        scene,
        line('Refunded', false, { ...costs, 'Net Debit (NC)': '92.10' }),
      )
      assert.deepEqual(refund.is === 'record' && [refund.settled, refund.fee], [eur(9200n), 10n])
      const returned = await itemsIn(
        scene,
        line('Refunded', false, { 'Markup (NC)': '-0.12', 'Net Debit (NC)': '91.88' }),
        payout,
      )
      const [, record, back] = returned as readonly SettlementItem[]
      assert.ok(record?.is === 'record' && back?.is === 'batch')
      assert.deepEqual([record.settled, record.fee], [eur(9200n), 0n])
      assert.deepEqual([back.kind, back.cashflow, back.amount], ['fee', 'POS', eur(12n)])
      const foreign = await itemIn(
        scene,
        line('Settled', true, {
          'Exchange Rate': '1.0834121212121',
          'Net Currency': 'USD',
          'Net Credit (NC)': '99.66',
          'Markup (NC)': '0.01',
        }),
      )
      assert.deepEqual(
        foreign.is === 'record' && [foreign.amount, foreign.settled, foreign.fxRate],
        [eur(9200n), { minor: 9967n, currency: 'USD' }, '1.08341212121'],
      )
      // Parts of the smallest unit are rounded once.
      const parts = { 'Commission (NC)': '0.004', 'Markup (NC)': '0.001' }
      const part = await itemIn(scene, line('Settled', true, parts))
      assert.equal(part.is === 'record' && part.fee, 1n)
      const backParts = await itemsIn(
        scene,
        line('Settled', true, { 'Markup (NC)': '-0.005' }),
        payout,
      )
      assert.deepEqual(Object(backParts[2]).amount, eur(1n))
    },
    mistakes: [
      mistake('settlement', 'minor: paid.minor + fee, currency', 'minor: paid.minor, currency'),
      mistake('settlement', 'fee: fee < 0n ? 0n : fee,', 'fee,'),
      mistake('settlement', 'if (fee >= 0n) return [record]', 'if (fee >= -1000n) return [record]'),
      ...['Commission (NC)', 'Markup (NC)', 'Scheme Fees (NC)', 'Interchange (NC)'].map((column) =>
        mistake('settlement', `'${column}'`, "'Reserved'"),
      ),
      mistake('settlement', "fxRate: rateOf(cells['Exchange Rate']),", ''),
      mistake('settlement', '(sum + (sum < 0n ? -unit : unit) / 2n) / unit', 'sum / unit'),
      mistake('settlement', 'sum < 0n ? -unit : unit', 'unit'),
    ],
  },
  {
    rule: 'a line names the operation, else the payment, a dispute the payment, and no line names a payment that was not made here',
    async run(scene) {
      const of = async (type: string, more: Line) => {
        const item = await itemIn(scene, line(type, type === 'Settled', more))
        assert.ok(item.is === 'record')
        return item
      }
      const capture = { 'Modification Merchant Reference': `cp.${'e'.repeat(32)}` }
      const settled = await of('Settled', capture)
      assert.equal(settled.key, 'e'.repeat(32))
      assert.deepEqual(settled.refs, ['PAYMENTPAYMENT01', 'MODIFICATION0001'])
      assert.deepEqual(
        [settled.settlementId, settled.brand, settled.batch],
        ['Settled.MODIFICATION0001', 'VISA', '4'],
      )
      assert.equal((await of('Settled', {})).key, key)
      assert.equal((await of('Settled', { 'Payment Method': 'constructor' })).brand, undefined)
      const strange = await itemIn(scene, line('constructor', true))
      assert.equal(strange.is as string, 'other')
      const dispute = await of('Chargeback', capture)
      assert.deepEqual([dispute.key, dispute.reference], [key, 'MODIFICATION0001'])
      assert.equal((await of('SecondChargeback', {})).reference, 'MODIFICATION0001.2')
      for (const type of ['Settled', 'Refunded', 'Chargeback']) {
        const foreign = await of(type, { 'Merchant Reference': 'order-7' })
        assert.deepEqual([foreign.key, foreign.merchantTransactionId], [undefined, undefined], type)
      }
      const booked = await of('Settled', { 'Creation Date': '2026-03-30 23:59:59' })
      assert.deepEqual([booked.date, booked.requestedAt], ['2026-03-31', '2026-03-30 23:59:59'])
      const unbooked = await of('Settled', { 'Booking Date': '' })
      assert.equal(unbooked.date, '2026-03-31')
    },
    mistakes: [
      mistake(
        'settlement',
        '(isDispute ? undefined : readReference(own)) ?? readReference(merchant)',
        'readReference(merchant)',
      ),
      mistake(
        'settlement',
        '(isDispute ? undefined : readReference(own)) ?? readReference(merchant)',
        'readReference(own) ?? readReference(merchant)',
      ),
      mistake(
        'settlement',
        "disputeReference(modification, type === 'SecondChargeback')",
        'modification',
      ),
      mistake(
        'settlement',
        "settlementId: modification === '' ? undefined :",
        "settlementId: modification !== '' ? modification :",
      ),
      mistake(
        'settlement',
        "cells['Booking Date'] || cells['Creation Date']",
        "cells['Creation Date']?.replace('31', '30')",
      ),
      mistake('settlement', "visa: 'VISA'", "visa: 'MASTER'"),
      mistake('settlement', 'Object.hasOwn(brands, method) ?', 'true ?'),
      mistake('settlement', 'Object.hasOwn(records, type) ?', 'true ?'),
      mistake(
        'settlement',
        'key: named?.key,',
        'key: named?.key, merchantTransactionId: named === undefined ? merchant : undefined,',
      ),
      mistake(
        'settlement',
        "refs: [cells['Psp Reference'] || undefined, cells['Modification Reference'] || undefined],",
        "refs: [cells['Modification Reference'] || undefined],",
      ),
    ],
  },
  {
    rule: 'a report is named by its batch, ends with its payout, and needs its columns',
    async run(scene) {
      const items = await itemsIn(scene, line('Settled', true), payout)
      assert.deepEqual(items[0], { is: 'file', reference: 'TestMerchant batch 4' })
      assert.deepEqual(items.at(-1), { is: 'end' })
      assert.equal(items.filter(({ is }) => is === 'file').length, 1)
      const open = await itemsIn(scene, payout, line('Settled', true))
      assert.notEqual(open.at(-1)?.is, 'end', 'a payment is the last line')
      const carried = await itemsIn(
        scene,
        line('Settled', true),
        batchLine(about, 'Balancetransfer', eur(1n), ''),
      )
      assert.equal(carried.at(-1)?.is, 'end', 'a batch without a payout')
      const { settlement } = scene.stage.connector
      const text = reportOf([line('Settled', true), payout]).toString()
      const read = async (bytes: Buffer) => {
        const all: SettlementItem[] = []
        for await (const item of settlement!.parse(Readable.from([bytes]))) all.push(item)
        return all
      }
      const without = await read(Buffer.from(text.replace('Merchant Reference', 'Order')))
      assert.equal(without[0]?.is, 'bad')
      await assert.rejects(
        read(Buffer.from(text.replace('visa', 'vis\u00e4'), 'latin1')),
        TypeError,
      )
      const [bad] = await read(Buffer.from(text.replaceAll(',', ';')))
      const why = 'the cells are separated by semicolons, and must be by commas'
      assert.deepEqual(bad, { is: 'bad', line: 1, why })
      const parts = line('Settled', true, { 'Merchant Reference': 'two\nlines' })
      const long = reportOf([parts, line('Settled', true), payout]).toString()
      const lines = async (written: string) =>
        (await read(Buffer.from(written))).map((item) => ('line' in item ? item.line : 0))
      assert.deepEqual(await lines(long), [0, 2, 4, 5, 0])
      assert.deepEqual(await lines(long.replaceAll('\n', '\r\n')), [0, 2, 4, 5, 0])
      // A cell of the last line that is cut off, as those of the line before show.
      for (const end of [1, 2, 3]) assert.equal((await lines(long.slice(0, -1 - end))).length, 4)
      assert.equal((await lines(long.slice(0, -1))).length, 5)
    },
    mistakes: [
      mistake('settlement', 'if (lastTypes.has(last) && (', 'if (('),
      mistake('settlement', 'isEnded || lengths[0] === lengths[1]', 'true'),
      mistake('settlement', 'isEnded || lengths[0] === lengths[1]', 'isEnded'),
      mistake('settlement', "wrongSeparator(raw, ',') ?? why", 'why'),
      mistake(
        'settlement',
        "new Set(['MerchantPayout', 'Balancetransfer'])",
        "new Set(['MerchantPayout'])",
      ),
      mistake(
        'settlement',
        "if (!isNamed && cells['Batch Number']) {",
        "if (cells['Batch Number']) {",
      ),
      mistake('settlement', 'if (missing.length > 0)', 'if (false)'),
    ],
  },
  {
    rule: 'announced reports are fetched in order, whole, with the login of the report user, from Adyen alone',
    async run({ adyen, stage, tell, settings }) {
      const { settlement } = stage.connector
      const fetched = async (cursor?: string, account: object = settings) => {
        const { returned, thrown, attempts } = await stage.call(
          async (context) => {
            const files: string[] = []
            for await (const file of settlement!.fetch!(cursor, context)) {
              for await (const _ of await file.open()) files.push(`${file.cursor} ${file.name}`)
            }
            return files
          },
          { account: account as never },
        )
        return { returned, thrown, attempts }
      }
      const names = [1, 2].map((no) => `settlement_detail_report_batch_${no}.csv`)
      for (const name of names) {
        adyen.reports.set(name, reportOf([line('Settled', true), payout]))
        await tell(adyen.message(reportItem(name, 'https://evil.example/x.csv')))
      }
      const all = await fetched()
      assert.deepEqual(all.returned, [`1 ${names[0]}`, `2 ${names[1]}`])
      assert.ok(all.attempts.every(({ written }) => written?.url.href.startsWith(stage.front.url)))
      assert.deepEqual((await fetched('1')).returned, [`2 ${names[1]}`])
      const { reportUser: _, ...without } = settings
      assert.deepEqual((await fetched(undefined, without)).returned, [])
      assert.ok(
        (await fetched(undefined, { ...settings, reportPassword: 'wrong' })).thrown instanceof
          Error,
      )
      adyen.reports.set(names[0]!, Buffer.from('<html>Bad gateway</html>\n'))
      assert.ok((await fetched()).thrown instanceof Error, 'not whole')
      adyen.reports.set(names[0]!, reportOf([line('Settled', true), payout]).subarray(0, -1))
      assert.ok((await fetched()).thrown instanceof Error, 'cut off')
    },
    mistakes: [
      mistake(
        'reports',
        'if (!isWhole && !(isOfReport(status)',
        'if (false && !(isOfReport(status)',
      ),
      mistake('reports', '&& endsWithPayout(body)', ''),
      mistake('reports', 'let no = from + 1; no <= last', 'let no = 1; no <= last'),
      mistake('settlement', 'if (!/[\\r\\n]$/.test(tail)) return false', ''),
    ],
  },
  {
    rule: 'a report that cannot be fetched for a day is handed over as it is; a wrong login is no fault of the report; a new announcement brings it again',
    async run({ adyen, stage, tell, settings }) {
      const { settlement } = stage.connector
      const [name, next] = [1, 2].map((no) => `settlement_detail_report_batch_${no}.csv`) as [
        string,
        string,
      ]
      adyen.reports.set(next, reportOf([line('Settled', true), payout]))
      for (const one of [name, next]) await tell(adyen.message(reportItem(one, '')))
      const fetched = async (cursor?: string, account: object = settings) =>
        stage.call(
          async (context) => {
            const files: string[] = []
            for await (const file of settlement!.fetch!(cursor, context)) {
              for await (const bytes of await file.open())
                files.push(`${file.name} ${bytes.length}`)
            }
            return files
          },
          { account: account as never },
        )
      for (let no = 0; no < 30; no += 1) {
        const { thrown } = await fetched(undefined, { ...settings, reportPassword: 'wrong' })
        assert.ok(thrown instanceof Error, 'the login')
      }
      for (let no = 1; no < 24; no += 1)
        assert.ok((await fetched()).thrown instanceof Error, String(no))
      const { returned } = await fetched()
      assert.equal(returned?.length, 2, 'the next one comes as well')
      assert.ok(returned?.[0]?.startsWith(name))
      adyen.reports.set(name, reportOf([line('Settled', true), payout]))
      await tell(adyen.message(reportItem(name, '')))
      await tell(adyen.message(reportItem(name, '')))
      const again = (await fetched('2')).returned
      assert.equal(again?.length, 1, 'generated anew')
      assert.ok(again?.[0]?.startsWith(name))
    },
    mistakes: [
      mistake('reports', 'tries >= mostFetches', 'false'),
      mistake('reports', 'const mostFetches = 24', 'const mostFetches = 23'),
      mistake('reports', '![401, 403, 408, 429].includes(status)', 'true'),
      mistake('reports', 'await endFetch(records, name, no)', ''),
    ],
  },
]
