/** A scan begins with a short window before now, however far in the future the time frame ends. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { newest } from '../../../core/query/page-scan.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { type Watched, watch } from './watched.ts'

describe('a scan through time', () => {
  let run: TestGateway
  let watched: Watched

  before(async () => {
    run = await startGateway()
    watched = watch(run.database.url)
  })
  after(async () => {
    await watched.close()
    await run.close()
  })

  test('a scan passes the future in one step and continues in short ones', async () => {
    const paid = await run.pay()
    const now = Date.now()
    const criteria = {
      types: null,
      brands: null,
      merchantTransactionId: null,
      shortNo: null,
      fromMs: 0,
      toMs: Date.UTC(2090, 0, 1),
    }
    const scope = { channels: `{${run.channel}}`, channelCount: 1, criteria, hasClocks: true }
    const walk = { scope, after: null, wanted: 1, spanMs: undefined }
    const { found } = await newest(watched.engine, walk)
    assert.deepEqual(
      found.map(({ id }) => id),
      [paid.id],
    )
    const begins = watched.statements.map(({ values }) =>
      Math.min(...values.filter((value) => value instanceof Date).map(Number)),
    )
    assert.equal(begins.length, 2)
    for (const begin of begins) assert.ok(begin > now - 120_000, String(begin))
  })
})
