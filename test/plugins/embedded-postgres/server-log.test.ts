import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { boundLog } from '../../../plugins/embedded-postgres/server-log.ts'
import { commandLine } from '../../../plugins/embedded-postgres/server-settings.ts'
import { newProject, onDatabase, options, starters, startHost } from './hosts.ts'

test('the log of the server stays small while the server goes on writing', (t) => {
  const path = join(newProject(t, null), 'postgres.log')
  const server = openSync(path, 'a')
  t.after(() => closeSync(server))
  for (let round = 0; round < 3; round += 1) {
    writeSync(server, `${'x'.repeat(5 * 1024 * 1024)}\n`)
    boundLog(path)
  }
  writeSync(server, 'still here\n')
  assert.equal(readFileSync(path, 'utf8'), 'still here\n')
})

test('a refused statement leaves nothing of its text or values in the log', async (t) => {
  const user = starters[0]?.user ?? null
  const project = newProject(t, user)
  const host = await startHost(t, user, options(project))
  await onDatabase(host.url, async (client) => {
    await client.query('create table kept (number text unique)')
    await client.query(`insert into kept values ('4111111111111111')`)
    await assert.rejects(client.query(`insert into kept values ('4111111111111111')`))
    await assert.rejects(client.query('select $1::int', ['4111111111111111']))
  })
  await host.stop()
  const path = join(project, '.tollgate/postgres.log')
  const log = readFileSync(path, 'utf8')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.match(log, /ready to accept connections/)
  assert.doesNotMatch(log, /4111|insert|select/)
})

test('a caller may choose settings, except those the launcher needs', () => {
  assert.ok(commandLine(20_000, { fsync: 'off' }).includes('fsync=off'))
  assert.ok(commandLine(20_000, {}).includes('fsync=on'))
  const line = commandLine(20_000, { port: '1', listen_addresses: '*' })
  assert.deepEqual(
    line.filter((word) => /^(port|listen_addresses)=/.test(word)),
    ['port=20000', 'listen_addresses=127.0.0.1'],
  )
})
