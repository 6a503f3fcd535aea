/** URLs, files, users and schemas as customers have them work, or the error says what to do, and never a secret. */
import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createGateway, localKeys, migrateDatabase } from '../../../core/index.ts'
import { ask } from '../../faults/postgres-servers.ts'
import { projectFolder, runTollgate } from '../../host/cli/tollgate.ts'
import { scratchFolder } from '../../rig/cluster.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey } from '../../rig/gateway.ts'
import { startPgBouncer, withoutPgBouncer } from '../../rig/pgbouncer.ts'

describe('a database of a customer', () => {
  let database: TestDatabase
  let folder: string

  before(async () => {
    database = await createDatabase()
    folder = mkdtempSync(join(scratchFolder(), 'tollgate-urls-'))
    chmodSync(folder, 0o777)
  })
  after(async () => {
    rmSync(folder, { recursive: true, force: true })
    await database.drop()
  })

  const start = (url: string, schema = 'tollgate') =>
    createGateway({
      database: { url, schema, pool: { single: 1, read: 1, group: 1, jobs: 1 } },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      startWait: 15,
    })

  const failed = async (work: Promise<unknown>): Promise<string> =>
    work.then(
      () => assert.fail('it started'),
      (error: Error) => `${error.stack} ${JSON.stringify(error)} ${error.cause}`,
    )

  const command = async (url: string, ...words: string[]) => {
    const project = await projectFolder()
    const env = { DATABASE_URL: url, TOLLGATE_KEYS: testKey }
    const ran = await runTollgate(words, { folder: project.path, env })
    await project.remove()
    return ran
  }

  test('a file of the URL that is missing, no file or no PEM text is named, and no start waits for it', async () => {
    writeFileSync(join(folder, 'words.pem'), 'words')
    for (const parameter of ['sslrootcert', 'sslcert', 'sslkey']) {
      for (const [name, why] of [
        ['missing.pem', 'cannot be read \\(ENOENT\\)'],
        ['', 'cannot be read \\(EISDIR\\)'],
        ['words.pem', 'without PEM text'],
      ]) {
        const url = `${database.url}?sslmode=verify-full&${parameter}=${join(folder, name!)}`
        const said = new RegExp(`${parameter} in the URL of the database is .*${why}`)
        assert.match(await failed(start(url)), said)
        const { code, err } = await command(url, 'entity', 'list')
        assert.equal(code, 1)
        assert.match(err, said)
      }
    }
  })

  test('sslrootcert=system means the authorities that Node trusts', async () => {
    assert.match(
      await failed(start(`${database.url}?sslrootcert=system`)),
      /server does not support SSL/,
    )
  })

  test('a password that is not escaped is refused, and no part of it shown', async () => {
    for (const password of [
      'Pa@ss/Wo',
      'Pa/ss@Wo',
      '12/Pass',
      '12?Pass',
      '12#Pass',
      'Pa@12#Pass',

      '12/P@',
    ]) {
      const url = `postgres://tollgate:${password}@127.0.0.1:1/shop`
      const { code, err, out } = await command(url, 'entity', 'list')
      assert.equal(code, 1)
      for (const said of [await failed(start(url)), err, out]) {
        assert.doesNotMatch(said, /Pa|ss\/|Wo\b|12[/?#]|P@/, password)
      }
      assert.match(err, /write @ as %40/, password)
    }
  })

  test('a server is found by the folder of its socket', { skip: withoutPgBouncer }, async () => {
    const sockets = join(folder, 's')
    mkdirSync(sockets)
    chmodSync(sockets, 0o777)
    const pooler = await startPgBouncer(database.url, {
      mode: 'session',
      settings: { unix_socket_dir: sockets },
    })
    try {
      const { username, port } = new URL(pooler.url)
      const name = database.name
      const host = encodeURIComponent(sockets)
      for (const url of [
        `postgres:///${name}?host=${sockets}&port=${port}&user=${username}`,
        `postgres://${username}@/${name}?host=${sockets}&port=${port}`,
        `postgres://${username}:secret@${host}:${port}/${name}`,
      ]) {
        await (await start(url)).close()
        const { code, err, out } = await command(url, 'migrate')
        assert.equal(code, 0, err)
        assert.match(out, new RegExp(`${sockets}.*/${name} is up to date`))
      }
    } finally {
      await pooler.close()
    }
  })

  test('schemas that an administrator made suffice for a user without rights to the database', async () => {
    const user = `made_${database.name.slice(-8)}`.toLowerCase()
    await ask(database.url, `create role ${user} login password 'x'`)
    const theirs = new URL(database.url)
    theirs.username = user
    theirs.password = 'x'
    try {
      const said = await failed(migrateDatabase({ url: theirs.href, schema: 'made' }))
      assert.match(said, new RegExp(`create schema made authorization ${user}`))
      for (const name of ['made', 'made_boss']) {
        await ask(database.url, `create schema ${name} authorization ${user}`)
      }
      await (await start(theirs.href, 'made')).close()
    } finally {
      await ask(database.url, `drop owned by ${user}`)
      await ask(database.url, `drop role ${user}`)
    }
  })

  test('a schema whose name PostgreSQL refuses or reads as a word of SQL is refused by its name', async () => {
    assert.match(await failed(start(database.url, 'pg_pay')), /without pg_ at the start/)
    for (const schema of ['user', 'order', 'values']) {
      assert.match(await failed(start(database.url, schema)), /name that is a word of SQL/)
    }
  })

  test('a database that cannot hold every name is refused before its first table', async () => {
    const name = `${database.name}_latin`
    await ask(
      database.url,
      `create database ${name} template template0 encoding 'LATIN1' locale_provider libc lc_collate 'C' lc_ctype 'C'`,
    )
    const url = new URL(database.url)
    url.pathname = `/${name}`
    try {
      const said = await failed(migrateDatabase({ url: url.href }))
      assert.match(said, /encoding of this database is LATIN1/)
    } finally {
      await ask(database.url, `drop database ${name} with (force)`)
    }
  })
})
