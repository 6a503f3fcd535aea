/** A scheduled charge that the acquirer accepted, and that fails later: a returned direct debit, say. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { accepted, declined } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import {
  type AcquirerRun,
  approvedAs,
  message,
  processed,
  scriptedName,
  startWithAcquirer,
} from '../../rig/acquirer.ts'
import { closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import { type Scheduling, scheduling } from '../../rig/schedules.ts'

describe('a scheduled charge that is accepted and fails later', () => {
  let run: AcquirerRun
  let tools: Scheduling
  before(async () => {
    run = await startWithAcquirer()
    tools = scheduling(run)
  })
  after(() => closeChecked(run))

  /** A charge on a test clock, accepted by the acquirer; later charges of its schedule are approved. */
  async function acceptedCharge(policy: Record<string, unknown>) {
    const channel = await run.gateway.entities.create({
      kind: 'channel',
      name: 'late failures',
      parentId: run.merchant,
    })
    const account = await run.gateway.entities.createAccount({
      channelId: channel,
      connector: scriptedName,
      mode: 'EXTERNAL',
      settings: {},
    })
    await run.gateway.entities.configure(channel, policy, { by: 'alice' })
    const reference = `late-${newId()}`
    let charges = 0
    run.acquirer.tell(reference, {
      debit(operation, context) {
        context.sending()
        charges += 1
        return charges === 1
          ? accepted({ reference: operation.key }, 'event')
          : approvedAs(operation)
      },
    })
    const clock = await tools.clockAt('2027-01-01 00:00:00')
    const registrationId = await tools.store({
      testMode: 'EXTERNAL',
      entityId: channel,
      testClock: clock.id,
    })
    const { id } = await tools.schedule(registrationId, {
      ...{ entityId: channel, testMode: 'EXTERNAL', merchantTransactionId: reference },
      job: { expression: '0 0 6 1 * ?' },
    })
    await tools.advance(clock.id, { by: 'P1D' })
    assert.deepEqual(await tools.history(id), ['2027-01-01 06:00:00 APPROVED'])
    const [payment] = await run.sql<{ id: string; key: string }>(
      'select id, attempt_key as key from tollgate.payment where schedule_id = $1',
      [id],
    )
    return {
      id,
      clock,
      charges: () => charges,
      /** The acquirer says later that the charge failed. */
      async fail(reason: '800.100.203' | '800.100.172') {
        const eventId = `evt-${newId()}`
        const outcome = declined(reason)
        const about = { eventId, key: payment!.key, minor: '1200', outcome }
        await run.gateway.inbound(scriptedName, account, message(about))
        assert.equal(await processed(run, eventId), 'settled')
      },
      /** Waits until the failed execution has been looked at. */
      looked: () =>
        until(async () => {
          const rows = await run.sql(
            `select from tollgate.timer join tollgate.occurrence
               on timer.ref = replace(occurrence.id::text, '-', '')
             where timer.kind = 'execution' and occurrence.schedule_id = $1`,
            [id],
          )
          return rows.length === 0 ? true : undefined
        }),
    }
  }

  test('is repeated by the policy of the channel, counted from its failure', async () => {
    const charge = await acceptedCharge({ resubmissions: 2, resubmissionHours: [24] })
    await charge.fail('800.100.203')
    await charge.looked()
    assert.deepEqual(await tools.history(charge.id), ['2027-01-01 06:00:00 DECLINED'])
    await tools.advance(charge.clock.id, { by: 'PT23H' })
    assert.equal(charge.charges(), 1, 'not before the pause is over')
    await tools.advance(charge.clock.id, { by: 'PT1H' })
    assert.equal(charge.charges(), 2)
    assert.deepEqual(await tools.history(charge.id), ['2027-01-01 06:00:00 APPROVED'])
  })

  test('stays declined without a policy, and where a repeat cannot help', async () => {
    const without = await acceptedCharge({})
    await without.fail('800.100.203')
    const closed = await acceptedCharge({ resubmissions: 2, resubmissionHours: [24] })
    await closed.fail('800.100.172')
    for (const charge of [without, closed]) {
      await charge.looked()
      await tools.advance(charge.clock.id, { by: 'P5D' })
      assert.equal(charge.charges(), 1)
      assert.deepEqual(await tools.history(charge.id), ['2027-01-01 06:00:00 DECLINED'])
    }
  })
})
