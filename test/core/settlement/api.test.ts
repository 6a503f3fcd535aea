import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { PluginError, type Settlement } from '@tollgate/plugin-kit'
import { rightSet } from '../../../core/caller/rights.ts'
import { Registry } from '../../../core/connector/registry.ts'
import { GatewayError, KeyAdministration, localKeys } from '../../../core/index.ts'
import { testKey } from '../../rig/gateway.ts'
import {
  type SettlingRun,
  sampleSettlement,
  settled,
  settlementFile,
  settlingAcquirer,
  startSettling,
  streamed,
} from '../../rig/settlement.ts'

describe('settlement files in programs', () => {
  let run: SettlingRun
  before(async () => {
    run = await startSettling()
  })
  after(() => run.close())

  const bytes = () => settlementFile([settled({ id: randomBytes(8).toString('hex') })])
  const refusedWith = (status: number, text: RegExp) => (error: unknown) =>
    error instanceof GatewayError && error.status === status && text.test(error.message)

  describe('gateway.settlement', () => {
    test('refuses unknown accounts, other connectors and empty files', async () => {
      const at = (accountId: unknown, body = bytes()) =>
        run.gateway.settlement.import(streamed(body), { accountId: accountId as string })
      for (const id of ['x', '', undefined, run.channel, '0198c0de00007000800000000000ffff']) {
        await assert.rejects(
          at(id),
          refusedWith(400, /accountId must be the id of an acquirer account/),
        )
      }
      await assert.rejects(at(run.account, Buffer.alloc(0)), refusedWith(400, /file is empty/))
      await assert.rejects(
        run.gateway.settlement.import(bytes() as never, { accountId: run.account }),
        refusedWith(400, /stream must be/),
      )
      assert.deepEqual(await run.gateway.settlement.files(), [])
      const [left] = await run.sql<{ count: bigint }>(
        'select count(*) from tollgate.settlement_part',
      )
      assert.equal(left!.count, 0n)
    })

    test('lists files, shows one, and audits the import', async () => {
      const { id } = await run.gateway.settlement.import(streamed(bytes()), {
        accountId: run.account,
        name: 'march 4111111111111111.csv',
        by: 'Ada',
      })
      await run.read(id)
      const [first] = await run.gateway.settlement.files({ limit: 1 })
      assert.equal(first!.id, id)
      assert.equal(first!.name, 'march ************1111.csv')
      const { exceptions, ...file } = await run.gateway.settlement.file(id)
      assert.deepEqual(file, first)
      assert.deepEqual(exceptions, [])
      const [audited] = await run.sql<Record<string, unknown>>(
        `select actor, entity_id, detail from tollgate.audit
       where action = 'settlement.imported' and resource = $1`,
        [id],
      )
      assert.equal(audited!.actor, 'Ada')
      assert.equal(audited!.entity_id, run.channel)
      await assert.rejects(run.gateway.settlement.file('x'), refusedWith(404, /no settlement file/))
      await assert.rejects(run.gateway.settlement.files({ limit: 0 }), refusedWith(400, /limit/))
    })

    test('needs the right reconcile, and shows a caller only files of its entities', async () => {
      const id = await run.taken(bytes())
      const stranger = await run.gateway.entities.create({
        kind: 'merchant',
        name: 'Other',
        parentId: run.division,
      })
      const may = (entityId: string) => ({ id: 't', entityId, rights: rightSet(['reconcile']) })
      const mayNot = { id: 't', entityId: run.merchant, rights: rightSet(['read', 'charge']) }
      const { settlement } = run.gateway
      const accountId = run.account
      const denied = refusedWith(403, /reconcile/)
      await assert.rejects(settlement.files({ caller: mayNot }), denied)
      await assert.rejects(settlement.file(id, { caller: mayNot }), denied)
      await assert.rejects(
        settlement.import(streamed(bytes()), { accountId, caller: mayNot }),
        denied,
      )
      assert.deepEqual(await settlement.files({ caller: may(stranger) }), [])
      await assert.rejects(settlement.file(id, { caller: may(stranger) }), refusedWith(404, /no/))
      await assert.rejects(
        settlement.import(streamed(bytes()), { accountId, caller: may(stranger) }),
        refusedWith(400, /accountId/),
      )
      for (const entityId of [run.merchant, run.division]) {
        const found = await settlement.files({ caller: may(entityId) })
        assert.ok(found.some((file) => file.id === id))
        assert.equal((await settlement.file(id, { caller: may(entityId) })).id, id)
      }
    })
  })

  test('a file is sealed, and a rotation of the data key seals its parts again', async () => {
    const card = '4111111111111111'
    const id = await run.taken(
      settlementFile([settled({ id: 'ROT-1', holder: `x ${card}` }), settled({ id: 'ROT-2' })]),
    )
    const partsOf = () =>
      run.sql<{ data_key_id: string; sealed: Buffer }>(
        'select data_key_id, sealed from tollgate.settlement_part where file_id = $1',
        [id],
      )
    const [first] = await partsOf()
    assert.ok(!first!.sealed.includes(card) && !first!.sealed.includes('MID-00001'))
    const keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    try {
      await keys.rotate({ fresh: true })
    } finally {
      await keys.close()
    }
    const [second] = await partsOf()
    assert.notEqual(second!.data_key_id, first!.data_key_id)
    // Read once more from the parts.
    await run.sql("update tollgate.settlement_file set state = 'arrived' where id = $1", [id])
    assert.equal((await run.read(id)).state, 'done')
    assert.equal((await run.gateway.settlement.file(id)).records, 2)
    const [held] = await run.sql<{ holder: string }>(
      'select holder from tollgate.settlement_record where file_id = $1 order by line',
      [id],
    )
    assert.equal(held!.holder, 'x ************1111')
  })

  describe('a connector is refused at the start', () => {
    const long = (length: number) => 'x'.repeat(length)
    const wrong: readonly [keyof Settlement, readonly unknown[]][] = [
      ['format', [undefined, '', ' a', long(33), 7]],
      ['institute', [undefined, '', long(65)]],
      ['zone', [undefined, '', 'Berlin', '+02:00', 7]],
      ['merchantOf', [undefined, 'id']],
      ['parse', [undefined]],
      ['fetch', ['url']],
      ['refs', [undefined, 'one', ['a', 'b', 'c', 'd'], ['a', 'a'], [''], [7]]],
    ]
    for (const [field, values] of wrong) {
      test(`with a wrong settlement.${field}`, () => {
        for (const value of values) {
          const { plugin } = settlingAcquirer({ [field]: value } as never)
          assert.throws(
            () => new Registry([plugin], {}),
            (error: unknown) =>
              error instanceof PluginError &&
              error.code === 'bad-settlement' &&
              error.message.includes(`settlement.${field} must be`),
            String(value),
          )
        }
      })
    }

    test('and the sample is accepted', () => {
      const { plugin } = settlingAcquirer()
      const loaded = new Registry([plugin], {}).get('scripted')
      assert.equal(loaded?.connector.settlement?.format, sampleSettlement.format)
    })
  })
})
