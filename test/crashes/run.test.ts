/** The plan of the seeded fault run follows from its seed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { killedAt, planOf } from '../faults/plan.ts'
import { profiles } from '../faults/profiles.ts'

const full = { forMs: 30 * 60_000, gapMs: profiles.full!.gapMs }

test('the same seed plans the same faults at the same times', () => {
  assert.deepEqual(planOf({ seed: 7, ...full }), planOf({ seed: 7, ...full }))
})

test('another seed plans other faults', () => {
  assert.notDeepEqual(planOf({ seed: 7, ...full }), planOf({ seed: 8, ...full }))
})

test('a full run includes every kind of fault, whatever its seed', () => {
  for (const seed of [1, 2, 3]) {
    const plan = planOf({ seed, ...full }).map(({ injection }) => injection)
    const killed = plan.flatMap((one) => (one.is === 'kill' ? [one.at] : []))
    for (const at of killedAt) assert.ok(killed.includes(at), `no host is killed at ${at}`)
    assert.deepEqual([...new Set(plan.map(({ is }) => is))].toSorted(), [
      'acquirer',
      'clock',
      'commit',
      'events',
      'freeze',
      'kill',
      'migration',
      'outlive',
      'pool',
      'postgres',
      'receiver',
      'rotation',
      'settlement',
    ])
  }
})
