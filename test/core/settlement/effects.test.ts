/** The effects of settlement lines on payments, whatever their order and files. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  failure,
  type LateRun,
  lose,
  refuse,
  startLate,
} from '../../rig/late-words.ts'
import {
  type Cells,
  sampleSettlement,
  settled,
  settlementFile,
  streamed,
} from '../../rig/settlement.ts'

let run: LateRun
let account: string
before(async () => {
  run = await startLate({
    settling: (connector) => ({
      ...connector,
      settlement: { ...sampleSettlement, merchantOf: () => 'MID-00001' },
    }),
  })
  const [row] = await run.sql<{ id: string }>(
    "select replace(id::text, '-', '') as id from tollgate.merchant_account where connector = 'settling'",
  )
  account = row!.id
})
after(() => closeChecked(run))
afterEach(() => onFaultPoint(undefined))

const today = () => new Date().toISOString().slice(0, 10)
const debit = async (script: Parameters<LateRun['debit']>[1] = {}, fields: object = {}) => {
  const { id } = await run.debit(`order-${newId()}`, script, { ...run.at('settling'), ...fields })
  return id
}
const line = (id: string, more: Cells = {}): Cells =>
  settled({ id: newId(), date: today(), paymentId: id, ...more })
const chargeback = (id: string, more: Cells = {}): Cells =>
  line(id, { type: 'CHARGEBACK', cashflow: 'NEG', reason: '000.100.203', ...more })
const reversal = (id: string, more: Cells = {}): Cells =>
  line(id, { type: 'CHARGEBACK REVERSAL', cashflow: 'POS', ...more })

async function imported(lines: readonly Cells[]): Promise<string> {
  const bytes = settlementFile(lines, { reference: newId() })
  return (await run.gateway.settlement.import(streamed(bytes), { accountId: account })).id
}
const finished = (fileId: string) =>
  until(async () => {
    const [row] = await run.sql<{ state: string; refused_why: string | null }>(
      'select state, refused_why from tollgate.settlement_file where id = $1',
      [fileId],
    )
    assert.equal(row!.refused_why, null)
    return row!.state === 'done' ? fileId : undefined
  })
const file = async (...lines: readonly Cells[]) => finished(await imported(lines))

type Books = {
  readonly state: string
  readonly isFinal: boolean
  readonly events: readonly string[]
  readonly listed: readonly string[]
  /** Amounts of chargebacks and of their reversals. */
  readonly disputes: readonly string[]
  readonly effects: readonly string[]
}
async function booksOf(id: string): Promise<Books> {
  const [row] = await run.sql<{
    state: string
    final_by: string | null
    effects: string[]
    disputes: string[]
  }>(
    `select state, final_by, array(
         select record.effect || case when record.discrepancies = '{}' then ''
           else ' ' || array_to_string(record.discrepancies, ' ') end
         from tollgate.settlement_record as record where record.named_payment = payment.id order by 1) as effects,
       array(
         select kind || ' ' || minor || ' ' || counted from tollgate.chargeback
         where payment_id = payment.id order by kind, minor) as disputes
     from tollgate.payment where id = $1`,
    [id],
  )
  const events = await run.sql<{ type: string }>(
    'select type from tollgate.event where resource = $1 order by seq',
    [id],
  )
  return {
    state: row!.state,
    isFinal: row!.final_by === null,
    events: events.map(({ type }) => type),
    listed: (await run.kinds(id)).toSorted(),
    disputes: row!.disputes,
    effects: row!.effects,
  }
}
const settledSum = async (id: string) => {
  const [row] = await run.sql<{ minor: bigint }>(
    'select coalesce(sum(allocated_minor), 0)::bigint as minor from tollgate.settlement_match where payment_id = $1',
    [id],
  )
  return row!.minor
}
const makeDue = () =>
  run.sql(`with record as (
      update tollgate.settlement_record set effect_after = null where effect = 'open')
    update tollgate.timer set due_at = now() where kind = 'settlement-effect'`)

const approved = ['payment.approved']

type Case = {
  readonly name: string
  readonly make: () => Promise<string>
  readonly lines: (id: string) => readonly Cells[]
  readonly books: Books
}
/** A case holds for every order of its lines and every division into files. */
const cases: readonly Case[] = [
  {
    name: 'a settled payment changes nothing',
    make: debit,
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['none'],
    },
  },
  {
    name: 'an accepted payment is final once it is settled',
    make: () => debit({ debit: accept }),
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'an accepted payment that is not paid out is declined',
    make: () => debit({ debit: accept }),
    lines: (id) => [line(id, { status: 'FAILED' })],
    books: {
      state: 'declined',
      isFinal: true,
      events: ['payment.approved', 'payment.declined'],
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'a final payment that is not paid out is a return for operators',
    make: debit,
    lines: (id) => [line(id, { status: 'FAILED' })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: ['return'],
      disputes: [],
      effects: ['done STATE'],
    },
  },
  {
    name: 'an open payment that is settled is approved',
    make: () => debit({ debit: lose, enquire: () => ({ is: 'notFound', why: 'not yet' }) }),
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: ['payment.unknown', 'payment.approved'],
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'money of a declined payment is for operators, and nothing is taken back',
    make: () => debit({ debit: refuse }),
    lines: (id) => [line(id)],
    books: {
      state: 'declined',
      isFinal: true,
      events: ['payment.declined'],
      listed: ['conflict'],
      disputes: [],
      effects: ['done STATE'],
    },
  },
  {
    name: 'a chargeback is recorded',
    make: debit,
    lines: (id) => [line(id), chargeback(id, { reference: `CB-${id}` })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 9200 9200'],
      effects: ['done', 'none'],
    },
  },
  {
    name: 'two chargebacks of a part stand side by side',
    make: debit,
    lines: (id) => [
      chargeback(id, { amount: '30.00', reference: `CB1-${id}` }),
      chargeback(id, { amount: '20.00', reference: `CB2-${id}` }),
      line(id),
    ],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 2000 2000', 'chargeback 3000 3000'],
      effects: ['done', 'done', 'none'],
    },
  },
  {
    name: 'a chargeback and its reversal are both recorded',
    make: debit,
    lines: (id) => [
      line(id),
      chargeback(id, { reference: `CB-${id}` }),
      reversal(id, { reference: `CB-${id}` }),
    ],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 9200 9200', 'reversal 9200 9200'],
      effects: ['done', 'done', 'none'],
    },
  },
  {
    name: 'a chargeback above the payment is recorded and listed',
    make: debit,
    lines: (id) => [chargeback(id, { amount: '100.00', reference: `CB-${id}` })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: ['beyond-sums'],
      disputes: ['chargeback 10000 10000'],
      effects: ['done AMOUNT'],
    },
  },
]

describe('settlement lines', () => {
  for (const { name, make, lines, books } of cases) {
    test(name, async () => {
      const orders = [
        (all: readonly Cells[]) => [all],
        (all: readonly Cells[]) => [all.toReversed()],
        (all: readonly Cells[]) => [[...all.slice(1), ...all.slice(0, 1)]],
        (all: readonly Cells[]) => all.map((one) => [one]),
        (all: readonly Cells[]) => all.toReversed().map((one) => [one]),
      ]
      for (const order of orders) {
        const id = await make()
        for (const part of order(lines(id))) await file(...part)
        await until(async () => {
          const [row] = await run.sql<{ open: bigint }>(
            "select count(*) as open from tollgate.settlement_record where named_payment = $1 and effect = 'open'",
            [id],
          )
          if (row!.open === 0n) return true
          await makeDue()
          return undefined
        })
        assert.deepEqual(await booksOf(id), books)
        assert.ok((await settledSum(id)) <= 9200n)
      }
    })
  }

  test('that come again, under other names and corrected, have no second effect', async () => {
    const [accepted, disputed] = [await debit({ debit: accept }), await debit()]
    const lines = [
      line(accepted),
      line(disputed),
      chargeback(disputed, { reference: `CB-${disputed}` }),
    ]
    await file(...lines)
    const before = [await booksOf(accepted), await booksOf(disputed)]
    await file(...lines.toReversed())
    await file(...lines, line(await debit()))
    assert.deepEqual([await booksOf(accepted), await booksOf(disputed)], before)
    assert.equal(await settledSum(accepted), 9200n)
  })

  test('make an accepted payment final, so that a later failure is a return', async () => {
    const id = await debit({ debit: accept })
    await file(line(id))
    await run.tell(id, { outcome: failure })
    assert.deepEqual(await run.kinds(id), ['return'])
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('of another amount do not approve an open payment: the acquirer is asked', async () => {
    let answer: object = { is: 'notFound', why: 'not yet' }
    const id = await debit({ debit: lose, enquire: () => answer as never })
    await file(line(id, { amount: '91.00' }))
    assert.equal(await run.stateOf(id), 'unknown')
    answer = approval
    await makeDue()
    await until(async () => ((await run.stateOf(id)) === 'approved' ? true : undefined))
    await makeDue()
    await until(async () => ((await booksOf(id)).effects[0] === 'done AMOUNT' ? true : undefined))
  })

  test('wait while another process works on the payment', async () => {
    const id = await debit({ debit: lose, enquire: () => ({ is: 'notFound', why: 'not yet' }) })
    await run.sql(
      "update tollgate.attempt set lease_until = now() + interval '1 hour' where payment_id = $1",
      [id],
    )
    await file(line(id))
    assert.deepEqual([await run.stateOf(id), (await booksOf(id)).effects], ['unknown', ['open']])
    await run.sql(
      "update tollgate.attempt set lease_until = now() - interval '1 second' where payment_id = $1",
      [id],
    )
    await until(async () => {
      await makeDue()
      return (await run.stateOf(id)) === 'approved' || undefined
    })
  })

  test('that an operator gives to a payment take effect', async () => {
    const id = await debit({ debit: accept })
    const fileId = await file(settled({ id: newId(), date: today(), mtid: 'nobody-knows-it' }))
    const [record] = await run.gateway.settlement.exceptions({ fileId })
    await run.gateway.settlement.assign(record!.id, [id], { by: 'alice', reason: 'by phone' })
    await until(async () => ((await booksOf(id)).isFinal ? true : undefined))
    await run.tell(id, { outcome: failure })
    assert.equal(await run.stateOf(id), 'approved')
  })

  test('whose effect fails three times are listed, and an operator runs the file again', async () => {
    const id = await debit({ debit: accept })
    const other = await debit({ debit: accept })
    let isBroken = true
    const [record] = [line(id)]
    onFaultPoint(async (point, ref) => {
      if (point !== 'before-settlement-effect' || !isBroken) return
      const [row] = await run.sql<{ id: string }>(
        'select id from tollgate.settlement_record where named_payment = $1',
        [id],
      )
      if (row?.id === ref) throw new Error('a defect')
    })
    const fileId = await file(record!, line(other))
    assert.deepEqual((await booksOf(other)).isFinal, true, 'the file goes on')
    await until(async () => {
      if ((await booksOf(id)).effects[0] === 'failed') return true
      await makeDue()
      return undefined
    })
    const entries = async () =>
      (await run.gateway.operator.attention(1000)).filter(
        ({ kind, detail }) => kind === 'settlement' && detail.file === fileId,
      )
    await until(
      async () =>
        (await entries()).some(({ detail }) => detail.exception === 'EFFECT') || undefined,
    )
    isBroken = false
    await run.gateway.settlement.rerun(fileId, { by: 'alice', reason: 'mended' })
    await until(async () => ((await booksOf(id)).isFinal ? true : undefined))
    await finished(fileId)
    await until(
      async () =>
        !(await entries()).some(({ detail }) => detail.exception === 'EFFECT') || undefined,
    )
  })

  for (const point of [
    'before-settlement-effect',
    'after-settlement-effect',
    'settlement-done',
  ] as const) {
    test(`take effect once after a death at ${point}`, async () => {
      const [accepted, disputed] = [await debit({ debit: accept }), await debit()]
      let deaths = 0
      onFaultPoint((reached) => {
        if (reached !== point || deaths >= 2) return
        deaths += 1
        throw new Error('killed')
      })
      const fileId = await imported([
        line(accepted, { status: 'FAILED' }),
        chargeback(disputed, { reference: `CB-${disputed}` }),
      ])
      await until(async () => {
        await makeDue()
        await run.sql('update tollgate.settlement_file set due_at = now() where done_at is null')
        const all = [...(await booksOf(accepted)).effects, ...(await booksOf(disputed)).effects]
        return all.length === 2 && all.every((effect) => effect.startsWith('done'))
          ? true
          : undefined
      })
      await finished(fileId)
      assert.ok(deaths > 0)
      assert.deepEqual((await booksOf(accepted)).events, ['payment.approved', 'payment.declined'])
      assert.deepEqual((await booksOf(disputed)).disputes, ['chargeback 9200 9200'])
    })
  }
})

describe('a dispute that a message and a settlement line tell', () => {
  const event = (id: string, more: object = {}) =>
    run.tell(id, {
      outcome: { is: 'chargeback', reason: '000.100.203', refs: {} },
      minor: '9200',
      currency: 'EUR',
      ...more,
    })
  const ways: readonly [string, string | undefined, string | undefined][] = [
    ['with one reference', 'SAME', 'SAME'],
    ['with a reference of the line alone', undefined, 'LINE'],
    ['with a reference of the message alone', 'MESSAGE', undefined],
    ['without a reference', undefined, undefined],
  ]
  const named = (reference: string | undefined, id: string) =>
    reference === undefined ? {} : { reference: `${reference}-${id}` }
  const one = ['chargeback 9200 9200']

  for (const [name, ofMessage, ofLine] of ways) {
    test(`is one, ${name}: the message first`, async () => {
      const id = await debit()
      await event(id, named(ofMessage, id))
      await file(chargeback(id, named(ofLine, id)))
      assert.deepEqual((await booksOf(id)).disputes, one)
      await event(id, { ...named(ofMessage, id), eventId: `again-${id}` })
      assert.deepEqual(
        (await run.kinds(id)).filter((kind) => kind !== 'beyond-sums'),
        [],
      )
    })

    test(`is one, ${name}: the line first`, async () => {
      const id = await debit()
      await file(chargeback(id, named(ofLine, id)))
      const eventId = `event-${id}`
      await event(id, { ...named(ofMessage, id), eventId })
      assert.deepEqual((await booksOf(id)).disputes, one)
    })

    test(`is one, ${name}: both at the same moment`, async () => {
      for (let round = 0; round < 3; round += 1) {
        const id = await debit()
        let waiting = 0
        const both = Promise.withResolvers<void>()
        onFaultPoint(async (point) => {
          if (point !== 'before-fact') return
          waiting += 1
          if (waiting === 2) both.resolve()
          await both.promise
        })
        const fileId = await imported([chargeback(id, named(ofLine, id))])
        // The one that finds the fact of the other does not come to its own.
        await event(id, named(ofMessage, id)).finally(both.resolve)
        await finished(fileId)
        await until(async () => {
          await makeDue()
          return (await booksOf(id)).effects[0] === 'done' || undefined
        })
        onFaultPoint(undefined)
        assert.deepEqual((await booksOf(id)).disputes, one)
      }
    })
  }

  test('is one, also when the bank gave the money back before the line came; a second round has its own line', async () => {
    const id = await debit()
    const reference = `CASE-${id}`
    const giveBack = (eventId: string) =>
      event(id, { reference, eventId, outcome: { is: 'chargebackReversal', refs: {} } })
    await event(id, { reference, eventId: `first-${id}` })
    await giveBack(`back-${id}`)
    await file(chargeback(id, { reference }))
    await file(reversal(id, { reference }))
    assert.deepEqual((await booksOf(id)).disputes, ['chargeback 9200 9200', 'reversal 9200 9200'])
    await event(id, { reference, eventId: `second-${id}` })
    await file(chargeback(id, { reference, batch: 'of the second round' }))
    const rounds = (await booksOf(id)).disputes.filter((fact) => fact.startsWith('chargeback'))
    assert.equal(rounds.length, 2)
  })

  test('is two disputes when both have a reference of their own', async () => {
    const id = await debit()
    await event(id, { reference: `A-${id}`, minor: '4600' })
    await file(chargeback(id, { amount: '46.00', reference: `B-${id}` }))
    assert.deepEqual((await booksOf(id)).disputes, ['chargeback 4600 4600', 'chargeback 4600 4600'])
  })

  test('is not guessed among several of one amount', async () => {
    const id = await debit()
    await event(id, { reference: `A-${id}`, minor: '3000' })
    await event(id, { reference: `B-${id}`, minor: '3000' })
    await file(chargeback(id, { amount: '30.00' }))
    assert.equal((await booksOf(id)).disputes.length, 3)
  })

  test('waits for its chargeback when the reversal comes in an earlier file', async () => {
    const id = await debit()
    await file(reversal(id, { reference: `CB-${id}` }))
    assert.deepEqual((await booksOf(id)).effects, ['open'])
    await file(chargeback(id, { reference: `CB-${id}` }))
    await makeDue()
    await until(async () => ((await booksOf(id)).disputes.length === 2 ? true : undefined))
    assert.deepEqual((await booksOf(id)).listed, [])
  })
})
