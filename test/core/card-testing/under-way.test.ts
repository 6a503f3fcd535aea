/** Attempts whose outcome comes later: bounded questions about them, each counted once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UnderWay } from '../../../core/card-testing/under-way.ts'

const token = { merchantId: 'm', dimension: 'token', value: 't' } as const
const unstored = { keys: [token], number: 'n' }

test('all open attempts are asked about in turn, a bounded number at a time', () => {
  const underWay = new UnderWay()
  assert.deepEqual(underWay.someOpen(10), [])
  for (let no = 0; no < 25; no += 1) underWay.hold(`p${no}`, 'name', unstored, 0)
  const asked = Array.from({ length: 3 }, () => underWay.someOpen(10))
  assert.deepEqual(
    asked.map((some) => some.length),
    [10, 10, 5],
  )
  assert.equal(new Set(asked.flat()).size, 25)
  // Those that are over are left out, and new ones have their turn.
  for (let no = 0; no < 24; no += 1) underWay.decided(`p${no}`)
  underWay.hold('new', 'name', unstored, 0)
  assert.deepEqual(underWay.someOpen(10), ['p24', 'new'])
  assert.equal(underWay.open('name'), 2)
})

test('of an attempt that another process saw decided, the rest is counted once', () => {
  const underWay = new UnderWay()
  underWay.hold('failed', 'name', unstored, 0)
  assert.deepEqual(underWay.decidedElsewhere('failed', false, 0), unstored)
  assert.deepEqual(underWay.decidedElsewhere('failed', false, 0)?.keys, [])
  assert.equal(underWay.open('name'), 1, 'it counts until the failure is known here')
  underWay.hold('approved', 'name', unstored, 0)
  assert.deepEqual(underWay.decidedElsewhere('approved', true, 0), unstored)
  assert.equal(underWay.decided('approved'), undefined)
})
