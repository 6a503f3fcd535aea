import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, watch } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { newProject, onDatabase, options, serverRuns, starters, startHost } from './hosts.ts'

function portIn(url: string): number {
  return Number(new URL(url).port)
}

// This does not depend on who starts the gateway, so one of them does.
const user = starters[0]?.user ?? null

describe('hosts of one database', () => {
  test('of two hosts the last one to leave stops the server', async (t) => {
    const project = newProject(t, user)
    const first = await startHost(t, user, options(project))
    const second = await startHost(t, user, options(project))
    assert.deepEqual([first.origin, second.origin], ['created', 'joined'])
    await first.stop()
    assert.match(await first.line(/runs on as/), /others use it/)
    await onDatabase(second.url, (client) => client.query('select 1'))
    await second.stop()
    assert.equal(serverRuns(first.location), false)
  })

  test('a session of somebody else keeps the server running', async (t) => {
    const project = newProject(t, user)
    const host = await startHost(t, user, options(project))
    await onDatabase(host.url, async (client) => {
      await host.stop()
      assert.equal((await client.query('select 1')).rowCount, 1)
    })
    assert.equal(serverRuns(host.location), true)
  })

  test('two first starts at once make one database', async (t) => {
    const project = newProject(t, user)
    const hosts = await Promise.all([
      startHost(t, user, options(project)),
      startHost(t, user, options(project)),
    ])
    assert.deepEqual(hosts.map((host) => host.origin).sort(), ['created', 'joined'])
    assert.equal(hosts[0]?.url, hosts[1]?.url)
    await Promise.all(hosts.map((host) => host.stop()))
    assert.equal(serverRuns(hosts[0]?.location ?? ''), false)
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
    assert.equal(host.origin, 'created')
    await host.stop()
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
