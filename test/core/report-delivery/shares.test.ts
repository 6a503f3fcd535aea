/** The destinations of one merchant take a share of the places for deliveries, and give them up in between. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import fileTransfer from '@tollgate/file-transfer'
import { limits } from '@tollgate/schemas'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'
import { publishReport } from '../../rig/report-files.ts'
import { setLimits } from '../../rig/set-limits.ts'
import { type SftpFolder, startSftpFolder } from '../../rig/sftp-folder.ts'

const content = Buffer.from('ReconciliationType;PaymentType\r\nSETTLED;DB\r\n')

describe('places for deliveries', () => {
  let run: TestGateway
  let folder: SftpFolder
  let slow: SftpFolder
  before(async () => {
    run = await startGateway({ role: 'api', plugins: [fileTransfer], shutdownGraceMs: 100 })
  })
  after(() => run.close())
  beforeEach(async () => {
    folder = await startSftpFolder()
    slow = await startSftpFolder()
  })
  afterEach(async () => {
    await slow.close()
    await folder.close()
  })

  async function destination(
    entityId: string,
    { port, hostKey, user, password }: SftpFolder,
    path = '',
  ) {
    const { id } = await run.gateway.reportDestinations.create({
      entityId,
      folderUrl: `sftp://127.0.0.1:${port}${path}`,
      login: { user, password },
      hostKey,
    })
    return id
  }
  const delivered = (destinationId: string, count: number) =>
    until(async () => {
      const { deliveries } = await run.gateway.reportDestinations.deliveries(destinationId)
      return deliveries.filter(({ state }) => state === 'DELIVERED').length === count || undefined
    })
  const merchant = () =>
    run.gateway.entities.create({ kind: 'merchant', name: 'other', parentId: run.division })

  test('slow servers of a merchant and its channel leave places for another merchant', async () => {
    const worker = await run.another({ role: 'all' })
    const paths = ['/1', '/2', '/3', '/4', '/5', '/6']
    const owners = paths.map((_, no) => (no % 2 === 0 ? run.merchant : run.channel))
    slow.fail('rename', 'wait')
    const begun = () => slow.log.filter((line) => line.startsWith('open')).length
    const slowOnes: string[] = []
    for (const [no, path] of paths.entries()) {
      mkdirSync(join(slow.path, path))
      slowOnes.push(await destination(owners[no]!, slow, path))
    }
    const other = await merchant()
    const quick = await destination(other, folder)
    await publishReport(run, run.merchant, content)
    await publishReport(run, run.channel, content)
    await until(async () => begun() === limits.reportDestinationsPerMerchant || undefined)
    await publishReport(run, other, content)
    await delivered(quick, 1)
    assert.equal(begun(), limits.reportDestinationsPerMerchant)
    slow.heal()
    for (const id of slowOnes) await delivered(id, 1)
    await worker.close()
  })

  test('a run that has taken its time leaves the next file to the next run', async () => {
    const reset = setLimits({ reportRunMs: 0 })
    try {
      const owner = await merchant()
      const id = await destination(owner, folder)
      for (let no = 0; no < 3; no += 1) await publishReport(run, owner, content)
      const worker = await run.another({ role: 'all' })
      await delivered(id, 3)
      await worker.close()
      const [jobs] = await run.sql<{ count: number }>(
        `select count(*)::integer as count from tollgate_boss.job
         where name = 'report-delivery' and data ->> 'destinationId' = $1`,
        [id],
      )
      assert.equal(jobs!.count, 3)
    } finally {
      reset()
    }
  })

  test('the place of a run is its own until the longest file has ended, also in an earlier queue', async () => {
    await run.sql(`update tollgate_boss.queue set expire_seconds = 150`)
    await (await run.another({ role: 'all' })).close()
    const queues = await run.sql<{ name: string; expire_seconds: number }>(
      `select name, expire_seconds from tollgate_boss.queue where name in ('charge', 'report-delivery') order by name`,
    )
    const longest = (limits.transferMs + 2 * limits.reportRunMs) / 1000
    assert.deepEqual(queues, [
      { name: 'charge', expire_seconds: 150 },
      { name: 'report-delivery', expire_seconds: longest },
    ])
  })
})
