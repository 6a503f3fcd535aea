import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import test from 'node:test'
import { heapFlags, heapRegime } from '../../core/heap.ts'

const megabytes = 1_000_000

test('a fuller heap allows less growth', () => {
  const used = [50, 99, 100, 139, 140, 300]
  assert.deepEqual(
    used.map((size) => heapRegime(size * megabytes, 0.5)),
    ['free', 'free', 'near', 'near', 'closest', 'closest'],
  )
})

test('the heap is not compacted while the event loop is busy', () => {
  assert.equal(heapRegime(200 * megabytes, 0.95), 'close')
  assert.equal(heapRegime(100 * megabytes, 0.95), 'near')
})

test('the V8 of this Node knows every heap flag', () => {
  const all = [...Object.values(heapFlags).flat(), '--semi-space-growth-factor=1']
  // An unknown flag is an error on the command line, and only a printed warning later.
  assert.equal(execFileSync(process.execPath, [...all, '-p', '1']).toString(), '1\n')
  assert.throws(() => execFileSync(process.execPath, ['--no-such', '-p', '1'], { stdio: 'ignore' }))
})
