import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, watch } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { inScope } from '../../rig/scope.ts'
import {
  killServer,
  killSession,
  newProject,
  onDatabase,
  options,
  serverProcess,
  starters,
  startHost,
} from './hosts.ts'

function portIn(url: string): number {
  return Number(new URL(url).port)
}

// This does not depend on who starts the gateway, so one of them does.
const user = starters[0]?.user ?? null

describe('hosts of one database', () => {
  test('the last one to leave stops the server', async (t) => {
    const project = newProject(t, user)
    const first = await startHost(t, user, options(project))
    const second = await startHost(t, user, options(project))
    assert.equal(second.url, first.url)
    await second.line(/was running/)
    await first.stop()
    await onDatabase(second.url, (client) => client.query('select 1'))
    await second.stop()
    assert.equal(serverProcess(first.location), null)
  })

  test('first starts at once make one database, and leaving at once stops it', async (t) => {
    const project = newProject(t, user)
    const starting = Array.from({ length: 3 }, () => startHost(t, user, options(project)))
    const hosts = await Promise.all(starting)
    const [{ url, location }] = hosts as [(typeof hosts)[number]]
    assert.deepEqual(
      hosts.map((host) => host.url),
      [url, url, url],
    )
    assert.deepEqual(readdirSync(location).sort(), ['data', 'password', 'port', 'postgres.log'])
    await onDatabase(url, (client) => client.query('select 1'))
    await Promise.all(hosts.map((host) => host.stop()))
    assert.equal(serverProcess(location), null)
  })

  test('who comes while the last one leaves gets a server all the same', async (t) => {
    const project = newProject(t, user)
    let host = await startHost(t, user, options(project))
    for (let round = 0; round < inScope(2, 5); round += 1) {
      const [next] = await Promise.all([startHost(t, user, options(project)), host.stop()])
      await onDatabase(next.url, (client) => client.query('select 1'))
      host = next
    }
    await host.stop()
    assert.equal(serverProcess(host.location), null)
  })

  test('a host whose sessions PostgreSQL ended still counts', async (t) => {
    const project = newProject(t, user)
    const host = await startHost(t, user, options(project))
    const users = `select count(*)::int as n from pg_locks where locktype = 'advisory'`
    await onDatabase(host.url, async (client) => {
      const { rows } = await client.query<{ pid: number }>(
        `select pid from pg_locks where locktype = 'advisory'`,
      )
      // What a machine short of memory does; PostgreSQL then ends all sessions and recovers.
      process.kill(rows[0]?.pid ?? Number.NaN, 'SIGKILL')
      await once(client, 'end')
    }).catch(() => undefined)
    let back = 0
    while (back === 0) {
      back = await onDatabase(host.url, async (client) => {
        const { rows } = await client.query<{ n: number }>(users)
        return rows[0]?.n ?? 0
      }).catch(() => 0)
    }
    const other = await startHost(t, user, options(project))
    await other.stop()
    await onDatabase(host.url, (client) => client.query('select 1'))
    await host.stop()
    assert.equal(serverProcess(host.location), null)
  })

  test('a directory has one host, also after PostgreSQL ended all sessions', async (t) => {
    const project = newProject(t, user)
    const asHost = { ...options(project), isHost: true }
    const host = await startHost(t, user, asHost)
    const refused = new RegExp(
      `EmbeddedPostgresError: Tollgate already runs .*: process ${host.pid};`,
    )
    await assert.rejects(startHost(t, user, asHost), refused)
    const holders = `select pid from pg_locks where locktype = 'advisory'`
    const sessionOf = async () =>
      onDatabase(host.url, async (client) => {
        const { rows } = await client.query<{ pid: number }>(holders)
        // The lock of the users, and the lock of the one host.
        return rows.length === 2 ? rows[0]?.pid : undefined
      }).catch(() => undefined)
    const before = await sessionOf()
    process.kill(before ?? Number.NaN, 'SIGKILL')
    let now = before
    while (now === undefined || now === before) now = await sessionOf()
    await assert.rejects(startHost(t, user, asHost), refused)
    const command = await startHost(t, user, options(project))
    await command.stop()
    await host.stop()
    assert.equal(serverProcess(host.location), null)
  })

  test('a host that lost its place to another one is told, and keeps the server until it leaves', async (t) => {
    const project = newProject(t, user)
    const asHost = { ...options(project), isHost: true }
    const first = await startHost(t, user, asHost)
    process.kill(first.pid ?? Number.NaN, 'SIGSTOP')
    await killSession(first.url)
    const second = await startHost(t, user, asHost)
    process.kill(first.pid ?? Number.NaN, 'SIGCONT')
    await first.line(/another host/)
    assert.match(first.lines.join(), new RegExp(`already runs .*: process ${second.pid};`))
    const users = `select pid from pg_locks where locktype = 'advisory'`
    await onDatabase(second.url, async (client) => {
      // The lock of the one host, and the lock of the users twice.
      while ((await client.query(users)).rows.length < 3);
    })
    await second.stop()
    await onDatabase(first.url, (client) => client.query('select 1'))
    await first.stop()
    assert.equal(serverProcess(first.location), null)
  })

  test('a refused host does not keep the server alive', async (t) => {
    const project = newProject(t, user)
    const asHost = { ...options(project), isHost: true }
    let host = await startHost(t, user, asHost)
    for (let round = 0; round < inScope(2, 5); round += 1) {
      const late = startHost(t, user, asHost).catch(() => undefined)
      const [next] = await Promise.all([late, host.stop()])
      await next?.stop()
      assert.equal(serverProcess(host.location), null)
      host = await startHost(t, user, asHost)
    }
    await host.stop()
  })

  test('a host says so when its server ends', async (t) => {
    const project = newProject(t, user)
    const host = await startHost(t, user, options(project))
    killServer(host.location)
    await host.line(/PostgreSQL ended; see .*postgres\.log, and start the gateway again/)
    await host.stop()
    const again = await startHost(t, user, options(project))
    assert.equal(again.url, host.url)
    await again.stop()
  })

  test('a first start that was killed half-way does not spoil the next', async (t) => {
    const project = newProject(t, user)
    const watcher = watch(project, { recursive: true })
    const drafting = new Promise<void>((resolve) => {
      watcher.on('change', (_, path) => {
        if (/new-data-\w+[\\/]PG_VERSION/.test(String(path))) resolve()
      })
    })
    const half = startHost(t, user, options(project), (child) => {
      drafting.then(() => child.kill('SIGKILL'))
    })
    await assert.rejects(half, /the host ended/)
    watcher.close()
    assert.equal(existsSync(join(project, '.tollgate/data')), false)
    const host = await startHost(t, user, options(project))
    await onDatabase(host.url, (client) => client.query('select 1'))
    await host.stop()
    assert.equal(
      readdirSync(host.location).some((name) => name.startsWith('new-data')),
      false,
    )
  })

  test('a port that somebody took is left to them, and the new one is remembered', async (t) => {
    const project = newProject(t, user)
    const first = await startHost(t, user, options(project))
    await first.stop()
    const taker = createServer().listen(portIn(first.url), '127.0.0.1')
    await once(taker, 'listening')
    const second = await startHost(t, user, options(project))
    assert.notEqual(portIn(second.url), portIn(first.url))
    await second.line(new RegExp(`port ${portIn(first.url)} is taken`))
    await second.stop()
    taker.close()
    await once(taker, 'close')
    const third = await startHost(t, user, options(project))
    assert.equal(third.url, second.url)
    await third.stop()
  })
})
