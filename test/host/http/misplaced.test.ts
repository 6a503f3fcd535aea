/** Parameters that came where the operation reads nothing: they are refused by name, since unread they would mean nothing. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { closeChecked } from '../../rig/books.ts'
import { type Answer, ask, debit, type Hosted, startHost } from './hosted.ts'

describe('parameters in the wrong place', () => {
  let run: Hosted
  before(async () => {
    run = await startHost()
  })
  after(() => closeChecked(run))

  const form = { ...debit, createRegistration: 'true' }
  const post = (path: string, fields: Readonly<Record<string, string>> = form) =>
    ask(run.url, path, { token: run.token, form: fields })
  const errorsOf = ({ body }: Answer) =>
    (body.result.parameterErrors ?? []).map(({ name, message }: Record<string, string>) => [
      name,
      message,
    ])
  const inQuery = 'was sent in the query of the URL; send it in the body'
  const inBody = 'was sent in the body; send it in the query of the URL'

  test('the query of a POST is refused, as a form and as JSON', async () => {
    const other = 'f'.repeat(32)
    const refused = await post(`/v1/payments?entityId=${other}&amount=1.00&nonsense=1`)
    assert.equal(refused.status, 400)
    assert.deepEqual(errorsOf(refused), [
      ['nonsense', 'is not an allowed parameter'],
      ['entityId', inQuery],
      ['amount', inQuery],
    ])
    const { body } = await ask(run.url, '/v1/payments?card.cvv=123', {
      token: run.token,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ amount: '92.00', currency: 'EUR', paymentType: 'DB' }),
    })
    assert.ok(JSON.stringify(body.result.parameterErrors).includes(inQuery))
    assert.ok(!JSON.stringify(body).includes('"123"'))
  })

  test('a query that says the same as the body is harmless', async () => {
    const paid = await post(`/v1/payments?entityId=${run.channel}&amount=92.00`, {
      ...debit,
      entityId: run.channel,
      amount: '92.00',
    })
    assert.equal(paid.status, 200, JSON.stringify(paid.body))
  })

  test('the body of a DELETE is refused, and nothing is removed', async () => {
    const made = await post('/v1/payments')
    const path = `/v1/registrations/${made.body.registrationId}`
    const remove = (more: Parameters<typeof ask>[2] = {}, query = '') =>
      ask(run.url, path + query, { token: run.token, method: 'DELETE', ...more })
    assert.deepEqual(errorsOf(await remove({ form: { entityId: run.channel } })), [
      ['entityId', inBody],
    ])
    const headers = { 'Content-Type': 'application/json' }
    const asJson = await remove({ headers, body: JSON.stringify({ entityId: run.channel }) })
    assert.deepEqual(errorsOf(asJson), [['entityId', inBody]])
    assert.equal((await ask(run.url, path, { token: run.token })).status, 200)
    const empty = await remove({ headers, body: '{}' }, `?entityId=${run.channel}`)
    assert.equal(empty.status, 200, JSON.stringify(empty.body))
  })
})
