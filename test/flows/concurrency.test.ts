import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fc from 'fast-check'
import { type Gateway, GatewayError, type PaymentView } from '../../core/index.ts'
import { balanceOf, checkBooks, closeChecked } from '../rig/books.ts'
import { card, flat, startGateway, type TestGateway } from '../rig/gateway.ts'

const authorisedMinor = 9200
const approved = '000.100.110'
const eur = (minor: number) => ({ amount: (minor / 100).toFixed(2), currency: 'EUR' as const })
/** Makes the simulator decline the payment. */
const declinedThere = { customParameters: { SIM_DECLINE: '800.100.152' } }

type Ended = { readonly answer: PaymentView } | { readonly refused: string }

/** Runs everything at once; refusals are results, other errors fail the test. */
const race = (work: readonly (() => Promise<PaymentView>)[]): Promise<Ended[]> =>
  Promise.all(
    work.map((one) =>
      one().then(
        (answer) => ({ answer }),
        (error) => {
          if (error instanceof GatewayError) return { refused: error.code }
          throw error
        },
      ),
    ),
  )
const answers = (ended: readonly Ended[]) =>
  ended.flatMap((one) => ('answer' in one ? [one.answer] : []))
const refusals = (ended: readonly Ended[]) =>
  ended.flatMap((one) => ('refused' in one ? [one.refused] : []))
const sum = (views: readonly PaymentView[]) =>
  views
    .filter(({ result }) => result.code === approved)
    .reduce((all, { amount }) => all + Math.round(Number(amount) * 100), 0)

describe('concurrency over two processes', () => {
  let run: TestGateway
  let other: Gateway
  before(async () => {
    run = await startGateway({ pool: {} })
    other = await run.another()
  })
  after(() => closeChecked(run))

  const either = (index: number) => (index % 2 === 0 ? run.gateway : other)
  const authorise = async (more = {}) => (await run.pay({ paymentType: 'PA', ...more })).id

  test('a hundred captures never take more than was authorised and refuse only the excess', async () => {
    const amounts = fc.array(fc.integer({ min: 1, max: 2000 }), { minLength: 100, maxLength: 100 })
    await fc.assert(
      fc.asyncProperty(amounts, async (minors) => {
        const id = await authorise()
        const ended = await race(
          minors.map((minor, index) => () => either(index).payments.capture(id, eur(minor))),
        )
        const taken = sum(answers(ended))
        assert.ok(taken <= authorisedMinor, `${taken} of ${authorisedMinor}`)
        const rest = authorisedMinor - taken
        for (const [index, one] of ended.entries()) {
          if ('refused' in one) {
            assert.equal(one.refused, '700.400.100')
            assert.ok(minors[index]! > rest, `${minors[index]} would have fitted into ${rest}`)
          } else assert.equal(one.answer.result.code, approved)
        }
        assert.equal((await balanceOf(run, id)).captured, BigInt(taken))
      }),
      { numRuns: 4 },
    )
    await checkBooks(run)
  })

  test('captures declined by the acquirer leave their part to later ones', async () => {
    const id = await authorise({ numberOfCaptures: '40' })
    const ended = await race(
      Array.from(
        { length: 60 },
        (_, index) => () =>
          either(index).payments.capture(id, {
            ...eur(200),
            ...(index % 3 === 0 ? declinedThere : {}),
          }),
      ),
    )
    const done = answers(ended).filter(({ result }) => result.code === approved)
    const { captured, captures } = await balanceOf(run, id)
    assert.deepEqual([captured, captures], [BigInt(done.length * 200), done.length])
    assert.ok(done.length <= 40)
    await run.gateway.payments.capture(id, eur(authorisedMinor - done.length * 200))
    await checkBooks(run)
  })

  test('each cent of an authorisation is captured or reversed, never both', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await authorise()
      const ended = await race(
        Array.from(
          { length: 24 },
          (_, index) => () =>
            index % 6 === round
              ? either(index).payments.reverse(id)
              : either(index + 1).payments.capture(id, eur(500)),
        ),
      )
      const { captured, reversed } = await balanceOf(run, id)
      assert.ok(captured + reversed <= authorisedMinor)
      assert.equal(BigInt(sum(answers(ended))), captured + reversed)
      for (const code of refusals(ended)) assert.match(code, /^700\.400\.[13]00$/)
    }
    await checkBooks(run)
  })

  test('racing refunds and reversals of one sale never return more than was taken', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id } = await run.pay()
      const ended = await race(
        Array.from(
          { length: 30 },
          (_, index) => () =>
            index === round * 6
              ? either(index).payments.reverse(id)
              : either(index).payments.refund(id, eur(700)),
        ),
      )
      const { refunded, reversed } = await balanceOf(run, id)
      assert.ok(refunded === 0n || reversed === 0n, 'either refunded or reversed')
      assert.ok(refunded + reversed <= authorisedMinor)
      assert.equal(BigInt(sum(answers(ended))), refunded + reversed)
      for (const code of refusals(ended)) assert.match(code, /^700\.400\.[23]00$/)
    }
    await checkBooks(run)
  })

  test('increments that race a full reversal leave the whole rest released, or nothing', async () => {
    for (let round = 0; round < 5; round += 1) {
      const id = await authorise()
      const ended = await race(
        Array.from(
          { length: 12 },
          (_, index) => () =>
            index === round * 2
              ? either(index).payments.reverse(id)
              : either(index).payments.followUp(id, {
                  paymentType: 'PA',
                  ...eur(100),
                  standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
                }),
        ),
      )
      const { authorised, reversed } = await balanceOf(run, id)
      assert.ok(
        reversed === 0n || reversed === authorised,
        'an increase after the release has no owner',
      )
      const increases = answers(ended).filter(({ paymentType }) => paymentType === 'PA')
      assert.equal(authorised, BigInt(authorisedMinor + sum(increases)))
    }
    await checkBooks(run)
  })

  test('simultaneous replacements of one authorisation make one new authorisation', async () => {
    const id = await authorise()
    const ended = await race(
      Array.from(
        { length: 20 },
        (_, index) => () =>
          either(index).payments.followUp(id, {
            paymentType: 'PA',
            ...eur(5000),
            standingInstruction: { industryPractice: 'REAUTHORIZATION' },
          }),
      ),
    )
    assert.equal(answers(ended).length, 1)
    assert.deepEqual(new Set(refusals(ended)), new Set(['700.300.300']))
  })

  test('captures of many authorisations do not delay each other', async () => {
    const ids = await Promise.all(Array.from({ length: 40 }, () => authorise()))
    const ended = await race(
      ids.flatMap((id, index) =>
        [4600, 4600, 1].map((minor) => () => either(index).payments.capture(id, eur(minor))),
      ),
    )
    assert.equal(refusals(ended).length, ids.length, 'of 46.00, 46.00 and 0.01 two fit into 92.00')
    for (const id of ids) assert.equal((await balanceOf(run, id)).captures, 2)
  })

  test('the same key two hundred times at once in two processes is one payment', async () => {
    const form = { ...flat(card('4200000000000000')), entityId: run.channel }
    const replies = await Promise.all(
      Array.from({ length: 200 }, (_, index) =>
        run.send(form, { idempotencyKey: 'at-once', on: either(index) }),
      ),
    )
    assert.equal(new Set(replies.map(({ body }) => body.id)).size, 1)
    for (const { status, body } of replies) {
      assert.equal(status, 200)
      assert.match(body.result.code, /^000\.(100\.110|200\.001)$/)
      assert.equal(body.shortId, replies[0]!.body.shortId)
    }
    const fresh = replies.filter(({ headers }) => headers['Idempotent-Replayed'] === undefined)
    assert.equal(fresh.length, 1, 'all but one are marked as replayed')
    const rows = await run.sql(
      'select payment_id from tollgate.idempotency where payment_id = $1',
      [replies[0]!.body.id],
    )
    assert.deepEqual(rows, [{ payment_id: replies[0]!.body.id }])
  })

  test('one key with different bodies is one payment, and every other body is 200.300.405', async () => {
    const form = { ...flat(card('4200000000000000')), entityId: run.channel }
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        run.send(
          { ...form, amount: `${10 + (index % 3)}.00` },
          { idempotencyKey: 'bodies', on: either(index) },
        ),
      ),
    )
    const taken = replies.filter(({ body }) => body.result.code !== '200.300.405')
    assert.equal(new Set(taken.map(({ body }) => body.id)).size, 1)
    assert.equal(new Set(taken.map(({ body }) => body.amount)).size, 1)
    assert.equal(taken.length, 20)
  })

  test('a follow-up sent fifty times at once under one key happens once, and every answer is about it', async () => {
    for (const [type, on] of [
      ['CP', await authorise()],
      ['RF', (await run.pay()).id],
      ['RV', (await run.pay()).id],
    ] as const) {
      const ended = await race(
        Array.from(
          { length: 50 },
          (_, index) => () =>
            either(index).payments.followUp(
              on,
              { paymentType: type, ...eur(authorisedMinor) },
              { idempotencyKey: `once-${type}` },
            ),
        ),
      )
      assert.deepEqual(
        refusals(ended),
        [],
        `${type}: the request itself used up the amount of a repeat`,
      )
      assert.equal(new Set(answers(ended).map(({ id }) => id)).size, 1, type)
    }
  })

  test('a PA.CP sent thirty times at once under one key is one authorisation with one capture', async () => {
    const replies = await Promise.all(
      Array.from({ length: 30 }, (_, index) =>
        run.pay(
          { paymentType: 'PA.CP', merchantTransactionId: 'two-steps-at-once' },
          { on: either(index), key: 'two-steps' },
        ),
      ),
    )
    for (const { result } of replies) assert.match(result.code, /^000\.(100\.110|200\.001)$/)
    const rows = await run.sql(
      `select payment_type, state from tollgate.payment
        where merchant_transaction_id = 'two-steps-at-once' order by id`,
    )
    assert.deepEqual(rows, [
      { payment_type: 'PA', state: 'approved' },
      { payment_type: 'CP', state: 'approved' },
    ])
  })
})
