/** The list of an operator with one node reads the entries of that node, however many others have. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openAttention } from '../../../core/attention/store.ts'
import { startGateway } from '../../rig/gateway.ts'
import { rowsTouched } from '../../rig/rows-touched.ts'

test('an operator of one channel reads its entries, and those of a merchant that is wholly his', async () => {
  const run = await startGateway({ role: 'api' })
  try {
    await run.sql(
      `insert into tollgate.entity (id, kind, name, parent_id)
       select md5('m' || n)::uuid, 'merchant', 'M', $1::uuid from generate_series(1, 500) n`,
      [run.division],
    )
    await run.sql(
      `insert into tollgate.entity (id, kind, name, parent_id)
       select md5('c' || n)::uuid, 'channel', 'C', md5('m' || (n / 2 + 1))::uuid from generate_series(1, 998) n`,
    )
    await run.sql(
      `insert into tollgate.attention (id, kind, detail, reference)
       select gen_random_uuid(), 'card-testing', '{}',
         replace(md5('m' || (n / 2 + 1))::uuid::text, '-', '') || case when n % 2 = 0 then ' number' else ' bin' end
       from generate_series(1, 998) n`,
    )
    const [half] = await run.sql<{ one: string; other: string }>(
      `select replace(md5('c2')::uuid::text, '-', '') as one, replace(md5('c3')::uuid::text, '-', '') as other`,
    )
    const list = (...channels: string[]) => run.gateway.operator.attention(100, channels)
    assert.equal((await list(run.channel)).length, 0)
    assert.equal((await list(half!.one)).length, 0, 'half of a merchant')
    assert.equal((await list(half!.one, half!.other)).length, 2, 'a whole merchant')
    await run.pay({ paymentType: 'DB' })
    await run.sql(
      `insert into tollgate.attention (id, kind, payment_id, detail)
       select gen_random_uuid(), 'undecided', id, '{}' from tollgate.payment where channel_id = $1`,
      [run.channel],
    )
    assert.equal((await list(run.channel)).length, 1)
    for (const isAnalysed of [false, true]) {
      if (isAnalysed) await run.sql('analyze')
      const tables = ['attention', 'entity', 'payment']
      const touched = await rowsTouched(run.database.url, openAttention(100, [run.channel]), tables)
      assert.ok(touched <= 10, `${touched} rows, ${isAnalysed ? 'analysed' : 'new'}`)
    }
  } finally {
    await run.close()
  }
})
