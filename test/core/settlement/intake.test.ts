import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { takeIn } from '../../../core/settlement/intake.ts'
import { ScopeLeases } from '../../../core/settlement/leases.ts'
import { fileById } from '../../../core/settlement/store-file.ts'
import {
  batchLine,
  type Cells,
  type SettlingRun,
  settled,
  settlementFile,
  sha256,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'
import { type OpenEngine, openEngine } from './engines.ts'

describe('the intake of settlement files', () => {
  let run: SettlingRun
  let worker: OpenEngine
  before(async () => {
    // Its process only takes requests: the worker here takes files in, and decides none.
    run = await startSettling({ role: 'api' })
    worker = await openEngine(run)
  })
  after(async () => {
    await worker.close()
    await run.close()
  })

  /** Takes an imported file in. */
  async function takenIn(id: string): Promise<string> {
    const { engine } = worker
    const [file] = await engine.lanes.read(fileById(id))
    const leases = await ScopeLeases.take(engine, [file!.scope_id])
    assert.ok(leases !== undefined)
    try {
      await takeIn(engine, file!, leases)
    } finally {
      await leases.end()
    }
    return id
  }

  async function taken(
    bytes: Uint8Array,
    { skipBadLines = false }: { readonly skipBadLines?: boolean } = {},
  ): Promise<string> {
    const { id } = await run.gateway.settlement.import(streamed(bytes), {
      accountId: run.account,
      skipBadLines,
    })
    return takenIn(id)
  }

  const staged = (id: string) =>
    run.sql<{ line: number; settlement_id: string | null; key: Buffer; merchant_number: string }>(
      `select line, settlement_id, key, merchant_number from tollgate.settlement_stage
     where file_id = $1 order by line`,
      [id],
    )
  const fileOf = (id: string) => run.gateway.settlement.file(id)
  const entriesOf = async (id: string) => {
    const rows = await run.gateway.operator.attention(1000)
    return rows.filter(({ kind, detail }) => kind === 'settlement' && detail.file === id)
  }
  const kindsOf = async (id: string) =>
    (await entriesOf(id)).map(({ detail }) => detail.kind).sort()

  /** Lines that no other test uses. */
  let last = 0
  const fresh = (more: Cells = {}) => settled({ id: `S-${++last}`, ...more })

  describe('an arrived file', () => {
    test('is staged with every record, whatever its size', async () => {
      const lines = Array.from({ length: 12_000 }, () => fresh())
      const bytes = settlementFile(lines, { reference: 'F-SIZE' })
      const id = await taken(bytes)
      const { state, records, reference } = await fileOf(id)
      assert.deepEqual(
        { state, records, reference },
        { state: 'staged', records: 12_000, reference: 'F-SIZE' },
      )
      assert.equal((await staged(id)).length, 12_000)
      const [row] = await run.sql<{ sha256: Buffer; parts: number }>(
        'select sha256, parts from tollgate.settlement_file where id = $1',
        [id],
      )
      assert.deepEqual(row!.sha256, sha256(bytes))
      assert.equal(row!.parts, Math.ceil(bytes.length / 1024 / 1024))
    })

    test('keeps every column as it came, and the time as an instant of the zone', async () => {
      const cells = fresh({
        ref1: ' AbC-1 ',
        mtid: 'Order 7',
        fee: '1.10',
        rate: '1.083412',
        settled: '99.67',
        settledCurrency: 'USD',
        requested: '2026-03-31 14:05:00',
        holder: 'Jane\\Doe\tX',
        last4: '0000',
        paymentId: '0198c0de00007000800000000000aaaa',
      })
      const id = await taken(settlementFile([cells]))
      const [row] = await run.sql<Record<string, unknown>>(
        `select ref1, merchant_transaction_id, fee_minor, fx_rate, amount_minor, currency, settled_minor,
         settled_currency, requested, holder, last4, named_payment, batch
       from tollgate.settlement_stage where file_id = $1`,
        [id],
      )
      assert.deepEqual(row, {
        ref1: ' AbC-1 ',
        merchant_transaction_id: 'Order 7',
        fee_minor: 110n,
        fx_rate: '1.083412',
        amount_minor: 9200n,
        currency: 'EUR',
        settled_minor: 9967n,
        settled_currency: 'USD',
        requested: new Date('2026-03-31T12:05:00Z'),
        holder: 'Jane\\Doe\tX',
        last4: '0000',
        named_payment: '0198c0de00007000800000000000aaaa',
        batch: '2026-03-31',
      })
    })

    test('has the same records for every division of its bytes', async () => {
      const lines = [
        fresh({ holder: 'Zoë' }),
        fresh(),
        batchLine('payout', '184.00', { batch: 'B' }),
      ]
      const bytes = settlementFile(lines)
      const { id } = await run.gateway.settlement.import(streamed(bytes, 1), {
        accountId: run.account,
      })
      assert.equal((await fileOf(await takenIn(id))).state, 'staged')
      assert.equal((await staged(id)).length, 2)
    })
  })

  describe('a file is refused as a whole', () => {
    const broken: readonly [string, () => Buffer, RegExp][] = [
      ['that is cut off', () => settlementFile([fresh()], { trailer: null }), /cut off/],
      [
        'that is cut off within a line',
        () => settlementFile([fresh(), fresh()]).subarray(0, -60),
        /cut off|amount|date|cashflow/,
      ],
      [
        'with another count',
        () => settlementFile([fresh()], { trailer: 'END;2;EUR=9200' }),
        /counts 2 lines, and the file has 1/,
      ],
      [
        'with another total',
        () => settlementFile([fresh()], { trailer: 'END;1;EUR=9201' }),
        /total of 9201 minor units of EUR/,
      ],
      [
        'with a total of a currency that it lacks',
        () => settlementFile([fresh()], { trailer: 'END;1;EUR=9200;USD=1' }),
        /USD/,
      ],
      [
        'in another encoding',
        () => Buffer.from(settlementFile([fresh({ holder: 'Zoë' })]).toString(), 'latin1'),
        /^the file is no SAMPLE-CSV file: its text is not in UTF-8, perhaps in Latin-1 or Windows-1252/,
      ],
      ...['utf16le', 'utf16 without a mark'].map((what): [string, () => Buffer, RegExp] => [
        `in ${what}`,
        () =>
          Buffer.from(
            `${what === 'utf16le' ? '\uFEFF' : ''}${settlementFile([fresh()])}`,
            'utf16le',
          ),
        /^the file is no SAMPLE-CSV file: its text is in UTF-16, and must be in UTF-8$/,
      ]),
      ['in gzip', () => gzipSync(settlementFile([fresh()])), /with gzip, and must be unpacked$/],
      [
        'that is a workbook',
        () => Buffer.from('PK\u0003\u0004\u0014\0\u0006\0[Content_Types].xml'),
        /a ZIP archive or a workbook: unpack it, or save its sheet as text$/,
      ],
      ['in PDF', () => Buffer.from('%PDF-1.7\n'), /it is a PDF, and must be the file/],
      [
        'that is a web page',
        () => Buffer.from('\uFEFF\n<!DOCTYPE html>\n<title>Log in</title>\n'),
        /a page of a website, such as a login or an error: fetch the file anew$/,
      ],
      [
        'with lines after its end',
        () => Buffer.concat([settlementFile([fresh()]), settlementFile([fresh()])]),
        /follow the end/,
      ],
      [
        'with a letter in an amount',
        () => settlementFile([fresh({ amount: '92.O0' })], { trailer: 'END;1' }),
        /no decimal number/,
      ],
      [
        'with an impossible date',
        () => settlementFile([fresh({ date: '2026-02-30' })]),
        /date must be a calendar day/,
      ],
      [
        'with a date before the Common Era',
        () => settlementFile([fresh({ date: '0000-01-01' })]),
        /calendar day/,
      ],
      [
        'with two references',
        () =>
          Buffer.concat([Buffer.from('FILE;A\n'), settlementFile([fresh()], { reference: 'B' })]),
        /two references/,
      ],
    ]
    for (const [name, make, why] of broken) {
      test(name, async () => {
        const id = await taken(make())
        const { state, refused } = await fileOf(id)
        assert.equal(state, 'refused')
        assert.match(refused!.why, why)
        assert.equal((await staged(id)).length, 0)
        assert.deepEqual(await kindsOf(id), ['REFUSED'])
      })
    }

    test('with the number of its line, and without the numbers of cards', async () => {
      const lines = [fresh(), fresh({ amount: '4111111111111111x' })]
      const id = await taken(settlementFile(lines, { trailer: 'END;2' }))
      const { refused } = await fileOf(id)
      assert.equal(refused!.line, 3)
      assert.match(refused!.why, /\*{12}1111x/)
      assert.doesNotMatch(JSON.stringify(await entriesOf(id)), /4111111111111111/)
    })

    test('and burns neither its reference nor its lines', async () => {
      const lines = [fresh(), fresh()]
      const cut = await taken(settlementFile(lines, { reference: 'F-CUT', trailer: null }))
      const whole = await taken(settlementFile(lines, { reference: 'F-CUT' }))
      assert.equal((await fileOf(cut)).state, 'refused')
      const { state, records, earlier } = await fileOf(whole)
      assert.deepEqual(
        { state, records, earlier },
        { state: 'staged', records: 2, earlier: undefined },
      )
    })
  })

  describe('skipping bad lines', () => {
    test('keeps them as exceptions, and imports the others', async () => {
      const lines = [fresh(), fresh({ amount: '9x' }), fresh({ date: '2026-13-01' })]
      const id = await taken(settlementFile(lines), { skipBadLines: true })
      const { state, records, exceptions } = await fileOf(id)
      assert.deepEqual({ state, records }, { state: 'staged', records: 1 })
      assert.deepEqual(
        exceptions!.map(({ line, kind }) => [line, kind]),
        [
          [3, 'UNREADABLE'],
          [4, 'UNREADABLE'],
        ],
      )
      assert.deepEqual(await kindsOf(id), ['UNREADABLE'])
    })

    test('accepts no file with fewer lines than its trailer counts', async () => {
      const bytes = settlementFile([fresh({ amount: '9x' })], { trailer: 'END;3' })
      const id = await taken(bytes, { skipBadLines: true })
      assert.equal((await fileOf(id)).state, 'refused')
    })
  })

  describe('the lines of a file', () => {
    test('of an unknown type are exceptions', async () => {
      const id = await taken(settlementFile([fresh(), { type: 'NEWS', holder: 'x' }]))
      const { state, records, exceptionCount } = await fileOf(id)
      assert.deepEqual(
        { state, records, exceptionCount },
        { state: 'staged', records: 1, exceptionCount: 1 },
      )
      assert.deepEqual(await kindsOf(id), ['UNKNOWN_TYPE'])
    })

    test('of an unknown merchant number are exceptions and no records, yet count in the trailer', async () => {
      const foreign = { merchant: 'MID-OTHER' }
      const id = await taken(
        settlementFile([fresh(), fresh(foreign), batchLine('payout', '1.00', foreign)]),
      )
      const { state, records, batchLines, exceptions } = await fileOf(id)
      assert.deepEqual(
        { state, records, batchLines },
        { state: 'staged', records: 1, batchLines: 0 },
      )
      assert.deepEqual(
        exceptions!.map(({ line, kind }) => [line, kind]),
        [
          [3, 'UNKNOWN_ACCOUNT'],
          [4, 'UNKNOWN_ACCOUNT'],
        ],
      )
      assert.ok((await staged(id)).every(({ merchant_number }) => merchant_number === 'MID-00001'))
    })

    test('are listed once per kind, with the first ten and the count, however many there are', async () => {
      const lines = Array.from({ length: 1_500 }, () => fresh({ merchant: 'MID-NOBODY' }))
      const id = await taken(settlementFile(lines))
      assert.equal((await fileOf(id)).exceptionCount, 1_500)
      const [stored] = await run.sql<{ count: bigint }>(
        'select count(*) from tollgate.settlement_exception where file_id = $1',
        [id],
      )
      assert.equal(stored!.count, 1_000n)
      const entries = await entriesOf(id)
      assert.equal(entries.length, 1)
      assert.equal(entries[0]!.detail.count, 1_500)
      assert.equal((entries[0]!.detail.lines as unknown[]).length, 10)
    })

    test('belong to their merchant number in any case', async () => {
      const id = await taken(settlementFile([fresh({ merchant: ' mid-00001' })]))
      assert.equal((await fileOf(id)).records, 1)
    })

    test('belong to a merchant number that has the check digit of a card number', async () => {
      const merchant = '378282246310005'
      await run.addAccount(merchant)
      const id = await taken(
        settlementFile([fresh({ merchant }), batchLine('payout', '1.00', { merchant })]),
      )
      const { records, batchLines } = await fileOf(id)
      assert.deepEqual({ records, batchLines }, { records: 1, batchLines: 1 })
    })

    test('of an unknown merchant number are listed without a card number in its place', async () => {
      const id = await taken(settlementFile([fresh({ merchant: '4111111111111111' })]))
      const { exceptions } = await fileOf(id)
      assert.deepEqual(
        exceptions!.map(({ kind }) => kind),
        ['UNKNOWN_ACCOUNT'],
      )
      assert.doesNotMatch(JSON.stringify(exceptions), /4111111111111111/)
    })

    test('that are equal and have no id are two records; with an id they keep one key', async () => {
      const id = await taken(
        settlementFile([settled(), settled(), settled({ id: 'X' }), settled({ id: 'x ' })]),
      )
      const [one, two, three, four] = (await staged(id)).map(({ key }) => key.toString('hex'))
      assert.notEqual(one, two)
      assert.equal(three, four)
      const again = await taken(settlementFile([settled({ id: 'Y' }), settled(), settled()]))
      assert.deepEqual(
        (await staged(again)).slice(1).map(({ key }) => key.toString('hex')),
        [one, two],
      )
    })

    test('with ids that look like card numbers keep apart, and are masked', async () => {
      // Both pass the Luhn check and end alike, so that masking makes them equal.
      const ids = ['4000000000001111', '4111111111111111'].map(luhnEnding)
      const id = await taken(settlementFile(ids.map((one) => settled({ id: one }))))
      const rows = await staged(id)
      assert.equal(new Set(rows.map(({ settlement_id }) => settlement_id)).size, 2)
      for (const row of rows) assert.match(row.settlement_id!, /^\*{12}1111#[0-9a-f]{16}$/)
      assert.equal(new Set(rows.map(({ key }) => key.toString('hex'))).size, 2)
    })
  })

  /** The number with another second digit, so that the last four stay and the check is passed. */
  function luhnEnding(number: string): string {
    for (let digit = 0; digit < 10; digit++) {
      const tried = `${number[0]}${digit}${number.slice(2)}`
      if (isLuhn(tried)) return tried
    }
    throw new Error('one of ten digits passes')
  }

  const isLuhn = (digits: string) => {
    let sum = 0
    for (const [at, digit] of [...digits].reverse().entries()) {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2)
      sum += value > 9 ? value - 9 : value
    }
    return sum % 10 === 0
  }

  describe('lines about payouts', () => {
    const linesOf = (id: string) =>
      run.sql<{ kind: string; minor: bigint }>(
        'select kind, minor from tollgate.settlement_batch_line where file_id = $1 order by line',
        [id],
      )
    const twin = batchLine('adjustment', '5.00', { batch: 'P-1' })

    test('that are equal count twice, and once more in no second file', async () => {
      const first = await taken(settlementFile([twin, twin]))
      assert.equal((await linesOf(first)).length, 2)
      const second = await taken(settlementFile([fresh(), twin, twin]))
      assert.equal((await linesOf(second)).length, 0)
      assert.equal((await fileOf(second)).exceptionCount, 0)
    })

    test('that correct a payout or a balance are CHANGED, and not added to it', async () => {
      const corrections = [
        ['payout', '94.00', { description: 'paid' }, '95.00', { description: 'paid' }],
        ['payout', '90.00', { description: 'paid' }, '90.00', { description: 'paid out' }],
        ['opening', '10.00', { cashflow: 'POS' }, '10.00', { cashflow: 'NEG' }],
        ['closing', '10.00', {}, '11.00', { valueDate: '2026-04-02' }],
      ] as const
      for (const [at, [kind, was, more, is, other]] of corrections.entries()) {
        const batch = `P-CHANGED-${at}`
        const reference = `F-CHANGED-${at}`
        const line = batchLine(kind, was, { ...more, batch })
        const first = await taken(settlementFile([line], { reference }))
        assert.equal((await linesOf(first)).length, 1)
        const corrected = batchLine(kind, is, { ...more, ...other, batch })
        const second = await taken(settlementFile([corrected], { reference }))
        assert.equal((await linesOf(second)).length, 0, `${kind} ${was}`)
        assert.deepEqual(await kindsOf(second), ['CHANGED', 'FILE_CHANGED'])
      }
    })

    test('about payouts with references of their own are separate', async () => {
      const lines = ['A', 'B'].map((payout) =>
        batchLine('payout', '5.00', { batch: 'P-2', payout }),
      )
      const first = await taken(settlementFile([lines[0]!, batchLine('payout', '6.00')]))
      const second = await taken(settlementFile([lines[1]!]))
      assert.deepEqual([(await linesOf(first)).length, (await linesOf(second)).length], [2, 1])
    })
  })

  describe('a file that comes again', () => {
    test('is repeated, also at once and twice', async () => {
      const bytes = settlementFile([fresh()])
      const first = await taken(bytes)
      const again = await run.gateway.settlement.import(streamed(bytes), { accountId: run.account })
      assert.deepEqual({ id: again.id, isRepeat: again.isRepeat }, { id: first, isRepeat: true })
      const other = settlementFile([fresh()])
      const both = await Promise.all(
        [1, 2].map(() =>
          run.gateway.settlement.import(streamed(other), { accountId: run.account }),
        ),
      )
      const states: string[] = []
      for (const { id } of both) states.push((await fileOf(await takenIn(id))).state)
      assert.deepEqual(states.sort(), ['repeated', 'staged'])
      const left = await run.sql<{ id: string }>(
        `select distinct part.file_id as id from tollgate.settlement_part as part
       where not exists (select from tollgate.settlement_file as file where file.id = part.file_id)`,
      )
      assert.deepEqual(left, [], 'no parts without a file')
    })

    test('under a known reference with other bytes is FILE_CHANGED', async () => {
      const first = await taken(settlementFile([fresh()], { reference: 'F-DAY' }))
      const second = await taken(settlementFile([fresh()], { reference: 'F-DAY' }))
      assert.equal((await fileOf(second)).earlier, first)
      assert.deepEqual(await kindsOf(second), ['FILE_CHANGED'])
    })

    test('by another account of the institute is repeated', async () => {
      const { account } = await run.addAccount('MID-00002')
      const bytes = settlementFile([fresh(), fresh({ merchant: 'MID-00002' })])
      const first = await taken(bytes)
      assert.equal((await fileOf(first)).records, 2)
      const scopes = await run.sql(
        'select distinct scope_id from tollgate.settlement_stage where file_id = $1',
        [first],
      )
      assert.equal(scopes.length, 2)
      const again = await run.gateway.settlement.import(streamed(bytes), { accountId: account })
      assert.equal(again.isRepeat, true)
    })
  })
})
