/** A database of any name is found by its URL, and messages have its name as people write it. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import pg from 'pg'
import { databaseClient } from '../../../core/db/prompt-client.ts'
import { migrateDatabase } from '../../../core/index.ts'
import { placeOf } from '../../../host/config/pod-settings.ts'
import { testCluster } from '../../rig/cluster.ts'

test('the name of a database may have every character that a URL escapes', async () => {
  const cluster = await testCluster()
  const name = `a/b?c#d@e:f+g&h=i$j,k;l %ü ${randomBytes(4).toString('hex')}`
  const url = new URL(cluster.url)
  url.pathname = `/${encodeURIComponent(name)}`
  const administrator = new pg.Client({ connectionString: cluster.url })
  await administrator.connect()
  const quoted = administrator.escapeIdentifier(name)
  await administrator.query(`create database ${quoted} template template0`)
  try {
    for (const ssl of [undefined, { verify: 'none' } as const]) {
      const { database, host, user } = databaseClient({ url: url.href, ...(ssl && { ssl }) })
      assert.deepEqual([database, host, user], [name, url.hostname, url.username])
    }
    const client = databaseClient({ url: url.href })
    await client.connect()
    const { rows } = await client.query('select current_database() as name')
    await client.end()
    assert.equal(rows[0].name, name)
    assert.ok((await migrateDatabase({ url: url.href })).length > 0)
    assert.equal(placeOf(url.href), `${url.hostname}:${url.port}/${name}`)
  } finally {
    await administrator.query(`drop database ${quoted} with (force)`)
    await administrator.end()
  }
})

test('other URLs are read as pg reads them', () => {
  for (const url of [
    'postgres://tollgate@/shop?host=/run/postgresql',
    'postgres://tollgate:p%40ss@db.example/Toll%20gate?sslmode=verify-full',
    'postgres:///shop',
    'postgres:///shop?host=/run/postgresql',
    'postgres://%2Frun%2Fpostgresql/shop',
    'postgres://db.example/shop',
  ]) {
    const [own, given] = [databaseClient({ url }), new pg.Client({ connectionString: url })]
    for (const name of ['host', 'port', 'database', 'password'] as const) {
      assert.deepEqual(own[name], given[name], url)
    }
  }
})
