/** The end of the chain is told in quiet times too, and a chain that stands still raises an alarm. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { addNextLinks } from '../../../core/audit-chain/chain.ts'
import { ChainWatch } from '../../../core/audit-chain/watch.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { localKeys } from '../../../core/index.ts'
import { Vault } from '../../../core/vault/vault.ts'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway, testKey, until } from '../../rig/gateway.ts'

describe('the watch over the chain', () => {
  let run: TestGateway
  let database: Database
  let lanes: Lanes
  let vault: Vault
  let nowMs = 0
  const anchors: string[] = []
  const alarmed: string[] = []

  before(async () => {
    run = await startGateway({ role: 'api' })
    database = new Database({ url: run.database.url })
    lanes = new Lanes(database, { single: 1, read: 1 })
    vault = await Vault.start(lanes, localKeys(testKey))
  })
  after(async () => {
    await vault.close()
    await database.close()
    await run.close()
  })

  const open = (id?: string) => vault.chainKey(id)
  const log = {
    info: (fields: object) => void anchors.push(String(Object.values(fields)[0])),
    warn() {},
  }
  const watching = () =>
    new ChainWatch({
      lanes,
      clock: { elapsedMs: () => nowMs },
      securityLog: log,
      alarm: (kind, { subject }) => void alarmed.push(`${kind} ${subject}`),
      open,
    })
  const act = async (name: string) => {
    await run.gateway.entities.createToken(run.channel, name)
    while ((await addNextLinks(lanes, open)) > 0);
  }
  const look = async (watch: ChainWatch) => {
    await watch.look()
    await watch.tell()
  }
  const end = () => run.gateway.audit.anchor()

  test('the end is told when the minute is over, without new rows, and when the process ends', async () => {
    const watch = watching()
    await act('one')
    await look(watch)
    assert.deepEqual(anchors.splice(0), [await end()])
    await act('the last one before a quiet time')
    await look(watch)
    assert.deepEqual(anchors, [])
    nowMs += limits.alarmMs
    await look(watch)
    assert.deepEqual(anchors.splice(0), [await end()])
    nowMs += limits.alarmMs
    await look(watch)
    assert.deepEqual(anchors, [])
    await act('the last one before the process ends')
    await watch.last()
    assert.deepEqual(anchors.splice(0), [await end()])
    // The next process tells it by itself.
    await look(watching())
    assert.deepEqual(anchors.splice(0), [await end()])
  })

  test('rows that wait for their links at the same end for a minute raise an alarm', async () => {
    const watch = watching()
    await run.gateway.entities.createToken(run.channel, 'nobody links it')
    assert.equal(await watch.look(), true)
    nowMs += limits.auditLagMs
    await watch.look()
    assert.deepEqual(alarmed, [])
    nowMs += 1
    await watch.look()
    assert.deepEqual(alarmed.splice(0), ['audit-trail standstill'])
    while ((await addNextLinks(lanes, open)) > 0);
    assert.equal(await watch.look(), false)
    assert.deepEqual(alarmed, [])
  })

  test('an end that somebody changed is not told and raises an alarm', async () => {
    const [{ mac }] = (await run.sql<{ mac: Buffer }>('select mac from tollgate.audit_head')) as [
      { mac: Buffer },
    ]
    await run.sql(`update tollgate.audit_head set mac = 'x'`)
    await assert.rejects(look(watching()), /head of the chain.* was changed/)
    assert.deepEqual(anchors, [])
    assert.deepEqual(alarmed.splice(0), ['audit-trail chain'])
    await run.sql('update tollgate.audit_head set mac = $1', [mac])
  })

  test('a worker tells the end that nobody added to', async () => {
    const worker = await run.another({ role: 'worker' })
    await worker.close()
    const told = run.logs.filter(({ fields }) => typeof fields.anchor === 'string')
    await until(async () => (told.length > 0 ? true : undefined))
    assert.equal(told.at(-1)?.fields.anchor, await end())
  })
})
