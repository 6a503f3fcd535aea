/** One host per embedded database: a second `tollgate serve` says where the first one runs. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { makeKey } from '../../../core/index.ts'
import { killSession } from '../../plugins/embedded-postgres/hosts.ts'
import { endServer } from '../../rig/cluster.ts'
import { createDatabase } from '../../rig/database.ts'
import { type Spawned, spawnTollgate } from './spawned.ts'
import {
  projectFolder,
  type Ran,
  readCredentials,
  runTollgate,
  type Started,
  startTollgate,
} from './tollgate.ts'

describe('the command line: second serve', () => {
  type Project = Awaited<ReturnType<typeof projectFolder>>

  const open: { projects: Project[]; served: Spawned[] } = { projects: [], served: [] }
  let project: Project

  beforeEach(async () => {
    project = await newProject()
  })
  afterEach(async () => {
    for (const { child } of open.served) child.kill('SIGKILL')
    await Promise.all(open.served.map(({ ended }) => ended))
    for (const { path, remove } of open.projects) {
      await endServer(join(path, '.tollgate/data'), 'SIGQUIT')
      await remove()
    }
    open.projects = []
    open.served = []
  })

  async function newProject(): Promise<Project> {
    const made = await projectFolder()
    open.projects.push(made)
    return made
  }

  function startServe(folder: string, env: Record<string, string> = {}): Spawned {
    const served = spawnTollgate(['serve', '--port', '0'], { folder, env })
    open.served.push(served)
    return served
  }

  async function serve(folder = project.path, env: Record<string, string> = {}): Promise<Spawned> {
    const served = startServe(folder, env)
    await served.said(/A first payment:/)
    return served
  }

  /** The end of a serve that must not run; fails at once when it runs. */
  async function endOf(served: Spawned): Promise<Ran> {
    const runs = served.said(/A first payment:/).then(
      () => assert.fail('a second serve runs beside the first'),
      () => served.ended,
    )
    return Promise.race([served.ended, runs])
  }

  const credentials = (folder = project.path) => readCredentials(join(folder, '.tollgate'))

  async function isReady(url: string): Promise<boolean> {
    return (await fetch(`${url}/readyz`)).ok
  }

  function assertRefused({ code, out, err }: Ran, holder: number | undefined): void {
    assert.equal(code, 1, out)
    assert.match(
      err,
      new RegExp(`already runs with the embedded database in .*process ${holder}\\b`),
    )
    assert.doesNotMatch(err, /^\s+at /m)
  }

  test('a second serve names the first and ends, and commands reach the first one', async () => {
    const first = await serve()
    const { baseUrl } = await credentials()
    const second = await endOf(startServe(project.path))
    assertRefused(second, first.child.pid)
    assert.ok(second.err.includes(` at ${baseUrl};`), second.err)
    assert.match(second.err, /TOLLGATE_DATA_DIR .* DATABASE_URL/)
    assert.equal(await isReady(baseUrl), true, 'the first one goes on')
    assert.equal((await credentials()).baseUrl, baseUrl)
    const worker = await runTollgate(['serve', '--role', 'worker'], { folder: project.path })
    assertRefused(worker, first.child.pid)
    const command = await runTollgate(['token', 'list'], { folder: project.path })
    assert.equal(command.code, 0, command.err)
    assert.match(command.out, /demo/)
  })

  test('of two that start at once, one serves', async () => {
    const both = [startServe(project.path), startServe(project.path)]
    const refused = await Promise.race(both.map(({ ended }) => ended))
    const [winner] = both.filter(({ child }) => child.exitCode === null)
    assertRefused(refused, winner?.child.pid)
    await winner?.said(/A first payment:/)
  })

  test('a killed serve does not stop the next one, even when another program has its process number', async () => {
    const first = await serve()
    const note = join(project.path, '.tollgate/host')
    assert.match(await readFile(note, 'utf8'), new RegExp(`^${first.child.pid} http://`))
    first.child.kill('SIGKILL')
    await first.ended
    const other = spawn('/bin/sleep', ['600'])
    try {
      await writeFile(note, `${other.pid} http://127.0.0.1:1\n`)
      const second = await serve()
      assert.equal(await isReady((await credentials()).baseUrl), true)
      assertRefused(await endOf(startServe(project.path)), second.child.pid)
      second.child.kill('SIGTERM')
      assert.equal((await second.ended).code, 0)
      assert.equal(existsSync(note), false)
    } finally {
      other.kill('SIGKILL')
    }
  })

  test('a serve whose database another one took while it was stopped ends in order', async () => {
    const first = await serve()
    const data = join(project.path, '.tollgate')
    first.child.kill('SIGSTOP')
    const password = (await readFile(join(data, 'password'), 'utf8')).trim()
    const port = (await readFile(join(data, 'port'), 'utf8')).trim()
    await killSession(`postgres://tollgate:${password}@127.0.0.1:${port}/tollgate`)
    await serve()
    first.child.kill('SIGCONT')
    const ended = await first.ended
    assert.equal(ended.code, 1)
    assert.match(ended.err, /another process serves this installation: this process ends/)
    assert.equal(await isReady((await credentials()).baseUrl), true)
  })

  /** Starts a serve in this process. */
  async function serveHere(folder: string, env: Record<string, string> = {}): Promise<Started> {
    const served = startTollgate(['serve', '--port', '0'], { folder, env })
    await served.said(/A first payment:/)
    return served
  }

  test('another folder has its own', async () => {
    const other = await newProject()
    const both = await Promise.all([serveHere(project.path), serveHere(other.path)])
    for (const { path } of [project, other]) {
      assert.equal(await isReady((await credentials(path)).baseUrl), true)
    }
    for (const served of both) assert.equal((await served.end()).code, 0)
  })

  test('several serve one external database', async () => {
    const database = await createDatabase()
    try {
      const env = { DATABASE_URL: database.url, TOLLGATE_KEYS: makeKey('main') }
      const first = await serveHere(project.path, env)
      const { baseUrl } = await credentials()
      const second = await serveHere(project.path, env)
      assert.equal(await isReady(baseUrl), true)
      assert.equal((await credentials()).baseUrl, baseUrl, 'the first one keeps its file')
      const [, own = ''] = /Written to +(\S+)/.exec(second.text.out) ?? []
      assert.match(own, /test-credentials-\d+\.json$/)
      const { baseUrl: other } = JSON.parse(await readFile(own, 'utf8'))
      assert.notEqual(other, baseUrl)
      assert.equal(await isReady(other), true)
      assert.equal(existsSync(join(project.path, '.tollgate/host')), false)
      for (const served of [first, second]) assert.equal((await served.end()).code, 0)
    } finally {
      await database.drop()
    }
  })

  test('a data folder that cannot be written stops no demo, and without keys the refusal says what to set', async () => {
    const database = await createDatabase()
    try {
      // Nobody can make a folder there, not even root.
      const env = { DATABASE_URL: database.url, TOLLGATE_DATA_DIR: '/sys/tollgate' }
      const keyless = await runTollgate(['serve', '--port', '0'], { folder: project.path, env })
      assert.equal(keyless.code, 1)
      assert.match(
        keyless.err,
        /key file \/sys\/tollgate\/keys cannot be created \(E\w+\): set TOLLGATE_DATA_DIR .* or set TOLLGATE_KEYS/,
      )
      const served = await serveHere(project.path, { ...env, TOLLGATE_KEYS: makeKey('main') })
      assert.match(
        served.text.out,
        /Not written {3}\/sys\/tollgate\/test-credentials\.json \(E\w+\)/,
      )
      const [, baseUrl = ''] = /Base URL +(\S+)/.exec(served.text.out) ?? []
      assert.equal(await isReady(baseUrl), true)
      assert.equal((await served.end()).code, 0)
    } finally {
      await database.drop()
    }
  })
})
