/** The operators' API spells every name in one way, and writes every moment in one form. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { officeEndpoints } from '../../../schemas/index.ts'
import { enrol, logIn, movedClock, office } from '../../rig/operators.ts'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

/** Data of others, whose names are what they tell. */
const data = new Set(['detail', 'before', 'after', 'facts', 'settings'])

describe("names and moments in the operators' API", () => {
  const clock = movedClock()
  let host: Hosted
  let cookie: string

  before(async () => {
    host = await startHost({ surfaces: ['office', 'merchant'] }, { clock, passwordLogRounds: 8 })
    const jane = await enrol(host.gateway, 'jane', 'admin')
    cookie = (await logIn(host.url, jane, clock)).cookie
    const form = { ...debit, entityId: host.channel }
    const paid = await ask(host.url, '/v1/payments', { token: host.token, form })
    await host.sql(
      `insert into tollgate.attention (id, kind, payment_id, detail)
       values (gen_random_uuid(), 'conflict', $1, '{}')`,
      [paid.body.id],
    )
  })
  after(() => host.close())

  const wrongIn = (value: unknown, name = ''): string[] => {
    if (Array.isArray(value)) return value.flatMap((one) => wrongIn(one, name))
    if (typeof value === 'object' && value !== null) {
      return Object.entries(value).flatMap(([key, inner]) => [
        ...(/^[a-z][A-Za-z0-9]*$/.test(key) ? [] : [`${key} is a name of another spelling`]),
        ...(key === 'timestamp' || data.has(key) ? [] : wrongIn(inner, key)),
      ])
    }
    const isMoment = /^\d{4}-\d\d-\d\d/.test(String(value))
    const isIso = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/.test(String(value))
    return isMoment && !isIso ? [`${name} is a moment of another form: ${value}`] : []
  }

  test('lists and the session have the one spelling and the one form', async () => {
    const reads = officeEndpoints.filter(
      ({ method, path }) => method === 'GET' && !path.includes('{'),
    )
    assert.ok(reads.length > 4)
    for (const { path } of reads) {
      const { status, body, text } = await office(host.url, path, { cookie })
      assert.equal(status, 200, text)
      assert.deepEqual(wrongIn(body), [], path)
    }
  })

  test('an entry about a payment names it, with its amount and currency', async () => {
    const { body } = await office(host.url, '/operator/v1/attention', { cookie })
    const [entry] = body.entries as Record<string, unknown>[]
    assert.deepEqual([entry!.kind, entry!.amount, entry!.currency], ['conflict', '92.00', 'EUR'])
    assert.match(String(entry!.paymentId), /^[0-9a-f]{32}$/)
  })

  test('fields of requests are spelt as in answers, and a moment of an answer is taken back', async () => {
    const names = officeEndpoints.flatMap(({ fields }) => fields.map(({ name }) => name as string))
    assert.ok(names.includes('entityId') && names.includes('channelId'))
    assert.ok(!names.includes('entity') && !names.includes('channel'))
    const { body } = await office(host.url, '/operator/v1/audit', { cookie })
    const [{ at }] = (body.entries as { at: string }[]).slice(-1) as [{ at: string }]
    const again = await office(host.url, `/operator/v1/audit?since=${at}`, { cookie })
    assert.equal(again.status, 200, again.text)
  })
})
