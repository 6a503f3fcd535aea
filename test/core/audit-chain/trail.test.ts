/** The rows of the audit trail, each written with its change. */
import assert from 'node:assert/strict'
import { hostname } from 'node:os'
import { after, before, describe, test } from 'node:test'
import {
  type Actor,
  GatewayError,
  KeyAdministration,
  localKeys,
  newId,
} from '../../../core/index.ts'
import { bankPlugin } from '../../rig/bank.ts'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'

type Row = {
  kind: string
  actor_id: string
  actor: string
  address: string | null
  host: string | null
  action: string
  entity_id: string | null
  resource: string | null
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
  detail: Record<string, unknown>
}

const secretSetting = 'key-of-the-shop'

const ada: Actor = { kind: 'operator', id: 'f'.repeat(32), name: 'Ada', address: '10.1.2.3' }

describe('the audit trail', () => {
  let run: TestGateway
  before(async () => {
    run = await startGateway({ plugins: [bankPlugin()] })
  })
  after(() => run.close())

  const rowsOf = (resource: string) =>
    run.sql<Row>(
      `select actor_kind as kind, actor_id, actor, address, host, action, entity_id, resource, before, after, detail
       from tollgate.audit where resource = $1 order by at, id`,
      [resource],
    )
  const last = async (resource: string) => (await rowsOf(resource)).at(-1)!

  test('the trail records the creation, configuration, closing and opening of entities, with before and after', async () => {
    const { entities } = run.gateway
    const id = await entities.create(
      { kind: 'channel', name: 'Shop', parentId: run.merchant, settings: { cvvRequired: true } },
      { by: ada },
    )
    const made = await last(id)
    assert.deepEqual(
      [made.kind, made.actor_id, made.actor, made.address, made.action, made.entity_id],
      ['operator', ada.id, 'Ada', '10.1.2.3', 'entity.created', id],
    )
    assert.deepEqual(made.after, {
      kind: 'channel',
      name: 'Shop',
      parentId: run.merchant,
      settings: { cvvRequired: true },
    })
    await entities.create({ kind: 'channel', name: 'Other', parentId: run.merchant, id })
    assert.equal((await rowsOf(id)).length, 1, 'an unchanged setting leaves no record')

    await entities.configure(id, { partialApproval: true }, { by: ada })
    const configured = await last(id)
    assert.equal(configured.action, 'entity.configured')
    assert.deepEqual(configured.before, { cvvRequired: true })
    assert.deepEqual(configured.after, { cvvRequired: true, partialApproval: true })

    await entities.close(id, 'the shop system')
    const closed = await last(id)
    assert.deepEqual(
      [closed.kind, closed.actor_id, closed.actor, closed.host, closed.action],
      ['embedder', 'embedder', 'the shop system', hostname(), 'entity.closed'],
    )
    await entities.open(id)
    assert.deepEqual(
      (await rowsOf(id)).map(({ action }) => action),
      ['entity.created', 'entity.configured', 'entity.closed', 'entity.opened'],
    )
  })

  test('two simultaneous configurations each record the state they found', async () => {
    const id = await run.gateway.entities.create({
      kind: 'channel',
      name: 'Shop',
      parentId: run.merchant,
    })
    const values = Array.from({ length: 8 }, (_, index) => index)
    await Promise.all(
      values.map((missedExecutions) => run.gateway.entities.configure(id, { missedExecutions })),
    )
    const changes = (await rowsOf(id)).filter(({ action }) => action === 'entity.configured')
    const befores = changes.map(({ before }) => JSON.stringify(before))
    assert.equal(new Set(befores).size, values.length, 'no state was replaced twice')
  })

  test('the trail records the creation and revocation of a token once, never the token', async () => {
    const { entities } = run.gateway
    const { id, token } = await entities.createToken(run.merchant, 'shop', { by: ada })
    const made = await last(id)
    assert.deepEqual(
      [made.actor, made.action, made.entity_id, made.after],
      [
        'Ada',
        'token.created',
        run.merchant,
        { name: 'shop', environment: 'test', rights: null, networks: null, expiresAt: null },
      ],
    )
    await entities.revokeToken(id, { by: ada })
    await entities.revokeToken(id, { by: 'somebody else' })
    const rows = await rowsOf(id)
    assert.deepEqual(
      rows.map(({ action, actor, entity_id }) => [action, actor, entity_id]),
      [
        ['token.created', 'Ada', run.merchant],
        ['token.revoked', 'Ada', run.merchant],
      ],
    )
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(token))
  })

  test('the trail records the limits of a token, and both tokens of a rotation in one row', async () => {
    const { entities } = run.gateway
    const limits = { rights: ['read', 'charge'], networks: ['203.0.113.0/24'] }
    const expiresAt = new Date('2040-01-01T00:00:00Z')
    const old = await entities.createToken(run.merchant, 'till', { ...limits, expiresAt, by: ada })
    const had = { name: 'till', ...limits }
    assert.deepEqual((await last(old.id)).after, {
      ...had,
      environment: 'test',
      expiresAt: expiresAt.toISOString(),
    })
    const next = await entities.rotateToken(old.id, { by: ada })
    const made = await last(old.id)
    assert.deepEqual(
      [made.kind, made.actor, made.action, made.entity_id, made.address],
      ['operator', 'Ada', 'token.rotated', run.merchant, '10.1.2.3'],
    )
    const at = (facts: unknown, name: string) =>
      new Date((facts as Record<string, string>)[name]!).getTime()
    const told = (facts: unknown) => {
      const { expiresAt: _, successorExpiresAt: __, ...rest } = facts as Record<string, unknown>
      return rest
    }
    assert.deepEqual(told(made.before), had)
    assert.deepEqual(told(made.after), { ...had, successor: next.id })
    assert.equal(at(made.before, 'expiresAt'), expiresAt.getTime())
    assert.equal(at(made.after, 'expiresAt'), next.oldExpiresAt.getTime())
    assert.equal(at(made.after, 'successorExpiresAt'), next.expiresAt?.getTime())
    await assert.rejects(entities.rotateToken(old.id, { by: ada }), /was rotated before/)
    const rows = await rowsOf(old.id)
    assert.equal(rows.length, 2, 'a refused change leaves no record')
    for (const secret of [old.token, next.token]) {
      assert.doesNotMatch(JSON.stringify(rows), new RegExp(secret))
    }
  })

  test('the trail names the secrets of an account without their values', async () => {
    const id = await run.gateway.entities.createAccount(
      {
        channelId: run.channel,
        connector: 'bank',
        mode: 'EXTERNAL',
        settings: { merchantId: '4711', apiKey: secretSetting },
      },
      { by: ada },
    )
    const made = await last(id)
    assert.deepEqual(
      [made.action, made.entity_id, made.actor],
      ['account.created', run.channel, 'Ada'],
    )
    assert.deepEqual(made.after, {
      connector: 'bank',
      mode: 'EXTERNAL',
      brands: null,
      settings: { merchantId: '4711' },
      sealed: ['apiKey'],
    })
  })

  test('the trail records changes of webhook endpoints with the token and its address', async () => {
    const { id: tokenId, token } = await run.gateway.entities.createToken(run.merchant, 'till 7')
    const caller = await run.gateway.authenticate(`Bearer ${token}`)
    const send = (
      operation: string,
      path: Record<string, string>,
      fields: Record<string, string>,
    ) =>
      run.gateway.call(operation, caller, {
        path,
        body: Buffer.from(new URLSearchParams(fields).toString()),
        contentType: 'application/x-www-form-urlencoded',
        requestId: newId(),
        address: '203.0.113.9',
      })
    const made = await send(
      'webhooks.create',
      {},
      {
        entityId: run.merchant,
        url: 'https://hooks.example/in?key=query-secret',
      },
    )
    assert.equal(made.status, 200, JSON.stringify(made.body))
    const { id, signingSecret } = made.body as unknown as { id: string; signingSecret: string }
    await send('webhooks.update', { id }, { active: 'false' })
    const rotated = await send('webhooks.rotate', { id }, {})
    const newSecret = (rotated.body as unknown as { signingSecret: string }).signingSecret
    await send('webhooks.remove', { id }, {})
    const rows = await rowsOf(id)
    assert.deepEqual(
      rows.map(({ action, kind, actor, actor_id, address, entity_id }) => [
        action,
        kind,
        actor,
        actor_id,
        address,
        entity_id,
      ]),
      ['webhook.created', 'webhook.changed', 'webhook.secret-rotated', 'webhook.removed'].map(
        (action) => [action, 'token', 'till 7', tokenId, '203.0.113.9', run.merchant],
      ),
    )
    assert.equal(rows[1]?.before?.active, true)
    assert.equal(rows[1]?.after?.active, false)
    const all = JSON.stringify(rows)
    for (const secret of ['query-secret', signingSecret, newSecret]) {
      assert.ok(!all.includes(secret), `${secret} stands in the audit trail`)
    }
  })

  test('the trail records who replayed or tested notifications and who created or advanced test clocks', async () => {
    const { webhooks, testClocks } = run.gateway
    const caller = { id: newId(), entityId: run.merchant, address: '203.0.113.9' }
    const url = 'https://hooks.example/in?key=query-secret'
    const { id } = await webhooks.create({ entityId: run.merchant, url } as never)
    await webhooks.test(id, { caller })
    const tested = await last(id)
    assert.deepEqual(
      [tested.action, tested.actor_id, tested.address, tested.entity_id],
      ['webhook.tested', caller.id, caller.address, run.merchant],
    )
    assert.doesNotMatch(JSON.stringify(tested), /query-secret/)
    for (const which of ['ALL', 'DEAD']) {
      await webhooks.replay(id, { which, from: '2020-01-01 00:00:00' } as never, { caller })
      const replayed = await last(id)
      assert.deepEqual([replayed.action, replayed.actor_id], ['webhook.replayed', caller.id])
      assert.equal(replayed.detail.from, '2020-01-01T00:00:00.000Z')
      assert.deepEqual([replayed.detail.which, replayed.detail.replayed], [which, 0])
    }
    const clock = await testClocks.create(
      { entityId: run.merchant, name: 'Year', time: '2027-01-01 00:00:00' } as never,
      { caller },
    )
    const made = await last(clock.id)
    assert.deepEqual(
      [made.action, made.actor_id, made.entity_id],
      ['clock.created', caller.id, run.merchant],
    )
    assert.deepEqual(made.after, { name: 'Year', at: '2027-01-01T00:00:00.000Z' })
    const to = { to: '2027-02-01 00:00:00' } as never
    await testClocks.advance(clock.id, to, { caller })
    const moved = await last(clock.id)
    assert.deepEqual([moved.action, moved.actor_id], ['clock.advanced', caller.id])
    assert.equal(moved.after?.at, '2027-02-01T00:00:00.000Z')
  })

  test('the trail records rules with the previous ones, keys, and the unsealing behind their change', async () => {
    const rule = { priority: 1, channelId: run.channel }
    await run.gateway.entities.dispatching.add(run.merchant, rule, { by: ada })
    await run.gateway.entities.dispatching.remove(run.merchant, 1, { by: ada })
    const changed = await last(run.merchant)
    assert.deepEqual([changed.before?.rules, changed.after?.rules], [[rule], []])

    await run.pay()
    await using keys = await KeyAdministration.open({
      database: { url: run.database.url },
      keys: localKeys(testKey),
      by: ada,
    })
    const { keyId } = await keys.rotate({ graceMs: 200 })
    const rows = await rowsOf(keyId)
    assert.deepEqual(
      rows.map(({ action, actor }) => [action, actor]),
      [
        ['data-key-announced', 'Ada'],
        ['data-key-promoted', 'Ada'],
        ['rows-resealed', 'Ada'],
      ],
    )
    const first = await run.sql<{ kind: string; purpose: string }>(
      `select actor_kind as kind, after ->> 'purpose' as purpose from tollgate.audit
       where action = 'data-key-made' order by at, id`,
    )
    assert.equal(first.length, 2)
  })

  test('a change and its audit row commit together or not at all', async () => {
    await run.sql(`create function pg_temp.refused() returns trigger language plpgsql as $$
      begin raise exception 'the disk is full' using errcode = '53100'; end $$`)
    await run.sql(`create trigger refused before insert on tollgate.audit
      for each row execute function pg_temp.refused()`)
    const { entities } = run.gateway
    const tokens = await entities.tokens(run.merchant)
    const unavailable = (error: unknown) => {
      assert.ok(error instanceof GatewayError)
      assert.equal(error.code, '999.999.888')
      assert.match(String(error.cause), /disk is full/)
      return true
    }
    await assert.rejects(entities.createToken(run.merchant, 'unseen'), unavailable)
    await assert.rejects(entities.configure(run.channel, { cvvRequired: true }), unavailable)
    await run.sql('drop trigger refused on tollgate.audit')
    assert.equal((await entities.tokens(run.merchant)).length, tokens.length)
    assert.deepEqual((await entities.get(run.channel))?.settings, {})
  })

  test('no audit row holds a card number, in whichever field it was typed', async () => {
    const number = '4200 0000 0000 0000'
    const { id } = await run.gateway.entities.createToken(run.channel, 'for numbers', {
      by: `Ada ${number}`,
    })
    assert.doesNotMatch(JSON.stringify(await rowsOf(id)), /4200 0000/)
  })

  test('the trail can be read by entity, actor, action, time and resource', async () => {
    const { audit, entities } = run.gateway
    const since = new Date()
    const { id } = await entities.createToken(run.channel, 'listed', { by: 'Grace' })
    const ids = async (filter: Parameters<typeof audit.list>[0]) =>
      (await audit.list(filter)).map(({ resource }) => resource)
    assert.deepEqual(await ids({ actor: 'Grace' }), [id])
    assert.deepEqual(await ids({ resource: id }), [id])
    assert.equal((await ids({ entity: run.psp, action: 'token' }))[0], id, 'and of all below')
    assert.ok(!(await ids({ action: 'tok' })).includes(id))
    assert.deepEqual(await ids({ entity: run.channel, action: 'token.created', since }), [id])
    assert.deepEqual(await ids({ since: new Date(Date.now() + 60_000) }), [])
    assert.throws(() => audit.list({ entity: 'x' }), /entity is 32 lower-case hex characters/)
    const whole: string[] = []
    for await (const row of audit.export()) whole.push(row.id)
    const [{ count }] = (await run.sql<{ count: bigint }>(
      'select count(*) from tollgate.audit',
    )) as [{ count: bigint }]
    assert.equal(BigInt(new Set(whole).size), count)
  })
})
