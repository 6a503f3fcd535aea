/** States that change between two reads, or while the acquirer is asked: no money goes back twice, and no word is lost. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Reversed, unknown } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  eur,
  heldCall,
  type LateRun,
  lose,
  refuse,
  startLateThroughLine,
  withoutKeyReversal,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const busy = () => unknown('busy')
const waitsForOthers = { code: '700.300.600' }
const chargeback = (minor: string) => ({
  outcome: { is: 'chargeback', reason: '000.100.220', refs: {} },
  reference: `chargeback-${newId()}`,
  minor,
})

describe('a state that changes meanwhile', () => {
  let run: LateRun
  let line: Line
  before(async () => {
    ;({ run, line } = await startLateThroughLine(
      { 'by-operation': withoutKeyReversal },
      { supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } } },
    ))
  })
  after(async () => {
    try {
      await closeChecked(run)
    } finally {
      await line.close()
    }
  })

  /** The name of the only statement like this. */
  const named = (like: RegExp) => {
    const found = run.gateway.statements().filter(({ text }) => like.test(text))
    assert.equal(found.length, 1, `one statement is like ${like}`)
    return found[0]!.name
  }

  /** The message is stored, and waits for the end of an operation; the engine does not try it by itself. */
  async function waiting(id: string, minor: string): Promise<string> {
    const eventId = await run.bring(id, chargeback(minor))
    await until(async () => {
      const [row] = await run.sql(
        `update tollgate.inbound_event set next_at = now() + interval '1 hour'
          where event_id = $1 and waits > 0 returning event_id`,
        [eventId],
      )
      return row
    })
    return eventId
  }

  /** While this capture may succeed, a chargeback by the key of the authorisation waits. */
  async function openCapture(id: string) {
    const script = { capture: lose, enquire: busy }
    const open = await run.follow(id, 'CP', `open-${newId()}`, eur('20.00'), script)
    await run.dueLater(open.id)
    return open
  }

  /** The work that was due met something, and comes again later. */
  async function isPutOff(id: string): Promise<boolean> {
    const rows = await run.sql(
      `select from tollgate.timer where due_at > now() + interval '0.5 seconds' and
        ref in ($1::text, (select attempt_key from tollgate.payment where id = $1::text::uuid))`,
      [id],
    )
    return rows.length > 0
  }

  async function decline({ id }: { readonly id: string }): Promise<void> {
    await run.operator.enquire(id, by)
    await run.operator.settle(id, 'declined', by)
  }

  test('a chargeback that is recorded while the engine looks for it keeps a refund from being sent again', async () => {
    const own = { paymentType: 'PA' as const, ...run.at('by-operation') }
    const { id } = await run.debit(`order-${newId()}`, {}, own)
    const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
    const open = await openCapture(id)
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
    const eventId = await waiting(id, '5000')
    // The question is asked by itself where a balance refuses.
    await assert.rejects(run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00')))
    const held = line.hold(named(/^\s*with recursive\s+paid as.*select event.event_id as id/s))
    await run.dueNow(refund.id)
    const letGo = await held
    await decline(open)
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
    const open = await openCapture(id)
    const held = line.hold(named(/set\s+refunding = .*insert into tollgate\.payment /s))
    const refused = assert.rejects(refund('49.00'), waitsForOthers)
    const letGo = await held
    const eventId = await waiting(id, '5000')
    letGo()
    await refused
    await decline(open)
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
    const eventId = await waiting(id, '9200')
    const held = line.hold(named(/unfenced as.*has_failed/s))
    await decline(sale)
    const letGo = await held
    await run.dueNow(id)
    await until(async () => (await isPutOff(id)) || reversed[0])
    assert.equal(reversed.length, 0)
    letGo()
    assert.match(await processed(run, eventId), /recorded|beyond/)
    await run.dueNow(id)
    await until(async () => (await isPutOff(id)) || (await run.timers(id)).length === 0)
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
    const read = named(/attempt\.state as attempt_state.*where attempt\.key/s)
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
    const open = await openCapture(id)
    const eventId = await waiting(more.id, '5000')
    const refund = () => run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00'))
    await assert.rejects(refund(), waitsForOthers)
    await decline(open)
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(refund(), waitsForOthers)
  })
})
