/** Disputes that messages and settlement lines tell, in every order. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { refuse } from '../../rig/late-words.ts'
import { chargeback, type EffectRun, line, reversal, startEffects } from './effect-run.ts'

describe('disputes in settlement lines', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

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
      [
        'with a reference like a card number',
        'CASE 4111111111111111 OF',
        'CASE 4111111111111111 OF',
      ],
      [
        'with a reference like an IBAN',
        'DE89 3704 0044 0532 0130 00 OF',
        'DE89 3704 0044 0532 0130 00 OF',
      ],
      ['with a reference among blanks', ' BLANK', 'BLANK'],
      ['with a reference in two spellings', 'dispute', ' DISPUTE'],
      [
        'with a reference like a card number in two spellings',
        'case 4111111111111111 of',
        'CASE 4111111111111111 OF',
      ],
    ]
    const named = (reference: string | undefined, id: string) =>
      reference === undefined ? {} : { reference: `${reference}-${id}` }
    const one = ['chargeback 9200 9200']
    /** A message and a line that read the facts before either of them writes its own. */
    const atOnce = async (id: string, ofMessage: object, ofLine: object) => {
      let waiting = 0
      const both = Promise.withResolvers<void>()
      onFaultPoint(async (point) => {
        if (point !== 'before-fact') return
        waiting += 1
        if (waiting === 2) both.resolve()
        await both.promise
      })
      const fileId = await run.imported([chargeback(id, ofLine)])
      // The one that finds the fact of the other does not come to its own.
      await event(id, ofMessage).finally(both.resolve)
      await run.finished(fileId)
      await until(async () => {
        await run.makeDue()
        return (await run.booksOf(id)).effects[0]?.startsWith('done') || undefined
      })
      onFaultPoint(undefined)
    }

    for (const [name, ofMessage, ofLine] of ways) {
      test(`is one, ${name}: the message first`, async () => {
        const id = await run.pay()
        await event(id, named(ofMessage, id))
        await run.file(chargeback(id, named(ofLine, id)))
        assert.deepEqual((await run.booksOf(id)).disputes, one)
        await event(id, { ...named(ofMessage, id), eventId: `again-${id}` })
        assert.deepEqual(
          (await run.kinds(id)).filter((kind) => kind !== 'beyond-sums'),
          [],
        )
      })

      test(`is one, ${name}: the line first`, async () => {
        const id = await run.pay()
        await run.file(chargeback(id, named(ofLine, id)))
        const eventId = `event-${id}`
        await event(id, { ...named(ofMessage, id), eventId })
        assert.deepEqual((await run.booksOf(id)).disputes, one)
      })

      test(`is one, ${name}: both at the same moment`, async () => {
        for (let round = 0; round < 3; round += 1) {
          const id = await run.pay()
          await atOnce(id, named(ofMessage, id), named(ofLine, id))
          assert.deepEqual((await run.booksOf(id)).disputes, one)
        }
      })

      test(`is one outside of the sums, ${name}: both at the same moment`, async () => {
        const id = await run.pay()
        const inDollars = { currency: 'USD' }
        await atOnce(
          id,
          { ...named(ofMessage, id), ...inDollars },
          { ...named(ofLine, id), ...inDollars },
        )
        assert.deepEqual((await run.booksOf(id)).disputes, ['chargeback 9200 0'])
      })
    }

    test('is one, also when the bank gave the money back before the line came; a second round has its own line', async () => {
      const id = await run.pay()
      const reference = `CASE-${id}`
      const giveBack = (eventId: string) =>
        event(id, { reference, eventId, outcome: { is: 'chargebackReversal', refs: {} } })
      await event(id, { reference, eventId: `first-${id}` })
      await giveBack(`back-${id}`)
      await run.file(chargeback(id, { reference }))
      await run.file(reversal(id, { reference }))
      assert.deepEqual((await run.booksOf(id)).disputes, [
        'chargeback 9200 9200',
        'reversal 9200 9200',
      ])
      await event(id, { reference, eventId: `second-${id}` })
      await run.file(chargeback(id, { reference, batch: 'of the second round' }))
      const rounds = (await run.booksOf(id)).disputes.filter((fact) =>
        fact.startsWith('chargeback'),
      )
      assert.equal(rounds.length, 2)
    })

    test('is one with its reversal, however each report spells its reference', async () => {
      const id = await run.pay()
      const settlementId = newId()
      await event(id, { reference: `case-${id}` })
      await run.file(chargeback(id, { id: settlementId, reference: `CASE-${id}` }))
      await run.file(reversal(id, { reference: `Case-${id}` }))
      await event(id, {
        ...{ reference: `CASE-${id}`, eventId: `back-${id}` },
        outcome: { is: 'chargebackReversal', refs: {} },
      })
      assert.deepEqual((await run.booksOf(id)).disputes, [
        'chargeback 9200 9200',
        'reversal 9200 9200',
      ])
      const [told] = await run.sql<{ reference: string; has_record: boolean }>(
        `select fact.reference, record.dispute_record_id = fact.record_id as has_record
         from tollgate.settlement_record as record
         join tollgate.chargeback as fact on fact.payment_id = $2 and fact.kind = 'chargeback'
         where record.settlement_id = $1`,
        [settlementId, id],
      )
      assert.deepEqual(told, { reference: `case-${id}`, has_record: true })
    })

    test('is two disputes when both have a reference of their own', async () => {
      const id = await run.pay()
      await event(id, { reference: `A-${id}`, minor: '4600' })
      await run.file(chargeback(id, { amount: '46.00', reference: `B-${id}` }))
      assert.deepEqual((await run.booksOf(id)).disputes, [
        'chargeback 4600 4600',
        'chargeback 4600 4600',
      ])
    })

    test('is two disputes when their references resemble card numbers with the same last digits', async () => {
      const id = await run.pay()
      await event(id, { reference: 'C 4111111111111111 X', minor: '4600' })
      await run.file(chargeback(id, { amount: '46.00', reference: 'C 4012078888881111 X' }))
      assert.equal((await run.booksOf(id)).disputes.length, 2)
    })

    test('keeps the reference that only the later report has: it comes again, and its reversal finds it', async () => {
      for (const again of ['line', 'message'] as const) {
        const id = await run.pay()
        const reference = `R-${id}`
        await event(id)
        // Without a number of their own, both lines are records.
        const { id: _, ...cells } = chargeback(id, { reference })
        await run.file(cells)
        if (again === 'line') await run.file({ ...cells, batch: 'corrected' })
        else await event(id, { reference, eventId: `status-${id}` })
        assert.deepEqual((await run.booksOf(id)).disputes, one)
        await run.file(reversal(id, { reference }))
        const books = await run.booksOf(id)
        assert.deepEqual(books.disputes, ['chargeback 9200 9200', 'reversal 9200 9200'])
        assert.deepEqual(books.listed, [])
      }
    })

    test('waits for its chargeback when the reversal comes in an earlier file', async () => {
      const id = await run.pay()
      await run.file(reversal(id, { reference: `CB-${id}` }))
      assert.deepEqual((await run.booksOf(id)).effects, ['open'])
      await run.file(chargeback(id, { reference: `CB-${id}` }))
      await run.makeDue()
      await until(async () => ((await run.booksOf(id)).disputes.length === 2 ? true : undefined))
      assert.deepEqual((await run.booksOf(id)).listed, [])
    })
  })

  describe('two lines of one reference and of different settlements', () => {
    const lines = {
      first: (id: string) => chargeback(id, { amount: '10.00', reference: `R-${id}` }),
      back: (id: string) => reversal(id, { amount: '10.00', reference: `R-${id}` }),
      second: (id: string) => chargeback(id, { amount: '10.00', reference: `R-${id}` }),
    }
    const restOf = async (id: string) => {
      const [row] = await run.sql<{ minor: bigint }>(
        'select charged_back as minor from tollgate.payment_balance where payment_id = $1',
        [id],
      )
      return row!.minor
    }
    const atRest = (id: string) =>
      until(async () => {
        if ((await run.booksOf(id)).effects.every((effect) => effect.startsWith('done')))
          return true
        await run.makeDue()
        return undefined
      })

    for (const order of [
      ['first', 'back', 'second'],
      ['first', 'second', 'back'],
      ['second', 'first', 'back'],
      ['back', 'second', 'first'],
    ] as const) {
      test(`are two rounds: ${order.join(', ')}`, async () => {
        const id = await run.pay()
        for (const name of order) await run.file(lines[name](id))
        await atRest(id)
        assert.equal(await restOf(id), 1000n)
        assert.deepEqual((await run.booksOf(id)).listed, ['beyond-sums'])
      })
    }

    test('are two rounds with a reversal each, whatever comes first', async () => {
      const id = await run.pay()
      await run.file(lines.first(id), lines.second(id))
      await run.file(lines.back(id), lines.back(id))
      await atRest(id)
      assert.equal(await restOf(id), 0n)
      assert.equal((await run.booksOf(id)).disputes.length, 4)
    })

    test('are listed after 72 hours without a reversal, and refunds wait', async () => {
      const id = await run.pay()
      await run.file(lines.first(id), lines.second(id))
      assert.deepEqual((await run.booksOf(id)).effects, ['done', 'open'])
      await run.sql(
        `update tollgate.settlement_record set decided_at = decided_at - interval '73 hours'
          where named_payment = $1`,
        [id],
      )
      await atRest(id)
      assert.equal(await restOf(id), 1000n)
      assert.deepEqual(
        (await run.listed(id)).map(({ detail }) => detail.why),
        ['a further line of the same dispute'],
      )
    })
  })

  test('of a declined capture are recorded where the line names its authorisation', async () => {
    const id = await run.pay({}, { paymentType: 'PA' })
    const amount = { amount: '92.00', currency: 'EUR' }
    const capture = await run.follow(id, 'CP', `capture-${id}`, amount, { capture: refuse })
    await run.file(chargeback(id, { reference: `CB-${id}` }))
    const disputes = async () => [
      (await run.booksOf(id)).disputes,
      (await run.booksOf(capture.id)).disputes,
    ]
    assert.deepEqual((await disputes()).flat(), ['chargeback 9200 0'])
  })

  test('keep the engine from giving the money of a declined payment back a second time', async () => {
    const reversals: string[] = []
    const back = (operation: { readonly key: string }) => {
      reversals.push(operation.key)
      return { is: 'reversed' } as never
    }
    const id = await run.pay({ debit: refuse, reverse: back, reverseByKey: back })
    await run.file(line(id))
    const settlementId = newId()
    const reference = `CB-${id}`
    await run.file(chargeback(id, { id: settlementId, reference }))
    await run.gateway.operator.redrive(id, { by: 'alice', reason: 'a try' })
    const told = async () => {
      const [row] = await run.sql<{ effect: string; effect_tries: number; has_record: boolean }>(
        `select effect, effect_tries, dispute_record_id is not null as has_record
         from tollgate.settlement_record where settlement_id = $1`,
        [settlementId],
      )
      return { ...row!, disputes: (await run.booksOf(id)).disputes }
    }
    const before = await told()
    assert.deepEqual(before, {
      ...{ effect: 'done', effect_tries: 0, has_record: true },
      disputes: ['chargeback 9200 0'],
    })
    await until(async () => (await run.audited(id)).includes('late-success-stands') || undefined)
    await run.sql("update tollgate.timer set due_at = now() where kind = 'settlement-retry'")
    await until(async () => {
      const due = await run.sql(
        "select from tollgate.timer where kind = 'settlement-retry' and due_at < now() + interval '30 minutes'",
      )
      return due.length === 0 || undefined
    })
    await run.tell(id, {
      outcome: { is: 'chargeback', reason: '000.100.203', refs: {} },
      ...{ reference, minor: '9200', currency: 'EUR' },
    })
    assert.deepEqual(await told(), before)
    assert.deepEqual(reversals, [])
  })
})
