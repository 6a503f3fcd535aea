/** Changes of schedules and registrations are in the audit trail, with the token that made them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Caller } from '../../../core/index.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { cardOf } from '../../rig/payment-request.ts'

describe('changes by tokens', () => {
  let run: TestGateway
  let caller: Caller
  let registrationId: string
  before(async () => {
    run = await startGateway({ role: 'api' })
    const { token } = await run.gateway.entities.createToken(run.merchant, 'web shop')
    caller = { ...(await run.gateway.authenticate(`Bearer ${token}`)), address: '198.51.100.7' }
    const account = {
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf('4200000000000000'),
    }
    registrationId = (await run.gateway.registrations.create(account as never)).id
  })
  after(() => run.close())

  const rowsOf = async (resource: string) =>
    (await run.gateway.audit.list({ resource })).map((row) => {
      const { action, actor, actor_kind, entity_id, before, after, detail, address } =
        row as never as Record<string, unknown>
      assert.deepEqual(
        [actor, actor_kind, entity_id, address],
        ['web shop', 'token', run.channel, '198.51.100.7'],
      )
      return { action, before, after, detail }
    })

  test('a schedule that is created, changed and cancelled', async () => {
    const { schedules } = run.gateway
    const request = {
      ...{
        entityId: run.channel,
        amount: '9.00',
        currency: 'EUR',
        paymentType: 'DB',
        registrationId,
      },
      job: { hour: '6' },
    }
    const options = { caller, idempotencyKey: 'schedule-1' }
    const { id } = await schedules.create(request as never, options)
    assert.equal((await schedules.create(request as never, options)).id, id)
    await schedules.reschedule(id, { job: { hour: '7' } } as never, { caller })
    await schedules.cancel(id, { caller })
    await assert.rejects(schedules.cancel(id, { caller }))
    const [cancelled, changed, created, ...more] = await rowsOf(id)
    assert.deepEqual(more, [])
    assert.equal(created!.action, 'schedule.created')
    const { expression, ...facts } = created!.after as Record<string, unknown>
    const terms = { paymentType: 'DB', amount: '900', currency: 'EUR', registrationId }
    assert.deepEqual(facts, { ...terms, startAt: null, endAt: null })
    assert.equal(changed!.action, 'schedule.changed')
    assert.equal((changed!.before as Record<string, unknown>).expression, expression)
    assert.notEqual((changed!.after as Record<string, unknown>).expression, expression)
    assert.equal(cancelled!.action, 'schedule.cancelled')
  })

  test('a registration that is changed, extended and removed, without its contents', async () => {
    const { registrations } = run.gateway
    const card = { holder: 'Somebody Else', expiryMonth: '06', expiryYear: '2036' }
    await registrations.update(registrationId, { card } as never, { caller })
    await registrations.extend(registrationId, { caller })
    await registrations.remove(registrationId, { caller })
    await assert.rejects(registrations.remove(registrationId, { caller }))
    const nothing = { before: null, after: null }
    const fields = ['card.holder', 'card.expiryMonth', 'card.expiryYear']
    assert.deepEqual(await rowsOf(registrationId), [
      { action: 'registration.removed', ...nothing, detail: {} },
      { action: 'registration.extended', ...nothing, detail: {} },
      { action: 'registration.changed', ...nothing, detail: { fields } },
    ])
  })

  test('an embedding program names the person', async () => {
    const account = {
      entityId: run.channel,
      paymentBrand: 'VISA',
      card: cardOf('4200000000000000'),
    }
    const { id } = await run.gateway.registrations.create(account as never)
    await run.gateway.registrations.remove(id, { by: 'ada' })
    const [row] = await run.gateway.audit.list({ resource: id })
    assert.equal(row!.actor, 'ada')
  })
})
