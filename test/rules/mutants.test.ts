/** A mistake that is to be put into a source fits it: otherwise its assertion is no longer proven able to fail. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { mutants } from '../faults/mutants.ts'
import { root } from '../rig/sources.ts'

test('every text that a mutant replaces stands in its source once', () => {
  assert.ok(mutants.length > 20)
  const wrong = mutants
    .flatMap(({ patches }) => patches)
    .filter(
      ({ file, find }) => readFileSync(path.join(root, file), 'utf8').split(find).length !== 2,
    )
    .map(({ file, find }) => `${file}: ${find}`)
  assert.deepEqual(wrong, [])
})
