import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, test } from 'node:test'
import type { BatchLine, SettlementItem, SettlementRecord } from '@tollgate/plugin-kit'
import { ItemCheck } from '../../../core/settlement/checked-item.ts'
import type { StagedBatchLine, StagedRecord } from '../../../core/settlement/types.ts'

const check = new ItemCheck({ zone: 'Europe/Berlin' }, (text) => hash('sha256', text))

const record: SettlementRecord = {
  is: 'record',
  line: 2,
  text: 'the line',
  merchantNumber: 'MID-00001',
  batch: 'P-1',
  date: '2026-03-31',
  recordType: 'SETTLED',
  transactionType: 'DEBIT',
  cashflow: 'POS',
  status: 'SUCCESS',
  amount: { minor: 9200n, currency: 'EUR' },
  settled: { minor: 9967n, currency: 'USD' },
}
const batch: BatchLine = {
  is: 'batch',
  line: 3,
  text: 'the line',
  merchantNumber: 'MID-00001',
  date: '2026-03-31',
  kind: 'payout',
  cashflow: 'NEG',
  amount: { minor: 100n, currency: 'EUR' },
}

const staged = (more: Partial<SettlementRecord> = {}): StagedRecord => {
  const checked = check.checked({ ...record, ...more })
  assert.equal(
    checked.is,
    'record',
    JSON.stringify(checked, (_, value) => String(value)),
  )
  return (checked as { record: StagedRecord }).record
}
const whyOf = (given: unknown): string => {
  const checked = check.checked(given as SettlementItem)
  assert.equal(checked.is, 'bad')
  return (checked as { why: string }).why
}

const eur = (minor: unknown, currency: unknown = 'EUR') => ({ minor, currency })
const long = (length: number) => 'x'.repeat(length)

describe('a record with one wrong value is bad, and the reason names the value', () => {
  const wrong: readonly [keyof SettlementRecord, readonly unknown[]][] = [
    ['line', [0, -1, 1.5, '2', undefined, 2 ** 31]],
    ['text', [undefined, 7]],
    ['merchantNumber', [undefined, '', 'four', long(65), 12345]],
    ['batch', [long(65), 7]],
    [
      'date',
      [undefined, '2026-02-30', '31.03.2026', '2026-3-1', '0000-01-01', '9999-12-31', 20260331],
    ],
    ['recordType', ['settled', undefined, 'PAID']],
    ['transactionType', ['SALE', undefined]],
    ['cashflow', ['+', undefined]],
    ['status', ['OK', undefined]],
    ['settlementId', [long(65), 7]],
    [
      'requestedAt',
      ['2026-03-31', '2026-03-31T14:05:00', '2026-02-30 10:00:00', '2026-03-31 24:00:00', 7],
    ],
    [
      'amount',
      [
        undefined,
        eur(-1n),
        eur(92),
        eur('92'),
        eur(10n ** 15n + 1n),
        eur(1n, 'XXX'),
        eur(1n, 'eur'),
        eur(1n, 7),
      ],
    ],
    ['settled', [undefined, eur(-1n), eur(1.5), eur(1n, 'ZZZ')]],
    ['fee', [-1n, 5, '5']],
    ['fxRate', ['0', '-1', '1,08', '1e3', '', 1.08, '1.083412345678']],
    ['key', [long(256), 7]],
    ['refs', [['1', '2', '3', '4'], 'one', [long(65)], [7]]],
    ['merchantTransactionId', [long(256), 7]],
    ['merchantInvoiceId', [long(256), 7]],
    ['brand', [long(17), 7]],
    ['last4', ['12345', '4111111111111111', 7]],
    ['holder', [long(129), 7]],
    ['bankCode', [long(13), 7]],
    ['descriptor', [long(129), 7]],
    ['reason', [long(65), 7]],
    ['reference', [long(256), 7]],
  ]
  for (const [name, values] of wrong) {
    test(name, () => {
      for (const value of values) {
        const why = whyOf({ ...record, [name]: value })
        assert.ok(why.startsWith(name), `${String(value)}: ${why}`)
        assert.doesNotMatch(why, /4111111111111111/)
      }
    })
  }

  test('and so is a batch line', () => {
    const cases: readonly [keyof BatchLine, unknown][] = [
      ['line', 0],
      ['text', undefined],
      ['merchantNumber', 'x'],
      ['date', '2026-02-30'],
      ['kind', 'PAYOUT'],
      ['cashflow', 'x'],
      ['amount', eur(-1n)],
      ['valueDate', '2026-02-30'],
      ['payoutId', long(65)],
      ['description', long(256)],
    ]
    for (const [name, value] of cases) {
      const why = whyOf({ ...batch, [name]: value })
      assert.ok(why.startsWith(name), `${name}: ${why}`)
    }
  })

  test('and nothing that a connector yields throws', () => {
    const thrower = {
      get is(): never {
        throw new Error('4111111111111111')
      },
    }
    for (const given of [
      null,
      undefined,
      7,
      'x',
      {},
      { is: 'news' },
      [],
      thrower,
      { is: 'end', totals: 7 },
    ]) {
      assert.doesNotMatch(whyOf(given), /4111111111111111/)
    }
    for (const count of [-1, 1.5, '3']) assert.match(whyOf({ is: 'end', count }), /^count/)
    assert.match(whyOf({ is: 'end', totals: [eur(1)] }), /^totals/)
    assert.match(whyOf({ is: 'file' }), /^reference/)
  })
})

describe('the values of a record', () => {
  test('are absent where the file has nothing', () => {
    const {
      settlementId,
      refs,
      fxRate,
      feeMinor,
      batch: name,
    } = staged({ settlementId: ' ', batch: '' })
    assert.deepEqual(
      { settlementId, refs, fxRate, feeMinor, name },
      {
        settlementId: null,
        refs: [null, null, null],
        fxRate: null,
        feeMinor: null,
        name: '2026-03-31',
      },
    )
  })

  test('keep the amounts of currencies with no and with three decimals', () => {
    const { amountMinor, settledMinor } = staged({
      amount: { minor: 5000n, currency: 'JPY' },
      settled: { minor: 12_345n, currency: 'KWD' },
    })
    assert.deepEqual([amountMinor, settledMinor], [5000n, 12_345n])
  })

  test('show references as they came', () => {
    const { refs, settlementId } = staged({ refs: [' 007a ', undefined, 'B'], settlementId: ' x ' })
    assert.deepEqual([refs, settlementId], [[' 007a ', null, 'B'], ' x '])
  })

  test('have their time as an instant of the zone, in summer and in winter', () => {
    assert.equal(
      staged({ requestedAt: '2026-07-01 12:00:00' }).requested!.toISOString(),
      '2026-07-01T10:00:00.000Z',
    )
    assert.equal(
      staged({ requestedAt: '2026-01-01 12:00:00' }).requested!.toISOString(),
      '2026-01-01T11:00:00.000Z',
    )
  })

  test('name a payment only by an id of our form', () => {
    assert.equal(
      staged({ paymentId: '0198C0DE00007000800000000000AAAA' }).namedPayment,
      '0198c0de00007000800000000000aaaa',
    )
    assert.equal(staged({ paymentId: 'order-7' }).namedPayment, null)
  })

  test('have no lone surrogates and no NUL, which Postgres refuses', () => {
    assert.equal(staged({ holder: 'a\u0000b\ud800' }).holder, 'a\ufffdb\ufffd')
  })
})

describe('card numbers and IBANs are masked', () => {
  const texts = [
    'settlementId',
    'merchantTransactionId',
    'merchantInvoiceId',
    'holder',
    'descriptor',
    'reason',
    'reference',
    'batch',
    'key',
  ] as const
  for (const name of texts) {
    test(`in ${name}`, () => {
      const shown = JSON.stringify(staged({ [name]: 'x 4111 1111 1111 1111' }), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      assert.doesNotMatch(shown, /4111 1111/)
      assert.match(shown, /1111/)
      const bank = JSON.stringify(staged({ [name]: 'DE89370400440532013000' }), (_, value) =>
        typeof value === 'bigint' ? String(value) : value,
      )
      assert.doesNotMatch(bank, /DE8937/)
      assert.match(bank, /3000/)
    })
  }

  test('but not a merchant number, which names an account', () => {
    assert.equal(staged({ merchantNumber: ' 378282246310005' }).merchantNumber, '378282246310005')
  })

  test('in references, in batch lines, and in reasons and types of a connector', () => {
    assert.match(
      String(staged({ refs: ['4111111111111111'] }).refs[0]),
      /^\*{12}1111#[0-9a-f]{16}$/,
    )
    const checked = check.checked({ ...batch, description: 'to DE89370400440532013000' })
    assert.equal(
      (checked as { batchLine: { description: string } }).batchLine.description,
      'to ******************3000',
    )
    assert.equal(
      whyOf({ is: 'bad', line: 1, why: 'what is 4111111111111111?' }),
      'what is ************1111?',
    )
    const other = check.checked({ is: 'other', line: 1, text: '', type: '4111111111111111' })
    assert.match(JSON.stringify(other), /\*{12}1111/)
  })

  test('and names stay distinct by a digest, whatever their case and spaces', () => {
    const numbers = ['4111111111111111', '4012078888881111', ' 4111111111111111 ']
    const long = `${'x'.repeat(47)}-4111111111111111`
    const distinct = (values: readonly (string | null)[]) => {
      assert.ok(values.every((value) => value !== null && value.length <= 64))
      assert.ok(values.every((value) => !/[0-9]{13}/.test(value!.split('#')[0]!)))
      assert.deepEqual([values[0] === values[1], values[0] === values[2]], [false, true])
    }
    distinct(numbers.map((settlementId) => staged({ settlementId }).settlementId))
    distinct(numbers.map((name) => staged({ batch: name }).batch))
    distinct(numbers.map((ref) => staged({ refs: [ref] }).refs[0]))
    distinct([long, `y${long.slice(1)}`, long].map((ref) => staged({ refs: [ref] }).refs[0]))
    const items = numbers.map((name) => check.checked({ ...batch, batch: name, payoutId: name }))
    const lines = items.map((item) => (item as { batchLine: StagedBatchLine }).batchLine)
    distinct(lines.map((line) => line.batch))
    distinct(lines.map((line) => line.payoutId))
    distinct(
      numbers.map((reference) => {
        const item = check.checked({ is: 'file', reference })
        return (item as { reference: string }).reference
      }),
    )
  })

  test('and the reason of a connector is cut', () => {
    assert.equal(whyOf({ is: 'bad', line: 1, why: long(5_000) }).length, 500)
    const other = check.checked({ is: 'other', line: 1, text: '', type: long(5_000) })
    assert.ok((other as { exception: { why: string } }).exception.why.length < 150)
  })
})

describe('the key of a record', () => {
  const keyOf = (more: Partial<SettlementRecord>) => staged(more).key.toString('hex')

  test('with an id depends on kind, merchant and id alone, in any case and spelling', () => {
    const key = keyOf({ settlementId: 'S-1' })
    assert.equal(
      key,
      keyOf({ settlementId: ' s-1 ', text: 'another', line: 9, batch: 'Q', date: '2026-04-01' }),
    )
    assert.equal(key, keyOf({ settlementId: 'S-1', merchantNumber: ' mid-00001' }))
    for (const other of [
      { settlementId: 'S-2' },
      { merchantNumber: 'MID-00002' },
      { recordType: 'CHARGEBACK' },
      { transactionType: 'REFUND' },
      { cashflow: 'NEG' },
      { status: 'FAILED' },
    ] as const) {
      assert.notEqual(key, keyOf({ settlementId: 'S-1', ...other }))
    }
  })

  test('without an id depends on the line and its batch, else its date', () => {
    const key = keyOf({})
    assert.equal(key, keyOf({ line: 7 }))
    assert.notEqual(key, keyOf({ text: 'another' }))
    assert.notEqual(key, keyOf({ batch: 'P-2' }))
    const { batch: _none, ...dated } = record
    const first = check.checked(dated) as { record: StagedRecord }
    const second = check.checked({ ...dated, date: '2026-04-01' }) as { record: StagedRecord }
    assert.notDeepEqual(first.record.key, second.record.key)
  })

  test('keeps apart what masking makes equal', () => {
    const [one, two] = ['4111111111111111', '4642424242421111'].map((id) =>
      staged({ settlementId: id }),
    )
    assert.equal(one!.settlementId!.split('#')[0], two!.settlementId!.split('#')[0])
    assert.notDeepEqual(one!.key, two!.key)
  })

  test('has 16 bytes, and so has the hash of its content', () => {
    assert.deepEqual([staged().key.length, staged().content.length], [16, 16])
  })
})

describe('the content of a record', () => {
  const contentOf = (more: Partial<SettlementRecord>) => staged(more).content.toString('hex')
  const same = contentOf({})

  test('changes with every value', () => {
    const others: Partial<SettlementRecord>[] = [
      { amount: { minor: 9201n, currency: 'EUR' } },
      { amount: { minor: 9200n, currency: 'GBP' } },
      { settled: { minor: 9968n, currency: 'USD' } },
      { settled: { minor: 9967n, currency: 'GBP' } },
      { fee: 0n },
      { fxRate: '1.1' },
      { date: '2026-04-01' },
      { batch: 'P-2' },
      { requestedAt: '2026-03-31 14:05:00' },
      { paymentId: '0198c0de00007000800000000000aaaa' },
      { key: 'k' },
      { refs: ['r'] },
      { refs: [undefined, 'r'] },
      { merchantTransactionId: 'm' },
      { merchantInvoiceId: 'm' },
      { brand: 'VISA' },
      { last4: '0000' },
      { holder: 'h' },
      { bankCode: 'h' },
      { descriptor: 'h' },
      { reason: 'h' },
      { reference: 'h' },
      { settlementId: 'h' },
      { status: 'FAILED' },
    ]
    const all = new Set([same, ...others.map(contentOf)])
    assert.equal(all.size, others.length + 1)
  })

  test('stays with position and spelling', () => {
    assert.equal(contentOf({ line: 9, text: 'another' }), same)
    assert.equal(contentOf({ refs: [' AB '] }), contentOf({ refs: ['ab'] }))
  })
})
