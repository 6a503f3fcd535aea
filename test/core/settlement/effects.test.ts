/** The effects of settlement lines on payments, whatever their order and files. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { accepted } from '@tollgate/plugin-kit'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { accept, approval, failure, lose } from '../../rig/late-words.ts'
import { sampled } from '../../rig/scope.ts'
import { type Cells, settled } from '../../rig/settlement.ts'
import { cases } from './effect-cases.ts'
import { chargeback, type EffectRun, line, reversal, startEffects, today } from './effect-run.ts'

describe('effects of settlement lines', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

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
        for (const order of sampled(orders, 2)) {
          const id = await make(run)
          for (const part of order(lines(id))) await run.file(...part)
          await until(async () => {
            const [row] = await run.sql<{ open: bigint }>(
              "select count(*) as open from tollgate.settlement_record where named_payment = $1 and effect = 'open'",
              [id],
            )
            if (row!.open === 0n) return true
            await run.makeDue()
            return undefined
          })
          assert.deepEqual(await run.booksOf(id), books)
          assert.ok((await run.settledSum(id)) <= 9200n)
        }
      })
    }

    test('that come again, under other names and corrected, have no second effect', async () => {
      const [accepted, disputed] = [await run.pay({ debit: accept }), await run.pay()]
      const lines = [
        line(accepted),
        line(disputed),
        chargeback(disputed, { reference: `CB-${disputed}` }),
      ]
      await run.file(...lines)
      const before = [await run.booksOf(accepted), await run.booksOf(disputed)]
      await run.file(...lines.toReversed())
      await run.file(...lines, line(await run.pay()))
      assert.deepEqual([await run.booksOf(accepted), await run.booksOf(disputed)], before)
      assert.equal(await run.settledSum(accepted), 9200n)
    })

    test('settle a payment: its answers and steps say so, and it is refunded instead of reversed', async () => {
      const id = await run.pay()
      assert.equal((await run.gateway.payments.get(id)).settlement, undefined)
      await run.file(line(id, { amount: '52.00' }))
      await run.file(line(id, { amount: '40.00', batch: 'P-2' }))
      const { settlement, nextActions } = await run.gateway.payments.get(id)
      assert.deepEqual(settlement, { date: today(), amount: '92.00' })
      assert.deepEqual(nextActions, ['RF', 'RB'])
      const found = await run.gateway.query.get(id)
      assert.deepEqual(found.settlement, settlement)
      const { steps } = await run.gateway.payments.steps(id)
      const settlements = steps.filter(({ name }) => name === 'settlement')
      assert.deepEqual(
        settlements.map(({ outcome }) => outcome),
        ['SUCCESS', 'SUCCESS'],
      )
      assert.match(
        settlements.at(-1)!.text,
        /^SETTLED 40\.00 EUR on [0-9-]{10}, payout P-2, number /,
      )
      await assert.rejects(run.follow(id, 'RV', `void-${id}`), { code: '700.400.300' })
      const refund = await run.follow(id, 'RF', `refund-${id}`, {
        amount: '92.00',
        currency: 'EUR',
      })
      assert.equal(refund.result.code, '000.100.112')
    })

    test('that say that nothing was paid out are no settlement', async () => {
      const id = await run.pay()
      await run.file(line(id, { status: 'FAILED' }))
      assert.equal((await run.gateway.payments.get(id)).settlement, undefined)
      const { steps } = await run.gateway.payments.steps(id)
      assert.equal(steps.find(({ name }) => name === 'settlement')?.outcome, 'FAILED')
    })

    test('allow the reversal while no successful one is there', async () => {
      const id = await run.pay()
      await run.file(chargeback(id), reversal(id))
      const reversed = await run.follow(id, 'RV', `void-${id}`)
      assert.equal(reversed.result.code, '000.100.112')
    })

    test('make an accepted payment final, so that a later failure is a return', async () => {
      const id = await run.pay({ debit: accept })
      await run.file(line(id))
      await run.tell(id, { outcome: failure })
      assert.deepEqual(await run.kinds(id), ['return'])
      assert.equal(await run.stateOf(id), 'approved')
    })

    for (const [name, called] of [
      ['order number', 'mtid'],
      ['short id', 'shortId'],
    ] as const) {
      test(`that call an accepted payment by its ${name} alone leave it to its own words`, async () => {
        const id = await run.pay({
          debit: (_, context) => {
            context.sending()
            return accepted({}, 'event')
          },
        })
        const { merchantTransactionId, shortId } = await run.gateway.query.get(id)
        const cells = {
          ...{ id: newId(), date: today(), ref1: `elsewhere-${id}` },
          [called]: called === 'mtid' ? merchantTransactionId : shortId,
        }
        await run.file(settled(cells))
        assert.equal(await run.settledSum(id), 9200n)
        assert.equal((await run.booksOf(id)).isFinal, false)
        await run.file(settled({ ...cells, id: newId(), status: 'FAILED' }))
        assert.equal(await run.stateOf(id), 'approved')
        assert.deepEqual(await run.kinds(id), ['conflict'])
        await run.tell(id, { outcome: failure })
        assert.equal(await run.stateOf(id), 'approved')
        assert.deepEqual(await run.kinds(id), ['conflict'])
      })
    }

    test('that pay out a part of an accepted payment keep its failure from freeing its amount', async () => {
      const id = await run.pay()
      const refund = await run.follow(
        id,
        'RF',
        `rf-${id}`,
        { amount: '92.00', currency: 'EUR' },
        {
          refund: accept,
        },
      )
      await run.file(line(refund.id, { transaction: 'REFUND', cashflow: 'NEG', amount: '50.00' }))
      assert.equal(await run.settledSum(refund.id), 5000n)
      assert.equal(await run.tell(refund.id, { outcome: failure }), 'conflict')
      assert.equal(await run.stateOf(refund.id), 'approved')
      await assert.rejects(run.follow(id, 'RF', `rf2-${id}`, { amount: '92.00', currency: 'EUR' }))
    })

    test('that can be about another operation make no sum with those that name the payment', async () => {
      const id = await run.pay({
        debit: (_, context) => {
          context.sending()
          return accepted({}, 'event')
        },
      })
      const { merchantTransactionId: mtid } = await run.gateway.query.get(id)
      const elsewhere = { id: newId(), date: today(), mtid: mtid!, ref1: `elsewhere-${id}` }
      await run.file(settled({ ...elsewhere, amount: '50.00' }))
      await run.file(line(id, { amount: '42.00' }))
      assert.equal(await run.settledSum(id), 9200n)
      assert.equal((await run.booksOf(id)).isFinal, false)
      await run.file(line(id, { amount: '50.00' }))
      assert.equal((await run.booksOf(id)).isFinal, true)
    })

    test('of another amount do not approve an open payment: the acquirer is asked', async () => {
      let answer: object = { is: 'notFound', why: 'not yet' }
      const id = await run.pay({ debit: lose, enquire: () => answer as never })
      await run.file(line(id, { amount: '91.00' }))
      assert.equal(await run.stateOf(id), 'unknown')
      answer = approval
      await run.makeDue()
      await until(async () => ((await run.stateOf(id)) === 'approved' ? true : undefined))
      await run.makeDue()
      await until(async () =>
        (await run.booksOf(id)).effects[0] === 'done AMOUNT' ? true : undefined,
      )
    })

    test('wait while another process works on the payment', async () => {
      const id = await run.pay({ debit: lose, enquire: () => ({ is: 'notFound', why: 'not yet' }) })
      await run.sql(
        "update tollgate.attempt set lease_until = now() + interval '1 hour' where payment_id = $1",
        [id],
      )
      await run.file(line(id))
      assert.deepEqual(
        [await run.stateOf(id), (await run.booksOf(id)).effects],
        ['unknown', ['open']],
      )
      await run.sql(
        "update tollgate.attempt set lease_until = now() - interval '1 second' where payment_id = $1",
        [id],
      )
      await until(async () => {
        await run.makeDue()
        return (await run.stateOf(id)) === 'approved' || undefined
      })
    })

    test('that an operator gives to a payment take effect', async () => {
      const id = await run.pay({ debit: accept })
      const fileId = await run.file(
        settled({ id: newId(), date: today(), mtid: 'nobody-knows-it' }),
      )
      const [record] = await run.gateway.settlement.exceptions({ fileId })
      await run.gateway.settlement.assign(record!.id, [id], { by: 'alice', reason: 'by phone' })
      await until(async () => ((await run.booksOf(id)).isFinal ? true : undefined))
      await run.tell(id, { outcome: failure })
      assert.equal(await run.stateOf(id), 'approved')
    })

    test('whose effect fails three times are listed, and an operator runs the file again', async () => {
      const id = await run.pay({ debit: accept })
      const other = await run.pay({ debit: accept })
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
      const fileId = await run.file(record!, line(other))
      assert.deepEqual((await run.booksOf(other)).isFinal, true, 'the file goes on')
      await until(async () => {
        if ((await run.booksOf(id)).effects[0] === 'failed') return true
        await run.makeDue()
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
      await until(async () => ((await run.booksOf(id)).isFinal ? true : undefined))
      await run.finished(fileId)
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
        const [accepted, disputed] = [await run.pay({ debit: accept }), await run.pay()]
        let deaths = 0
        onFaultPoint((reached) => {
          if (reached !== point || deaths >= 2) return
          deaths += 1
          throw new Error('killed')
        })
        const fileId = await run.imported([
          line(accepted, { status: 'FAILED' }),
          chargeback(disputed, { reference: `CB-${disputed}` }),
        ])
        await until(async () => {
          await run.makeDue()
          await run.sql('update tollgate.settlement_file set due_at = now() where done_at is null')
          const all = [
            ...(await run.booksOf(accepted)).effects,
            ...(await run.booksOf(disputed)).effects,
          ]
          return all.length === 2 && all.every((effect) => effect.startsWith('done'))
            ? true
            : undefined
        })
        await run.finished(fileId)
        assert.ok(deaths > 0)
        assert.deepEqual((await run.booksOf(accepted)).events, [
          'payment.approved',
          'payment.declined',
        ])
        assert.deepEqual((await run.booksOf(disputed)).disputes, ['chargeback 9200 9200'])
      })
    }
  })
})
