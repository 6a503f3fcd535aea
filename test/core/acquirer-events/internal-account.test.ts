/** The account `internal` is an entrance for the simulator's messages in test, and for nothing else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inbound } from '@tollgate/plugin-kit'
import acquirerJson from '../../../connectors/acquirer-json/index.ts'
import { createGateway, localKeys, makeKey } from '../../../core/index.ts'
import { sentAgain } from '../../rig/acquirer.ts'
import { startTestCluster } from '../../rig/cluster.ts'
import { freshSimulator, startGateway } from '../../rig/gateway.ts'

const unknown = { code: '700.400.580', status: 404 }
const read = async (): Promise<Inbound> => assert.fail('it was read')
const empty: Inbound = { body: Buffer.from('{}'), headers: {}, query: {} }

test('a connector without the mode INTERNAL has no account of this name, and its messages are not read', async () => {
  const run = await startGateway({
    role: 'api',
    plugins: [acquirerJson],
    connectors: { 'acquirer-json': { url: 'https://bank.example' } },
  })
  try {
    await assert.rejects(run.gateway.inbound('acquirer-json', 'internal', read), unknown)
    await sentAgain(run.gateway.inbound('simulator', 'internal', empty))
  } finally {
    await run.close()
  }
})

test('live has no account of this name', async () => {
  const cluster = await startTestCluster({ durable: true })
  try {
    await using gateway = await createGateway({
      database: { url: cluster.url },
      environment: 'live',
      keys: localKeys(makeKey('live')),
      plugins: [freshSimulator()],
      role: 'api',
    })
    await assert.rejects(gateway.inbound('simulator', 'internal', read), unknown)
  } finally {
    await cluster.stop()
  }
})
