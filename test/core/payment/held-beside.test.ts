/** Words about a payment that is over, or not decided: the payments beside it whose money they are about are held. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, unknown } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  approval,
  eur,
  failure,
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

describe('the payments beside it', () => {
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

  /** The name of the only statement with all these parts. */
  const named = (...parts: string[]) => {
    const found = run.gateway
      .statements()
      .filter(({ text }) => parts.every((part) => text.includes(part)))
    assert.equal(found.length, 1, `one statement has ${parts.join(' and ')}`)
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
    const held = line.hold(named('max(place)', 'where family'))
    const eventId = await run.bring(more, chargeback('5000'))
    const letGo = await held
    const second = await capture(id, '50.00')
    letGo()
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(refund(second.id, '50.00'), waitsForOthers)
  })

  test('a chargeback of a declined capture holds the reversal of its authorisation', async () => {
    const { id } = await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })
    const open = await openCapture(id)
    await decline(open)
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
    const eventId = await waiting(sale.id, '9200')
    const held = line.hold(named('unfenced as', 'has_failed'))
    await decline(sale)
    const letGo = await held
    await run.dueNow(id)
    await until(async () => (await isPutOff(id)) || reversed[0])
    assert.equal(reversed.length, 0)
    letGo()
    assert.equal(await processed(run, eventId), 'recorded')
    await run.dueNow(id)
    await until(async () => (await isPutOff(id)) || reversed[0])
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
    await decline(sale)
    await until(async () => (await isPutOff(id)) || undefined)
    const held = line.hold(named("frozen_by <> '{}' as is_frozen"))
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
    await until(async () => (await isPutOff(id)) || undefined)
    await run.tell(id, { outcome: { is: 'notReversed', why: 'it is settled' } })
    await until(async () => (await run.timers(id)).length === 0 || undefined)
    isReversible = true
    await run.gateway.operator.redrive(sale.id, by)
    await until(async () => (await run.kinds(id)).join() === '(conflict)' || undefined)
  })
})
