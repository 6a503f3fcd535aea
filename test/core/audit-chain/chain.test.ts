/** Verification notices changes behind the engine's back, and the database refuses direct ones. */
import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { addNextLinks } from '../../../core/audit-chain/chain.ts'
import { Database } from '../../../core/db/database.ts'
import { Lanes } from '../../../core/db/lanes.ts'
import {
  KeyAdministration,
  localKeys,
  onFaultPoint,
  RotationError,
  verifyAudit,
} from '../../../core/index.ts'
import { Vault } from '../../../core/vault/vault.ts'
import { startGateway, type TestGateway, testKey, until } from '../../rig/gateway.ts'
import { inScope } from '../../rig/scope.ts'

let run: TestGateway

const waiting = async () =>
  (await run.sql<{ audit_id: string }>('select audit_id from tollgate.audit_pending')).length
const linked = () => until(async () => ((await waiting()) === 0 ? true : undefined))
const verify = (anchors: readonly string[] = []) => run.gateway.audit.verify(anchors)
const fill = async (count: number) => {
  for (let no = 1; no <= count; no += 1) {
    await run.gateway.entities.createToken(run.channel, `token ${no}`)
  }
  await linked()
}
/** Acts as the owner of the server, with every trigger off. */
const behindItsBack = async (...statements: string[]) => {
  await run.sql('set session_replication_role = replica')
  for (const statement of statements) await run.sql(statement)
  await run.sql('set session_replication_role = origin')
}
const problems = async (expected: RegExp, anchors: readonly string[] = []) => {
  const found = await verify(anchors)
  assert.match(found.problems.join('\n'), expected)
  return found.problems
}

describe('the chain of the audit trail', () => {
  before(async () => {
    run = await startGateway()
    await fill(5)
  })
  after(() => run.close())
  afterEach(() => onFaultPoint(undefined))

  test('an untouched chain verifies and names its end, also without an engine', async () => {
    const found = await verify()
    assert.deepEqual([found.problems, found.notes], [[], []])
    assert.match(found.anchor, /^[0-9]+:[0-9a-f]{64}$/)
    assert.ok(found.links >= 9n)
    const again = await verifyAudit({
      database: { url: run.database.url },
      keys: localKeys(testKey),
    })
    assert.deepEqual(again, found)
    await fill(1)
    assert.deepEqual(
      (await verify([found.anchor])).problems,
      [],
      'the older end is still part of the chain',
    )
  })

  test('verification notices rows removed, with or without their links, moved or inserted', async () => {
    const [row] = await run.sql<{ audit_id: string }>(
      'select audit_id from tollgate.audit_link where no = 4',
    )
    await run.sql('create table rows as select * from tollgate.audit')
    await run.sql('create table links as select * from tollgate.audit_link')
    const restore = () =>
      behindItsBack(
        'delete from tollgate.audit',
        'insert into tollgate.audit select * from rows',
        'delete from tollgate.audit_link',
        'insert into tollgate.audit_link select * from links',
      )
    const remove = `delete from tollgate.audit where id = '${row!.audit_id}'`
    await behindItsBack(remove)
    await problems(/row of link 4 .* was removed/)
    await restore()
    await behindItsBack(remove, 'delete from tollgate.audit_link where no = 4')
    await problems(/^link 4 was removed$/m)
    await restore()
    await behindItsBack('delete from tollgate.audit_link where no = 4')
    await problems(new RegExp(`row ${row!.audit_id} has no link`))
    await restore()
    await behindItsBack(
      remove,
      'delete from tollgate.audit_link where no = 4',
      'update tollgate.audit_link set no = no - 1 where no > 4',
    )
    await problems(/link 4 .* was changed, or moved there/)
    await restore()
    await behindItsBack(
      'update tollgate.audit_link set no = -1 where no = 4',
      'update tollgate.audit_link set no = 4 where no = 5',
      'update tollgate.audit_link set no = 5 where no = -1',
    )
    await problems(/link 4 .* moved there/)
    await restore()
    await behindItsBack(
      `insert into tollgate.audit (id, actor, action, detail) values (gen_random_uuid(), 'x', 'y', '{}')`,
    )
    await problems(/has no link and waits for none/)
    await restore()
    assert.deepEqual((await verify()).problems, [])
  })

  test('the database refuses update, delete and truncate even to the owner of the tables', async () => {
    for (const table of ['audit', 'audit_link']) {
      const set = table === 'audit' ? 'action = action' : 'no = no'
      for (const statement of [
        `update tollgate.${table} set ${set}`,
        `delete from tollgate.${table}`,
        `truncate tollgate.${table}`,
      ]) {
        await assert.rejects(run.sql(statement), /append-only: .* is refused/, statement)
      }
    }
  })

  test('each row gets one link within a second, with several processes taking turns', async () => {
    const others = await Promise.all([run.another(), run.another()])
    const startedMs = performance.now()
    await Promise.all(
      [run.gateway, ...others].flatMap((gateway) =>
        Array.from({ length: 10 }, (_, no) =>
          gateway.entities.createToken(run.channel, `at once ${no}`),
        ),
      ),
    )
    await linked()
    assert.ok(performance.now() - startedMs < inScope(60_000, 5_000))
    const { links, problems: found } = await verify()
    assert.deepEqual(found, [])
    const [{ count }] = (await run.sql('select count(*) from tollgate.audit')) as [
      { count: bigint },
    ]
    assert.equal(links, count)
  })

  test('a lock on the head of the chain delays neither payments nor decisions', async () => {
    await run.sql('begin')
    await run.sql('select 1 from tollgate.audit_head for update')
    const paid = await run.pay()
    assert.equal(paid.result.code, '000.100.110')
    await run.gateway.entities.createToken(run.channel, 'while it is held')
    assert.ok((await waiting()) > 0)
    await run.sql('rollback')
    await linked()
    assert.deepEqual((await verify()).problems, [])
  })

  test('the chain continues after a process that died while it added links', async () => {
    let died = 0
    onFaultPoint((point) => {
      if (point !== 'audit-linked' || died === 2) return
      died += 1
      throw new Error('killed')
    })
    await fill(1)
    assert.equal(died, 2)
    assert.deepEqual((await verify()).problems, [])
  })
})

describe('a chain that was changed', () => {
  beforeEach(async () => {
    run = await startGateway()
    await fill(5)
  })
  afterEach(async () => {
    onFaultPoint(undefined)
    await run.close()
  })

  test('verification notices every changed column of a row and every changed link', async () => {
    const changes = [
      `actor = 'somebody else'`,
      `actor_kind = 'operator'`,
      `actor_id = '7'`,
      `address = '127.0.0.1'`,
      `host = 'elsewhere'`,
      `action = 'token.revoked'`,
      `entity_id = null`,
      `resource = gen_random_uuid()`,
      `before = '{}'`,
      `after = '{"name":"other"}'`,
      `detail = '{"reason":"none"}'`,
      `at = at + interval '1 microsecond'`,
    ]
    const [row] = await run.sql<{ id: string }>(
      `select id from tollgate.audit where action = 'token.created' order by at limit 1`,
    )
    await run.sql(`create table kept as select * from tollgate.audit where id = '${row!.id}'`)
    for (const change of changes) {
      await behindItsBack(`update tollgate.audit set ${change} where id = '${row!.id}'`)
      const found = await problems(new RegExp(`\\(${row!.id}\\) was changed`))
      assert.equal(found.length, 1, change)
      await behindItsBack(
        `delete from tollgate.audit where id = '${row!.id}'`,
        'insert into tollgate.audit select * from kept',
      )
    }
    assert.deepEqual((await verify()).problems, [])
    await behindItsBack(`update tollgate.audit_link set mac = sha256(mac) where no = 4`)
    await problems(/link 4 .* was changed/)
  })

  test('verification notices a removed end; with its head also replaced, only against a kept anchor', async () => {
    await run.sql('create table head as select * from tollgate.audit_head')
    const before = await verify()
    await fill(2)
    const { anchor } = await verify()
    const kept = Number(before.anchor.split(':')[0])
    const cut = [
      `delete from tollgate.audit where id in (select audit_id from tollgate.audit_link where no > ${kept})`,
      `delete from tollgate.audit_link where no > ${kept}`,
    ]
    await behindItsBack(...cut)
    await problems(/links [0-9]+ to [0-9]+ were removed/)
    await behindItsBack(`update tollgate.audit_head set last_no = ${kept}`)
    await problems(/head of the chain.* was changed/)
    // An attacker restores an old copy of the head, which the database alone cannot detect.
    await behindItsBack(
      'delete from tollgate.audit_head',
      'insert into tollgate.audit_head select * from head',
    )
    assert.deepEqual((await verify()).problems, [])
    await problems(/rewritten or cut off/, [anchor])
    await fill(3)
    await problems(/rewritten or cut off/, [anchor])
  })

  test('a head set by hand stops the chain: an alarm is raised and nothing more is signed', async () => {
    const { anchor } = await verify()
    const links = await run.sql<{ no: bigint; mac: Buffer }>(
      'select no, mac from tollgate.audit_link order by no',
    )
    await run.sql('create table rows as select * from tollgate.audit')
    await run.sql('create table links as select * from tollgate.audit_link')
    await run.sql('create table head as select * from tollgate.audit_head')
    const restored = [
      'delete from tollgate.audit where id in (select id from rows)',
      'insert into tollgate.audit select * from rows',
      'delete from tollgate.audit_link',
      'insert into tollgate.audit_link select * from links',
      'delete from tollgate.audit_head',
      'insert into tollgate.audit_head select * from head',
    ]
    /** One commit, so that the job never sees the state before the forgery. */
    const atOnce = async (...statements: string[]) => {
      await run.sql('begin')
      await behindItsBack(...statements)
      await run.sql('commit')
    }
    const alarmed = () =>
      run.logs.filter(({ fields }) => fields.alarm === 'audit-trail').map(({ fields }) => fields)
    const cut = (side: '<=' | '>', no: bigint) => [
      `delete from tollgate.audit where id in (select audit_id from tollgate.audit_link where no ${side} ${no})`,
      `delete from tollgate.audit_link where no ${side} ${no}`,
    ]
    const third = links[2]!
    const forgeries: [why: RegExp, statements: string[]][] = [
      [
        /head of the chain.* was changed/,
        [
          ...cut('<=', third.no),
          `update tollgate.audit_head set forgotten_no = ${third.no}, forgotten_mac = '\\x${third.mac.toString('hex')}'`,
        ],
      ],
      [
        /head of the chain.* was changed/,
        [
          ...cut('>', third.no),
          `update tollgate.audit_head set last_no = ${third.no}, last_mac = '\\x${third.mac.toString('hex')}'`,
        ],
      ],
      [
        /the last one, was removed/,
        [`delete from tollgate.audit_link where no = ${links.at(-1)!.no}`],
      ],
      [/the head was put back/, ['update tollgate.audit_head set key_id = null']],
      [
        /was added beyond the end/,
        [
          `insert into tollgate.audit_link select ${links.length + 1}, gen_random_uuid(), key_id, mac from tollgate.audit_link limit 1`,
        ],
      ],
    ]
    const database = new Database({ url: run.database.url })
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const vault = await Vault.start(lanes, localKeys(testKey))
    for (const [why, statements] of forgeries) {
      await atOnce(...restored, ...statements)
      await run.gateway.entities.createToken(run.channel, 'an honest one')
      const adding = addNextLinks(lanes, (id) => vault.chainKey(id))
      await assert.rejects(adding, (error: Error) => {
        assert.equal(error.name, 'BrokenChain')
        assert.match(error.message, why)
        return true
      })
      assert.ok((await waiting()) > 0)
      await until(async () => alarmed()[0])
      assert.notDeepEqual((await verify([anchor])).problems, [])
    }
    await atOnce(...restored)
    await linked()
    await vault.close()
    await database.close()
    assert.deepEqual((await verify([anchor])).problems, [])
    assert.match(String(alarmed()[0]?.why), /head of the chain.* was changed/)
  })

  test('verification notices a row that was removed before it had its link', async () => {
    await run.sql('begin')
    await run.sql('select 1 from tollgate.audit_head for update')
    const { id } = await run.gateway.entities.createToken(run.channel, 'short-lived')
    await behindItsBack(`delete from tollgate.audit where resource = '${id}'`)
    await run.sql('commit')
    await linked()
    await problems(/was removed/)
  })

  test('rows older than a year are dropped, the chain continues, and a record tells of it', async () => {
    const { audit } = run.gateway
    await assert.rejects(audit.forget(new Date(), 'Ada'), /must be 366 days ago or earlier/)
    await run.sql('create table ages as select id from tollgate.audit')
    await behindItsBack(
      'delete from tollgate.audit_link',
      'delete from tollgate.audit_head',
      'insert into tollgate.audit_head default values',
      `update tollgate.audit set at = at - interval '2 years'`,
      'insert into tollgate.audit_pending select id from tollgate.audit',
    )
    await linked()
    await fill(2)
    const { anchor } = await verify()
    const old = await run.sql('select id from ages')
    const yearAgo = new Date(Date.now() - 400 * 86_400_000)
    assert.equal(await audit.forget(yearAgo, 'Ada'), BigInt(old.length))
    await linked()
    const found = await verify([anchor, `1:${'0'.repeat(64)}`])
    assert.deepEqual(found.problems, [])
    assert.match(found.notes.join(), /link 1 of the anchor was forgotten/)
    assert.equal(found.links, 3n)
    // This row proves that the others were dropped by age.
    await run.sql('create table told as select * from tollgate.audit')
    await behindItsBack(`delete from tollgate.audit where action = 'audit.forgotten'`)
    await problems(/no row tells that they were forgotten by age/)
    assert.match(
      (await verify([`1:${'0'.repeat(64)}`])).problems.join(),
      /link 1 is not as the anchor/,
    )
    await behindItsBack(
      'delete from tollgate.audit',
      'insert into tollgate.audit select * from told',
    )
    const edge = `${String(old.length)}:${'0'.repeat(64)}`
    await problems(/is not as the anchor has it/, [edge])
    const [row] = await audit.list({ action: 'audit.forgotten' })
    assert.deepEqual([row?.actor, row?.detail.rows], ['Ada', String(old.length)])
    await behindItsBack(
      'update tollgate.audit_head set forgotten_no = forgotten_no + 1',
      'delete from tollgate.audit_link where no = (select min(no) from tollgate.audit_link)',
    )
    await problems(/head of the chain.* was changed/)
    await assert.rejects(audit.forget(yearAgo, 'Ada'), /finds a trail that was changed/)
  })
})

describe('the key of the chain', () => {
  before(async () => {
    run = await startGateway({ role: 'all' })
    await fill(2)
  })
  after(() => run.close())

  test('the key of the chain survives rotation, rewrapping and replacement of the other keys', async () => {
    const newer = `newer:${'abcd'.repeat(16)}`
    const keys = localKeys(`${newer},${testKey}`)
    const [old] = await run.sql<{ key_id: string }>(
      'select key_id from tollgate.audit_link where no = 1',
    )
    await using administration = await KeyAdministration.open({
      database: { url: run.database.url },
      keys,
    })
    await run.gateway.close()
    await administration.rewrap()
    await administration.rotate({ graceMs: 100, waitMs: 20_000 })
    await administration.renewMac()
    const gateway = await run.another({ keys })
    await gateway.entities.createToken(run.channel, 'under the new key')
    await linked()
    const found = await gateway.audit.verify()
    assert.deepEqual([found.problems, found.notes], [[], []])
    const under = await run.sql('select distinct key_id from tollgate.audit_link')
    assert.equal(under.length, 2)
    await assert.rejects(administration.retire(old!.key_id, { destroy: true }), (error) => {
      assert.ok(error instanceof RotationError)
      assert.match(error.message, /stays: [0-9]+ links of the audit trail/)
      return true
    })
  })

  test('the key of another database proves nothing', async () => {
    const found = await verifyAudit({
      database: { url: run.database.url },
      keys: localKeys(`newer:${'cdef'.repeat(16)},${testKey.replace('5e', '5f')}`),
    })
    assert.match(found.problems.join(), /cannot be checked/)
    assert.deepEqual(found.unchecked, found.problems)
  })
})
