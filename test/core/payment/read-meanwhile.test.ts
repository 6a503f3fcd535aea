/** States that change between two reads, or while the acquirer is asked: no money goes back twice, and no word is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Reversed, unknown } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed, type Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, heldCall, type LateRun, lose, refuse } from '../../rig/late-words.ts'
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

describe('a state that changes meanwhile', () => {
  let run: LateRun
  let line: Line
  let close: () => Promise<void>
  before(async () => {
    ;({ run, line, close } = await startToldMeanwhile())
  })
  after(() => close())

  test('a chargeback that is recorded while the engine looks for it keeps a refund from being sent again', async () => {
    const own = { paymentType: 'PA' as const, ...run.at('by-operation') }
    const { id } = await run.debit(`order-${newId()}`, {}, own)
    const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
    const open = await openCapture(run, id)
    const sent: string[] = []
    const refund = await run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00'), {
      enquire: () => ({ is: 'notFound' }),
      refund: (operation, context) => {
        sent.push(operation.key)
        context.sending()
        return sent.length === 1 ? unknown('the line went dead') : approvedAs(operation)
      },
    })
    await run.dueLater(refund.id)
    await run.age(refund.id)
    const eventId = await waiting(run, id, '5000')
    // The question is asked by itself where a balance refuses.
    await assert.rejects(run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00')))
    const held = line.hold(named(run, /^\s*with recursive\s+paid as.*select event.event_id as id/s))
    await run.dueNow(refund.id)
    const letGo = await held
    await decline(run, open)
    assert.equal(await processed(run, eventId), 'recorded')
    letGo()
    await until(async () => (await run.kinds(refund.id)).includes('undecided') || sent[1])
    assert.equal(sent.length, 1)
    assert.equal(await run.stateOf(refund.id), 'unknown', 'the first request may have arrived')
    await run.operator.settle(refund.id, 'declined', by)
  })

  test('a chargeback that is told between the request of a refund and its reservation holds the refund', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
    const refund = (amount: string) =>
      run.follow(paid.id, 'RF', `refund-${newId()}`, eur(amount), {
        refund: (operation, context) => {
          sent.push(operation.key)
          context.sending()
          return approvedAs(operation)
        },
      })
    const sent: string[] = []
    await refund('1.00')
    const open = await openCapture(run, id)
    const held = line.hold(named(run, /set\s+refunding = .*insert into tollgate\.payment /s))
    const refused = assert.rejects(refund('49.00'), waitsForOthers)
    const letGo = await held
    const eventId = await waiting(run, id, '5000')
    letGo()
    await refused
    await decline(run, open)
    assert.equal(await processed(run, eventId), 'recorded')
    assert.equal(sent.length, 1)
  })

  test('an authorisation is not released beside a chargeback that waits for its failed capture', async () => {
    const reversed: string[] = []
    const script = {
      capture: lose,
      enquire: busy,
      reverse: (operation: { key: string }) => {
        reversed.push(operation.key)
        return { is: 'approved' as const, refs: {} }
      },
    }
    const sale = await run.debit(`order-${newId()}`, script, { paymentType: 'PA.CP' })
    const [authorisation] = await run.sql<{ id: string }>(
      'select id from tollgate.payment where chain_id = $1',
      [sale.id],
    )
    const { id } = authorisation!
    await run.dueLater(sale.id)
    const eventId = await waiting(run, id, '9200')
    const held = line.hold(named(run, /unfenced as.*has_failed/s))
    await decline(run, sale)
    const letGo = await held
    await run.dueNow(id)
    await until(async () => (await isPutOff(run, id)) || reversed[0])
    assert.equal(reversed.length, 0)
    letGo()
    assert.match(await processed(run, eventId), /recorded|beyond/)
    await run.dueNow(id)
    await until(async () => (await isPutOff(run, id)) || (await run.timers(id)).length === 0)
    assert.equal(reversed.length, 0, 'the payer has the money')
  })

  test('a late success is not reversed once its chargeback is recorded, in the middle of its reversal', async () => {
    const reversed: string[] = []
    let state = ''
    let looks = 0
    let id = ''
    const payment = await run.debit(`order-${newId()}`, {
      debit: refuse,
      enquire: (operation) => (looks < 2 ? unknown('busy') : approvedAs(operation)),
      reverseByKey: async () => {
        looks += 1
        if (looks < 2) return { is: 'nothing' }
        state = await processed(run, await run.bring(id, chargeback('9200')))
        return { is: 'refused', why: 'not by its key' }
      },
      reverse: (operation, context) => {
        reversed.push(operation.key)
        context.sending()
        return approvedAs(operation)
      },
    })
    id = payment.id
    await run.tell(id, { outcome: approval })
    await run.dueNow(id)
    await until(async () => {
      const isLeft = state !== '' && (await run.timers(id)).length === 0
      return isLeft || reversed[0]
    })
    assert.deepEqual([state, reversed.length], ['recorded', 0])
  })

  for (const [how, entity, request] of [
    ['by its key', undefined, /"asked": true/],
    ['by an operation', 'by-operation', /state = 'late'\s+and \(.*new_attempt as/s],
  ] as const) {
    test(`a late success is not reversed ${how} once its chargeback is recorded, right before the request`, async () => {
      const reversed: string[] = []
      const script: Script = {
        debit: refuse,
        enquire: approvedAs,
        reverse: (operation, context) => {
          reversed.push(operation.key)
          return reversed.length === 1 ? refuse(operation, context) : approvedAs(operation)
        },
        reverseByKey: (operation) => {
          reversed.push(operation.key)
          return reversed.length === 1
            ? { is: 'unknown', why: 'busy' }
            : { is: 'reversed', refs: {} }
        },
      }
      const own = entity === undefined ? {} : run.at(entity)
      const { id } = await run.debit(`order-${newId()}`, script, own)
      await run.tell(id, { outcome: approval })
      await until(async () => {
        const [ended] = await run.sql(
          `select from tollgate.attempt
           join tollgate.audit on audit.resource = attempt.payment_id
             and audit.action in ('reverse-by-key', 'late-success-stands')
           where attempt.payment_id = $1 and attempt.lease_until is null`,
          [id],
        )
        return ended
      })
      await run.dueLater(id)
      const held = line.hold(named(run, request))
      if (entity === undefined) await run.dueNow(id)
      else await run.gateway.operator.redrive(id, by)
      const letGo = await held
      assert.equal(await run.tell(id, chargeback('9200')), 'recorded')
      letGo()
      await until(
        async () => reversed.length > 1 || (await run.timers(id)).length === 0 || undefined,
      )
      assert.equal(reversed.length, 1, 'the payer has the money')
      await run.operator.settle(id, 'declined', by)
    })
  }

  test('a proven approval decides, although the reversal of its key is refused between two reads', async () => {
    let found: () => unknown = () => ({ is: 'notFound' })
    const reversal = heldCall<Reversed>()
    let isSecond = false
    const { id } = await run.debit(`order-${newId()}`, {
      debit: lose,
      enquire: () => found() as never,
      reverseByKey: (operation, context) => {
        if (isSecond) return { is: 'nothing' }
        isSecond = true
        return reversal.handler(operation, context)
      },
    })
    await run.age(id)
    await run.dueNow(id)
    await reversal.begun
    found = busy
    const read = named(run, /attempt\.state as attempt_state.*where attempt\.key/s)
    const first = line.hold(read)
    const eventId = await run.bring(id, { outcome: approval })
    const goOn = await first
    const second = line.hold(read)
    goOn()
    const letGo = await second
    reversal.answer({ is: 'refused', why: 'it is under way' })
    await until(async () => {
      const [row] = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return row
    })
    await run.dueLater(id)
    letGo()
    await until(async () => (await run.stateOf(id)) === 'approved' || undefined)
    assert.equal(await processed(run, eventId), 'settled')
  })

  test('money that was taken back in another amount holds refunds, although the payment is decided meanwhile', async () => {
    let isKnown = false
    const { id } = await run.debit(`order-${newId()}`, {
      debit: lose,
      enquire: (operation) => (isKnown ? approvedAs(operation) : unknown('busy')),
    })
    await run.dueLater(id)
    const entry = run.gateway
      .statements()
      .find(
        ({ text }) => /insert into tollgate.attention /.test(text) && !/frozen/.test(text),
      )!.name
    const first = line.hold(entry)
    const eventId = await run.bring(id, { outcome: { is: 'reversed', refs: {} }, minor: '4000' })
    const goOn = await first
    const second = line.hold(entry)
    goOn()
    const letGo = await second
    isKnown = true
    // Decides the payment, unless somebody holds it.
    await run.operator.enquire(id, by).catch(() => {})
    letGo()
    await processed(run, eventId)
    await run.dueNow(id)
    await until(async () => (await run.kinds(id)).includes('return') || undefined)
    assert.equal(await run.stateOf(id), 'approved')
    await assert.rejects(run.follow(id, 'RF', `refund-${newId()}`, eur('92.00')), waitsForOthers)
  })

  test('a chargeback by the key of a declined increase holds refunds of a capture, before and after its record', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const increment = {
      ...eur('10.00'),
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
    }
    const more = await run.follow(id, 'PA', `more-${newId()}`, increment as never, {
      increment: refuse,
    })
    const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
    const open = await openCapture(run, id)
    const eventId = await waiting(run, more.id, '5000')
    const refund = () => run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00'))
    await assert.rejects(refund(), waitsForOthers)
    await decline(run, open)
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(refund(), waitsForOthers)
  })
})
