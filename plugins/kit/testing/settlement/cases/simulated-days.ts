import assert from 'node:assert/strict'
import type { DayEnd, DayEntry, SettlementRecord, SimulatedDay } from '../../../settlement.ts'
import type { SettlementCase } from '../case.ts'
import type { SettlementStage } from '../harness.ts'

const needsWriteDay: NonNullable<SettlementCase['without']> = ({ writeDay }) =>
  writeDay === undefined ? 'the connector simulates no institute' : undefined

/** A connector that simulates its institute writes files that it reads itself. */
export const simulatedDays: readonly SettlementCase[] = [
  {
    name: 'the file of a simulated day is complete, and has a line for every payment',
    without: needsWriteDay,
    async run(stage) {
      const { text } = await written(stage, [entry(1), entry(2), entry(3, { kind: 'refund' })])
      const records = await recordsIn(stage, text)
      assert.deepEqual(
        records.map(({ cashflow, amount, key }) => [cashflow, amount, key]),
        [
          ['POS', entry(1).amount, 'key-1'],
          ['POS', entry(2).amount, 'key-2'],
          ['NEG', entry(3).amount, 'key-3'],
        ],
      )
      for (const { merchantNumber } of records) assert.equal(merchantNumber, day.merchantNumber)
    },
  },
  {
    name: 'the same entries give the same bytes, at once and after another day',
    without: needsWriteDay,
    async run(stage) {
      const entries = [entry(1), entry(2)]
      const first = await written(stage, entries)
      await written(stage, [entry(3)], { ...day, day: '2026-04-01' })
      const [again, beside] = await Promise.all([written(stage, entries), written(stage, entries)])
      assert.deepEqual([again, beside], [first, first])
    },
  },
  {
    name: 'another day has another reference, and other ids of records',
    without: needsWriteDay,
    async run(stage) {
      const ids: unknown[] = []
      for (const date of ['2026-03-30', '2026-03-31']) {
        const { text } = await written(stage, [entry(1)], { ...day, day: date })
        const { items } = await stage.read(text)
        const first = items[0]
        assert.ok(first?.is === 'file', 'the first element is the file')
        ids.push(first.reference, (await recordsIn(stage, text))[0]?.settlementId)
      }
      assert.equal(new Set(ids).size, 4)
    },
  },
  {
    name: 'a day without entries has no file, and carries what was carried',
    without: needsWriteDay,
    async run(stage) {
      const carried = { EUR: '-1500' }
      const { text, end } = await written(stage, [], { ...day, carried })
      assert.equal(text.length, 0)
      assert.deepEqual(end, { carried, disputes: [] })
    },
  },
  {
    name: 'lines of a dispute name the disputed payment, and have the reference and reason of the dispute',
    without: needsWriteDay,
    async run(stage) {
      const told = { reference: 'case-7', reason: '000.100.220' }
      const chargeback: DayEntry = { ...entry(1), is: 'chargeback', ...told }
      const reversal: DayEntry = { ...entry(1), is: 'chargebackReversal', reference: 'case-7' }
      const { text } = await written(stage, [chargeback, reversal])
      const records = await recordsIn(stage, text)
      assert.deepEqual(
        records.map(({ recordType, cashflow, key, reference, reason }) => [
          ...[recordType, cashflow, key, reference, reason],
        ]),
        [
          ['CHARGEBACK', 'NEG', 'key-1', 'case-7', '000.100.220'],
          ['CHARGEBACK REVERSAL', 'POS', 'key-1', 'case-7', undefined],
        ],
      )
    },
  },
  {
    name: 'the first bytes of a long day come before its last entries',
    without: needsWriteDay,
    async run({ settlement }) {
      let taken = 0
      const entries = (async function* () {
        for (let at = 1; at <= 20_000; at += 1) {
          taken = at
          yield entry(at)
        }
      })()
      await settlement.writeDay!(day, entries).next()
      assert.ok(taken < 10_000, `${taken} of 20000 entries before the first bytes`)
    },
  },
]

const day: SimulatedDay = {
  merchantNumber: '5d2b7c1e9a8f4036b1c2d3e4f5a6978b',
  day: '2026-03-30',
  carried: {},
}

const entry = (no: number, more: Partial<DayEntry['payment']> = {}): DayEntry => ({
  is: 'payment',
  amount: { minor: BigInt(9200 + (no % 50)), currency: 'EUR' },
  payment: {
    id: String(no).padStart(32, '0'),
    key: `key-${no}`,
    shortId: `0000.0000.${String(no % 10_000).padStart(4, '0')}`,
    kind: 'debit',
    requestedAt: new Date('2026-03-30T12:00:00Z'),
    brand: 'VISA',
    last4: '0000',
    ...more,
  },
})

async function written(
  { settlement }: SettlementStage,
  entries: readonly DayEntry[],
  of = day,
): Promise<{ readonly text: Buffer; readonly end: DayEnd }> {
  const given = (async function* () {
    yield* entries
  })()
  const chunks: Uint8Array[] = []
  const file = settlement.writeDay!(of, given)
  for (;;) {
    const next = await file.next()
    if (next.done === true) return { text: Buffer.concat(chunks), end: next.value }
    chunks.push(next.value)
  }
}

async function recordsIn(
  stage: SettlementStage,
  file: Uint8Array,
): Promise<readonly SettlementRecord[]> {
  const reading = await stage.read(file)
  if (reading.is === 'refused') assert.fail(`the file of a day is refused: ${reading.why}`)
  return reading.items.filter((item) => item.is === 'record')
}
