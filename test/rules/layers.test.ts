import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { root, type Source, sources } from '../rig/sources.ts'
import { coreOrder } from './core-order.ts'

/** Folder of a layer -> the packages of ours it may import. */
const layers: Readonly<Record<string, readonly string[]>> = {
  schemas: [],
  'plugins/kit': ['@tollgate/schemas'],
  // Its template is a package of its own: `npm create tollgate-connector` writes it.
  'plugins/create-connector': [
    '@tollgate/plugin-kit',
    '@tollgate/plugin-kit/testing',
    '@tollgate/plugin-kit/xml',
  ],
  'plugins/embedded-postgres': [],
  'plugins/file-transfer': ['@tollgate/plugin-kit'],
  'plugins/file-server': ['@tollgate/plugin-kit'],
  'plugins/metrics': ['@tollgate/plugin-kit'],
  'plugins/tracing': ['@tollgate/plugin-kit'],
  'plugins/widget': ['@tollgate/schemas'],
  core: ['@tollgate/schemas', '@tollgate/plugin-kit'],
  'connectors/simulator': ['@tollgate/schemas', '@tollgate/plugin-kit'],
  'connectors/acquirer-json': ['@tollgate/plugin-kit', '@tollgate/plugin-kit/testing'],
  'connectors/google-pay': ['@tollgate/plugin-kit', '@tollgate/plugin-kit/testing'],
  'connectors/apple-pay': ['@tollgate/plugin-kit', '@tollgate/plugin-kit/testing'],
  'connectors/samsung-pay': ['@tollgate/plugin-kit', '@tollgate/plugin-kit/testing'],
  'connectors/adyen': ['@tollgate/plugin-kit', '@tollgate/plugin-kit/testing'],
  host: [
    '@tollgate/schemas',
    '@tollgate/plugin-kit',
    '@tollgate/core',
    // Its version.
    '@tollgate/core/early',
    '@tollgate/core/package.json',
    '@tollgate/connector-simulator',
    '@tollgate/embedded-postgres',
    '@tollgate/widget',
    '@tollgate/widget/texts/languages',
    '@tollgate/widget/texts/load',
    '@tollgate/widget/texts/types',
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

const core = sources('core')
const coreParts = coreOrder.flatMap(({ parts }) => parts)

/** `core/payment/view.ts` -> `payment/`, `core/engine.ts` -> `engine.ts`. */
function partOf(file: string): string {
  const [, name = '', ...below] = file.split('/')
  return below.length === 0 ? name : `${name}/`
}

test('every part of core has one place in its order', () => {
  const parts = new Set(core.map(({ file }) => partOf(file)))
  assert.deepEqual([...coreParts].sort(), [...parts].sort())
})

test('imports between the parts of core go down its order, those of types as well', () => {
  const wrong = core.flatMap(({ file, imports }) =>
    imports
      .filter((target) => target.startsWith('core/'))
      .filter((target) => partOf(target) !== partOf(file))
      .filter((target) => coreParts.indexOf(partOf(target)) < coreParts.indexOf(partOf(file)))
      .map((target) => `${file} imports ${target}`),
  )
  assert.deepEqual(wrong, [])
})

test('no files of core import each other in a circle, types included', () => {
  const importsOf = new Map(core.map(({ file, imports }) => [file, imports]))
  const circles: string[] = []
  const seen = new Set<string>()
  const walk = (file: string, way: readonly string[]): void => {
    if (way.includes(file)) circles.push([...way.slice(way.indexOf(file)), file].join(' -> '))
    if (seen.has(file)) return
    seen.add(file)
    for (const target of importsOf.get(file) ?? []) walk(target, [...way, file])
  }
  for (const { file } of core) walk(file, [])
  assert.deepEqual(circles, [])
})

test('CONTRIBUTING.md draws the order of core', () => {
  const drawn = coreOrder.map(
    ({ layer, parts }) => `| ${layer} | ${parts.map((part) => `\`${part}\``).join(' ')} |`,
  )
  const text = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8')
  assert.ok(text.includes(drawn.join('\n')), `the table should be:\n${drawn.join('\n')}`)
})

test('every path that CONTRIBUTING.md names is there', () => {
  const text = readFileSync(path.join(root, 'CONTRIBUTING.md'), 'utf8')
  const paths = [...text.matchAll(/`((?:core|schemas|plugins|connectors|host|test)\/[\w./-]+)`/g)]
  assert.ok(paths.length > 20)
  assert.deepEqual(
    paths.map(([, named]) => named!).filter((named) => !existsSync(path.join(root, named))),
    [],
  )
})

test('the host loads its optional database server only when it needs one', () => {
  const loading = sources('host').filter(({ imports }) =>
    imports.includes('@tollgate/embedded-postgres'),
  )
  assert.deepEqual(
    loading.map(({ file }) => file),
    ['host/serve/database.ts'],
  )
  assert.match(loading[0]!.code, /await import\('@tollgate\/embedded-postgres'\)/)
  assert.doesNotMatch(loading[0]!.code, /from '@tollgate\/embedded-postgres'/)
})

test('file protocols are known to their plugins alone', () => {
  const wrong = ['schemas', 'plugins/kit', 'core', 'connectors', 'host']
    .flatMap(sources)
    .filter((source) => source.imports.some((name) => /^(ssh2|basic-ftp)/.test(name)))
  assert.deepEqual(
    wrong.map(({ file }) => file),
    [],
  )
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

test('one file of the host knows Express, so programs without it need not bundle it', () => {
  const knowing = sources('host').filter(({ imports }) => imports.includes('express'))
  assert.deepEqual(
    knowing.map(({ file }) => file),
    ['host/http/express-app.ts'],
  )
})

test('a payment changes state through the statements of settling, going on and late words alone', () => {
  const moving = sources('core').filter(({ code }) => /update tollgate\.payment set/.test(code))
  assert.deepEqual(
    moving.map(({ file }) => file),
    [
      'core/payment/store-first.ts',
      'core/payment/store-go-on.ts',
      'core/payment/store-late-word.ts',
      'core/payment/store-settle.ts',
    ],
  )
})
