/** "A connector in an hour", command by command, from the packed packages. */
import assert from 'node:assert/strict'
import { type ExecFileException, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { createGateway, localKeys, makeKey } from '../../core/index.ts'
import { createDatabase, type TestDatabase } from '../rig/database.ts'
import { environmentOfNpm, packedProject } from '../rig/packed.ts'
import { fenced } from './fenced.ts'

const guide = 'docs/connector-in-an-hour.md'
let folder: string
let database: TestDatabase

before(async () => {
  folder = await packedProject([], {
    ours: ['schemas', 'plugins/kit', 'core', 'plugins/create-connector'],
    others: ['typescript@7', '@types/node@24'],
  })
  database = await createDatabase()
})
after(() => database.drop())

/** A command of the guide, as its reader types it. */
function typed(command: string, cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { cwd, env: environmentOfNpm(), maxBuffer: 16 * 1024 * 1024 }
    const done = (error: ExecFileException | null, out: string, errors: string) =>
      error === null ? resolve(out) : reject(new Error(`${command}\n${out}\n${errors}`))
    // A question gets no answer.
    execFile('sh', ['-c', command], options, done).stdin?.end()
  })
}

test('every command of the guide works, and its program takes a payment', async () => {
  const commands = fenced(guide, 'sh').flatMap((block) =>
    block.split('\n').filter((line) => !line.startsWith('#')),
  )
  const [packs = '', create = '', enter = '', install = '', check = '', list = '', build = ''] =
    commands
  const pack = commands.at(-1)
  assert.deepEqual([commands.length, enter, check], [8, 'cd north-bank', 'npm test'])
  // The packages are packed already, and installing again would take them from under other tests.
  assert.match(
    packs,
    /^npm ci && .* npm run pack -- --workspaces --pack-destination \.\.\/packages$/,
  )
  mkdirSync(path.join(folder, 'packages'))
  for (const name of globSync('*.tgz', { cwd: folder })) {
    copyFileSync(path.join(folder, name), path.join(folder, 'packages', name))
  }
  await typed(create, folder)
  const own = path.join(folder, 'north-bank')
  const manifest = () => readFileSync(path.join(own, 'package.json'), 'utf8')
  const written = manifest()
  await typed(install, own)
  assert.equal(manifest(), written, 'no path of this machine, so the package is installed anywhere')
  assert.match(await typed(check, own), /# fail 0|fail 0/)
  assert.ok((await typed(list, own)).split('\n').length > 15)
  await typed(build, own)
  const packed = await typed(`${pack} --json`, own)
  const names = (JSON.parse(packed) as { files: { path: string }[] }[])[0]!.files.map(
    (file) => file.path,
  )
  assert.deepEqual(
    names.filter((name) => !/^(dist\/.*\.(js|d\.ts)|package\.json|README\.md)$/.test(name)),
    [],
  )
  assert.match(await takesPayment(own), /^000\.(000|100\.1)/)
})

/** The program of the guide, with the bank of the package's sandbox on this machine. */
async function takesPayment(own: string): Promise<string> {
  const keys = makeKey('main')
  await using gateway = await createGateway({
    database: { url: database.url },
    environment: 'test',
    keys: localKeys(keys),
    plugins: [],
  })
  const { entities } = gateway
  const psp = await entities.create({ kind: 'psp', name: 'Shop' })
  const division = await entities.create({ kind: 'division', name: 'Shop', parentId: psp })
  const merchant = await entities.create({ kind: 'merchant', name: 'Shop', parentId: division })
  const channel = await entities.create({ kind: 'channel', name: 'Web', parentId: merchant })
  const account = { user: 'shop-1', password: 'a password', notifySecret: 'another secret' }
  const bank = await bankOf(own, account)
  const installedAs = path.join(folder, 'node_modules/tollgate-connector-north-bank')
  for (const file of ['package.json', ...globSync('dist/**/*.js', { cwd: own })]) {
    mkdirSync(path.dirname(path.join(installedAs, file)), { recursive: true })
    copyFileSync(path.join(own, file), path.join(installedAs, file))
  }
  try {
    writeFileSync(path.join(folder, 'take-payment.mjs'), fenced(guide, 'mjs')[0]!)
    return await new Promise((resolve, reject) => {
      const env = {
        ...process.env,
        ...{ DATABASE_URL: database.url, TOLLGATE_KEYS: keys, ENTITY_ID: channel },
        ...{ BANK_URL: bank.url, BANK_ACCOUNT: JSON.stringify(account) },
      }
      execFile(process.execPath, ['take-payment.mjs'], { cwd: folder, env }, (error, out) =>
        error === null ? resolve(out) : reject(error),
      )
    })
  } finally {
    bank.close()
  }
}

/** The sandbox of the package, in a process of its own: here, packages would be the sources of the repository. */
async function bankOf(own: string, account: object): Promise<{ url: string; close(): void }> {
  writeFileSync(
    path.join(own, 'bank.mjs'),
    `import { startBank } from './sandbox/server.ts'
     console.log((await startBank(${JSON.stringify(account)})).url)`,
  )
  const child = spawn(process.execPath, ['bank.mjs'], {
    cwd: own,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [url] = await once(createInterface(child.stdout), 'line')
  return { url, close: () => void child.kill() }
}

for (const wire of ['json', 'xml', 'form']) {
  for (const flag of ['', 'no-']) {
    test(`a package over ${wire}, ${flag === '' ? 'with' : 'without'} all other parts, passes its own tests`, async () => {
      const name = `${flag}${wire}`
      const flags = ['token', 'redirect', 'events', 'settlement']
        .map((part) => `--${flag}${part}`)
        .join(' ')
      await typed(`npm create tollgate-connector bank-${name} -- --wire ${wire} ${flags}`, folder)
      // The kit, the compiler and the types of Node are those of the folder around it.
      const said = await typed('npm test', path.join(folder, `bank-${name}`))
      assert.match(said, /pass ([5-9]|1[0-9])[0-9]/)
      assert.match(said, /fail 0/)
      const manifest = readFileSync(path.join(folder, `bank-${name}`, 'package.json'), 'utf8')
      assert.doesNotMatch(manifest, /acme/i)
    })
  }
}
