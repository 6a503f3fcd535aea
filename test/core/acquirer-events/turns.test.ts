/** Turns of events whose acquirer takes its time. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, type Found, unknown } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { message, processed, type Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, charged, type LateRun, lose, startLate } from '../../rig/late-words.ts'

/** An unproven event about an open payment, processed: an enquiry found nothing. */
async function heard(run: LateRun, eventId: string, enquire: Script['enquire'] & {}) {
  const { id } = await run.debit(eventId, { debit: lose, enquire })
  await run.dueLater(id)
  const forged = message({ eventId, key: await run.keyOf(id), outcome: approval }, {})
  await run.gateway.inbound('scripted', run.account, forged)
  await processed(run, eventId)
}

describe('an event that waits for its acquirer', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => run.close())

  test('holds up no other due work, and is worked on once', async () => {
    const answer = Promise.withResolvers<Found>()
    let asked = 0
    let isSlow = false
    const eventId = 'of-the-slow-one'
    await heard(run, eventId, () => {
      if (!isSlow) return unknown('it is down')
      asked += 1
      return answer.promise
    })
    isSlow = true
    // Only a tick takes it from here.
    await run.sql(
      'update tollgate.inbound_event set processed_at = null, outcome = null, next_at = now() where event_id = $1',
      [eventId],
    )
    await until(async () => asked > 0 || undefined)

    const other = await run.debit('quick-acquirer', {
      debit: lose,
      enquire: () => unknown('not yet'),
    })
    run.acquirer.tell('quick-acquirer', { enquire: () => approved({ reference: 'found' }) })
    await run.age(other.id)
    await run.dueNow(other.id)
    await until(async () => (await run.code(other.id)) === charged || undefined)
    assert.equal(asked, 1)

    answer.resolve(unknown('it was down'))
    assert.equal(await processed(run, eventId), 'enquired')
  })

  test('of many that are due, a process that ends takes no further ones', async () => {
    const ending = await startLate()
    try {
      const answer = Promise.withResolvers<Found>()
      let asked = 0
      let isSlow = false
      const enquire = () => {
        if (!isSlow) return unknown('it is down')
        asked += 1
        return answer.promise
      }
      for (let no = 0; no < 2 * limits.eventsAtOnce; no += 1) {
        await heard(ending, `at-the-end-${no}`, enquire)
      }
      isSlow = true
      await ending.sql(
        'update tollgate.inbound_event set processed_at = null, outcome = null, next_at = now()',
      )
      await until(async () => asked === limits.eventsAtOnce || undefined)
      const ended = ending.gateway.close()
      await until(() =>
        ending.pay().then(
          () => undefined,
          ({ status }) => status === 503 || undefined,
        ),
      )
      answer.resolve(unknown('it was down'))
      await ended
      assert.equal(asked, limits.eventsAtOnce)
    } finally {
      await ending.close()
    }
  })
})
