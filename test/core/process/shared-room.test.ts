import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SharedPlaces, SharedRoom } from '../../../core/process/shared-room.ts'

/** Gives all free places to those who wait, in turn. */
function fill(room: SharedRoom<string>): string[] {
  const all: string[] = []
  for (let one = room.next(); one !== undefined; one = room.next()) {
    room.take(one[0])
    all.push(one)
  }
  return all
}

test('merchants with many in the line and with few get places in turn', () => {
  const room = new SharedRoom<string>(4)
  for (const one of ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']) room.waitFor(one[0], one)
  assert.deepEqual(fill(room), ['a1', 'b1', 'c1', 'a2'])
  assert.deepEqual(
    [...room.waiting()],
    [
      ['c', 1],
      ['a', 2],
    ],
  )
  room.leave('a')
  room.leave('a')
  // Whoever waits already comes first, then whoever came later.
  room.waitFor('b', 'b2')
  assert.deepEqual(fill(room), ['c2', 'a3'])
})

test('a merchant takes no more than its part, and those behind it do not wait for it', () => {
  const room = new SharedRoom<string>(3, 2)
  for (const one of ['a1', 'a2', 'a3', 'a4']) room.waitFor(one[0], one)
  assert.ok(room.isFreeFor('b'))
  assert.deepEqual(fill(room), ['a1', 'a2'])
  assert.deepEqual([room.isFreeFor('a'), room.isFreeFor('b')], [false, true])
  room.waitFor('b', 'b1')
  assert.deepEqual(fill(room), ['b1'])
  assert.deepEqual([room.isFreeFor('b'), room.isWithinShare('b')], [false, true])
  room.leave('a')
  assert.deepEqual([room.waitingOf('a'), fill(room), room.waitingOf('a')], [2, ['a3'], 1])
})

test('the only merchant that was met has all places, until there is another one', () => {
  const room = new SharedRoom<string>(3, 2)
  for (const one of ['a1', 'a2', 'a3', 'a4']) room.waitFor(one[0], one)
  assert.deepEqual(fill(room), ['a1', 'a2', 'a3'])
  room.waitFor('b', 'b1')
  for (const one of ['a', 'a']) room.leave(one)
  assert.deepEqual(fill(room), ['a4', 'b1'])
})

test('the embedding program may take all places', () => {
  const room = new SharedRoom<string>(3, 1)
  for (let no = 0; no < 3; no += 1) {
    assert.ok(room.isFreeFor(undefined))
    room.take(undefined)
  }
  assert.equal(room.isFreeFor(undefined), false)
})

test('a merchant that may not go now is passed over', () => {
  const room = new SharedRoom<string>(1)
  room.waitFor('a', 'a1')
  room.waitFor('b', 'b1')
  assert.equal(
    room.next((holder) => holder !== 'a'),
    'b1',
  )
  assert.equal(
    room.next((holder) => holder !== 'a'),
    undefined,
  )
  assert.equal(room.next(), 'a1')
})

test('work that waited too long for its place is refused when its turn comes, and lets the next one go', async () => {
  const ends: (() => void)[] = []
  const work = () => new Promise<string>((end) => ends.push(() => end('done')))
  const places = new SharedPlaces(1, 1, -1, () => new Error('too late'))
  const late = [places.within('a', work), places.within('b', work)]
  assert.deepEqual(
    (await Promise.allSettled(late)).map(({ status }) => status),
    ['rejected', 'rejected'],
  )
  const patient = new SharedPlaces(1, 1, 60_000, () => new Error('too many'))
  const all = ['a', 'a', 'b'].map((holder) => patient.within(holder, work))
  assert.throws(() => patient.refuseBeyond('a', 1), /too many/)
  patient.refuseBeyond('a', 2)
  patient.refuseBeyond(undefined, 0)
  for (let at = 0; at < all.length; at += 1) {
    while (ends.length <= at) await null
    ends[at]!()
  }
  assert.deepEqual(await Promise.all(all), ['done', 'done', 'done'])
})
