/** Chargebacks in settlement lines that name an authorisation, or that several payments fit. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newId } from '../../../core/index.ts'
import { approvedAs } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, refuse } from '../../rig/late-words.ts'
import { by, waitsForOthers } from '../../rig/told-meanwhile.ts'
import { chargeback, type EffectRun, reversal, startEffects } from './effect-run.ts'

const undecided = {
  enquire: () => ({ is: 'approved', refs: { reference: 'by-event' } }) as const,
  reverseByKey: () => ({ is: 'unknown', why: 'busy' }) as const,
}

describe('a chargeback in a line', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())

  const authorise = () => run.pay({}, { paymentType: 'PA' })
  const capture = async (id: string, amount: string) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur(amount))).id
  const refund = (id: string, amount: string) =>
    run.follow(id, 'RF', `refund-${newId()}`, eur(amount))
  const recordOf = async (fileId: string) => {
    const [row] = await run.sql<{ id: string; status: string; about: string[]; has_fact: boolean }>(
      `select replace(id::text, '-', '') as id, match_status as status, dispute_record_id is not null as has_fact,
         array(select replace(about::text, '-', '') from unnest(candidates) as given (about)) as about
       from tollgate.settlement_record where file_id = $1`,
      [fileId],
    )
    return row!
  }
  /** All undecided records are compared with the payments again. */
  const decidedAgain = async () => {
    await run.sql("update tollgate.timer set due_at = now() where kind = 'settlement-retry'")
    await until(async () => {
      const due = await run.sql(
        "select from tollgate.timer where kind = 'settlement-retry' and due_at < now() + interval '30 minutes'",
      )
      return due.length === 0 || undefined
    })
  }
  const entriesOf = async (fileId: string) =>
    (await run.gateway.operator.attention(1000)).filter(({ detail }) => detail.file === fileId)

  describe('that names an authorisation', () => {
    for (const amount of ['20.00', '30.00']) {
      test(`with several captures is recorded for it, and holds all of them: ${amount}`, async () => {
        const id = await authorise()
        const captures = [await capture(id, '30.00'), await capture(id, '50.00')]
        const fileId = await run.file(chargeback(id, { amount }))
        const { disputes, listed } = await run.booksOf(id)
        assert.deepEqual(disputes, [`chargeback ${amount.replace('.', '')} 0`])
        assert.deepEqual(listed, ['beyond-sums'])
        for (const one of captures) await assert.rejects(refund(one, '10.00'), waitsForOthers)
        assert.deepEqual((await recordOf(fileId)).about, [id])
        assert.deepEqual(await entriesOf(fileId), [])
      })
    }

    test('without a capture is recorded for it, and holds its release', async () => {
      const id = await authorise()
      await run.file(chargeback(id))
      assert.deepEqual((await run.booksOf(id)).disputes, ['chargeback 9200 0'])
      await assert.rejects(run.follow(id, 'RV', `release-${newId()}`), waitsForOthers)
    })

    test('with one capture in its chain counts for the capture, whose record the line is', async () => {
      const first = await authorise()
      const only = await capture(first, '30.00')
      const again = await run.follow(first, 'PA', `again-${newId()}`, {
        ...eur('92.00'),
        standingInstruction: { industryPractice: 'REAUTHORIZATION' },
      } as never)
      for (const id of [first, again.id]) {
        const fileId = await run.file(chargeback(id, { amount: '10.00' }))
        const { about, status, has_fact } = await recordOf(fileId)
        assert.deepEqual([status, about, has_fact], ['MATCHED', [only], true])
      }
      const { disputes } = await run.booksOf(only)
      assert.deepEqual(disputes, ['chargeback 1000 1000', 'chargeback 1000 1000'])
    })

    test('is given back by a line that names it, too', async () => {
      const id = await authorise()
      await capture(id, '30.00')
      await capture(id, '50.00')
      const reference = `CASE-${id}`
      await run.file(chargeback(id, { amount: '20.00', reference }))
      await run.file(reversal(id, { amount: '20.00', reference }))
      const { disputes } = await run.booksOf(id)
      assert.deepEqual(disputes, ['chargeback 2000 0', 'reversal 2000 0'])
    })
  })

  describe('beside one of its authorisation', () => {
    const told = (is: string, reference: string) => ({
      outcome: { is, reason: '000.100.220', refs: {} },
      ...{ reference, minor: '3000' },
    })
    const resolveAll = async (id: string) => {
      for (const entry of (await run.listed(id)).filter(({ open }) => open)) {
        await run.gateway.operator.resolve(entry.id, by)
      }
    }

    test('that of a capture is another one, in a message and in a line', async () => {
      const id = await authorise()
      await run.file(chargeback(id, { amount: '30.00' }))
      await resolveAll(id)
      const one = await capture(id, '30.00')
      assert.equal(await run.tell(one, told('chargeback', `A-${newId()}`)), 'recorded')
      await assert.rejects(refund(one, '30.00'), waitsForOthers)

      const other = await authorise()
      const captures = [await capture(other, '30.00'), await capture(other, '30.00')] as const
      await run.tell(other, told('chargeback', `B-${newId()}`))
      await resolveAll(other)
      const fileId = await run.file(chargeback(captures[1], { amount: '30.00' }))
      assert.equal((await recordOf(fileId)).has_fact, true)
      await assert.rejects(refund(captures[1], '30.00'), waitsForOthers)
    })

    test('the reversal of a capture is another one', async () => {
      const id = await authorise()
      const one = await capture(id, '30.00')
      await capture(id, '30.00')
      await run.file(chargeback(id, { amount: '30.00' }))
      await run.file(reversal(id, { amount: '30.00' }))
      await resolveAll(id)
      const reference = `C-${newId()}`
      for (const is of ['chargeback', 'chargebackReversal']) {
        assert.equal(await run.tell(one, told(is, reference)), 'recorded')
      }
      await refund(one, '30.00')
    })
  })

  for (const name of ['order', 'short id'] as const) {
    test(`by the ${name} of a late success is about it, which is not reversed beside it`, async () => {
      const order = `order-${newId()}`
      let tries = 0
      const late = await run.debit(
        order,
        {
          ...undecided,
          debit: (operation, context) => {
            tries += 1
            if (tries === 1) return refuse(operation, context)
            context.sending()
            return approvedAs(operation)
          },
        },
        run.at('settling'),
      )
      await run.tell(late.id, { outcome: approval })
      await until(async () => (await run.audited(late.id)).includes('reverse-by-key') || undefined)
      await run.dueLater(late.id)
      const { paymentId: _, ...cells } = chargeback(late.id)
      if (name === 'short id') {
        const { shortId } = await run.gateway.payments.get(late.id)
        await run.file({ ...cells, shortId })
        assert.deepEqual((await run.booksOf(late.id)).disputes, ['chargeback 9200 0'])
      } else {
        const paid = await run.debit(order, {}, run.at('settling'))
        const fileId = await run.file({ ...cells, mtid: order })
        const { status, about } = await recordOf(fileId)
        assert.deepEqual([status, about], ['MULTIPLE_MATCHES', [late.id, paid.id].toSorted()])
        await assert.rejects(refund(paid.id, '92.00'), waitsForOthers)
      }
      const asked = run.acquirer.of(order).length
      await run.dueNow(late.id)
      await until(async () => {
        const [row] = await run.sql(
          `select from tollgate.attempt where payment_id = $1 and lease_until is null
             and not exists (select from tollgate.timer where ref = key and due_at <= now())`,
          [late.id],
        )
        return row
      })
      assert.ok(!run.acquirer.of(order).slice(asked).includes('reverseByKey'))
    })
  }

  describe('that several payments fit', () => {
    const twice = async () => {
      const order = `order-${newId()}`
      const one = await run.debit(order, {}, run.at('settling'))
      const other = await run.debit(order, {}, run.at('settling'))
      const { paymentId: _, ...cells } = chargeback(one.id, { mtid: order, amount: '20.00' })
      const fileId = await run.file(cells)
      const { id, status } = await recordOf(fileId)
      assert.equal(status, 'MULTIPLE_MATCHES')
      return { fileId, record: id, payments: [one.id, other.id] as const }
    }

    test('holds each of them, and its entry says so', async () => {
      const { fileId, payments } = await twice()
      for (const id of payments) await assert.rejects(refund(id, '92.00'), waitsForOthers)
      const [entry] = await entriesOf(fileId)
      assert.match(
        String(entry!.detail.records),
        /^line \d+ about a chargeback, order .*, payment /,
      )
      assert.match(String(entry!.detail.do), /candidates of a chargeback are not refunded/)
    })

    test('holds the one to which an operator assigned it', async () => {
      const { record, payments } = await twice()
      await run.gateway.settlement.assign(record, [payments[0]], by)
      await refund(payments[1], '92.00')
      await assert.rejects(refund(payments[0], '92.00'), waitsForOthers)
    })

    test('holds none once an operator has checked it', async () => {
      const { record, payments } = await twice()
      await run.gateway.settlement.check(record, by)
      for (const id of payments) await refund(id, '92.00')
    })

    test('by amount, card and brand alone is a guess that holds none of them', async () => {
      const alike = () => run.pay({}, eur('91.37'))
      const payments = [await alike(), await alike()]
      const { paymentId: _, ...cells } = chargeback(payments[0]!, { amount: '91.37' })
      const fileId = await run.file({ ...cells, brand: 'VISA', last4: '0000' })
      const { status, about } = await recordOf(fileId)
      assert.deepEqual([status, about.toSorted()], ['MULTIPLE_MATCHES', payments.toSorted()])
      for (const id of payments) await refund(id, '91.37')
    })

    test('is not about the one that is left when the other one is gone, also after a rerun', async () => {
      const { fileId, record, payments } = await twice()
      // Held no more, so that one of them can go.
      await run.gateway.settlement.check(record, by)
      await run.follow(payments[0], 'RV', `reversal-${newId()}`)
      await decidedAgain()
      await run.gateway.settlement.rerun(fileId, by)
      await run.finished(fileId)
      await decidedAgain()
      const { status, about } = await recordOf(fileId)
      assert.deepEqual([status, about], ['MULTIPLE_MATCHES', payments])
      assert.deepEqual((await run.booksOf(payments[1])).disputes, [])
    })
  })

  test('is not about a payment that was made after it', async () => {
    const order = `order-${newId()}`
    const fields = { ...run.at('settling'), paymentType: 'PA' }
    const { id } = await run.debit(order, {}, fields)
    const { paymentId: _, ...cells } = chargeback(id, { mtid: order, amount: '30.00' })
    const fileId = await run.file(cells)
    const { status: before } = await recordOf(fileId)
    const later = await capture(id, '50.00')
    await decidedAgain()
    await run.makeDue()
    await refund(later, '50.00')
    const { status, has_fact } = await recordOf(fileId)
    assert.deepEqual([before, status, has_fact], ['NOT_MATCHED', 'NOT_MATCHED', false])
  })
})
