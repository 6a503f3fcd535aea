/** The database goes during the first commit of a follow-up: the client's answer is true. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { onFaultPoint } from '../../core/index.ts'
import { balanceOf, closeChecked } from '../rig/books.ts'
import { until } from '../rig/gateway.ts'
import { charged, eur, type LateRun, startLate, undecided } from '../rig/late-words.ts'
import { type Line, lineTo } from '../rig/proxy.ts'

describe('follow-ups whose first commit meets a database outage', () => {
  let run: LateRun
  let line: Line
  before(async () => {
    run = await startLate(
      {},
      {
        shutdownGraceMs: 100,
        through: async (url) => {
          line = await lineTo(url)
          return line.url
        },
      },
    )
  })
  after(async () => {
    onFaultPoint(undefined)
    line.up()
    try {
      await closeChecked(run)
    } finally {
      await line.close()
    }
  })

  /** Names of the prepared statements that reserve this kind of follow-up. */
  const reserving = (column: string) => {
    const found = run.gateway
      .statements()
      .filter(
        ({ text }) =>
          text.includes(`${column} = ${column} + $`) &&
          text.includes('insert into tollgate.payment ('),
      )
    assert.equal(found.length, 1)
    return found[0]!.name
  }
  /** Sessions of the engine on the server. */
  const sessions = async () => {
    const [row] = await run.sql<{ count: bigint }>(
      `select count(*) as count from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
    )
    return row?.count
  }
  const rows = (reference: string) =>
    run.sql<{ id: string }>('select id from tollgate.payment where merchant_transaction_id = $1', [
      reference,
    ])

  test('a committed follow-up is open with an id and then declined, and one that never arrived is 503', async () => {
    const { id } = await run.debit('goes-away-sale')
    const { id: other } = await run.debit('never-reached-sale')
    // Runs the statement once, so that it has a name.
    await run.gateway.payments.refund(id, eur('1.00'))
    // One request is past its reads and before its commit when the database goes.
    const arrived = Promise.withResolvers<string>()
    const gone = Promise.withResolvers<void>()
    onFaultPoint((point, ref) => {
      if (point !== 'before-T1') return
      onFaultPoint(undefined)
      arrived.resolve(ref)
      return gone.promise
    })
    const unreached = run.follow(other, 'RF', 'never-reached-refund', eur('60.00'))
    const neverReached = assert.rejects(unreached, { status: 503 })
    const neverId = await arrived.promise
    const cut = line.cut(reserving('refunding'), 'after').then(() => line.down())
    const unanswered = run.follow(id, 'RF', 'goes-away-refund', eur('60.00'))
    await cut
    // A connection not yet known as broken would take the other commit.
    await until(async () => ((await sessions()) === 0n ? true : undefined))
    await until(() =>
      run.gateway.payments.get(id).then(
        () => undefined,
        () => true,
      ),
    )
    gone.resolve()
    const answer = await unanswered
    assert.equal(answer.result.code, undecided)
    assert.match(answer.id, /^[0-9a-f]{32}$/)
    await neverReached
    line.up()
    const read = await until(async () => {
      const view = await run.gateway.payments.get(answer.id).catch(() => undefined)
      return view === undefined || view.result.code === undecided ? undefined : view
    })
    assert.equal(read.result.code, '900.100.600')
    assert.equal(read.retrySafe, true)
    assert.deepEqual(run.acquirer.of('goes-away-refund'), [])
    assert.deepEqual(await rows('goes-away-refund'), [{ id: answer.id }])
    assert.equal((await balanceOf(run, id)).refunding, 0n)
    assert.deepEqual(await rows('never-reached-refund'), [])
    await assert.rejects(run.gateway.payments.get(neverId), { status: 404 })
    assert.deepEqual(run.acquirer.of('never-reached-refund'), [])
    assert.equal((await run.gateway.payments.refund(id, eur('91.00'))).result.code, charged)
    assert.equal((await run.gateway.payments.refund(other, eur('92.00'))).result.code, charged)
  })
})
