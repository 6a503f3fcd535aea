/** What a start of the command line loads: imports that are no dynamic ones, and what they import in turn. */
import assert from 'node:assert/strict'
import path from 'node:path'
import { test } from 'node:test'
import { sources } from '../rig/sources.ts'

const host = new Map(sources('host').map(({ file, code }) => [file, code]))

/** The files of the host and the packages that loading some files loads. */
function loaded(files: readonly string[]): ReadonlySet<string> {
  const all = new Set<string>()
  const load = (file: string) => {
    if (all.has(file)) return
    all.add(file)
    // An import of types alone disappears, and the others stay.
    const imports = /^(?:import|export) (?!type\b)[^'(]*?from '([^']+)'/gm
    for (const [, target = ''] of host.get(file)?.matchAll(imports) ?? []) {
      load(target.startsWith('.') ? path.posix.join(path.posix.dirname(file), target) : target)
    }
  }
  for (const file of files) load(file)
  return all
}

test('the version and a word that begins no command load no package but the version of the engine', () => {
  const packages = [...loaded(['host/process.ts'])].filter(
    (name) => !name.startsWith('host/') && !name.startsWith('node:'),
  )
  assert.deepEqual(packages, ['@tollgate/core/package.json'])
})

test('a command beside a running host loads no server, no client and no demo shop', () => {
  const servers = ['serve', 'demo'].map((name) => `host/commands/${name}.ts`)
  const commands = [...host.keys()].filter(
    (file) => file.startsWith('host/commands/') && !servers.includes(file),
  )
  assert.ok(commands.length > 20)
  const all = loaded([...commands, 'host/commands/settings.ts', 'host/serve/installation.ts'])
  assert.ok(all.has('@tollgate/core'))
  const heavy =
    /^(?:express|got|helmet|rate-limiter-flexible|proxy-addr)$|demo-shop|http\/(?:host|server|router)\.ts$/
  assert.deepEqual(
    [...all].filter((name) => heavy.test(name)),
    [],
  )
})
