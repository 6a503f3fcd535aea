/** A call is told to be safe to repeat only where nothing of it happened or can still happen. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  intendAction,
  mayHaveActed,
  noteAction,
  presentCall,
  traced,
} from '../../core/call-trace.ts'
import { databaseUnavailable } from '../../core/db/unavailable.ts'

test('an action counts from before its begin until it is proven that it never happens', () => {
  traced(() => {
    const call = presentCall()!
    assert.equal(databaseUnavailable().retrySafe, true)
    const one = intendAction()
    const other = intendAction()
    one('never')
    assert.equal(mayHaveActed(call), true, 'the other one may still happen')
    other('never')
    assert.equal(databaseUnavailable().retrySafe, true)
    intendAction()('perhaps')
    assert.equal(databaseUnavailable().retrySafe, false)
  })
})

test('what a call starts belongs to it, also later and within another call', async () => {
  await traced(async () => {
    await Promise.resolve()
    traced(() => noteAction())
    assert.equal(databaseUnavailable().retrySafe, false)
  })
})

test('work that no program asked for is never told to be safe', () => {
  assert.equal(presentCall(), undefined)
  assert.equal(databaseUnavailable().retrySafe, false)
})
