/** Searches of one merchant wait for one another, and those of other merchants do not wait for them. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { limits } from '@tollgate/schemas'
import { until } from '../../rig/gateway.ts'
import { type Hosted, startHost } from './hosted.ts'

describe('searches of several merchants', () => {
  let run: Hosted
  before(async () => {
    // Four connections for reads, of which two are for searches and lists.
    run = await startHost({}, { pool: {} })
  })
  after(() => run.close())

  const get = async (path: string, token: string) => {
    const headers = { authorization: `Bearer ${token}` }
    // Sooner than a search ends that waits for the table.
    const signal = AbortSignal.timeout(25_000)
    const answer = await fetch(`${run.url}${path}`, { headers, signal })
    const { result } = (await answer.json()) as { result: { code: string } }
    return {
      status: answer.status,
      code: result.code,
      again: answer.headers.get('retry-after'),
    }
  }
  const search = `/v1/query?${new URLSearchParams({
    'date.from': '1990-01-01 00:00:00',
    'date.to': '2090-01-01 00:00:00',
    paymentTypes: 'CB',
  })}`

  test('while many searches of one merchant wait, others search, and the merchant gets 429 beyond some', async () => {
    const merchant = await run.gateway.entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: run.division,
    })
    const { token } = await run.gateway.entities.createToken(merchant, 'other')
    assert.equal((await get('/v1/webhooks', token)).status, 200)
    const refused: unknown[] = []
    await run.sql('begin')
    await run.sql('lock table tollgate.payment in access exclusive mode')
    const wait = async () => {
      const { status, code, again } = await get(search, run.token)
      if (status === 429) refused.push([code, again])
      return status
    }
    const more = 20
    const all = Array.from({ length: 1 + limits.slowReadsWaiting + more }, wait)
    const ended = Promise.allSettled(all)
    try {
      await until(async () => (refused.length === more ? true : undefined))
      assert.deepEqual(
        refused,
        refused.map(() => ['800.120.100', '1']),
      )
      // Its list needs a connection for slow reads, while a search holds one and the others wait.
      assert.equal((await get('/v1/webhooks', token)).status, 200)
      assert.equal(refused.length, more)
    } finally {
      await run.sql('rollback')
      await ended
    }
    const found = (await Promise.all(all)).filter((status) => status !== 429)
    assert.deepEqual(new Set(found), new Set([404]))
    assert.equal(found.length, 1 + limits.slowReadsWaiting)
  })
})
