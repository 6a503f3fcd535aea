/** The log of an endpoint and a replay read what they tell, however much others have. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { engineActor } from '../../../core/audit/actor.ts'
import { newId } from '../../../core/ids.ts'
import { deliveriesOf } from '../../../core/webhook/store.ts'
import { deadToReplay, eventsToReplay, replayEvents } from '../../../core/webhook/store-replay.ts'
import { startGateway, type TestGateway } from '../../rig/gateway.ts'
import { rowsTouched } from '../../rig/rows-touched.ts'

const many = 30_000
const first = '00000000-0000-0000-0000-000000000000'
const last = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

describe('reads of an endpoint, beside very much of others', () => {
  let run: TestGateway
  let endpointId: string
  before(async () => {
    run = await startGateway({ role: 'api' })
    const url = 'http://127.0.0.1:9/hook'
    endpointId = (await run.gateway.webhooks.create({ entityId: run.channel, url })).id
    await run.sql(
      `insert into tollgate.delivery (id, endpoint_id, event_id, kind, resource, seq, state, due_at, created_at)
       select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || substr(md5(n::text), 1, 20))::uuid,
         $1::uuid, gen_random_uuid(), 'PAYMENT', gen_random_uuid(), 1, 'delivered', now(), now()
       from generate_series(1, $2::integer) n`,
      [endpointId, many],
    )
    await run.sql(
      `insert into tollgate.event (id, resource, seq, channel_id, type, data)
       select (lpad(to_hex((extract(epoch from now()) * 1000)::bigint - n), 12, '0') || substr(md5(n::text), 1, 20))::uuid,
         gen_random_uuid(), 1, md5('x' || (n % 100))::uuid, 'payment.approved', '{"state":"approved","paymentType":"DB"}'
       from generate_series(1, $1::integer) n`,
      [many],
    )
  })
  after(() => run.close())

  for (const isAnalysed of [false, true]) {
    const when = isAnalysed ? 'analysed' : 'new'
    test(`the log by a state that few have, in a ${when} database`, async () => {
      if (isAnalysed) await run.sql('analyze tollgate.delivery')
      const { url } = run.database
      const log = deliveriesOf(endpointId, 'dead', null, 101)
      assert.equal(await rowsTouched(url, log, ['delivery']), 0)
      const dead = deadToReplay(endpointId, null, null, { from: null, until: null }, 10_000)
      assert.equal(await rowsTouched(url, dead, ['delivery']), 0)
      const most = await run.sql<{ id: string }>(
        'select id from tollgate.delivery where endpoint_id = $1 order by id limit 1 offset 1000',
        [endpointId],
      )
      const page = deliveriesOf(endpointId, 'delivered', most[0]!.id, 101)
      assert.ok((await rowsTouched(url, page, ['delivery'])) <= 202)
      const all = deliveriesOf(endpointId, null, null, 101)
      assert.ok((await rowsTouched(url, all, ['delivery'])) <= 202)
    })

    test(`a replay over all time of one who has no events, in a ${when} database`, async () => {
      if (isAnalysed) await run.sql('analyze tollgate.event')
      const range = { from: new Date(0), until: new Date() }
      const search = eventsToReplay(endpointId, range, { first, last }, true, 10_000)
      // Those that tell where a range lies, at each of its ends.
      assert.ok((await rowsTouched(run.database.url, search, ['event'])) <= 2 * 1000)
    })
  }

  test('a replay of a short range reads that range of its own events', async () => {
    await run.sql(
      `update tollgate.event set channel_id = $1::uuid, at = to_timestamp(('x' || left(replace(id::text, '-', ''), 12))::bit(48)::bigint / 1000.0)`,
      [run.channel],
    )
    const from = new Date(Date.now() - 20_000)
    const until = new Date(Date.now() - 15_000)
    const { replayed = 0 } = await run.gateway.webhooks.replay(endpointId, {
      from: from.toISOString().slice(0, 19).replace('T', ' '),
      until: until.toISOString().slice(0, 19).replace('T', ' '),
    })
    assert.ok(replayed >= 5000 && replayed < 7000, `${replayed} replayed`)
    const again = await run.sql<{ n: bigint }>(
      `select count(*) as n from tollgate.delivery where endpoint_id = $1 and replay`,
      [endpointId],
    )
    assert.equal(Number(again[0]!.n), replayed)
  })

  test('what waits for an endpoint is not read again for each event of a replay', async () => {
    const ids = await run.sql<{ id: string }>(
      'select event_id as id from tollgate.delivery where endpoint_id = $1 and replay limit 100',
      [endpointId],
    )
    const entry = { actor: engineActor, action: 'webhook.replayed' }
    const found = ids.map((row) => row.id)
    const write = replayEvents(endpointId, newId(), found, null, new Date(), entry)
    const touched = await rowsTouched(run.database.url, write, ['delivery', 'event'])
    assert.ok(touched <= 2 * 100 + 100, `${touched} rows`)
  })

  test('one replay of an endpoint, and of a token, runs at a time', async () => {
    const caller = { id: 'token-of-a-shop', entityId: run.channel }
    const range = { from: '2020-01-01 00:00:00' }
    const said = await Promise.all(
      [1, 2].map(() =>
        run.gateway.webhooks.replay(endpointId, range, { caller }).then(
          () => 200,
          (error: { status: number }) => error.status ?? error,
        ),
      ),
    )
    assert.deepEqual(said.sort(), [200, 429])
  })
})
