import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { Lane } from '../../../core/webhook/endpoint-queue.ts'
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
  const lane = new Lane('e')
  lane.more = false
  lane.add(delivery('a', 0), 0)
  lane.add(delivery('a', 3), 3)
  assert.deepEqual([lane.known, lane.more], [['a0'], true])
  lane.add(delivery('a', 1), 1)
  lane.add(delivery('a', 2), 2)
  lane.add(delivery('a', 3), 3)
  const sent: number[] = []
  for (let next = lane.next(); next !== undefined; next = lane.next()) {
    assert.equal(lane.next(), undefined, 'one notification of a resource at a time')
    sent.push(next.seq)
    lane.delivered(next)
  }
  assert.deepEqual(sent, [0, 1, 2, 3])
})

test('a failed notification removes its resource from memory and no other', () => {
  const lane = new Lane('e')
  lane.add(delivery('a', 0), 0)
  lane.add(delivery('a', 1), 1)
  lane.add(delivery('b', 0), 0)
  const first = lane.next()!
  lane.failed(first)
  lane.written(first)
  assert.deepEqual(lane.known, ['b0'])
  assert.equal(lane.next()?.resource, 'b')
})

test('memory is bounded, and a failing endpoint holds one notification in it', () => {
  const lane = new Lane('e')
  for (let no = 0; no < limits.webhooksWaiting + 5; no += 1) lane.add(delivery(`r${no}-`, 0), 0)
  assert.equal(lane.size, limits.webhooksWaiting)
  const down = new Lane('e')
  down.failures = limits.webhookFailures
  down.add(delivery('a', 0), 0)
  down.add(delivery('b', 0), 0)
  assert.deepEqual([down.size, down.room], [1, 1])
})
