/** No token takes the encryption of notifications away, or leads plain ones elsewhere; an operator may. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { rightSet } from '../../../core/caller/rights.ts'
import { type Caller, ConfirmationNeededError, type GatewayError } from '../../../core/index.ts'
import { type Hosted, startHost } from '../../host/http/hosted.ts'
import { until } from '../../rig/gateway.ts'
import { enrol } from '../../rig/operators.ts'

const url = 'http://127.0.0.1:9/hook'
const elsewhere = 'http://127.0.0.1:9/elsewhere'

describe('notifications without encryption', () => {
  let host: Hosted
  before(async () => {
    host = await startHost()
  })
  after(() => host.close())

  const post = async (path: string, fields: Record<string, string>) => {
    const response = await fetch(host.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${host.token}` },
      body: new URLSearchParams({ entityId: host.channel, ...fields }),
    })
    const answer = (await response.json()) as {
      result: { description: string; parameterErrors?: { name: string }[] }
      wrapper?: string
      id: string
    }
    return { status: response.status, ...answer }
  }
  const refused = (answer: Awaited<ReturnType<typeof post>>, field: string) => {
    assert.equal(answer.status, 403)
    assert.match(answer.result.description, new RegExp(`${field} of .* needs the right administer`))
    assert.deepEqual(
      answer.result.parameterErrors?.map(({ name }) => name),
      [field],
    )
  }

  test('a token with every right neither makes an endpoint without encryption nor takes it away', async () => {
    refused(await post('/v1/webhooks', { url, wrapper: 'NONE' }), 'wrapper')
    const made = await post('/v1/webhooks', { url })
    refused(await post(`/v1/webhooks/${made.id}`, { wrapper: 'NONE' }), 'wrapper')
    refused(await post(`/v1/webhooks/${made.id}`, { wrapper: 'NONE', url: elsewhere }), 'wrapper')
    const { wrapper, url: kept } = await host.gateway.webhooks.get(made.id)
    assert.deepEqual([wrapper, kept], ['TEXT', url])
    assert.equal((await post(`/v1/webhooks/${made.id}`, { wrapper: 'JSON' })).status, 200)
  })

  test('a token leads neither more in plain nor elsewhere, and may make their endpoint safer', async () => {
    const { id } = await host.gateway.webhooks.create({
      entityId: host.channel,
      ...{ url, wrapper: 'NONE' },
    })
    refused(await post(`/v1/webhooks/${id}`, { url: elsewhere }), 'url')
    refused(await post(`/v1/webhooks/${id}`, { types: 'PAYMENT,SCHEDULE' }), 'types')
    // What changes neither stays possible, also with the settings named.
    const same = { url, wrapper: 'NONE', types: 'PAYMENT', active: 'false' }
    assert.equal((await post(`/v1/webhooks/${id}`, same)).status, 200)
    const safer = await post(`/v1/webhooks/${id}`, { url: elsewhere, wrapper: 'TEXT' })
    assert.deepEqual([safer.status, safer.wrapper], [200, 'TEXT'])
  })

  test("an operator's own right decides, whatever program asks", async () => {
    const request = { entityId: host.channel, url, wrapper: 'NONE' } as const
    const as = (...rights: Parameters<typeof rightSet>[0]): Caller => ({
      id: 'dev',
      entityId: host.channel,
      rights: rightSet(rights),
    })
    const { webhooks } = host.gateway
    await assert.rejects(webhooks.create(request, { caller: as('read', 'configure') }), {
      status: 403,
    } satisfies Partial<GatewayError>)
    const caller = as('read', 'configure', 'administer')
    assert.equal((await webhooks.create(request, { caller })).wrapper, 'NONE')
  })

  test('with four eyes, two people take encryption away', async () => {
    const ann = await enrol(host.gateway, 'ann', 'admin')
    const strict = await host.another({ fourEyes: true })
    const by = { kind: 'system-user', id: '0', name: 'root' } as const
    const confirmer = {
      ...{ id: ann.id, name: 'ann', role: 'admin', entityId: null, since: new Date() },
      rights: rightSet(['administer']),
    }
    const { id } = await strict.webhooks.create({ entityId: host.channel, url })
    const change = (to: object, proposal?: string) =>
      strict.webhooks.update(id, { wrapper: 'NONE', ...to }, { by, proposal })
    const proposal = await change({}).then(
      () => assert.fail('one person was enough'),
      (error) => {
        assert.ok(error instanceof ConfirmationNeededError, String(error))
        return error.proposal
      },
    )
    await strict.people.confirm(proposal, { by: confirmer as never })
    await assert.rejects(change({ url: elsewhere }, proposal), /about something else/)
    await assert.rejects(change({ types: 'SCHEDULE' }, proposal), /about something else/)
    assert.equal((await change({}, proposal)).wrapper, 'NONE')
    await assert.rejects(change({ url: elsewhere }, proposal), /about something else|carried out/)
    assert.equal((await strict.webhooks.update(id, { wrapper: 'TEXT' }, { by })).wrapper, 'TEXT')
    await assert.rejects(
      strict.webhooks.create({ entityId: host.channel, url, wrapper: 'NONE' }, { by }),
      ConfirmationNeededError,
    )

    const again = await change({}).catch((error: ConfirmationNeededError) => error.proposal)
    assert.ok(typeof again === 'string')
    await strict.people.confirm(again, { by: confirmer as never })
    // Another change overtakes the agreed one, which waits for the row after its read.
    await host.sql('begin')
    await host.sql(
      'update tollgate.webhook_endpoint set active = false, version = version + 1 where id = $1',
      [id],
    )
    const done = change({ active: true }, again)
    void done.catch(() => {})
    await until(async () => {
      const [row] = await host.sql(
        `select from pg_stat_activity, pg_stat_clear_snapshot()
         where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return row
    })
    await host.sql('commit')
    const { wrapper, active } = await done
    assert.deepEqual([wrapper, active], ['NONE', 'true'])
  })
})
