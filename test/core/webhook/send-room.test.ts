/** Endpoints of one merchant take no more than its part of a process's room for attempts, and claims go on beside it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { EndpointQueue } from '../../../core/webhook/endpoint-queue.ts'
import { type Counted, SendRoom } from '../../../core/webhook/send-room.ts'
import { setLimits } from '../../rig/set-limits.ts'

type Started = { readonly queue: EndpointQueue; readonly counted: Counted }

/** A room whose queues each want one attempt, and the attempts that have begun. */
function startRoom() {
  const started: Started[] = []
  let claims = 0
  const ask = (queue: EndpointQueue) => {
    if (room.isFreeFor(queue)) started.push({ queue, counted: room.count(queue) })
    else room.waitFor(queue)
  }
  const room = new SendRoom(ask, () => {
    claims += 1
  })
  const queueOf = (merchant: string, failures = 0) => {
    const queue = new EndpointQueue(`${merchant} ${Math.random()}`, merchant)
    queue.failures = failures
    ask(queue)
    return queue
  }
  const of = (merchant: string) => started.filter(({ queue }) => queue.merchant === merchant)
  const many = (merchant: string, times: number, failures = 0) =>
    Array.from({ length: times }, () => queueOf(merchant, failures))
  // Merchants share once there are two.
  for (const failures of [0, 1]) {
    for (const merchant of ['met', 'met too']) {
      const queue = new EndpointQueue(merchant, merchant)
      queue.failures = failures
      room.isFreeFor(queue)
    }
  }
  return { room, started, of, many, claims: () => claims }
}

test('slow endpoints of one merchant leave room to others, and their waiting queues stop no claims', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] })
  const { room, started, of, many } = startRoom()
  many('slow', 1_000)
  for (let begun = 0; begun < started.length; ) {
    for (; begun < started.length; begun += 1) started[begun]!.counted.begins()
    context.mock.timers.tick(limits.webhookSlowMs)
  }
  assert.equal(of('slow').length, limits.webhooksRunningPerMerchant)
  assert.equal(room.isBehind, false)
  // Many more than the others in the line, and behind them.
  many('other', 100)
  assert.equal(of('other').length, 100)
  for (const { counted } of of('slow').slice(0, 7)) counted.ends()
  assert.equal(of('slow').length, limits.webhooksRunningPerMerchant + 7)
})

test('quick endpoints of many merchants get room in turn, and only those of several stop claims', () => {
  const { room, started, of, many, claims } = startRoom()
  many('first', limits.webhooksFast + 1_000)
  assert.equal(of('first').length, limits.webhooksFast)
  assert.equal(room.isBehind, false)
  many('second', 1)
  many('third', 300)
  assert.equal(room.isBehind, true)
  for (const { counted } of started.slice(0, 3)) counted.ends()
  assert.deepEqual([of('second').length, of('third').length], [1, 1])
  assert.equal(claims(), 0)
  // Those of the third get every second place, until so few wait that claims may go on.
  for (let at = 3; room.isBehind; at += 1) started[at]!.counted.ends()
  assert.equal(claims(), 1)
  assert.equal(
    300 - of('third').length,
    limits.webhooksStarved - limits.webhooksStarvedPerMerchant - 1,
  )
})

test('failing endpoints of one merchant leave room to those of others', () => {
  const { of, many } = startRoom()
  many('down', 100, 1)
  assert.equal(of('down').length, limits.webhooksToFailingPerMerchant)
  many('shaky', 100, 1)
  assert.equal(of('shaky').length, limits.webhooksToFailing - limits.webhooksToFailingPerMerchant)
  many('well', limits.webhooksFast)
  assert.equal(of('well').length, limits.webhooksFast)
})

test('a queue whose health changed while it waited waits in the other line', (context) => {
  context.after(
    setLimits({ webhooksFast: 1, webhooksToFailing: 1, webhooksToFailingPerMerchant: 1 }),
  )
  const { started, of, many } = startRoom()
  many('a', 1)
  many('a', 1, 1)
  const [waiting] = many('b', 1)
  waiting!.failures = 1
  started[0]!.counted.ends()
  assert.equal(of('b').length, 0)
  started[1]!.counted.ends()
  assert.equal(of('b').length, 1)
})
