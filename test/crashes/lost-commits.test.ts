/**
 * Commits with a lost answer: the connection breaks after Postgres executed a statement, or before
 * it arrived. The two cannot be distinguished, so every statement is safe to repeat.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { isApproved } from '../rig/installation/client.ts'
import { type Bystander, type Ground, layGround } from '../rig/installation/ground.ts'
import { startLoad } from '../rig/installation/load.ts'
import { inScope } from '../rig/scope.ts'

const firstCommit = 'insert into tollgate.payment ('
const secondCommit = 'insert into tollgate.event'

const whole = [
  ['DB', undefined],
  ['PA.CP', undefined],
  ['CP', 'PA'],
  ['RV', 'PA'],
  ['RF', 'DB'],
  ['RV', 'DB'],
] as const

const load = inScope(
  { merchants: 4, answers: 60, answersLost: 8, requestsLost: 3 },
  { merchants: 12, answers: 300, answersLost: 50, requestsLost: 20 },
)

describe('commits that lose their answer', { concurrency: false }, () => {
  let ground: Ground
  let hosts: readonly Bystander[]
  before(async () => {
    ground = await layGround({ cuttable: true })
    hosts = await Promise.all([ground.bystander('one'), ground.bystander('two')])
  })
  after(() => ground.close())

  for (const lose of ['answer', 'request'] as const) {
    for (const [moment, statement] of [
      ['first commit', firstCommit],
      ['second commit', secondCommit],
    ] as const) {
      test(`the ${lose} of the ${moment} is lost, of a payment of each kind`, async () => {
        const { client, proxy } = ground
        for (const [type, first] of whole) {
          const wish =
            first === undefined
              ? client.first(type, 9_200)
              : client.followUp(type, await client.approved(first, 9_200, hosts), 9_200)
          const before = proxy.cuts[lose]
          proxy.plan({ statement, lose, times: 1 })
          const { code } = await client.insist(wish, hosts)
          assert.equal(proxy.cuts[lose], before + 1, wish.reference)
          assert.ok(isApproved(code), `${wish.reference} ${code}`)
        }
        await ground.check()
      })
    }
  }

  test('commits lose their answer or do not arrive, under load', async () => {
    const { client, proxy } = ground
    const before = { ...proxy.cuts }
    proxy.plan(
      { statement: firstCommit, lose: 'answer', every: 5 },
      { statement: firstCommit, lose: 'request', every: 7 },
      { statement: secondCommit, lose: 'answer', every: 4 },
      { statement: secondCommit, lose: 'request', every: 9 },
    )
    const shops = startLoad(client, hosts, load.merchants)
    await shops.more(load.answers)
    proxy.plan()
    await shops.stop()
    assert.ok(proxy.cuts.answer - before.answer > load.answersLost, 'answers are lost')
    assert.ok(proxy.cuts.request - before.request > load.requestsLost, 'requests are lost')
    await ground.check()
  })
})
