/** The event feed over HTTP: tokens, answers, and waits that do not delay the end. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { until } from '../../rig/gateway.ts'
import { type Body, debit, type Hosted, startHost } from './hosted.ts'

describe('the event feed over HTTP', () => {
  type EventsBody = Body & {
    events: { id: string; type: string; payload: { id: string } }[]
    nextCursor: string
    more: boolean
  }

  let run: Hosted
  before(async () => {
    run = await startHost({ shutdownGraceMs: 20_000 })
  })
  after(() => run.close())

  const get = async (path: string, token = run.token) => {
    const answer = await fetch(`${run.url}${path}`, {
      headers: { authorization: `Bearer ${token}` },
    })
    return { status: answer.status, body: (await answer.json()) as EventsBody }
  }

  const pay = async () => {
    const answer = await fetch(`${run.url}/v1/payments`, {
      method: 'POST',
      headers: { authorization: `Bearer ${run.token}` },
      body: new URLSearchParams({ ...debit, entityId: run.channel }),
    })
    return (await answer.json()) as Body
  }

  test('a token reads the events of its own entity, and one event by its id', async () => {
    const { body: start } = await get('/v1/events?since=NOW')
    assert.deepEqual([start.events, start.more], [[], false])
    const payment = await pay()
    // An event is read once the transactions that began before it have ended, also those of other tests.
    const body = await until(async () => {
      const path = `/v1/events?cursor=${start.nextCursor}&types=PAYMENT,SCHEDULE`
      const { status, body } = await get(path)
      assert.equal(status, 200)
      return body.events.length > 0 ? body : undefined
    })
    assert.deepEqual(
      body.events.map(({ type, payload }) => [type, payload.id]),
      [['PAYMENT', payment.id]],
    )
    const one = await get(`/v1/events/${body.events[0]!.id}`)
    assert.equal(one.status, 200)
    assert.equal((one.body as unknown as { payload: { id: string } }).payload.id, payment.id)

    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const { token } = await run.gateway.entities.createToken(merchant, 'other')
    assert.deepEqual((await get('/v1/events', token)).body.events, [])
    assert.equal((await get(`/v1/events?entityId=${run.channel}`, token)).status, 403)
    assert.equal((await get(`/v1/events/${body.events[0]!.id}`, token)).status, 404)
  })

  test('a wait is answered when an event happens, and does not delay the end of a server', async () => {
    const { body: start } = await get('/v1/events?since=NOW')
    const waiting = get(`/v1/events?cursor=${start.nextCursor}&wait=30`)
    const payment = await pay()
    const { body } = await waiting
    assert.equal(body.events[0]!.payload.id, payment.id)

    const last = get(`/v1/events?cursor=${body.nextCursor}&wait=30`)
    // The request has arrived once a later one on the same engine was answered.
    await get('/v1/events?since=NOW')
    const startedMs = performance.now()
    const closed = run.closeServer()
    const answer = await last
    await closed
    assert.equal(answer.status, 200)
    assert.deepEqual([answer.body.events, answer.body.nextCursor !== ''], [[], true])
    assert.ok(performance.now() - startedMs < 25_000, 'sooner than the 30 seconds it asked for')
  })
})
