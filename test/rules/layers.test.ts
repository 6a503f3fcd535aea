import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Source, sources } from '../rig/sources.ts'

/** Folder of a layer -> the packages of ours it may import. */
const layers: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  'plugins/kit': ['@tollgate/schemas'],
  'plugins/embedded-postgres': [],
  core: ['@tollgate/schemas', '@tollgate/plugin-kit'],
  'connectors/simulator': ['@tollgate/schemas', '@tollgate/plugin-kit'],
  'connectors/acquirer-json': [
    '@tollgate/schemas',
    '@tollgate/plugin-kit',
    '@tollgate/plugin-kit/testing',
  ],
  host: [
    '@tollgate/schemas',
    '@tollgate/plugin-kit',
    '@tollgate/core',
    '@tollgate/connector-simulator',
    '@tollgate/embedded-postgres',
  ],
}

const ours = (source: Source) => source.imports.filter((name) => name.startsWith('@tollgate/'))

for (const [folder, allowed] of Object.entries(layers)) {
  test(`imports of ${folder} go down only`, () => {
    const wrong = sources(folder).flatMap((source) =>
      ours(source)
        .filter((name) => !allowed.includes(name))
        .map((name) => `${source.file} imports ${name}`),
    )
    assert.deepEqual(wrong, [])
  })

  test(`relative imports of ${folder} stay inside it`, () => {
    const wrong = sources(folder).flatMap((source) =>
      source.imports
        .filter((target) => target.endsWith('.ts') && !target.startsWith(`${folder}/`))
        .map((target) => `${source.file} imports ${target}`),
    )
    assert.deepEqual(wrong, [])
  })
}

test('every package folder has a layer', () => {
  const known = Object.keys(layers)
  const packages = ['schemas', 'plugins', 'core', 'connectors', 'host'].flatMap((folder) =>
    sources(folder).map(({ file }) => file),
  )
  assert.ok(packages.length > 100)
  assert.deepEqual(
    packages.filter((file) => !known.some((folder) => file.startsWith(`${folder}/`))),
    [],
  )
})

test('the host loads its optional database server only when it needs one', () => {
  const loading = sources('host').filter(({ imports }) =>
    imports.includes('@tollgate/embedded-postgres'),
  )
  assert.deepEqual(
    loading.map(({ file }) => file),
    ['host/serve/installation.ts'],
  )
  assert.match(loading[0]!.code, /await import\('@tollgate\/embedded-postgres'\)/)
  assert.doesNotMatch(loading[0]!.code, /from '@tollgate\/embedded-postgres'/)
})

test('express is known to the host alone', () => {
  const wrong = ['schemas', 'plugins', 'core', 'connectors']
    .flatMap(sources)
    .filter((source) =>
      source.imports.some((name) => /^(express|helmet|pino|rate-limiter)/.test(name)),
    )
  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  )
})

test('a payment changes state through the statements of settling and of late words alone', () => {
  const moving = sources('core').filter(({ code }) => /update tollgate\.payment set/.test(code))
  assert.deepEqual(
    moving.map(({ file }) => file),
    ['core/payment/store-first.ts', 'core/payment/store-late.ts', 'core/payment/store-settle.ts'],
  )
})
