/** A serving process continues after an uncaught error, and no outsider can inspect it. */
import assert from 'node:assert/strict'
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { ask, debit } from '../http/hosted.ts'
import { type Spawned, spawnTollgate } from './spawned.ts'
import { projectFolder, readCredentials } from './tollgate.ts'

describe('the command line: last resort', () => {
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  const running: Spawned[] = []

  /** Uncaught errors of an unattended part: one, a promise's, and more than a process tolerates. */
  const broken = `
  const lost = () => Object.assign(new Error('card 4200000000000000\\n    at hunter2'), { code: 'ELOST' })
  process.on('SIGUSR2', () => { throw lost() })
  process.on('SIGWINCH', () => void Promise.reject(lost()))
  process.on('SIGIO', () => {
    for (let no = 0; no < 200; no += 1) setImmediate(() => { throw lost() })
  })
`

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    await writeFile(join(project.path, 'broken.mjs'), broken)
  })
  after(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL')
      await ended
    }
    await database.drop()
    await project.remove()
  })

  async function serve(more: { errorsInto?: number } = {}): Promise<Spawned> {
    const served = spawnTollgate(['serve', '--port', '0'], {
      folder: project.path,
      env: { DATABASE_URL: database.url },
      node: ['--import', join(project.path, 'broken.mjs')],
      ...more,
    })
    running.push(served)
    await served.said(/A first payment/)
    return served
  }

  async function pays(): Promise<void> {
    const { baseUrl, accessToken } = await readCredentials(join(project.path, '.tollgate'))
    const { status } = await ask(baseUrl, '/v1/payments', { token: accessToken, form: debit })
    assert.equal(status, 200)
  }

  const counted = ({ text }: Spawned) => text.err.split('an error that nobody caught').length - 1

  test('uncaught errors are counted and logged without their texts, and payments continue', async () => {
    const served = await serve()
    await pays()
    served.child.kill('SIGUSR2')
    await served.said(/"origin":"uncaughtException"/)
    await pays()
    served.child.kill('SIGWINCH')
    await served.said(/"origin":"unhandledRejection"/)
    await pays()
    // The signal that makes Node open its inspector port.
    served.child.kill('SIGUSR1')
    await pays()
    served.child.kill('SIGUSR2')
    await served.said(/"count":3/)
    await pays()
    served.child.kill('SIGTERM')
    const { code, err } = await served.ended
    assert.equal(code, 0, err)
    assert.match(err, /"error":"Error","code":"ELOST","place":"at [^"]*broken\.mjs:[0-9:]+\)?"/)
    assert.doesNotMatch(err, /4200000000000000|hunter2|[Dd]ebugger/)
    assert.equal(counted(served), 3)
  })

  test('a process whose errors do not stop ends in order with an exit code that says so', async () => {
    const served = await serve()
    served.child.kill('SIGIO')
    const { code, err } = await served.ended
    assert.equal(code, 1, err)
    assert.match(err, /too many uncaught errors: this process ends/)
    assert.match(err, /"msg":"ended"/)
    assert.ok(counted(served) <= 101, `${counted(served)} lines`)
  })

  for (const gone of ['stdout', 'stderr'] as const) {
    test(`a process whose ${gone} has no reader any more ends at a signal`, async () => {
      const served = await serve()
      served.child[gone]?.destroy()
      await pays()
      served.child.kill('SIGTERM')
      const { code } = await served.ended
      assert.equal(code, 0)
    })
  }

  test('a process whose log is on a full disk ends at a signal', async () => {
    const full = await open('/dev/full', 'w')
    try {
      const served = await serve({ errorsInto: full.fd })
      await pays()
      served.child.kill('SIGTERM')
      const { code } = await served.ended
      assert.equal(code, 0)
    } finally {
      await full.close()
    }
  })
})
