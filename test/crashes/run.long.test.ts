/** Twenty seconds of the seeded fault run. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { profiles } from '../faults/profiles.ts'
import { runFaults } from '../faults/run.ts'

test('a short run finds no broken rule', async () => {
  const lines: string[] = []
  const report = await runFaults({
    seed: 4,
    profile: { ...profiles.short!, minutes: 0.35 },
    say: (line) => lines.push(line),
  })
  assert.deepEqual(report.violations, [], lines.join('\n'))
  const done = report.injected.filter(({ result }) => result === 'done')
  assert.ok(done.length > report.injected.length / 2, 'most faults occurred')
  assert.ok(report.payments > 200, `only ${report.payments} payments`)
})
