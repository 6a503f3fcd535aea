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
import { scratchFolder } from '../rig/cluster.ts'
import { environmentOfNpm } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'

type Locked = {
  readonly version: string
  readonly license?: string
  readonly dev?: true
  readonly link?: true
  readonly hasInstallScript?: true
  readonly resolved?: string
  readonly integrity?: string
}

const read = (file: string) => readFileSync(path.join(root, file), 'utf8')
const lock = JSON.parse(read('package-lock.json')) as { packages: Record<string, Locked> }

/** From the lock file, or from the package itself where it writes the field in the old way. */
function licenceOf(name: string, { license }: Partial<Locked> = {}): string | undefined {
  if (license !== undefined) return license
  const { licenses } = JSON.parse(read(`node_modules/${name}/package.json`)) as {
    licenses?: readonly { readonly type: string }[]
  }
  return licenses?.map(({ type }) => type).join(' and ')
}

const nameOf = (place: string) => place.slice(place.lastIndexOf('node_modules/') + 13)
const production = Object.entries(lock.packages)
  .filter(([place, { dev, link }]) => place.includes('node_modules/') && !dev && !link)
  .map(([place, locked]) => ({ name: nameOf(place), ...locked }))

/** The section of SECURITY.md that lists them. */
const section =
  read('SECURITY.md')
    .split('\n## ')
    .find((part) => part.startsWith('Production dependencies')) ?? ''
const rows = section.split('\n').filter((line) => line.startsWith('| '))
const named = new Set(
  rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)),
)

test('every production package is in the list of SECURITY.md, and no other', () => {
  assert.ok(production.length > 100)
  const names = [...new Set(production.map(({ name }) => name))]
  assert.deepEqual([...named].sort(), names.sort())
})

test('every direct dependency has its reason in SECURITY.md', () => {
  const ours = [
    'schemas',
    'plugins/kit',
    'plugins/embedded-postgres',
    'plugins/file-transfer',
    'plugins/file-server',
    'plugins/metrics',
    'plugins/tracing',
    'core',
    'connectors/simulator',
    'connectors/acquirer-json',
    'connectors/adyen',
    'host',
  ]
  const direct = ours.flatMap((folder) => {
    const { dependencies = {} } = JSON.parse(read(`${folder}/package.json`)) as {
      dependencies?: Record<string, string>
    }
    return Object.keys(dependencies).filter((name) => !name.startsWith('@tollgate/'))
  })
  for (const name of new Set(direct)) {
    const row = rows.find((line) => line.startsWith(`| \`${name}\` |`))
    const [, , licence = '', why = ''] = row?.split('|').map((cell) => cell.trim()) ?? []
    assert.equal(
      licence,
      licenceOf(name, lock.packages[`node_modules/${name}`]),
      `licence of ${name}`,
    )
    assert.match(why, /^[A-Z].{10,}\.$/, `why ${name} is there`)
  }
})

test('every licence is permissive, and those other than MIT are named', () => {
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
  for (const { name, ...locked } of production) {
    const license = licenceOf(name, locked)
    assert.ok(license !== undefined && allowed.includes(license), `${name}: ${license}`)
    if (license === 'MIT') continue
    assert.ok(section.includes(`${license}: `), license)
    const line = section.split('\n').find((one) => one.includes(`${license}: `)) ?? ''
    assert.match(line, new RegExp(`(?:^|[ ,])${name}(?:[,.;]|$)`), `${name} under ${license}`)
  }
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
  const scripted = Object.entries(lock.packages).filter(([, one]) => one.hasInstallScript === true)
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
  // The reason why SECURITY.md does not recommend it.
  assert.ok(!withoutTools.some((one) => one.startsWith('pg-types@')))
})
