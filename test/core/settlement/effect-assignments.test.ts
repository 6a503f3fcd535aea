/** A record and its payment stay together while its effect is carried out, and afterwards. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved } from '@tollgate/plugin-kit'
import pg from 'pg'
import { type GatewayError, newId, onFaultPoint } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { accept, lose, refuse } from '../../rig/late-words.ts'
import { settled } from '../../rig/settlement.ts'
import { chargeback, type EffectRun, line, startEffects, today } from './effect-run.ts'

const by = { by: 'alice', reason: 'seen at the bank' }

describe('a settlement record with an effect', () => {
  let run: EffectRun
  before(async () => {
    run = await startEffects()
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  const recordOf = async (settlementId: string) => {
    const [row] = await run.sql<{
      id: string
      match_status: string
      tier: string | null
      effect: string
      discrepancies: string[]
      effect_tries: number
      payments: string[]
    }>(
      `select id, match_status, tier, effect, effect_tries, discrepancies,
         array(select replace(given.id::text, '-', '') from unnest(candidates) as given (id)) as payments
       from tollgate.settlement_record where settlement_id = $1`,
      [settlementId],
    )
    return row!
  }
  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ state: string }>(
      'select state from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.state
  }
  const chargebackOf = async (id: string) => {
    const [row] = await run.sql<{ id: string }>(
      "select record_id as id from tollgate.chargeback where payment_id = $1 and kind = 'chargeback'",
      [id],
    )
    return row!.id
  }
  const effectOver = (settlementId: string) =>
    until(async () => {
      const { effect } = await recordOf(settlementId)
      if (effect !== 'open') return effect
      await run.makeDue()
      return undefined
    })
  /** The process that works on the record stood still so long that its lease is over. */
  const loseScope = (recordId: string) =>
    run.sql(
      `update tollgate.settlement_scope as scope set lease_until = null
       from tollgate.settlement_record as record where record.id = $1 and scope.id = record.scope_id`,
      [recordId],
    )
  const retried = async () => {
    await run.sql("update tollgate.timer set due_at = now() where kind = 'settlement-retry'")
    await until(async () => {
      const due = await run.sql(
        "select from tollgate.timer where kind = 'settlement-retry' and due_at < now() + interval '30 minutes'",
      )
      return due.length === 0 || undefined
    })
  }

  test('stays with the payment that it made late, whatever a retry finds', async () => {
    const late = await run.pay({ debit: refuse })
    const settlementId = newId()
    await run.file(line(late, { id: settlementId, ref1: `psp-${late}` }))
    await effectOver(settlementId)
    assert.equal(await attemptOf(late), 'late')
    const other = await run.pay({
      debit: (_, context) => {
        context.sending()
        return approved({ reference: `psp-${late}` })
      },
    })
    await retried()
    const { match_status: status, payments } = await recordOf(settlementId)
    assert.deepEqual([status, payments], ['NOT_MATCHED', [late]])
    assert.equal(await run.settledSum(other), 0n)
    await run.operator.settle(late, 'approved', by)
    await retried()
    const kept = await recordOf(settlementId)
    assert.deepEqual([kept.match_status, kept.payments], ['MATCHED', [late]])
  })

  for (const point of ['before-settlement-effect', 'after-settlement-effect'] as const) {
    const when = point.startsWith('before') ? 'before' : 'after'
    test(`is given to no other payment ${when} its effect, while its file is processed`, async () => {
      const [named, other] = [await run.pay({ debit: refuse }), await run.pay()]
      const settlementId = newId()
      let refusal: unknown
      onFaultPoint(async (at, ref) => {
        if (at !== point || refusal !== undefined) return
        refusal = await run.gateway.settlement.assign(ref!, [other], by).catch((error) => error)
      })
      await run.file(chargeback(named, { id: settlementId }))
      onFaultPoint(undefined)
      await effectOver(settlementId)
      assert.equal((refusal as GatewayError | undefined)?.code, '700.400.570')
      assert.deepEqual((await recordOf(settlementId)).payments, [named])
      const { disputes } = await run.booksOf(named)
      assert.equal(disputes.length, 1)
    })
  }

  test('takes effect for the payment that an operator gave it meanwhile, and for no other', async () => {
    const [named, given] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
    const settlementId = newId()
    let isAssigned = false
    onFaultPoint(async (point, ref) => {
      if (point !== 'before-settlement-effect' || isAssigned) return
      isAssigned = true
      await loseScope(ref!)
      await run.gateway.settlement.assign(ref!, [given], by)
    })
    await run.file(line(named, { id: settlementId }))
    onFaultPoint(undefined)
    await effectOver(settlementId)
    assert.equal((await recordOf(settlementId)).tier, 'operator')
    assert.equal(await attemptOf(named), 'declined')
    assert.equal((await run.booksOf(given)).isFinal, true)
  })

  for (const isKept of [false, true]) {
    const end = isKept ? 'is listed once it is kept' : 'ends'
    test(`that an operator assigns at the moment of its effect: the late success that it makes ${end}`, async () => {
      const [named, given] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
      const settlementId = newId()
      let isAssigned = false
      onFaultPoint(async (point, ref) => {
        if (ref !== named) return
        if (point === 'before-late' && !isAssigned) {
          isAssigned = true
          const { id: recordId } = await recordOf(settlementId)
          await loseScope(recordId)
          await run.gateway.settlement.assign(recordId, [given], by)
        } else if (point === 'after-late' && isKept) {
          onFaultPoint(undefined)
          await run.operator.settle(named, 'approved', by)
        }
      })
      await run.file(line(named, { id: settlementId }))
      onFaultPoint(undefined)
      await effectOver(settlementId)
      assert.equal((await run.booksOf(given)).isFinal, true)
      assert.equal(await attemptOf(named), isKept ? 'approved' : 'declined')
      const open = (await run.listed(named)).filter(({ open: isListed }) => isListed)
      assert.deepEqual(
        open.map(({ kind, detail }) => [kind, detail.record]),
        isKept ? [['conflict', (await recordOf(settlementId)).id.replaceAll('-', '')]] : [],
      )
      if (isKept) return
      await assert.rejects(run.operator.settle(named, 'approved', by))
      // Another line that names it is a late success again.
      await run.file(line(named))
      await until(async () => (await attemptOf(named)) === 'late' || undefined)
      await run.operator.settle(named, 'declined', by)
    })
  }

  test('waits, after the late success that it makes, for an assignment of that moment', async () => {
    const [named, given] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
    const settlementId = newId()
    const assigning = Promise.withResolvers<unknown>()
    const holder = new pg.Client(run.database.url)
    await holder.connect()
    const waiting = (count: number) =>
      until(async () => {
        const rows = await run.sql(
          "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
        return rows.length >= count || undefined
      })
    onFaultPoint(async (point, ref) => {
      if (ref !== named) return
      if (point === 'before-late') {
        const { id: recordId } = await recordOf(settlementId)
        await loseScope(recordId)
        // The assignment has looked at the late successes, and waits before its commit.
        await holder.query('begin')
        await holder.query('lock table tollgate.settlement_match in exclusive mode')
        assigning.resolve(run.gateway.settlement.assign(recordId, [given], by))
        await waiting(1)
      } else if (point === 'after-late') {
        onFaultPoint(undefined)
        void waiting(2)
          .then(() => holder.query('commit'))
          .finally(() => holder.end())
      }
    })
    await run.file(line(named, { id: settlementId }))
    await assigning.promise
    await effectOver(settlementId)
    assert.equal(await attemptOf(named), 'declined')
    assert.equal((await run.booksOf(given)).isFinal, true)
  })

  for (const end of ['is done', 'fails'] as const) {
    test(`takes effect again for the payment that it is given while an effect ${end}`, async () => {
      const [named, given] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
      const settlementId = newId()
      let isAssigned = false
      onFaultPoint(async (point, ref) => {
        if (point !== 'after-settlement-effect' || isAssigned) return
        isAssigned = true
        await run.operator.settle(named, 'declined', by)
        await loseScope(ref!)
        await run.gateway.settlement.assign(ref!, [given], by)
        // The new effect comes after this one, unless a look was quicker.
        await run.sql(
          "update tollgate.settlement_record set effect_after = now() + interval '1 hour' where id = $1",
          [ref],
        )
        if (end === 'fails') throw new Error('a defect')
      })
      await run.file(line(named, { id: settlementId }))
      onFaultPoint(undefined)
      const { tier, effect, effect_tries: tries } = await recordOf(settlementId)
      assert.deepEqual([tier, tries], ['operator', 0])
      assert.match(effect, /^(?:open|done)$/)
      await effectOver(settlementId)
      assert.equal((await run.booksOf(given)).isFinal, true)
    })
  }

  test('is given to another payment only after the late success that it made is decided', async () => {
    const [late, other] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
    const settlementId = newId()
    await run.file(line(late, { id: settlementId }))
    await effectOver(settlementId)
    const { id: recordId } = await recordOf(settlementId)
    await assert.rejects(
      run.gateway.settlement.assign(recordId, [other], by),
      (thrown: unknown) => {
        const { code, parameterErrors } = thrown as GatewayError
        assert.equal(code, '200.300.404')
        assert.match(
          parameterErrors![0]!.message,
          new RegExp(`late success of payment ${late}.*tollgate payment settle ${late}$`),
        )
        return true
      },
    )
    assert.equal((await recordOf(settlementId)).match_status, 'NOT_MATCHED')
    await run.operator.settle(late, 'declined', by)
    await run.gateway.settlement.assign(recordId, [other], by)
    await effectOver(settlementId)
    assert.equal((await run.booksOf(other)).isFinal, true)
  })

  test('is given to no other payment while the one that it names is late by a message', async () => {
    const refused = { is: 'refused', why: 'captured already' } as const
    const late = await run.pay({ debit: refuse, reverse: refuse, reverseByKey: () => refused })
    await run.tell(late, { outcome: { is: 'approved', refs: { reference: `at-${late}` } } })
    await until(async () => (await run.audited(late)).includes('late-success-stands') || undefined)
    const other = await run.pay({ debit: accept })
    const settlementId = newId()
    await run.file(line(late, { id: settlementId }))
    await effectOver(settlementId)
    const { id: recordId } = await recordOf(settlementId)
    await assert.rejects(run.gateway.settlement.assign(recordId, [other], by), {
      code: '200.300.404',
    })
    await run.operator.settle(late, 'declined', by)
    await run.gateway.settlement.assign(recordId, [other], by)
    await effectOver(settlementId)
    assert.equal((await run.booksOf(other)).isFinal, true)
  })

  test('of a chargeback keeps the money of a late success from going back a second time', async () => {
    let isUp = false
    const undone: string[] = []
    const late = await run.pay({
      debit: refuse,
      reverse: refuse,
      reverseByKey: ({ key }) => {
        if (!isUp) return { is: 'unknown', why: 'down' }
        undone.push(key)
        return { is: 'reversed' }
      },
    })
    await run.tell(late, { outcome: { is: 'approved', refs: { reference: `at-${late}` } } })
    assert.equal(await attemptOf(late), 'late')
    onFaultPoint(async (point) => {
      if (point !== 'before-settlement-effect' || isUp) return
      isUp = true
      await until(async () => {
        await run.dueNow(late)
        return (
          (await run.audited(late)).includes('late-success-stands') ||
          undone.length > 0 ||
          undefined
        )
      })
    })
    const settlementId = newId()
    await run.file(chargeback(late, { id: settlementId }))
    onFaultPoint(undefined)
    await effectOver(settlementId)
    assert.equal(undone.length, 0)
    assert.equal((await run.booksOf(late)).disputes.length, 1)
  })

  test('is given to no other payment after an operator kept its money', async () => {
    const [late, other] = [await run.pay({ debit: refuse }), await run.pay({ debit: accept })]
    const settlementId = newId()
    await run.file(line(late, { id: settlementId }))
    await effectOver(settlementId)
    await run.operator.settle(late, 'approved', by)
    const { id: recordId } = await recordOf(settlementId)
    await assert.rejects(run.gateway.settlement.assign(recordId, [other], by), {
      code: '200.300.404',
    })
    assert.equal(await run.settledSum(other), 0n)
    await run.gateway.settlement.assign(recordId, [late], by)
    assert.equal(await run.settledSum(late), 9200n)
  })

  for (const decided of [
    'is not decided yet',
    'is kept',
    'has a record by an assignment',
  ] as const) {
    test(`is given to another payment while another record pays the one that ${decided}`, async () => {
      const late = await run.pay({ debit: refuse })
      const others = [await run.pay({ debit: accept }), await run.pay({ debit: accept })]
      const [part, ...ids] = [newId(), newId(), newId()]
      for (const id of ids) await run.file(line(late, { id }))
      await run.file(line(late, { id: part, amount: '12.00' }))
      for (const id of [part, ...ids]) await effectOver(id)
      const [ofPart, first, second] = await Promise.all(
        [part, ...ids].map(async (id) => (await recordOf(id)).id),
      )
      const { assign } = run.gateway.settlement
      if (decided === 'is kept') await run.operator.settle(late, 'approved', by)
      if (decided === 'has a record by an assignment') await assign(first!, [late], by)
      await assign(second!, [others[0]!], by)
      await effectOver(ids[1]!)
      assert.equal((await run.booksOf(others[0]!)).isFinal, true)
      if (decided === 'is not decided yet') {
        await assert.rejects(assign(first!, [others[1]!], by), { code: '200.300.404' })
        await run.operator.settle(late, 'approved', by)
      }
      // Its money was another amount, so it made nothing late.
      await assign(ofPart!, [others[1]!], by)
      await retried()
      await until(async () => (await run.settledSum(late)) === 9200n || undefined)
      assert.equal(await run.settledSum(others[0]!), 9200n)
    })
  }

  test('is given to the payment that it made late itself', async () => {
    const late = await run.pay({ debit: refuse })
    const settlementId = newId()
    await run.file(line(late, { id: settlementId }))
    await effectOver(settlementId)
    await run.gateway.settlement.assign((await recordOf(settlementId)).id, [late], by)
    assert.equal(await effectOver(settlementId), 'done')
    await run.operator.settle(late, 'approved', by)
    assert.equal((await recordOf(settlementId)).tier, 'operator')
  })

  test('of a chargeback is given to another payment only after that chargeback is reversed', async () => {
    for (const reference of ['CASE', undefined]) {
      const [declined, other] = [await run.pay({ debit: refuse }), await run.pay()]
      const settlementId = newId()
      const named = reference === undefined ? {} : { reference: `${reference}-${declined}` }
      await run.file(chargeback(declined, { id: settlementId, ...named }))
      assert.equal(await effectOver(settlementId), 'done')
      const { id: recordId } = await recordOf(settlementId)
      const recorded = await chargebackOf(declined)
      await assert.rejects(
        run.gateway.settlement.assign(recordId, [other], by),
        (thrown: unknown) => {
          const { code, parameterErrors } = thrown as GatewayError
          assert.equal(code, '200.300.404')
          assert.match(
            parameterErrors![0]!.message,
            new RegExp(`chargeback ${recorded} of payment ${declined}.*-chargeback ${recorded}$`),
          )
          return true
        },
      )
      await run.gateway.operator.reverseChargeback(recorded, by)
      await run.gateway.settlement.assign(recordId, [other], by)
      assert.equal(await effectOver(settlementId), 'done')
      assert.deepEqual((await run.booksOf(other)).disputes, ['chargeback 9200 9200'])
      const [told] = await run.sql<{ id: string }>(
        'select dispute_record_id as id from tollgate.settlement_record where settlement_id = $1',
        [settlementId],
      )
      assert.equal(told!.id, await chargebackOf(other))
    }
  })

  test('of a chargeback is listed where the chargeback of its reference is that of another payment', async () => {
    const [charged, other] = [await run.pay(), await run.pay()]
    const reference = `CASE-${charged}`
    await run.file(chargeback(charged, { reference }))
    await run.file(chargeback(other, { reference }))
    assert.deepEqual((await run.booksOf(other)).listed, ['beyond-sums'])
    assert.deepEqual((await run.booksOf(other)).disputes, [])
  })

  test('settles no payment where its money goes the other way', async () => {
    const id = await run.pay()
    await run.file(line(id, { cashflow: 'NEG' }))
    const wrong = await run.gateway.query.get(id)
    assert.equal(wrong.settlement, undefined)
    await run.file(line(id))
    const right = await run.gateway.query.get(id)
    assert.equal(right.settlement?.amount, '92.00')
  })

  test('says STATE where its reference is another than the one that an operator gave the payment', async () => {
    const enquire = () => ({ is: 'notFound', why: 'not yet' }) as never
    const id = await run.pay({ debit: lose, enquire })
    await run.operator.enquire(id, by)
    const references = { reference: 'from-the-portal' }
    await run.operator.settle(id, 'approved', { ...by, references })
    const [order] = await run.sql<{ mtid: string }>(
      'select merchant_transaction_id as mtid from tollgate.payment where id = $1',
      [id],
    )
    const found: unknown[] = []
    for (const ref1 of ['TERMINAL-1', 'From-The-Portal']) {
      const settlementId = newId()
      await run.file(settled({ id: settlementId, date: today(), mtid: order!.mtid, ref1 }))
      const { tier, payments, discrepancies } = await recordOf(settlementId)
      found.push([tier, payments, discrepancies.filter((one) => one === 'STATE')])
    }
    assert.deepEqual(found, [
      ['merchant-reference', [id], ['STATE']],
      ['acquirer-reference', [id], []],
    ])
  })
})
