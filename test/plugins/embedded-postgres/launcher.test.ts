import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type pg from 'pg'
import { identity } from '../../../plugins/embedded-postgres/server-user.ts'
import { sampled } from '../../rig/scope.ts'
import {
  afterwards,
  killServer,
  newProject,
  onDatabase,
  options,
  serverProcess,
  serverUser,
  starters,
  startHost,
} from './hosts.ts'

async function insertUntilLost(client: pg.Client, onFirst: () => void): Promise<number> {
  let acknowledged = 0
  try {
    for (;;) {
      await client.query('insert into kept default values')
      acknowledged += 1
      if (acknowledged === 50) onFirst()
    }
  } catch {
    return acknowledged
  }
}

async function countKept(url: string): Promise<number> {
  return onDatabase(url, async (client) => {
    const { rows } = await client.query<{ n: number }>('select count(*)::int as n from kept')
    return rows[0]?.n ?? -1
  })
}

for (const { name, user } of starters) {
  describe(`started by ${name}`, () => {
    test('the first start makes a database, the second finds its rows', async (t) => {
      const project = newProject(t, user)
      const first = await startHost(t, user, options(project))
      await onDatabase(first.url, (client) => client.query('create table kept (id serial)'))
      await first.stop()
      assert.equal(serverProcess(first.location), null, 'a clean stop ends the server')

      const second = await startHost(t, user, options(project))
      assert.equal(second.url, first.url, 'port and password are remembered')
      assert.equal(await countKept(second.url), 0)
      await second.stop()
    })
  })
}

for (const { name, user } of sampled(starters, 1)) {
  describe(`started by ${name}`, () => {
    test('the server is durable, speaks UTF-8 and listens on loopback for the password alone', async (t) => {
      const project = newProject(t, user)
      const host = await startHost(t, user, options(project))
      const shown = await onDatabase(host.url, async (client) => {
        const names = [
          ...['fsync', 'synchronous_commit', 'full_page_writes', 'listen_addresses'],
          ...[
            'unix_socket_directories',
            'password_encryption',
            'server_encoding',
            'data_checksums',
          ],
        ]
        const { rows } = await client.query<{ name: string; setting: string }>(
          'select name, setting from pg_settings where name = any($1)',
          [names],
        )
        return Object.fromEntries(rows.map((row) => [row.name, row.setting]))
      })
      assert.deepEqual(shown, {
        fsync: 'on',
        synchronous_commit: 'on',
        full_page_writes: 'on',
        listen_addresses: '127.0.0.1',
        unix_socket_directories: '',
        password_encryption: 'scram-sha-256',
        server_encoding: 'UTF8',
        data_checksums: 'on',
      })
      const wrong = new URL(host.url)
      wrong.password = 'guess'
      await assert.rejects(
        onDatabase(wrong.href, (client) => client.query('select 1')),
        /password authentication failed/,
      )
      const passwordFile = join(project, '.tollgate/password')
      assert.equal(statSync(passwordFile).mode & 0o777, 0o600)
      const password = readFileSync(passwordFile, 'utf8').trim()
      assert.equal(new URL(host.url).password, password)
      assert.equal(host.lines.join('\n').includes(password), false, 'no log line has the password')
      assert.equal(existsSync(join(project, '.tollgate/location')), false, 'all is in the folder')
      assert.equal(
        readdirSync(host.location).some((one) => one.startsWith('new-data')),
        false,
      )
      await host.stop()
    })

    test('after kill -9 of Node the server runs on and the next host joins it', async (t) => {
      const project = newProject(t, user)
      const first = await startHost(t, user, options(project))
      const server = serverProcess(first.location)
      await first.kill()
      const second = await startHost(t, user, options(project))
      assert.equal(serverProcess(second.location), server)
      assert.equal(second.url, first.url)
      await onDatabase(second.url, (client) => client.query('select 1'))
      await second.stop()
      assert.equal(serverProcess(first.location), null, 'the killed host is no user any more')
    })

    test('after kill -9 of Node and PostgreSQL every acknowledged row is there', async (t) => {
      const project = newProject(t, user)
      const first = await startHost(t, user, options(project))
      const acknowledged = await onDatabase(first.url, async (client) => {
        await client.query('create table kept (id serial)')
        await first.kill()
        return insertUntilLost(client, () => killServer(first.location))
      })
      const second = await startHost(t, user, options(project))
      const kept = await countKept(second.url)
      // One more can be there: committed, its answer lost.
      assert.ok(kept >= acknowledged && kept <= acknowledged + 1, `${kept} of ${acknowledged}`)
      await second.stop()
    })

    test('a stale pid file is no obstacle, be its process gone or another program, or the file empty', async (t) => {
      const project = newProject(t, user)
      const first = await startHost(t, user, options(project))
      const pidFile = join(first.location, 'data/postmaster.pid')
      const content = readFileSync(pidFile, 'utf8')
      await first.stop()
      const gone = spawnSync(process.execPath, ['--version']).pid
      // PostgreSQL itself forgives a number of its ancestors or of another user, so it is neither.
      const other = spawn('/bin/sleep', ['600'], { ...identity(serverUser(user)), cwd: '/' })
      afterwards(t, () => {
        other.kill('SIGKILL')
      })
      const stale = [gone, other.pid].map((pid) => content.replace(/^\d+/, String(pid)))
      for (const left of [...stale, '']) {
        writeFileSync(pidFile, left)
        const host = await startHost(t, user, options(project))
        await onDatabase(host.url, (client) => client.query('select 1'))
        await host.stop()
      }
    })

    test('a refused start says what to change and leaves no server behind', async (t) => {
      const project = newProject(t, user)
      const first = await startHost(t, user, options(project))
      await first.stop()
      const password = join(project, '.tollgate/password')
      writeFileSync(password, 'not-the-password\n')
      await assert.rejects(
        startHost(t, user, options(project)),
        /EmbeddedPostgresError: .*\.tollgate\/password must hold the password/,
      )
      assert.equal(serverProcess(first.location), null)
      await assert.rejects(
        startHost(t, user, { ...options(project), settings: { shared_buffers: 'plenty' } }),
        /shared_buffers/,
      )
      assert.equal(serverProcess(first.location), null)
    })
  })
}
