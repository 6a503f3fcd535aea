/**
 * Commits with a lost answer: the connection breaks after Postgres executed a statement, or before
 * it arrived. The two cannot be distinguished, so every statement is safe to repeat.
 */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isApproved } from '../rig/installation/client.ts'
import { layGround } from '../rig/installation/ground.ts'
import { startLoad } from '../rig/installation/load.ts'

const ground = await layGround({ cuttable: true })
after(() => ground.close())
const { client, proxy } = ground
const hosts = await Promise.all([ground.host('one'), ground.host('two')])

const firstCommit = 'insert into tollgate.payment ('
const secondCommit = 'insert into tollgate.event'

for (const lose of ['answer', 'request'] as const) {
  for (const [moment, statement] of [
    ['first commit', firstCommit],
    ['second commit', secondCommit],
  ] as const) {
    for (const [type, first] of [
      ['DB', undefined],
      ['PA.CP', undefined],
      ['CP', 'PA'],
      ['RV', 'PA'],
      ['RF', 'DB'],
      ['RV', 'DB'],
    ] as const) {
      const title = first === undefined ? type : `${type} of a whole ${first}`
      test(`the ${lose} of the ${moment} of a ${title} is lost`, async () => {
        const wish =
          first === undefined
            ? client.first(type, 9_200)
            : client.followUp(type, await client.approved(first, 9_200, hosts), 9_200)
        const before = proxy.cuts[lose]
        proxy.plan({ statement, lose, times: 1 })
        const { code } = await client.insist(wish, hosts)
        assert.equal(proxy.cuts[lose], before + 1)
        assert.ok(isApproved(code), code)
        await ground.check()
      })
    }
  }
}

test('commits lose their answer or do not arrive, under load', async () => {
  const before = { ...proxy.cuts }
  proxy.plan(
    { statement: firstCommit, lose: 'answer', every: 5 },
    { statement: firstCommit, lose: 'request', every: 7 },
    { statement: secondCommit, lose: 'answer', every: 4 },
    { statement: secondCommit, lose: 'request', every: 9 },
  )
  const load = startLoad(client, hosts, 12)
  await load.more(300)
  proxy.plan()
  await load.stop()
  assert.ok(proxy.cuts.answer - before.answer > 50 && proxy.cuts.request - before.request > 20)
  await ground.check()
})
