/** The types that an embedding program sees: those of the packed packages. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { packedProject } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'

const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024']

/** The compiler's errors in a program, by line. */
function errorsIn(folder: string, file: string): Promise<string[]> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiler, ...options, '--skipLibCheck', file],
      { cwd: folder },
      (_failed, out) => resolve(out.split('\n').filter((line) => line.startsWith(file))),
    )
  })
}

test('a misspelt field, type or currency does not compile in an embedding program', async () => {
  const packed = await packedProject([])
  const source = readFileSync(path.join(root, 'test/examples/typed-embedder.ts'), 'utf8')
  writeFileSync(path.join(packed, 'typed.ts'), source)
  assert.deepEqual(await errorsIn(packed, 'typed.ts'), [])
  // Without their marks, the same lines are errors, so the compiler looked at them.
  const expected = source
    .split('\n')
    .flatMap((line, no) => (/^ *\/\/ @ts-expect-error/.test(line) ? [no + 2] : []))
  writeFileSync(path.join(packed, 'unmarked.ts'), source.replaceAll('@ts-expect-error', ''))
  const errors = await errorsIn(packed, 'unmarked.ts')
  const lines = errors.map((line) => Number(/\((\d+),/.exec(line)?.[1]))
  assert.ok(expected.length >= 20)
  assert.deepEqual(
    expected.filter((no) => !lines.includes(no)),
    [],
  )
})
