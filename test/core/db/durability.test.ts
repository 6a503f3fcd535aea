/** A live start on servers that may lose commits. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createGateway, type GatewayOptions, localKeys } from '../../../core/index.ts'
import { type Pair, startPair } from '../../faults/postgres-pair.ts'
import { ask } from '../../faults/postgres-servers.ts'
import { startTestCluster, type TestCluster } from '../../rig/cluster.ts'
import { createDatabase } from '../../rig/database.ts'
import { testKey } from '../../rig/gateway.ts'

type Accepted = GatewayOptions['database']['synchronousCommit']

/** Starts and closes a live gateway. @returns what the log said about commits. */
async function startLive(url: string, synchronousCommit?: Accepted): Promise<string[]> {
  const said: string[] = []
  const gateway = await createGateway({
    database: { url, ...(synchronousCommit !== undefined && { synchronousCommit }) },
    plugins: [],
    environment: 'live',
    keys: localKeys(testKey),
    role: 'api',
    log: {
      info: () => {},
      warn: ({ problems }) => {
        if (typeof problems === 'string') said.push(problems)
      },
    },
    shutdownGraceMs: 100,
  })
  await gateway.close()
  return said
}

describe('a live start on a server of its own', () => {
  let cluster: TestCluster
  let url: string
  before(async () => {
    cluster = await startTestCluster({ durable: true })
    url = (await createDatabase(undefined, cluster.url)).url
  })
  after(() => cluster?.stop())
  const commits = async (value: string) => {
    const name = new URL(url).pathname.slice(1)
    await ask(cluster.url, `alter database ${name} set synchronous_commit = '${value}'`)
  }

  test('says nothing about one that keeps its commits', async () => {
    assert.deepEqual(await startLive(url), [])
  })

  test('is refused where commits are only local, or not even that, unless that is accepted by name', async () => {
    for (const value of ['local', 'off'] as const) {
      await commits(value)
      const text = new RegExp(
        `synchronous_commit is ${value}, set it to on, or accept .*TOLLGATE_SYNCHRONOUS_COMMIT=${value}`,
      )
      await assert.rejects(startLive(url), text)
      assert.deepEqual(await startLive(url, value), [`synchronous_commit is ${value}, as accepted`])
    }
    await assert.rejects(startLive(url, 'local'), /synchronous_commit is off/)
    await commits('remote_apply')
    assert.deepEqual(await startLive(url), [])
  })
})

describe('a start on a server with a standby', () => {
  let pair: Pair
  before(async () => {
    pair = await startPair('asynchronous')
  })
  after(() => pair?.cluster.stop())

  test('warns while the standby follows asynchronously', async () => {
    const primary = new URL(pair.url)
    primary.pathname = '/postgres'
    // A database of its own: that of the pair belongs to the test environment.
    const { url } = await createDatabase(undefined, primary.href)
    const warning = ['a standby follows asynchronously, set synchronous_standby_names']
    assert.deepEqual(await startLive(url), warning)
    await ask(primary.href, "alter system set synchronous_standby_names = 'standby'")
    await ask(primary.href, 'select pg_reload_conf()')
    assert.deepEqual(await startLive(url), [])
  })
})
