/** The office under load: strangers and single operators take little of what others need. */
import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { limits } from '../../../schemas/index.ts'
import { until } from '../../rig/gateway.ts'
import { type Enrolled, enrol, logIn, movedClock, office } from '../../rig/operators.ts'
import { ask, debit, type Hosted, startHost } from './hosted.ts'

const login = '/operator/v1/login'

/** One office request as bytes; of a body only `sent` bytes come. */
function requestText(
  url: string,
  path: string,
  more: { cookie?: string; body?: string; sent?: number } = {},
): string {
  const { cookie, body, sent } = more
  return [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    'Host: localhost',
    ...(cookie === undefined ? [] : [`Cookie: ${cookie}`]),
    ...(body === undefined
      ? []
      : [`Origin: ${url}`, 'Content-Type: application/json', `Content-Length: ${body.length}`]),
    '',
    (body ?? '').slice(0, sent),
  ].join('\r\n')
}

/** The first answers: connections may arrive in another order than they were begun. */
function firstOf<Answer>(all: readonly Promise<Answer>[], count: number): Promise<Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer[]>()
  const answers: Answer[] = []
  for (const one of all) {
    one.then((answer) => {
      answers.push(answer)
      if (answers.length === count) resolve([...answers])
    }, reject)
  }
  return promise
}

describe('the office under load', () => {
  const clock = movedClock()
  const sockets: Socket[] = []
  let host: Hosted
  let jane: Enrolled

  before(async () => {
    host = await startHost(
      {
        surfaces: ['office', 'merchant'],
        trustedProxy: ['loopback'],
        answers: { clientBytes: 4 * 1024 * 1024, silenceMs: 3_000 },
      },
      { clock, passwordLogRounds: 8 },
    )
    jane = await enrol(host.gateway, 'jane', 'admin')
  })
  after(async () => {
    for (const socket of sockets) socket.destroy()
    await host.close()
  })

  const cookieOf = async (who: Enrolled) => {
    clock.forward(limits.codeStepMs)
    const answer = await logIn(host.url, who, clock)
    assert.equal(answer.status, 200, answer.text)
    return answer.cookie
  }
  const open = (text: string) => {
    const { hostname, port } = new URL(host.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    socket.pause()
    socket.write(text)
    sockets.push(socket)
    return socket
  }

  test('thousands of unknown names get one short answer, in a body and in a query', async () => {
    const names = Array.from({ length: 7_000 }, (_, at) => at.toString(36))
    const values = `{${names.map((name) => `"${name}":""`).join(',')}}`
    const cookie = await cookieOf(jane)
    for (const answer of [
      await office(host.url, login, { values }),
      await office(host.url, `/operator/v1/session?${names.slice(0, 3_000).join('&')}`, { cookie }),
    ]) {
      assert.equal(answer.status, 400)
      assert.equal(answer.body.result.parameterErrors?.[0]?.name, 'unknown')
      assert.ok(answer.text.length < 2_000, String(answer.text.length))
    }
  })

  test('malformed logins of one address are answered unread after a number of them', async () => {
    const from = (address: string) =>
      office(host.url, login, { values: '{}', headers: { 'X-Forwarded-For': address } })
    for (let sent = 0; sent < limits.officeRefusals; sent += 1) {
      assert.equal((await from('203.0.113.7')).status, 400)
    }
    const paused = await from('203.0.113.7')
    assert.equal(paused.status, 429)
    assert.ok(Number(paused.headers.get('retry-after')) > 0)
    assert.equal((await from('203.0.113.8')).status, 400)
  })

  test('bodies of strangers leave operators with a session their room', async () => {
    const cookie = await cookieOf(jane)
    const body = 'x'.repeat(60_000)
    for (let no = 0; no < 36; no += 1) {
      open(requestText(host.url, login, { body, sent: body.length - 1 }))
    }
    const reason = 'because'
    const path = `/operator/v1/attention/${'0'.repeat(32)}/resolve`
    const turnedAway = await until(async () => {
      const { status } = await office(host.url, login, { values: { name: 'x'.repeat(50_000) } })
      return status === 429 || status === 503 ? status : undefined
    })
    assert.ok(turnedAway)
    assert.equal((await office(host.url, path, { cookie, values: { reason } })).status, 404)
    for (const socket of sockets.splice(0)) socket.destroy()
  })

  test('unread answers count for their operator, and their connections end', async () => {
    const mia = await enrol(host.gateway, 'mia', 'admin', host.merchant)
    const cookie = await cookieOf(mia)
    const other = await cookieOf(jane)
    await host.sql(
      `insert into tollgate.audit (id, actor_kind, actor_id, actor, action, entity_id, detail)
       select gen_random_uuid(), 'token', 'x', 'shop', 'webhook.changed', $1, jsonb_build_object('reason', repeat('x', 900))
       from generate_series(1, 1000)`,
      [host.merchant],
    )
    const page = '/operator/v1/audit?limit=1000'
    const whole = await office(host.url, page, { cookie })
    assert.equal(whole.status, 200)
    const holdAnswers = () => open(requestText(host.url, page, { cookie }).repeat(16))
    for (let no = 0; no < 12; no += 1) holdAnswers()
    const refused = await until(async () => {
      // A busy server ends the first connections before it has answered all of them.
      holdAnswers()
      const answer = await office(host.url, page, { cookie })
      return answer.status === 429 ? answer : undefined
    })
    assert.ok(refused)
    assert.equal((await office(host.url, page, { cookie: other })).status, 200)
    // The paused clients still hold their ends.
    await until(
      async () => ((await office(host.url, page, { cookie })).status === 200 ? true : undefined),
      60_000,
    )
  })

  test('searches of one merchant leave other operators, payments and the readiness theirs', async () => {
    const mia = await enrol(host.gateway, 'searcher', 'admin', host.merchant)
    const cookie = await cookieOf(mia)
    const other = await cookieOf(jane)
    await host.sql(
      `insert into tollgate.audit (id, actor_kind, actor_id, actor, action, entity_id, detail, at)
       select gen_random_uuid(), 'token', 'x' || n, 'shop', 'webhook.changed', $1, '{}', now() - n * interval '1 minute'
       from generate_series(1, 20000) as n`,
      [host.merchant],
    )
    const page = await office(host.url, '/operator/v1/audit?actor=zzz&limit=1', { cookie })
    assert.equal(page.status, 200)
    assert.deepEqual(page.body.entries, [])
    // A search that takes long.
    await host.sql('begin')
    await host.sql('lock table tollgate.audit_link')
    const searches = Array.from({ length: 12 }, () =>
      office(host.url, '/operator/v1/audit?actor=zzz', { cookie }),
    )
    try {
      const others = office(host.url, '/operator/v1/audit?limit=1', { cookie: other })
      const most = limits.officeReadsPerPerson
      const refused = await Promise.race([firstOf(searches, searches.length - most), others])
      assert.ok(Array.isArray(refused))
      assert.ok(refused.every(({ status }) => status === 429))
      for (const path of ['/readyz', '/operator/v1/session']) {
        assert.equal((await office(host.url, path, { cookie: other })).status, 200, path)
      }
      const payment = await ask(host.url, '/v1/payments', {
        token: host.token,
        form: { ...debit, entityId: host.channel },
      })
      assert.equal(payment.status, 200)
      await host.sql('commit')
      assert.equal((await others).status, 200)
    } finally {
      await host.sql('rollback')
    }
    const statuses = (await Promise.all(searches)).map(({ status }) => status)
    assert.equal(statuses.filter((status) => status === 200).length, limits.officeReadsPerPerson)
  })

  test('the audit trail is read page by page, with every filter', async () => {
    const cookie = await cookieOf(jane)
    const all: string[] = []
    let after = ''
    for (let pages = 0; pages < 100; pages += 1) {
      const path = `/operator/v1/audit?limit=2&actor=jane&action=person${after}`
      const { status, body } = await office(host.url, path, { cookie })
      assert.equal(status, 200)
      all.push(...(body.entries as { id: string }[]).map(({ id }) => id))
      if (body.next === undefined) break
      after = `&after=${String(body.next)}`
    }
    const rows = await host.sql<{ id: string }>(
      `select replace(id::text, '-', '') as id from tollgate.audit
       where (actor = 'jane' or actor_id = 'jane') and action like 'person.%' order by at desc, id desc`,
    )
    assert.deepEqual(
      all,
      rows.map(({ id }) => id),
    )
    assert.ok(all.length > 2)
  })
})
