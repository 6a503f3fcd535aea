import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { EndpointQueue } from '../../../core/webhook/endpoint-queue.ts'
import type { Delivery } from '../../../core/webhook/types.ts'

const delivery = (resource: string, seq: number): Delivery => ({
  id: `${resource}${seq}`,
  endpointId: 'e',
  kind: 'REGISTRATION',
  resource,
  seq,
  attempts: 0,
  createdAt: new Date(0),
  event: null,
  callback: null,
  version: 1,
})

test('a notification waits in memory only behind a complete row of earlier ones', () => {
  const queue = new EndpointQueue('e', 'm')
  queue.more = false
  queue.add(delivery('a', 0), 0)
  queue.add(delivery('a', 3), 3)
  assert.deepEqual([queue.known, queue.more], [['a0'], true])
  queue.add(delivery('a', 1), 1)
  queue.add(delivery('a', 2), 2)
  queue.add(delivery('a', 3), 3)
  const sent: number[] = []
  for (let next = queue.next(); next !== undefined; next = queue.next()) {
    assert.equal(queue.next(), undefined, 'one notification of a resource at a time')
    sent.push(next.seq)
    queue.delivered(next)
  }
  assert.deepEqual(sent, [0, 1, 2, 3])
})

test('a failed notification removes its resource from memory and no other', () => {
  const queue = new EndpointQueue('e', 'm')
  queue.add(delivery('a', 0), 0)
  queue.add(delivery('a', 1), 1)
  queue.add(delivery('b', 0), 0)
  const first = queue.next()!
  queue.failed(first)
  queue.written(first)
  assert.deepEqual(queue.known, ['b0'])
  assert.equal(queue.next()?.resource, 'b')
})

test('memory is bounded, and a failing endpoint holds one notification in it', () => {
  const queue = new EndpointQueue('e', 'm')
  for (let no = 0; no < limits.webhooksWaiting + 5; no += 1) queue.add(delivery(`r${no}-`, 0), 0)
  assert.equal(queue.size, limits.webhooksWaiting)
  const down = new EndpointQueue('e', 'm')
  down.failures = limits.webhookFailures
  down.add(delivery('a', 0), 0)
  down.add(delivery('b', 0), 0)
  assert.deepEqual([down.size, down.room], [1, 1])
})
