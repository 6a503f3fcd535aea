/** The command line is a function: only its entry reads and changes what a process has once. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from '../rig/sources.ts'

/** Files of the entry, which builds the shell that every command gets. */
const entry = ['host/process.ts']

/** Facts of the machine are the same for everybody in the process. */
const facts = 'platform|versions|getuid'

test('the command line takes its surroundings from the shell, and no global of the process', () => {
  const held = sources('host').filter(({ file }) =>
    /^host\/(?:[^/]+\.ts|(?:commands|config|doctor|serve)\/.*)$/.test(file),
  )
  assert.ok(held.length > 60)
  const globals = new RegExp(
    `(?<![\\w.#])(?:process\\.(?!(?:${facts})\\b)[a-zA-Z]\\w*|console\\.\\w+)|'node:(?:process|console)'`,
    'g',
  )
  const used = held
    .filter(({ file }) => !entry.includes(file))
    .flatMap(({ file, code }) => [...code.matchAll(globals)].map(([name]) => `${file}: ${name}`))
  assert.deepEqual(used, [])
})
