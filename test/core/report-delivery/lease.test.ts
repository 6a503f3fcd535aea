/** The lease of a destination: one process delivers, and a late renewal keeps nobody out. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import { endLease, renewLease, takeLease } from '../../../core/report-delivery/store-queue.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { type SftpFolder, startSftpFolder } from '../../rig/sftp-folder.ts'

const forMs = 60_000

describe('the lease of a destination', () => {
  let run: TestGateway
  let folder: SftpFolder
  let database: Database
  let lanes: Lanes
  let destination: string
  before(async () => {
    run = await startGateway({ role: 'api', plugins: [fileTransfer] })
    folder = await startSftpFolder()
    database = new Database({ url: run.database.url })
    lanes = new Lanes(database, { single: 1, read: 1 })
    const made = await run.gateway.reportDestinations.create({
      entityId: run.merchant,
      folderUrl: `sftp://127.0.0.1:${folder.port}`,
      login: { user: folder.user, password: folder.password },
      hostKey: folder.hostKey,
    })
    destination = made.id
  })
  after(async () => {
    await database.close()
    await folder.close()
    await run.close()
  })

  test('belongs to one process, which extends it', async () => {
    const [taken] = await lanes.upkeep(takeLease(destination, forMs))
    assert.ok(taken !== undefined)
    assert.deepEqual(await lanes.upkeep(takeLease(destination, forMs)), [])
    assert.equal((await lanes.upkeep(renewLease(destination, taken.lease, forMs))).length, 1)
    await lanes.upkeep(endLease(destination, taken.lease))
  })

  test('stays ended when a renewal comes after its end', async () => {
    const [taken] = await lanes.upkeep(takeLease(destination, forMs))
    await lanes.upkeep(endLease(destination, taken!.lease))
    assert.deepEqual(await lanes.upkeep(renewLease(destination, taken!.lease, forMs)), [])
    const [next] = await lanes.upkeep(takeLease(destination, forMs))
    assert.equal(next?.lease, taken!.lease + 1)
    await lanes.upkeep(endLease(destination, next!.lease))
  })
})
