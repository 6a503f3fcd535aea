/**
 * A role can do nothing beyond its rights: on every route of the operators' table, for every role
 * without the right, the request is answered with 403 and the right's name, and nothing is written.
 * Routes, rights and roles come from the tables.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rightSet } from '../../core/index.ts'
import { type OfficeEndpoint, officeEndpoints, roles } from '../../schemas/index.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { until } from '../rig/gateway.ts'
import { type Enrolled, enrol, logIn, movedClock, office, password } from '../rig/operators.ts'

const endpoints: readonly OfficeEndpoint[] = officeEndpoints

/** A valid value for each required field. */
const sent: Readonly<Record<string, string>> = {
  name: 'somebody',
  password,
  newPassword: 'another horse 8 battery',
  code: '000000',
  reason: 'because',
  as: 'approved',
  role: 'viewer',
  entityId: 'all',
}

const needed = ({ fields }: OfficeEndpoint) =>
  Object.fromEntries(
    fields.filter(({ need }) => need === 'R').map(({ name }) => [name, sent[name]]),
  )

describe('roles', () => {
  const clock = movedClock()
  const cookies = new Map<string, string>()
  let host: Hosted
  let payment: string
  let account: string

  before(async () => {
    host = await startHost({ surfaces: ['office'] }, { clock, passwordLogRounds: 8 })
    payment = (await host.pay()).id
    // They are written after the response.
    await until(async () => (await host.sql('select from tollgate.step'))[0])
    account = await host.gateway.accounts.add({
      channelId: host.channel,
      connector: 'simulator',
      mode: 'EXTERNAL',
      settings: {},
    })
    for (const { name } of roles) {
      const person = await enrol(host.gateway, `a-${name}`, name)
      cookies.set(name, (await logIn(host.url, person, clock)).cookie)
    }
  })
  after(() => host.close())

  const ask = (endpoint: OfficeEndpoint, cookie: string | undefined, id = payment) =>
    office(host.url, endpoint.path.replace('{id}', id), {
      ...(cookie === undefined ? {} : { cookie }),
      ...(endpoint.method === 'POST' ? { values: needed(endpoint) } : {}),
    })

  /** Every row of every table, except a session's last use, which each request writes. */
  async function contents(): Promise<string> {
    const tables = await host.sql<{ name: string }>(
      `select table_name as name from information_schema.tables
       where table_schema = 'tollgate' and table_type = 'BASE TABLE'
         and table_name not in ('person_session', 'data_key_use', 'process', 'audit_pending', 'audit_link', 'audit_head')
       order by 1`,
    )
    const counted: string[] = []
    for (const { name } of tables) {
      const [row] = await host.sql<{ digest: string | null }>(
        `select md5(string_agg(entry::text, '|' order by entry::text)) as digest from tollgate.${name} as entry`,
      )
      counted.push(`${name} ${row!.digest}`)
    }
    return counted.join('\n')
  }

  for (const endpoint of endpoints) {
    const { operation, right } = endpoint
    if (right === 'none' || right === 'session') continue
    const lack = roles.filter((role) => !role.rights.some((held) => held === right))
    test(`${operation} needs ${right}: ${lack.length} roles are refused and write nothing`, async () => {
      const before = await contents()
      for (const { name } of lack) {
        const { status, body } = await ask(endpoint, cookies.get(name))
        assert.equal(status, 403, name)
        assert.equal(body.result.code, '800.900.301')
        assert.match(body.result.description, new RegExp(`needs the right ${right},`))
      }
      assert.equal(await contents(), before)
    })
  }

  test('an operator without the needed right is in the security log', () => {
    const refused = host.logs.filter(({ fields }) => fields.alarm === 'rights-refused')
    assert.ok(refused.length >= roles.length - 1)
    for (const { fields } of refused) assert.equal(fields.security, true)
  })

  test('a request without a login gets no answer and writes nothing', async () => {
    const before = await contents()
    for (const endpoint of endpoints) {
      if (endpoint.right === 'none') continue
      const { status } = await ask(endpoint, undefined)
      assert.equal(status, 401, endpoint.operation)
    }
    assert.equal(await contents(), before)
  })

  test('every role does all its rights allow', async () => {
    for (const { name, rights } of roles) {
      for (const endpoint of endpoints) {
        if (endpoint.method !== 'GET' || !rights.some((held) => held === endpoint.right)) continue
        const { operation } = endpoint
        const id = operation.startsWith('accounts.') ? account : payment
        assert.equal((await ask(endpoint, cookies.get(name), id)).status, 200, operation)
      }
    }
  })

  test('an access token is refused on the routes of operators, and a session on those of tokens', async () => {
    const bearer = { Authorization: `Bearer ${host.token}` }
    const asToken = await office(host.url, '/operator/v1/attention', { headers: bearer })
    assert.equal(asToken.status, 401)
    const cookie = cookies.get('admin')
    const merchant = await startHost({ surfaces: ['merchant'] })
    try {
      const asPerson = await office(merchant.url, `/v1/payments/${payment}`, {
        ...(cookie && { cookie }),
      })
      assert.equal(asPerson.status, 401)
    } finally {
      await merchant.close()
    }
  })
})

describe('limits of granting rights', () => {
  const clock = movedClock()
  let host: Hosted
  let mine: Enrolled
  let cookie: string
  let foreign: { merchant: string; channel: string; payment: string; entry: string }

  before(async () => {
    host = await startHost({ surfaces: ['office'] }, { clock, passwordLogRounds: 8 })
    const { entities } = host.gateway
    const merchant = await entities.create({
      kind: 'merchant',
      name: 'Other',
      parentId: host.division,
    })
    const channel = await entities.create({ kind: 'channel', name: 'Other', parentId: merchant })
    const payment = (await host.pay({ entityId: channel })).id
    const own = (await host.pay()).id
    const [entry] = await host.sql<{ id: string }>(
      `insert into tollgate.attention (id, kind, payment_id, alarm_at, detail)
       values (gen_random_uuid(), 'return', $1, now(), '{}'), (gen_random_uuid(), 'return', $2, now(), '{}')
       returning id`,
      [payment, own],
    )
    foreign = { merchant, channel, payment, entry: entry!.id }
    mine = await enrol(host.gateway, 'mine', 'admin', host.merchant)
    cookie = (await logIn(host.url, mine, clock)).cookie
  })
  after(() => host.close())

  const post = (path: string, values: object) => office(host.url, path, { cookie, values })
  const people = async () =>
    await host.sql('select name, role, entity_id, disabled_at from tollgate.person order by name')

  test('an admin of a merchant creates nobody who sees more', async () => {
    const before = await people()
    const create = (values: object) =>
      post('/operator/v1/people', { name: 'friend', password, role: 'viewer', ...values })
    for (const entityId of [
      'all',
      host.division,
      host.psp,
      foreign.merchant,
      foreign.channel,
      '0'.repeat(32),
    ]) {
      const { status, body } = await create({ entityId })
      assert.equal(status, 400, entityId)
      assert.match(body.result.description, /entityId is no entity of yours/)
    }
    assert.equal((await create({ entityId: host.channel, role: 'owner' })).status, 400)
    assert.deepEqual(await people(), before)
    assert.equal((await create({ entityId: host.channel })).status, 200)
  })

  test('a caller with some rights grants no others, in any role', async () => {
    const person = await host.gateway.people.personOf(cookie.split('=')[1])
    const narrow = { ...person, rights: rightSet(['administer', 'read']) }
    const create = (name: string, role: string) =>
      host.gateway.people.create({ name, password, role, entityId: host.merchant }, { by: narrow })
    await create('looks-on', 'viewer')
    for (const { name: role } of roles.filter(({ name }) => name !== 'viewer')) {
      await assert.rejects(create(`with-${role}`, role), /needs the right/)
    }
    const powerful = await enrol(host.gateway, 'powerful', 'operator', host.merchant)
    const as = { by: narrow }
    await assert.rejects(host.gateway.people.reset(powerful.id, password, as), /needs the right/)
    await assert.rejects(host.gateway.people.disable(powerful.id, as), /needs the right/)
    await assert.rejects(
      host.gateway.people.change(powerful.id, { role: 'viewer' }, as),
      /needs the right/,
    )
    await assert.rejects(
      host.gateway.people.list({ by: { ...person, rights: rightSet(['read']) } }),
      /needs the right administer/,
    )
  })

  test('operators outside the entity are unknown, and nobody changes themselves', async () => {
    const above = await enrol(host.gateway, 'above', 'viewer')
    const beside = await enrol(host.gateway, 'beside', 'viewer', foreign.merchant)
    for (const { id } of [above, beside, { id: '0'.repeat(32) }]) {
      for (const [what, values] of [
        ['', { role: 'admin' }],
        ['/reset', { password }],
        ['/disable', {}],
        ['/enable', {}],
      ] as const) {
        assert.equal((await post(`/operator/v1/people/${id}${what}`, values)).status, 404, what)
      }
    }
    const listed = await office(host.url, '/operator/v1/people', { cookie })
    const names = (listed.body.people as { name: string }[]).map(({ name }) => name)
    assert.ok(names.includes('mine'))
    assert.ok(!names.includes('above') && !names.includes('beside'))
    for (const [what, values] of [
      ['', { role: 'viewer' }],
      ['/disable', {}],
    ] as const) {
      assert.equal((await post(`/operator/v1/people/${mine.id}${what}`, values)).status, 400)
    }
  })

  test('payments and entries of other entities are unknown', async () => {
    const [blocks] = await host.sql<{ entries: string[] }>(
      `with made as (
         insert into tollgate.attention (id, kind, alarm_at, detail, reference)
         values (gen_random_uuid(), 'card-testing', now(), '{}', $1), (gen_random_uuid(), 'card-testing', now(), '{}', $2)
         returning id)
       select array_agg(id::text) as entries from made`,
      [`${foreign.merchant} bin 420000`, `${host.merchant} bin 420000`],
    )
    const [others = '', ours = ''] = blocks!.entries.map((id) => id.replaceAll('-', ''))
    const lift = (id: string) =>
      post(`/operator/v1/attention/${id}/resolve`, { reason: 'a sale of tickets' })
    assert.equal((await lift(others)).status, 404)
    assert.equal((await lift(ours)).status, 200)
    const list = await office(host.url, '/operator/v1/attention', { cookie })
    assert.equal((list.body.entries as unknown[]).length, 1)
    const reason = 'because'
    for (const path of ['enquire', 'redrive', 'reverse-chargeback', 'settle']) {
      const values = path === 'settle' ? { reason, as: 'approved' } : { reason }
      const answer = await post(`/operator/v1/decisions/${foreign.payment}/${path}`, values)
      assert.equal(answer.status, 404, path)
    }
    for (const path of ['resolve', 'retry']) {
      const answer = await post(`/operator/v1/attention/${foreign.entry}/${path}`, { reason })
      assert.equal(answer.status, 404, path)
    }
    const [row] = await host.sql<{ resolved_at: Date | null }>(
      'select resolved_at from tollgate.attention where id = $1',
      [foreign.entry],
    )
    assert.equal(row!.resolved_at, null)
  })

  test("the trail shows the entity's own rows, and deciding persons by name and address", async () => {
    const [entry] = (await office(host.url, '/operator/v1/attention', { cookie })).body.entries as {
      id: string
    }[]
    const resolved = await post(`/operator/v1/attention/${entry!.id}/resolve`, { reason: 'seen' })
    assert.equal(resolved.status, 200, resolved.text)
    const [row] = await host.sql<{
      actor_kind: string
      actor_id: string
      actor: string
      address: string
    }>(
      "select actor_kind, actor_id, actor, address from tollgate.audit where action = 'attention.resolved'",
    )
    assert.deepEqual(row, {
      actor_kind: 'operator',
      actor_id: mine.id,
      actor: 'mine',
      address: '127.0.0.1',
    })
    const all = await office(host.url, '/operator/v1/audit?limit=1000', { cookie })
    const entries = all.body.entries as { entityId: string | null }[]
    assert.ok(entries.length > 0)
    assert.ok(
      entries.every(({ entityId }) => entityId === host.merchant || entityId === host.channel),
    )
    const others = await office(host.url, `/operator/v1/audit?entityId=${foreign.merchant}`, {
      cookie,
    })
    assert.equal(others.status, 404)
  })
})
