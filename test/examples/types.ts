/** The types that an embedding program sees: those of the packed packages. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { packedProject } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'
import { fenced } from './fenced.ts'

const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024']
/** Of a program for Node, without the types of browsers. */
const ofNode = ['--lib', 'es2024,esnext.disposable', '--types', 'node']

/** The compiler's errors in a program, by line. */
function errorsIn(folder: string, file: string, more: string[] = []): Promise<string[]> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [compiler, ...options, ...more, '--skipLibCheck', file],
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

test('the program of the README, and the gateway in Fastify, compile as TypeScript', async () => {
  const packed = await packedProject([])
  const [readme] = fenced('README.md', 'js')
  writeFileSync(path.join(packed, 'readme.mts'), readme!)
  assert.deepEqual(await errorsIn(packed, 'readme.mts', ofNode), [])
  const fastify = fenced('docs/embedding.md', 'mjs').find((block) => block.includes('Fastify()'))
  const given = `import type { Gateway } from '@tollgate/core'
    import { createFetchHandler } from '@tollgate/host/fetch'
    import Fastify from 'fastify'
    declare const gateway: Gateway\n`
  writeFileSync(path.join(packed, 'in-fastify.mts'), given + fastify!)
  assert.deepEqual(await errorsIn(packed, 'in-fastify.mts', ofNode), [])
})
