/** Encrypted connections to a real server with a certificate of its own, and clients with certificates. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Database } from '../../../core/db/database.ts'
import type { DatabaseSsl } from '../../../core/index.ts'
import { createGateway, localKeys } from '../../../core/index.ts'
import { ask } from '../../faults/postgres-servers.ts'
import { startTestCluster, type TestCluster } from '../../rig/cluster.ts'
import { createDatabase } from '../../rig/database.ts'
import { freshSimulator, testKey, until } from '../../rig/gateway.ts'
import { selfSigned } from '../net/certificate.ts'

const server = selfSigned('localhost')
const client = selfSigned('client')
describe('encrypted connections', () => {
  let cluster: TestCluster
  let url: string

  /** A file of the server in its data folder. */
  function place(name: string, text: string): void {
    const data = join(cluster.folder, 'data')
    const { uid, gid } = statSync(data)
    const path = join(data, name)
    writeFileSync(path, text)
    chownSync(path, uid, gid)
    chmodSync(path, 0o600)
  }

  before(async () => {
    cluster = await startTestCluster()
    place('server.crt', server.cert)
    place('server.key', server.key)
    await ask(cluster.url, 'alter system set ssl = on')
    await ask(cluster.url, 'select pg_reload_conf()')
    url = (await createDatabase(undefined, cluster.url)).url
  })
  after(() => cluster?.stop())

  /** Whether each connection of the engine is encrypted, by its purpose. */
  const encrypted = () =>
    ask<{ name: string; ssl: boolean }>(
      cluster.url,
      `select distinct application_name as name, ssl from pg_stat_ssl join pg_stat_activity using (pid)
       where application_name like 'tollgate %' and datname like 'test_%'`,
    )

  async function connect(address: string, ssl?: DatabaseSsl): Promise<void> {
    const database = new Database({ url: address, ...(ssl !== undefined && { ssl }) })
    try {
      const pool = database.pool(1, 'encrypted')
      await database.run(pool, { strings: ['select 1'], values: [] })
      const [row] = await encrypted()
      assert.deepEqual(row, { name: 'tollgate encrypted', ssl: ssl !== undefined })
    } finally {
      await database.close()
    }
  }

  const at = (host: string) => {
    const address = new URL(url)
    address.hostname = host
    return address.href
  }

  test('without the option a connection is plain', () => connect(url))

  test('a server whose authority and name are known is accepted', () =>
    connect(at('localhost'), { ca: server.cert }))

  test('a server of an unknown authority is refused, and no start waits for it', async () => {
    await assert.rejects(connect(at('localhost'), {}), /self-signed certificate/)
    await assert.rejects(
      createGateway({
        database: { url: at('localhost'), ssl: { verify: 'full' } },
        plugins: [freshSimulator()],
        environment: 'test',
        keys: localKeys(testKey),
        startWait: 3600,
      }),
      /self-signed certificate/,
    )
  })

  test('a server with another name is refused, unless only the certificate counts, or nothing', async () => {
    // The certificate is for a name, and this address is none of its own.
    const address = at('127.0.0.1')
    await assert.rejects(connect(address, { ca: server.cert }), /altnames/)
    await connect(address, { ca: server.cert, verify: 'ca' })
    await connect(address, { verify: 'none' })
  })

  test('every connection of a gateway is encrypted, that of the job queue as well', async () => {
    const gateway = await createGateway({
      database: { url: at('localhost'), ssl: { ca: server.cert } },
      plugins: [freshSimulator()],
      environment: 'test',
      keys: localKeys(testKey),
      shutdownGraceMs: 100,
    })
    try {
      await until(async () => ((await gateway.isReady()) ? true : undefined))
      const found = await encrypted()
      assert.ok(found.some(({ name }) => name === 'tollgate jobs'))
      assert.deepEqual(
        found.filter(({ ssl }) => !ssl),
        [],
      )
    } finally {
      await gateway.close()
    }
  })

  test('a server that asks for a certificate of the client gets it', async () => {
    place('client.crt', client.cert)
    const rules = readFileSync(join(cluster.folder, 'data/pg_hba.conf'), 'utf8')
    place('pg_hba.conf', `hostssl all all all scram-sha-256 clientcert=verify-ca\n${rules}`)
    await ask(cluster.url, "alter system set ssl_ca_file = 'client.crt'")
    await ask(cluster.url, 'select pg_reload_conf()')
    const ssl = { ca: server.cert }
    await assert.rejects(connect(at('localhost'), ssl), /certificate/)
    await connect(at('localhost'), { ...ssl, cert: client.cert, key: client.key })
  })
})
