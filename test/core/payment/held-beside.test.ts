/** Words about a payment that is over, or not decided: the payments beside it whose money they are about are held. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Context, Operation } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, failure, type LateRun, lose, refuse } from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'
import {
  busy,
  by,
  chargeback,
  decline,
  isPutOff,
  named,
  openCapture,
  startToldMeanwhile,
  waiting,
  waitsForOthers,
} from '../../rig/told-meanwhile.ts'

describe('the payments beside it', () => {
  let run: LateRun
  let line: Line
  let close: () => Promise<void>
  before(async () => {
    ;({ run, line, close } = await startToldMeanwhile())
  })
  after(() => close())

  const increment = {
    ...eur('10.00'),
    standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
  }
  /** An authorisation, and an increase of it that was declined. */
  async function declinedIncrease() {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const script = { increment: refuse }
    const more = await run.follow(id, 'PA', `more-${newId()}`, increment as never, script)
    return { id, more: more.id }
  }
  const capture = (id: string, amount: string) =>
    run.follow(id, 'CP', `capture-${newId()}`, eur(amount))
  const refund = (id: string, amount: string) =>
    run.follow(id, 'RF', `refund-${newId()}`, eur(amount))

  test('a chargeback of a declined increase holds captures of its authorisation that are still to come', async () => {
    const { id, more } = await declinedIncrease()
    assert.equal(await run.tell(more, chargeback('5000')), 'recorded')
    await assert.rejects(capture(id, '50.00'), waitsForOthers)
  })

  test('a late increase is not taken back after a chargeback by its key', async () => {
    const reversed: string[] = []
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const more = await run.follow(id, 'PA', `more-${newId()}`, increment as never, {
      increment: refuse,
      enquire: approvedAs,
      reverseByKey: (operation, context) => {
        reversed.push(operation.key)
        context.sending()
        return { is: 'reversed', refs: {} }
      },
    })
    await capture(id, '92.00')
    assert.equal(await run.tell(more.id, chargeback('1000')), 'recorded')
    await run.tell(more.id, { outcome: approval, minor: '1000' })
    await until(async () => reversed[0] || (await run.timers(more.id)).length === 0 || undefined)
    assert.deepEqual(reversed, [], 'the payer has the money')
    await run.operator.settle(more.id, 'declined', by)
  })

  test('a chargeback of a declined increase under a reference of another payment holds refunds of a capture', async () => {
    const { id, more } = await declinedIncrease()
    const paid = await capture(id, '50.00')
    const other = await run.debit(`order-${newId()}`)
    const told = chargeback('5000')
    assert.equal(await run.tell(other.id, told), 'recorded')
    assert.equal(await run.tell(more, told), 'conflict')
    await assert.rejects(refund(paid.id, '50.00'), waitsForOthers)
  })

  test('a capture between the read of a declined increase and the record of its chargeback is held, too', async () => {
    const other = await run.debit(`order-${newId()}`)
    await run.tell(other.id, chargeback('100'))
    const { id, more } = await declinedIncrease()
    await capture(id, '30.00')
    const held = line.hold(named(run, /max\(place\).*where family/s))
    const eventId = await run.bring(more, chargeback('5000'))
    const letGo = await held
    const second = await capture(id, '50.00')
    letGo()
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(refund(second.id, '50.00'), waitsForOthers)
  })

  test('a chargeback of a declined capture holds the reversal of its authorisation', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const open = await openCapture(run, id)
    await decline(run, open)
    assert.equal(await run.tell(open.id, chargeback('2000')), 'recorded')
    await assert.rejects(run.follow(id, 'RV', `reversal-${newId()}`), waitsForOthers)
  })

  test('the engine does not release an authorisation beside a chargeback by the key of its failed capture', async () => {
    const reversed: string[] = []
    const script = {
      capture: lose,
      enquire: busy,
      reverse: (operation: Operation, context: Context) => {
        reversed.push(operation.key)
        context.sending()
        return approvedAs(operation)
      },
    }
    const sale = await run.debit(`order-${newId()}`, script, { paymentType: 'PA.CP' })
    const [authorisation] = await run.sql<{ id: string }>(
      'select id from tollgate.payment where chain_id = $1',
      [sale.id],
    )
    const { id } = authorisation!
    await run.dueLater(sale.id)
    const eventId = await waiting(run, sale.id, '9200')
    const held = line.hold(named(run, /unfenced as.*has_failed/s))
    await decline(run, sale)
    const letGo = await held
    await run.dueNow(id)
    await until(async () => (await isPutOff(run, id)) || reversed[0])
    assert.equal(reversed.length, 0)
    letGo()
    assert.equal(await processed(run, eventId), 'recorded')
    await run.dueNow(id)
    await until(async () => (await isPutOff(run, id)) || reversed[0])
    assert.equal(reversed.length, 0, 'the payer has the money')
    const [entry] = (await run.listed(sale.id)).filter(({ kind }) => kind === 'beyond-sums')
    await run.gateway.operator.resolve(entry!.id, by)
    await until(async () => {
      await run.dueNow(id)
      return reversed[0]
    })
    await until(async () => (await run.timers(id)).length === 0 || undefined)
  })

  test('a release that is refused while an operator ends the entry that holds it is tried again', async () => {
    const script = { capture: lose, enquire: busy }
    const sale = await run.debit(`order-${newId()}`, script, { paymentType: 'PA.CP' })
    const [authorisation] = await run.sql<{ id: string }>(
      'select id from tollgate.payment where chain_id = $1',
      [sale.id],
    )
    const { id } = authorisation!
    await run.dueLater(sale.id)
    await run.tell(id, { outcome: failure })
    const [entry] = (await run.listed(id)).filter(({ open }) => open)
    await decline(run, sale)
    await until(async () => (await isPutOff(run, id)) || undefined)
    const held = line.hold(named(run, /frozen_by <> '\{\}' as is_frozen/s))
    await run.dueNow(id)
    const letGo = await held
    await run.gateway.operator.resolve(entry!.id, by)
    letGo()
    await until(async () => {
      await run.dueNow(id)
      return (await run.timers(id)).length === 0 || undefined
    })
    assert.deepEqual(await run.kinds(id), ['(return)'])
    assert.deepEqual(
      await run.sql(
        "select state from tollgate.payment where referenced_id = $1 and effect = 'release'",
        [id],
      ),
      [{ state: 'approved' }],
    )
  })

  test('another amount that was taken back while a payment was pending holds its refunds', async () => {
    const pending = () => ({ is: 'pending', next: 'event', refs: {} }) as const
    const { id } = await run.debit(`order-${newId()}`, {
      debit: (_, context) => {
        context.sending()
        return pending()
      },
      enquire: pending,
    })
    await run.dueLater(id)
    await run.tell(id, { outcome: { is: 'reversed', refs: {} }, minor: '4000' })
    assert.equal(await run.tell(id, { outcome: approval }), 'settled')
    assert.ok((await run.kinds(id)).includes('return'))
    await assert.rejects(refund(id, '92.00'), waitsForOthers)
  })

  test('an operator takes a late authorisation back by the id of its sale', async () => {
    let isReversible = false
    const sale = await run.debit(
      `order-${newId()}`,
      {
        authorize: refuse,
        enquire: approvedAs,
        reverseByKey: () => (isReversible ? { is: 'reversed', refs: {} } : { is: 'requested' }),
      },
      { paymentType: 'PA.CP' },
    )
    const [authorisation] = await run.sql<{ id: string }>(
      'select id from tollgate.payment where chain_id = $1',
      [sale.id],
    )
    const { id } = authorisation!
    await run.tell(id, { outcome: approval })
    await until(async () => (await run.audited(id)).includes('reverse-by-key'))
    await run.dueNow(id)
    // A look that is under way would tell the failure once more, after the redrive.
    await until(async () => (await isPutOff(run, id)) || undefined)
    await run.tell(id, { outcome: { is: 'notReversed', why: 'it is settled' } })
    await until(async () => (await run.timers(id)).length === 0 || undefined)
    isReversible = true
    await run.gateway.operator.redrive(sale.id, by)
    await until(async () => (await run.kinds(id)).join() === '(conflict)' || undefined)
  })
})
