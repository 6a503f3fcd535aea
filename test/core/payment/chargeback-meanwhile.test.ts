/** A chargeback that is recorded between two questions about it is found by one of them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { unknown } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  eur,
  type LateRun,
  lose,
  startLateThroughLine,
  withoutKeyReversal,
} from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'

const by = { by: 'alice', reason: 'seen in their portal' }

describe('a refund without an answer', () => {
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

  test('is not sent again beside a chargeback that is recorded while the engine looks for it', async () => {
    const own = { paymentType: 'PA' as const, ...run.at('by-operation') }
    const { id } = await run.debit(`order-${newId()}`, {}, own)
    const paid = await run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
    // While this capture may succeed, a chargeback by the key of the authorisation waits.
    const open = await run.follow(id, 'CP', `open-${newId()}`, eur('20.00'), {
      capture: lose,
      enquire: () => unknown('busy'),
    })
    await run.dueLater(open.id)
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
    const outcome = { is: 'chargeback', reason: '000.100.220', refs: {} }
    const eventId = await run.bring(id, { outcome, reference: 'cb-1', minor: '5000' })
    await until(async () => {
      const [row] = await run.sql(
        `update tollgate.inbound_event set next_at = now() + interval '1 hour'
          where event_id = $1 and waits > 0 returning event_id`,
        [eventId],
      )
      return row
    })
    const waiting = run.gateway
      .statements()
      .find(({ text }) => text.includes('select event.event_id as id') && text.includes('paid'))
    const held = line.hold(waiting!.name)
    await run.dueNow(refund.id)
    const letGo = await held
    await run.operator.enquire(open.id, by)
    await run.operator.settle(open.id, 'declined', by)
    assert.equal(await processed(run, eventId), 'recorded')
    letGo()
    await until(async () => (await run.kinds(refund.id)).includes('undecided') || sent[1])
    assert.equal(sent.length, 1)
    assert.equal(await run.stateOf(refund.id), 'unknown', 'the first request may have arrived')
    await run.operator.settle(refund.id, 'declined', by)
  })
})
