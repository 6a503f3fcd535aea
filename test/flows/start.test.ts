/**
 * A user's first steps: an empty folder, one command, a first payment; and the possible obstacles.
 */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { copyFile, readFile, rename, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type Spawned, spawnTollgate } from '../host/cli/spawned.ts'
import {
  type Credentials,
  projectFolder,
  readCredentials,
  runTollgate,
} from '../host/cli/tollgate.ts'
import { ask, debit, underWay } from '../host/http/hosted.ts'

let project: Awaited<ReturnType<typeof projectFolder>>
let data: string
/** Servers that a failed test leaves behind end with the suite. */
const started: Spawned[] = []

async function serve(
  more: Record<string, string> = {},
): Promise<Spawned & { credentials: Credentials }> {
  const running = spawnTollgate(['serve'], { folder: project.path, env: { PORT: '0', ...more } })
  started.push(running)
  await running.said(/A first payment/)
  return { ...running, credentials: await readCredentials(data) }
}

async function end(running: Spawned, signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
  running.child.kill(signal)
  return (await running.ended).code
}

const pay = ({ baseUrl, accessToken, entityId }: Credentials, more: Record<string, string> = {}) =>
  ask(baseUrl, '/v1/payments', { token: accessToken, form: { ...debit, entityId, ...more } })

/** PostgreSQL removes this file when it has ended in order. */
const assertDatabaseStopped = () =>
  assert.equal(existsSync(join(data, 'data', 'postmaster.pid')), false, 'PostgreSQL has stopped')

/** Sends the request of the printed curl command. */
async function runPrinted(text: string) {
  const [, url = ''] = /curl (\S+)/.exec(text) ?? []
  const [, token] = /"Authorization: Bearer (\S+)"/.exec(text) ?? []
  const fields = [...text.matchAll(/-d (?:"([^"]+)"|(\S+))/g)].map(([, quoted, bare]) =>
    (quoted ?? bare ?? '').split('=', 2),
  )
  return ask('', url, { token, form: Object.fromEntries(fields) })
}

describe('an installation with an embedded database', { concurrency: false }, () => {
  let first: Credentials
  let firstPayment: string
  before(async () => {
    project = await projectFolder()
    data = join(project.path, '.tollgate')
  })
  after(async () => {
    for (const { child, ended } of started) {
      child.kill('SIGINT')
      await ended
    }
    await project.remove()
  })

  test('a start in an empty folder prints a command that pays, and credentials for the owner alone', async () => {
    const running = await serve()
    try {
      const paid = await runPrinted(running.text.out)
      assert.equal(paid.status, 200, JSON.stringify(paid.body))
      assert.equal(paid.body.result.code, '000.100.110')
      firstPayment = paid.body.id
      first = running.credentials
      assert.deepEqual(Object.keys(first).sort(), ['accessToken', 'baseUrl', 'entityId'])
      for (const value of Object.values(first)) assert.ok(running.text.out.includes(value), value)
      for (const name of ['test-credentials.json', 'keys']) {
        assert.equal((await stat(join(data, name))).mode & 0o777, 0o600, name)
      }
    } finally {
      assert.equal(await end(running), 0)
    }
    assertDatabaseStopped()
    assert.doesNotMatch(running.text.err, /4200000000000000|Jane/)
    assert.equal(running.text.err.includes(first.accessToken), false)
  })

  test('the second start makes no other cluster, keeps the token and knows the payment, and Ctrl-C lets a running payment end', async () => {
    // Making a cluster takes most of a first start.
    const cluster = async () => (await stat(join(data, 'data', 'PG_VERSION'))).ino
    const before = await cluster()
    const running = await serve()
    assert.equal(await cluster(), before)
    const { baseUrl, accessToken, entityId } = running.credentials
    assert.equal(accessToken, first.accessToken)
    const path = `/v1/payments/${firstPayment}?entityId=${entityId}`
    const read = await ask(baseUrl, path, { token: accessToken })
    assert.equal(read.body.id, firstPayment)

    const { answer } = await payingSlowly(running.credentials, 'while-ending', 1_500)
    running.child.kill('SIGINT')
    await running.said(/ending/)
    const paid = await answer
    assert.equal(paid.body.result.code, '000.100.110')
    assert.equal((await running.ended).code, 0)
  })

  test('a start by npm without its credentials file makes another token, and ends in order when only its shell is told', async () => {
    await rm(join(data, 'test-credentials.json'))
    const running = spawnTollgate(['serve', '--port', '0'], { folder: project.path, byShell: true })
    await running.said(/A first payment/)
    const credentials = await readCredentials(data)
    assert.notEqual(credentials.accessToken, first.accessToken)
    assert.equal((await pay(credentials)).status, 200)
    const old = { ...credentials, accessToken: first.accessToken }
    assert.equal((await pay(old)).status, 200, 'the old token still works')
    running.child.kill('SIGTERM')
    await running.said(/"ended"/)
    await running.ended
    assertDatabaseStopped()
  })

  test('a second Ctrl-C ends the server at once', async () => {
    const running = await serve()
    const { answer } = await payingSlowly(running.credentials, 'never-ending', 30_000)
    const lost = assert.rejects(answer, /fetch failed/)
    running.child.kill('SIGINT')
    await running.said(/ending/)
    // One press arrives twice through npm, so only a later one counts.
    const again = setInterval(() => running.child.kill('SIGINT'), 100)
    const { code } = await running.ended
    clearInterval(again)
    assert.equal(code, 130)
    await lost
  })

  test('the start after a hard end is unharmed and shares its data folder with a command, and a later command starts the database itself', async () => {
    const host = await serve({ TOLLGATE_ROLE: 'api' })
    let paid: Awaited<ReturnType<typeof pay>>
    try {
      paid = await pay(host.credentials)
      assert.equal(paid.status, 200)
      for (const reference of [paid.body.id, paid.body.ndc]) {
        const looked = await runTollgate(['inspect', reference], { folder: project.path })
        assert.equal(looked.code, 0, looked.err)
        assert.ok(looked.out.includes(paid.body.id))
      }
    } finally {
      assert.equal(await end(host, 'SIGTERM'), 0)
    }
    assertDatabaseStopped()
    const looked = await runTollgate(['inspect', paid.body.id], { folder: project.path })
    assert.equal(looked.code, 0, looked.err)
    assertDatabaseStopped()
  })

  test('a port in use is reported in words', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    const port = await new Promise<number>((resolve) =>
      server.once('listening', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      }),
    )
    try {
      const { code, err } = await runTollgate(['serve'], {
        folder: project.path,
        env: { PORT: String(port) },
      })
      assert.equal(code, 1)
      assert.match(err, new RegExp(`port ${port} on 127.0.0.1 is in use`))
      assert.doesNotMatch(err, /^\s+at /m)
    } finally {
      server.close()
    }
  })

  test('a database without its keys stops the start, and no new key is made', async () => {
    const keys = join(data, 'keys')
    await rename(keys, `${keys}.kept`)
    const missing = await runTollgate(['serve'], { folder: project.path, env: { PORT: '0' } })
    assert.equal(missing.code, 1)
    assert.match(missing.err, /the keys of the database are missing: there is no .*keys/)
    assert.equal(existsSync(keys), false)
    await copyFile(`${keys}.kept`, keys)
    const text = await readFile(keys, 'utf8')
    const flipped = text.replace(/.(?=\n)/, (digit) => (digit === '0' ? '1' : '0'))
    const wrong = await runTollgate(['serve'], {
      folder: project.path,
      env: { PORT: '0', TOLLGATE_KEYS: flipped },
    })
    assert.equal(wrong.code, 1)
    assert.match(wrong.err, /is not the one this database was sealed with/)
  })

  test('with the keys back a worker starts, and answers health checks on an address of its own, and nothing else', async () => {
    const worker = spawnTollgate(['serve', '--role', 'worker'], { folder: project.path })
    await worker.said(/Works as worker/)
    const [, url = ''] =
      /Health checks: (http:\/\/127\.0\.0\.1:\d+)\/readyz/.exec(worker.text.out) ?? []
    for (const path of ['/healthz', '/readyz']) {
      const response = await fetch(url + path)
      assert.equal(response.status, 200, path)
      assert.match(await response.text(), /000\.000\.100/)
    }
    for (const path of ['/', '/v1/resultcodes', '/reference', '/office/session']) {
      assert.equal((await fetch(url + path)).status, 404, path)
    }
    assert.equal(await end(worker), 0)
  })
})

test('wrong settings stop the start before anything is made', async () => {
  const empty = await projectFolder()
  try {
    const { code, err } = await runTollgate(['serve'], {
      folder: empty.path,
      env: { PORT: 'eighty', TOLLGATE_ROLE: 'boss' },
    })
    assert.equal(code, 1)
    assert.match(err, /^2 settings are wrong:$/m)
    assert.match(err, /PORT is "eighty": expected a whole number from 0 to 65535/)
    assert.equal(existsSync(join(empty.path, '.tollgate')), false)
  } finally {
    await empty.remove()
  }
})

/** Starts a slow payment and resolves once it is committed and under way. */
async function payingSlowly(
  credentials: Credentials,
  name: string,
  ms: number,
): Promise<{ answer: ReturnType<typeof pay> }> {
  const answer = pay(credentials, {
    merchantTransactionId: name,
    'customParameters[SIM_DELAY_MS]': String(ms),
  })
  const password = (await readFile(join(data, 'password'), 'utf8')).trim()
  const port = (await readFile(join(data, 'data', 'postmaster.pid'), 'utf8')).split('\n')[3]
  const client = new pg.Client({
    connectionString: `postgres://tollgate:${password}@127.0.0.1:${port}/tollgate`,
  })
  await client.connect()
  try {
    await underWay(
      { sql: async (text, values) => (await client.query(text, [...(values ?? [])])).rows },
      name,
    )
  } finally {
    await client.end()
  }
  return { answer }
}
