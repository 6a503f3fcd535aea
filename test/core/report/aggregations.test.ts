/** Payouts with their sums, computed by hand here, and their records. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { newId, type RecordView } from '../../../core/index.ts'
import type { Line } from '../settlement/matching-run.ts'
import { type ReportRun, startReports } from './report-run.ts'

const days = (from: string, to: string, more: object = {}) => ({
  ...{ date: { from, to }, currency: 'EUR' as const, testMode: 'EXTERNAL' as const },
  ...more,
})
const march = days('2026-03-01', '2026-03-31')

describe('aggregations', () => {
  let run: ReportRun
  let reports: ReportRun['gateway']['reports']
  before(async () => {
    run = await startReports()
    reports = run.gateway.reports
  })
  beforeEach(() => run.forget())
  after(() => run.close())

  const batchLine = async (
    fileId: string,
    kind: string,
    minor: number,
    more: { cashflow?: string; payoutId?: string; number?: string } = {},
  ) => {
    const { cashflow = 'POS', payoutId = null, number } = more
    await run.sql(
      `insert into tollgate.settlement_batch_line (id, scope_id, file_id, line, key, content, kind, cashflow, batch,
         settlement_date, value_date, payout_id, minor, currency)
       values ($1::uuid, $2, $3, 99, uuid_send($1::uuid), uuid_send($1::uuid), $4, $5, 'payout-1', '2026-03-31',
         '2026-04-02', $6, $7, 'EUR')`,
      [newId(), await run.scope(number), fileId, kind, cashflow, payoutId, minor],
    )
  }
  const on = (line: Line): Line => ({ date: '2026-03-31', batch: 'payout-1', ...line })
  const decide = async (lines: readonly Line[]) => {
    const fileId = await run.stage(lines.map(on))
    return { fileId, decide: async () => assert.equal(await run.decideFile(fileId), true) }
  }

  test('say what a payout consists of', async () => {
    const sale = await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: 'order-sale' })
    const refund = await run.gateway.payments.refund(sale.id, { amount: '12.00', currency: 'EUR' })
    const staged = await decide([
      { settlementId: '1', paymentId: sale.id, fee: 155n },
      { settlementId: '2', minor: 5000n, merchantTransactionId: 'order-none', fee: 45n },
      { settlementId: '3', minor: 1200n, transactionType: 'REFUND', paymentId: refund.id },
      { settlementId: '4', minor: 700n, transactionType: 'CREDIT' },
      { settlementId: '5', recordType: 'CHARGEBACK', cashflow: 'NEG', paymentId: sale.id },
      { settlementId: '6', recordType: 'CHARGEBACK REVERSAL', paymentId: sale.id },
      { settlementId: '7', recordType: 'FEE', transactionType: 'MONTHLY', minor: 1900n },
      { settlementId: '8', recordType: 'FEE', transactionType: 'AUTH_FEE', minor: 3n },
      { settlementId: '9', recordType: 'FEE', transactionType: 'AUTH_FEE', minor: 4n },
    ])
    await batchLine(staged.fileId, 'opening', 1000)
    await batchLine(staged.fileId, 'reserve-held', 800, { cashflow: 'NEG' })
    await batchLine(staged.fileId, 'reserve-released', 300)
    await batchLine(staged.fileId, 'adjustment', 11, { cashflow: 'NEG' })
    await batchLine(staged.fileId, 'transfer', 20)
    await batchLine(staged.fileId, 'tax', 38, { cashflow: 'NEG' })
    await batchLine(staged.fileId, 'fee', 50, { cashflow: 'NEG' })
    await batchLine(staged.fileId, 'closing', 500)
    await batchLine(staged.fileId, 'payout', 9014, { payoutId: 'TRANSFER-77' })
    await staged.decide()
    const { aggregations, ...answer } = await reports.aggregations(march)
    assert.equal(answer.result.code, '000.000.100')
    assert.equal('nextCursor' in answer, false)
    const [aggregation, ...others] = aggregations
    assert.deepEqual(others, [])
    // 1000 + 13500 − 1200 − 9200 + 9200 − 200 − 1900 − 7 − 50 − 38 − 500 + 9 − 500 = 10114
    assert.deepEqual(aggregation, {
      id: aggregation!.id,
      date: '2026-03-31',
      valueDate: '2026-04-02',
      payoutId: 'TRANSFER-77',
      clearingInstitute: { name: 'Scripted', merchantId: 'merchant-1' },
      merchantAccount: { id: run.account, name: 'Demo' },
      currency: 'EUR',
      count: 9,
      opening: '10.00',
      gross: '135.00',
      refunds: '-12.00',
      chargebacks: '-92.00',
      reversals: '92.00',
      fees: [
        { kind: 'AUTH_FEE', amount: '-0.07' },
        { kind: 'MONTHLY', amount: '-19.00' },
        { kind: 'PAYOUT_FEE', amount: '-0.50' },
        { kind: 'SETTLEMENT_FEE', amount: '-2.00' },
      ],
      tax: '-0.38',
      reserve: '-5.00',
      adjustments: '0.09',
      net: '101.14',
      closing: '5.00',
      payout: '90.14',
      status: 'UNBALANCED',
      exceptions: [
        { kind: 'CONTROL', count: 1 },
        { kind: 'NOT_MATCHED', count: 4 },
      ],
    })
    assert.deepEqual(await reports.aggregation(aggregation!.id), aggregation)
  })

  test('count a record that failed with its fee alone, because it is not paid out', async () => {
    const sale = await run.pay({ testMode: 'EXTERNAL' })
    const staged = await decide([
      { settlementId: '1', paymentId: sale.id, fee: 155n },
      { settlementId: '2', minor: 5000n, status: 'FAILED', fee: 10n },
      {
        settlementId: '3',
        minor: 700n,
        transactionType: 'REFUND',
        cashflow: 'NEG',
        status: 'FAILED',
      },
    ])
    await batchLine(staged.fileId, 'payout', 9200 - 155 - 10)
    await staged.decide()
    const [aggregation] = (await reports.aggregations(march)).aggregations
    const { count, gross, refunds, net, payout, status } = aggregation!
    assert.deepEqual(
      { count, gross, refunds, net, payout, status },
      {
        count: 3,
        gross: '92.00',
        refunds: '0.00',
        net: '90.35',
        payout: '90.35',
        status: 'BALANCED',
      },
    )
  })

  test('are open before the payout is reported, and balanced when it equals the sum', async () => {
    const first = await decide([{ settlementId: '1', fee: 100n }])
    await first.decide()
    const [open] = (await reports.aggregations(march)).aggregations
    assert.deepEqual([open!.status, open!.net, open!.payout], ['OPEN', '91.00', undefined])
    const second = await decide([])
    await batchLine(second.fileId, 'payout', 9100)
    await second.decide()
    const [balanced] = (await reports.aggregations(march)).aggregations
    assert.deepEqual([balanced!.status, balanced!.payout], ['BALANCED', '91.00'])
    assert.equal(balanced!.id, open!.id)
  })

  test('are listed by their first day, in one currency and one test mode', async () => {
    await run.file([
      { settlementId: '1', date: '2026-03-02', batch: 'b-2' },
      { settlementId: '2', date: '2026-03-01', batch: 'b-1' },
      { settlementId: '3', date: '2026-03-31', batch: 'b-3' },
      { settlementId: '4', date: '2026-04-01', batch: 'b-4' },
      { settlementId: '5', date: '2026-02-28', batch: 'b-0' },
      { settlementId: '6', date: '2026-03-05', batch: 'b-1' },
      { settlementId: '7', date: '2026-03-05', batch: 'b-1', settledCurrency: 'USD' },
    ])
    const listed = async (request: object) => {
      const { aggregations } = await reports.aggregations(request as typeof march)
      return aggregations.map(({ date, count }) => [date, count])
    }
    assert.deepEqual(await listed(march), [
      ['2026-03-01', 2],
      ['2026-03-02', 1],
      ['2026-03-31', 1],
    ])
    assert.deepEqual(await listed({ ...march, currency: 'USD' }), [['2026-03-05', 1]])
    assert.deepEqual(await listed({ ...march, currency: 'JPY' }), [])
    assert.deepEqual(await listed({ ...march, testMode: 'INTERNAL' }), [])
    assert.deepEqual(await listed(days('2026-03-31', '2026-03-31')), [['2026-03-31', 1]])
    assert.deepEqual(await listed(days('2020-01-01', '2020-12-31')), [])
    const pages: unknown[] = []
    for (let cursor: string | undefined; ; ) {
      const page = await reports.aggregations({ ...march, limit: '1', ...(cursor && { cursor }) })
      pages.push(...page.aggregations.map(({ date }) => date))
      cursor = page.nextCursor
      if (cursor === undefined) break
    }
    assert.deepEqual(pages, ['2026-03-01', '2026-03-02', '2026-03-31'])
  })

  test('name the field of a request that is wrong', async () => {
    const refused = async (request: object, name: string, message: RegExp) =>
      assert.rejects(reports.aggregations(request as typeof march), (thrown: unknown) => {
        const { parameterErrors = [] } = thrown as { parameterErrors?: Record<string, string>[] }
        const error = parameterErrors.find((one) => one.name === name)
        assert.ok(error !== undefined, `${name}: ${JSON.stringify(parameterErrors)}`)
        assert.match(error.message!, message)
        return true
      })
    const { date: _, ...undated } = march
    await refused(undated, 'date.from', /required/)
    await refused({ ...march, currency: undefined }, 'currency', /required/)
    await refused({ ...march, currency: 'EURO' }, 'currency', /./)
    await refused(days('2026-03-31', '2026-03-01'), 'date.to', /must not be before date.from/)
    await refused(days('2026-02-30', '2026-03-01'), 'date.from', /./)
    await refused({ ...march, cursor: 'nonsense' }, 'cursor', /nextCursor/)
    await refused({ ...march, cursor: `2026-02-31-${newId()}` }, 'cursor', /nextCursor/)
  })

  test('of a shared merchant number show each merchant its own part', async () => {
    const one = await run.merchantWith('shared')
    const two = await run.merchantWith('shared')
    const paid = async (entityId: string, reference: string) =>
      run.pay({ testMode: 'EXTERNAL', entityId, merchantTransactionId: reference })
    await paid(one.channel, 'order-one')
    await paid(two.channel, 'order-two')
    const number = { merchantNumber: 'shared', batch: 'payout-1', date: '2026-03-31' }
    const fileId = await run.stage([
      { ...number, settlementId: '1', merchantTransactionId: 'order-one', fee: 200n },
      { ...number, settlementId: '2', merchantTransactionId: 'order-two' },
      { ...number, settlementId: '3', merchantTransactionId: 'order-three', minor: 1n },
    ])
    await batchLine(fileId, 'payout', 18201, { number: 'shared' })
    assert.equal(await run.decideFile(fileId), true)
    const callerOf = async (entityId: string) => {
      const { token } = await run.gateway.entities.createToken(entityId, 'reader')
      return run.gateway.authenticate(`Bearer ${token}`)
    }
    const seenBy = async (entityId: string) => {
      const caller = await callerOf(entityId)
      const { aggregations } = await reports.aggregations(march, { caller })
      return aggregations
    }
    const [part] = await seenBy(one.merchant)
    assert.deepEqual(
      [part!.count, part!.gross, part!.net, part!.exceptions, part!.merchantAccount?.name],
      [1, '92.00', '90.00', [], 'shared'],
    )
    for (const name of ['payout', 'payoutId', 'valueDate', 'opening', 'closing', 'status', 'tax']) {
      assert.equal(name in part!, false, name)
    }
    assert.deepEqual(await seenBy(one.channel), [part])
    const [whole] = await seenBy(run.division)
    assert.deepEqual(
      [whole!.count, whole!.gross, whole!.payout, whole!.status],
      [3, '184.01', '182.01', 'BALANCED'],
    )
    assert.deepEqual(await seenBy(run.merchant), [])
    const caller = await callerOf(two.merchant)
    const recordIds = async (some: AsyncIterable<RecordView> | readonly RecordView[]) => {
      const found: unknown[] = []
      for await (const { settlement } of some) found.push((settlement as { id: string }).id)
      return found
    }
    assert.deepEqual(await recordIds(reports.records(whole!.id, {}, { caller })), ['2'])
    const page = await reports.recordPage(whole!.id, {}, { caller })
    assert.deepEqual([page.pages, await recordIds(page.records)], [1, ['2']])
    const stranger = await callerOf(run.merchant)
    const hidden = { status: 404, code: '700.400.580' }
    await assert.rejects(reports.recordPage(whole!.id, {}, { caller: stranger }), hidden)
    await assert.rejects(reports.aggregation(whole!.id, { caller: stranger }), hidden)
    await assert.rejects(recordIds(reports.records(whole!.id, {}, { caller: stranger })), hidden)
    await run.cut()
    const { files } = await reports.files({}, { caller })
    assert.deepEqual(
      files.map(({ entity }) => entity),
      [two.merchant],
    )
    const all = await reports.files()
    assert.equal(all.files.length, 3)
    for (const { id, entity } of all.files) {
      if (entity === two.merchant) assert.equal((await reports.file(id, { caller })).rows, 1)
      else await assert.rejects(reports.file(id, { caller }), hidden)
    }
    // An empty list would say that nothing was settled.
    const ofChannel = {
      status: 400,
      code: '200.300.404',
      parameterErrors: [
        {
          name: 'entityId',
          message:
            'is that of a channel, but files are made for merchants: use a token of the merchant, and its id',
        },
      ],
    }
    await assert.rejects(reports.files({ entityId: two.channel }, { caller }), ofChannel)
    const channel = await callerOf(two.channel)
    await assert.rejects(reports.files({}, { caller: channel }), ofChannel)
  })

  test('have their records in pages of a hundred, by day, also of one type', async () => {
    const lines = Array.from({ length: 250 }, (_, at) => ({
      ...{ settlementId: `S-${at}`, batch: 'payout-1', date: `2026-03-${10 + (at % 3)}` },
      ...(at % 10 === 0 && { recordType: 'CHARGEBACK' as const, cashflow: 'NEG' as const }),
    }))
    await run.file(lines)
    const [{ id } = { id: '' }] = (await reports.aggregations(march)).aggregations
    const read = async (type?: string, expected = 3) => {
      const found: RecordView[] = []
      for (let pageNo = 1; ; pageNo += 1) {
        const wanted = type === undefined ? {} : { reconciliationType: type as 'CHARGEBACK' }
        const page = await reports.recordPage(id, { pageNo: String(pageNo), ...wanted })
        assert.equal(page.pages, expected)
        assert.equal(page.id, id)
        if (page.records.length === 0) return { found, pages: pageNo - 1 }
        found.push(...page.records)
      }
    }
    const { found, pages } = await read()
    assert.deepEqual([found.length, pages], [250, 3])
    assert.equal(new Set(found.map((record) => record.id)).size, 250)
    const dates = (records: readonly RecordView[]) =>
      records.map(({ settlement }) => (settlement as { date: string }).date)
    assert.deepEqual(dates(found), dates(found).toSorted())
    const charged = await read('CHARGEBACK', 1)
    assert.equal(charged.found.length, 25)
    assert.ok(charged.found.every(({ recordType }) => recordType === 'CHARGEBACK'))
    assert.deepEqual((await read('FEE', 0)).found, [])
    const streamed = async (sortOrder?: 'DESC' | 'asc') => {
      const all: RecordView[] = []
      const wanted = sortOrder && { sortValue: 'SettlementTxDate' as const, sortOrder }
      for await (const record of reports.records(id, wanted)) all.push(record)
      return all
    }
    assert.deepEqual(await streamed(), found)
    assert.deepEqual(await streamed('asc'), found)
    const reversed = await streamed('DESC')
    assert.deepEqual(dates(reversed), dates(found).toReversed())
    assert.equal(new Set(reversed.map((record) => record.id)).size, 250)
  })

  test('read more records than fit at once, each once', async () => {
    await run.file(
      Array.from({ length: 4_500 }, (_, at) => ({
        ...{
          settlementId: `S-${at}`,
          batch: 'payout-1',
          date: at % 2 ? '2026-03-10' : '2026-03-11',
        },
      })),
    )
    const [{ id } = { id: '' }] = (await reports.aggregations(march)).aggregations
    for (const sortOrder of ['ASC', 'DESC'] as const) {
      const ids = new Set<string>()
      for await (const record of reports.records(id, { sortOrder })) ids.add(record.id)
      assert.equal(ids.size, 4_500)
    }
  })

  test('show a record by the names of the API', async () => {
    const sale = await run.pay({ testMode: 'EXTERNAL', merchantTransactionId: 'order-json' })
    await run.file([
      on({
        ...{ settlementId: 'one', paymentId: sale.id, fee: 155n, last4: '0000', holder: 'Jane' },
        ...{ brand: 'VISA', refs: ['r1', undefined, 'r3'], merchantInvoiceId: 'invoice-1' },
        minor: 9100n,
        requestedAt: '2026-03-30 10:00:00',
      }),
    ])
    const [{ id } = { id: '' }] = (await reports.aggregations(march)).aggregations
    const { records } = await reports.recordPage(id)
    assert.deepEqual(records, [
      {
        id: records[0]!.id,
        version: 1,
        recordType: 'SETTLED',
        transactionType: 'DEBIT',
        settlement: {
          ...{ cashflow: 'POS', id: 'one', amount: '91.00', currency: 'EUR', fee: '1.55' },
          ...{ fxRate: '1', date: '2026-03-31', status: 'SUCCESS', format: 'SCRIPTED' },
        },
        clearingInstitute: { merchantId: 'merchant-1', txId1: 'r1', txId3: 'r3', name: 'Scripted' },
        merchantAccount: { id: run.account, name: 'Demo' },
        pspEntityId: run.psp,
        divisionEntityId: run.division,
        merchantEntityId: run.merchant,
        payment: { id: sale.id, amount: '92.00', currency: 'EUR' },
        shortId: sale.shortId,
        amount: '91.00',
        currency: 'EUR',
        paymentBrand: 'VISA',
        presentmentDate: '2026-03-30 10:00:00',
        card: { last4Digits: '0000', holder: 'Jane' },
        matchedTransactions: { status: 'MATCHED', payment: [{ id: sale.id }] },
        merchantTransactionId: 'order-json',
        merchantInvoiceId: 'invoice-1',
        discrepancies: ['AMOUNT'],
      },
    ])
  })
})
