/** The packages as a registry would hand them out: their facts, files, entries, types, size and quick starts. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, globSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'
import { packedProject } from '../rig/packed.ts'
import { fenced } from './fenced.ts'
import { folders, type Manifest, manifestIn, targetsOf } from './manifests.ts'

const run = promisify(execFile)
const keys = makeKey('main')
let packed: string
let database: TestDatabase

before(async () => {
  packed = await packedProject([], { ours: folders, others: ['typescript@7', '@types/node@24'] })
  database = await createDatabase()
})
after(() => database.drop())

const homeOf = (name: string) => path.join(packed, 'node_modules', name)
const programs = () => ({
  cwd: packed,
  env: { ...process.env, DATABASE_URL: database.url, TOLLGATE_KEYS: keys, PORT: '0' },
})

for (const folder of folders) {
  const { name, exports, bin = {}, imports = {} } = manifestIn(folder)
  describe(name, () => {
    test('has the files of its entries and programs, and no others than needed', () => {
      const files = globSync('**/*', {
        cwd: homeOf(name),
        exclude: (file) => file.startsWith('node_modules'),
      }).map((file) => file.replaceAll('\\', '/'))
      const surplus = files.filter(
        (file) =>
          /\.(map|tsbuildinfo)$|(^|\/)test\/|\.test\./.test(file) &&
          !file.startsWith('template/test'),
      )
      assert.deepEqual(surplus, [])
      for (const needed of ['README.md', 'LICENSE', 'CHANGELOG.md']) {
        assert.ok(files.includes(needed), needed)
      }
      const sources = files.filter(
        (file) => /\.ts$/.test(file) && !/\.d\.ts$|^(template|wires)\//.test(file),
      )
      assert.deepEqual(sources, [])
      for (const target of [...Object.values(bin), ...targetsOf(exports), ...targetsOf(imports)]) {
        if (target.includes('*')) assert.ok(globSync(target, { cwd: homeOf(name) }).length > 0)
        else assert.ok(existsSync(path.join(homeOf(name), target)), target)
      }
    })

    if (name === '@tollgate/plugin-kit') {
      test('has the guide of connector authors, whose links lead somewhere', () => {
        for (const page of ['connectors.md', 'connector-in-an-hour.md']) {
          const text = readFileSync(path.join(homeOf(name), 'guide', page), 'utf8')
          const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link = '']) => link)
          assert.ok(links.length > 0, page)
          for (const link of links.filter((one) => !/^(https:\/\/|#)/.test(one))) {
            assert.ok(existsSync(path.join(homeOf(name), 'guide', link.split('#')[0]!)), link)
          }
        }
      })
    }

    test('can be imported and required by each of its entries', async () => {
      const entries = Object.keys(exports)
        .filter((entry) => entry !== './package.json' && !entry.includes('*'))
        // The suites of the kit register tests.
        .map((entry) => name + entry.slice(1))
      const lines = entries.flatMap((entry) => [
        `if (Object.keys(await import('${entry}')).length === 0) throw new Error('${entry}')`,
        `if (Object.keys(require('${entry}')).length === 0) throw new Error('${entry}')`,
      ])
      const source = `import { createRequire } from 'node:module'
        const require = createRequire(import.meta.url)\n${lines.join('\n')}\nconsole.log('done')`
      const file = `entries-${path.basename(folder)}.mjs`
      writeFileSync(path.join(packed, file), source)
      const { stdout, stderr } = await run(process.execPath, [file], programs())
      assert.match(stdout, /done/)
      assert.equal(stderr, '', 'without a warning')
    })
  })
}

/** Starts a program, and ends it by a signal once it has said something, unless it ends by itself. */
async function said(child: ChildProcess, enough: RegExp): Promise<string> {
  let out = ''
  let isEnded = false
  const hear = (text: Buffer) => {
    out += text
    if (isEnded || !enough.test(out)) return
    // A second signal would end it at once.
    isEnded = child.kill('SIGTERM')
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const [code, signal] = await once(child, 'close')
  assert.ok(code === 0 || signal === 'SIGTERM', `${code} ${signal} ${out}`)
  return out
}

/** What the quick start of each package says. */
const starts: Readonly<Record<string, RegExp>> = {
  schemas: /POST \/v1\/payments\n.*\n3\.1\.1/,
  core: /^true$/m,
  host: /^http:\/\/127\.0\.0\.1:\d+$/m,
  'plugins/kit': /800\.100\.155/,
  'plugins/embedded-postgres': /postgres(ql)?:\/\//,
  'plugins/widget': /^paymentWidgets\.js \d+ \d+$/m,
  'connectors/simulator': /^simulator\nhttp:/m,
  'connectors/acquirer-json': /^acquirer-json\nhttp:/m,
}

for (const [folder, expected] of Object.entries(starts)) {
  test(`the quick start of ${folder} runs`, async () => {
    const file = `start-${path.basename(folder)}.mjs`
    writeFileSync(path.join(packed, file), fenced(`${folder}/README.md`, 'js')[0]!)
    const out = await said(spawn(process.execPath, [file], programs()), expected)
    assert.match(out, expected)
  })
}

for (const folder of ['file-server', 'file-transfer', 'metrics', 'tracing']) {
  test(`the quick start of plugins/${folder} gives a server the plugin`, async () => {
    const config = path.join(packed, 'tollgate.config.ts')
    writeFileSync(config, fenced(`plugins/${folder}/README.md`, 'ts')[0]!)
    const bin = path.join(homeOf('@tollgate/host'), 'bin/tollgate.js')
    const out = await said(spawn(process.execPath, [bin, 'serve'], programs()), /"?http:\/\/127/)
    assert.doesNotMatch(out, /PluginError|cannot/)
  })
}

test('the types of every entry compile without skipLibCheck, and with no packages beside', async () => {
  const entries = folders.flatMap((folder) => {
    const { name, exports } = manifestIn(folder)
    return Object.keys(exports)
      .filter((entry) => entry !== './package.json' && !entry.includes('*'))
      .map((entry) => name + entry.slice(1))
  })
  const lines = entries.map((entry, no) => `export * as entry${no} from '${entry}'`)
  writeFileSync(path.join(packed, 'every-entry.ts'), lines.join('\n'))
  const options = ['--noEmit', '--strict', '--skipLibCheck', 'false', '--types', 'node']
  const target = ['--module', 'nodenext', '--target', 'es2024']
  const { stdout } = await run(
    path.join(packed, 'node_modules/.bin/tsc'),
    [...options, ...target, 'every-entry.ts'],
    { cwd: packed },
  ).catch((error: { stdout: string }) => error)
  assert.equal(stdout, '')
})

test('what tests alone need is not in the types of the engine', () => {
  const types = globSync('dist/**/*.d.ts', { cwd: homeOf('@tollgate/core') })
  const read = (file: string) => readFileSync(path.join(homeOf('@tollgate/core'), file), 'utf8')
  assert.doesNotMatch(read('dist/index.d.ts'), /onFaultPoint|FaultPoint/)
  assert.doesNotMatch(read('dist/gateway.d.ts'), /statements\(|GatewayParts/)
  assert.match(read('dist/index.d.ts'), /\bLog\b/)
  assert.ok(types.length > 100)
})

/** The packages that a production install of some packages brings. */
function closureOf(names: readonly string[]): Map<string, Manifest> {
  const found = new Map<string, Manifest>()
  const walk = (name: string, from: string) => {
    let at = from
    while (!existsSync(path.join(at, 'node_modules', name, 'package.json'))) {
      const above = path.dirname(at)
      // An optional package of another platform.
      if (above === at) return
      at = above
    }
    const home = path.join(at, 'node_modules', name)
    if (found.has(home)) return
    const manifest: Manifest = JSON.parse(readFileSync(path.join(home, 'package.json'), 'utf8'))
    found.set(home, manifest)
    for (const needed of Object.keys({
      ...manifest.dependencies,
      ...manifest.optionalDependencies,
    })) {
      walk(needed, home)
    }
  }
  for (const name of names) walk(name, packed)
  return found
}

const bytesOf = (home: string): number =>
  globSync('**/*', { cwd: home, exclude: (file) => file.startsWith('node_modules') })
    .map((file) => statSync(path.join(home, file)))
    .reduce((sum, stat) => sum + (stat.isFile() ? stat.size : 0), 0)

test('an embedded engine brings few packages, and no install script', () => {
  const closure = closureOf(['@tollgate/core', '@tollgate/connector-simulator'])
  const bytes = [...closure.keys()].reduce((sum, home) => sum + bytesOf(home), 0)
  assert.ok(closure.size <= mostOfEngine.packages, `${closure.size} packages`)
  assert.ok(bytes <= mostOfEngine.bytes, `${bytes} bytes`)
  const all = [...closureOf(['@tollgate/host', '@tollgate/core']).values()]
  const scripted = all.filter(({ scripts = {} }) =>
    ['preinstall', 'install', 'postinstall'].some((name) => name in scripts),
  )
  assert.deepEqual(
    scripted.map(({ name }) => name),
    [],
  )
})

/** Measured, and held: more needs a reason. Four of the packages are Tollgate's own. */
const mostOfEngine = { packages: 41, bytes: 22_000_000 }

test('a Node that is too old gets a sentence, from the programs and from an import', async () => {
  const older = path.join(packed, 'older-node.mjs')
  writeFileSync(
    older,
    `Object.defineProperty(process.versions, 'node', { value: '20.19.0' })
     Object.defineProperty(process, 'version', { value: 'v20.19.0' })`,
  )
  const asOlder = (words: readonly string[]) =>
    run(process.execPath, ['--import', older, ...words], programs()).then(
      () => assert.fail('it must not work'),
      ({ stderr }: { stderr: string }) => stderr,
    )
  const host = await asOlder([path.join(homeOf('@tollgate/host'), 'bin/tollgate.js'), '--help'])
  assert.match(host, /^Tollgate needs Node 22\.18 or later, this is 20\.19\.0/)
  const create = path.join(homeOf('create-tollgate-connector'), 'bin/create-tollgate-connector.js')
  assert.match(await asOlder([create]), /needs Node 22\.18 or later/)
  for (const name of ['@tollgate/core', '@tollgate/host', '@tollgate/plugin-kit']) {
    const importing = await asOlder(['--input-type=module', '-e', `await import('${name}')`])
    assert.match(importing, /Tollgate needs Node 22\.18 or later, this is 20\.19\.0/, name)
  }
})
