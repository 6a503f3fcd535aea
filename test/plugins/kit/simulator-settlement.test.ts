/** The simulator keeps the contract of settlement files. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { SettlementItem, SettlementRecord } from '@tollgate/plugin-kit'
import { runSettlementContract, settlementContract } from '@tollgate/plugin-kit/testing'
import { simulatorHttp } from '../../../connectors/simulator/http-connector.ts'
import { createSimulator } from '../../../connectors/simulator/index.ts'
import { ItemCheck } from '../../../core/settlement/checked-item.ts'
import { wrongIn } from '../../../plugins/kit/testing/settlement/judge.ts'
import { simulatorFiles } from './simulator-files.ts'

settlementContract(simulatorHttp, simulatorFiles, { patienceMs: 40_000 })
describe('the simulator inside the process', () => {
  // It has no accounts.
  const { account: _none, ...files } = simulatorFiles
  settlementContract(createSimulator(), files)
})

test('the suite says why cases do not apply to a format without trailer, columns and fetch', async () => {
  const { fetch: _none, ...settlement } = simulatorHttp.settlement!
  const { amount, type } = simulatorFiles.damage
  const { write } = simulatorFiles
  const report = await runSettlementContract(
    { ...simulatorHttp, settlement },
    { write, damage: { amount, type } },
  )
  assert.deepEqual(report.failed, [])
  assert.deepEqual(
    new Set(report.notSupported.map(({ why }) => why)),
    new Set([
      'the sandbox names no account of its files',
      'the format is read by position',
      'the format has no count',
      'the format has no sums',
      'the connector has no fetch',
      'the connector simulates no institute',
    ]),
  )
})

describe('the suite reads elements as the engine does', () => {
  const record: SettlementRecord = {
    is: 'record',
    line: 3,
    text: 'the line',
    merchantNumber: 'shop-1',
    date: '2026-03-31',
    cashflow: 'POS',
    recordType: 'SETTLED',
    transactionType: 'DEBIT',
    status: 'SUCCESS',
    amount: { minor: 9200n, currency: 'EUR' },
    settled: { minor: 9200n, currency: 'EUR' },
  }
  const batch = { ...record, is: 'batch', kind: 'payout' } as const
  const elements: Readonly<Record<string, unknown>> = {
    'a record': record,
    'a record with everything': {
      ...record,
      batch: 'b',
      settlementId: '1',
      requestedAt: '2026-03-31 23:59:59',
      fee: 0n,
      fxRate: '1.083412',
      refs: ['a', undefined, 'c'],
      last4: '0000',
    },
    'a line that is no number': { ...record, line: 0 },
    'a record without text': { ...record, text: undefined },
    'a short merchant number': { ...record, merchantNumber: 'shop' },
    'a day that does not exist': { ...record, date: '2026-02-30' },
    'a time that does not exist': { ...record, requestedAt: '2026-03-31 24:00:00' },
    'a day in the place of a time': { ...record, requestedAt: '2026-03-31' },
    'another direction': { ...record, cashflow: 'IN' },
    'a number as an amount': { ...record, amount: { minor: 9200, currency: 'EUR' } },
    'a negative amount': { ...record, settled: { minor: -1n, currency: 'EUR' } },
    'an unknown currency': { ...record, amount: { minor: 1n, currency: 'EURO' } },
    'a negative fee': { ...record, fee: -1n },
    'a rate of nothing': { ...record, fxRate: '0' },
    'a rate with a comma': { ...record, fxRate: '1,08' },
    'four references': { ...record, refs: ['a', 'b', 'c', 'd'] },
    'a number as a reference': { ...record, refs: [7] },
    'a long batch': { ...record, batch: 'b'.repeat(65) },
    'five digits': { ...record, last4: '10000' },
    'another type': { ...record, recordType: 'LOAN' },
    'another transaction': { ...record, transactionType: 'LOAN' },
    'another status': { ...record, status: 'OK' },
    'a payout': batch,
    'a batch line of another kind': { ...batch, kind: 'loan' },
    'a value date that does not exist': { ...batch, valueDate: '2026-13-01' },
    'a line of another type': { is: 'other', line: 1, text: 't', type: 'LOAN' },
    'an unreadable line': { is: 'bad', line: 1, why: 'because' },
    'a file': { is: 'file', reference: 'F-1' },
    'a file without a reference': { is: 'file', reference: '' },
    'an end': { is: 'end' },
    'an end with sums': { is: 'end', count: 1, totals: [{ minor: -5n, currency: 'EUR' }] },
    'an end with half a line': { is: 'end', count: 0.5 },
    'another element': { is: 'line' },
  }
  const check = new ItemCheck({ zone: 'Europe/Berlin' }, (text) => hash('sha256', text))
  for (const [name, element] of Object.entries(elements)) {
    test(name, () => {
      const item = element as SettlementItem
      const { is } = check.checked(item)
      assert.equal(wrongIn(item) === undefined, is !== 'bad', wrongIn(item) ?? `the engine: ${is}`)
    })
  }
})
