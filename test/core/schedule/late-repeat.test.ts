/** A repeat of a declined charge that an outage delayed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { declined } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { type AcquirerRun, startWithAcquirer } from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('repeats after an outage', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  /** A schedule with a declined charge whose repeat is due in an hour, cancelled with a day of notice. */
  async function cancelledWithRepeat() {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'repeats',
      parentId: run.merchant,
    })
    await run.gateway.entities.createAccount({
      channelId: channel,
      connector: 'scripted',
      mode: 'EXTERNAL',
      settings: {},
    })
    const policy = { resubmissions: 2, resubmissionHours: [1] }
    await run.gateway.entities.configure(channel, policy, { by: 'alice' })
    const reference = `repeat-${newId()}`
    let charges = 0
    run.acquirer.tell(reference, {
      debit: (operation, context) => {
        context.sending()
        charges += 1
        if (charges === 1) return declined('800.100.203')
        return { is: 'approved', refs: { reference: operation.key } }
      },
    })
    const registrationId = await tools.store({ testMode: 'EXTERNAL', entityId: channel })
    const at = new Date(Math.ceil(Date.now() / 1000 + 0.5) * 1000)
    const time = `${at.getUTCSeconds()} ${at.getUTCMinutes()} ${at.getUTCHours()}`
    const { id } = await tools.schedule(registrationId, {
      ...{ entityId: channel, testMode: 'EXTERNAL', merchantTransactionId: reference },
      job: {
        expression: `${time} * * ? *`,
        ...{ noticeNumber: '1', noticeUnit: 'DAY', noticeCallable: 'ANYTIME' },
      },
    })
    const repeats = () =>
      run.sql<{ ref: string }>("select ref from tollgate.timer where kind = 'resubmit'")
    await until(async () => ((await repeats()).length > 0 ? true : undefined))
    await run.gateway.schedules.cancel(id)
    return { id, repeats, charges: () => charges }
  }

  /** Moves the decline, its repeat and the cancellation into the past, as after days without a worker. */
  async function daysLater(id: string, effectiveEnd: string) {
    const settled =
      "settled_at = now() - interval '61 hours', created_at = now() - interval '61 hours'"
    await run.sql(`update tollgate.payment set ${settled} where schedule_id = $1`, [id])
    await run.sql(
      `update tollgate.schedule set cancelled_at = now() - interval '3 days',
         effective_end = now() + $2::interval, next_at = null where id = $1`,
      [id, effectiveEnd],
    )
    await run.sql(
      "update tollgate.timer set due_at = now() - interval '60 hours' where kind = 'resubmit'",
    )
  }

  test('the repeat is not made once the cancellation took effect', async () => {
    const { id, repeats, charges } = await cancelledWithRepeat()
    await daysLater(id, '-2 days')
    await until(async () => ((await repeats()).length === 0 ? true : undefined))
    assert.equal(charges(), 1)
    const [payment] = await run.sql('select state from tollgate.payment where schedule_id = $1', [
      id,
    ])
    assert.deepEqual(payment, { state: 'declined' })
  })

  test('the repeat is made while the cancellation has yet to take effect', async () => {
    const { id, charges } = await cancelledWithRepeat()
    await daysLater(id, '2 days')
    await until(async () => (charges() === 2 ? true : undefined))
  })
})
