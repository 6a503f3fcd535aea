/** Operators log in, stay, and leave: passwords, codes, pauses, sessions, cookies and origins. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { limits } from '../../../schemas/index.ts'
import { until } from '../../rig/gateway.ts'
import {
  codeOf,
  type Enrolled,
  enrol,
  logIn,
  movedClock,
  office,
  password,
} from '../../rig/operators.ts'
import { type Hosted, startHost } from './hosted.ts'

const minute = 60_000
const wrongLogin = 'invalid authentication information: the name, the password or the code is wrong'

describe("the operators' API", () => {
  const clock = movedClock()
  let host: Hosted
  let jane: Enrolled

  before(async () => {
    host = await startHost({ surfaces: ['office', 'merchant'] }, { clock, passwordLogRounds: 8 })
    jane = await enrol(host.gateway, 'jane', 'admin')
  })
  after(() => host.close())

  /** A code works once, so each login takes the next step's. */
  const nextLogin = (more: object = {}) => {
    clock.forward(limits.codeStepMs)
    return logIn(host.url, jane, clock, more)
  }
  const session = (cookie: string) => office(host.url, '/operator/v1/session', { cookie })
  const actions = async () =>
    (
      await host.sql<{ action: string; actor: string; detail: { why?: string } }>(
        "select action, actor, detail from tollgate.audit where action like 'person.%' order by at, id",
      )
    ).map(({ action, detail }) => (detail.why === undefined ? action : `${action}: ${detail.why}`))

  test('a login with password and code begins a session, in a cookie bound to the office', async () => {
    const login = await nextLogin()
    assert.equal(login.status, 200, login.text)
    // On loopback over plain HTTP, browsers accept neither the prefix nor Secure.
    assert.match(
      login.headers.get('set-cookie') ?? '',
      /^tollgate-operator=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Strict$/,
    )
    assert.equal(login.headers.get('access-control-allow-origin'), null)
    const seen = await session(login.cookie)
    assert.equal(seen.status, 200, seen.text)
    const { person } = seen.body as unknown as { person: { name: string; rights: string[] } }
    assert.equal(person.name, 'jane')
    assert.ok(person.rights.includes('administer'))
    assert.deepEqual((await actions()).slice(-1), ['person.logged-in'])
  })

  test('password, session, codes and authenticator are stored as digests or sealed', async () => {
    const login = await nextLogin()
    const token = login.cookie.split('=')[1] ?? ''
    const [row] = await host.sql<{ text: string }>(`
      select string_agg(entry, ' ') as text from (
        select row_to_json(person)::text || encode(sealed, 'escape') as entry from tollgate.person
        union all select row_to_json(found)::text || encode(hash, 'escape') from tollgate.person_session as found
        union all select row_to_json(found)::text || encode(hash, 'escape') from tollgate.recovery_code as found
        union all select row_to_json(found)::text from tollgate.audit as found) as entries`)
    for (const secret of [password, token, jane.secret, ...jane.recoveryCodes]) {
      assert.ok(secret.length > 10)
      assert.ok(!row!.text.includes(secret))
      assert.ok(!JSON.stringify([host.lines, host.logs]).includes(secret))
    }
  })

  test('a code is accepted once, also by two processes at once', async () => {
    clock.forward(limits.codeStepMs)
    const code = codeOf(jane.secret, clock.realMs())
    const other = await host.another({ role: 'api', clock })
    const request = { name: 'jane', password, code }
    const outcomes = await Promise.allSettled([
      host.gateway.people.login(request),
      other.people.login(request),
      host.gateway.people.login(request),
      other.people.login(request),
    ])
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const again = await logIn(host.url, jane, clock)
    assert.equal(again.status, 401)
    assert.equal(again.body.result.description, wrongLogin)
    assert.deepEqual((await actions()).slice(-1), ['person.login-failed: code used before'])
    // An earlier code within the drift is refused as well.
    const earlier = await logIn(host.url, jane, clock, {
      code: codeOf(jane.secret, clock.realMs(), -1),
    })
    assert.equal(earlier.status, 401)
    assert.equal((await nextLogin()).status, 200)
  })

  test('a recovery code is accepted once, in place of a code', async () => {
    const [recoveryCode] = jane.recoveryCodes
    const values = { name: 'jane', password, recoveryCode }
    const first = await office(host.url, '/operator/v1/login', { values })
    assert.equal(first.status, 200, first.text)
    assert.equal(first.body.recoveryCodesLeft, 9)
    const second = await office(host.url, '/operator/v1/login', { values })
    assert.equal(second.status, 401)
    assert.equal((await nextLogin()).status, 200)
  })

  test('all failed logins are answered alike', async () => {
    const disabled = await enrol(host.gateway, 'gone', 'viewer')
    await host.gateway.people.disable(disabled.id)
    const wrong = [
      await nextLogin({ password: 'another horse 8 battery' }),
      await nextLogin({ code: '000000' }),
      await nextLogin({ name: 'nobody' }),
      await logIn(host.url, disabled, clock),
    ]
    for (const { status, body, headers } of wrong) {
      assert.equal(status, 401)
      assert.equal(body.result.description, wrongLogin)
      assert.equal(headers.get('set-cookie'), null)
    }
    assert.deepEqual((await actions()).slice(-4), [
      'person.login-failed: wrong password',
      'person.login-failed: wrong code',
      'person.login-failed: unknown name',
      'person.login-failed: disabled',
    ])
    assert.equal((await nextLogin()).status, 200)
  })

  test("a failed login's name is stored nowhere, because it can be a password", async () => {
    await nextLogin({ name: 'hunter2hunter2' })
    const [row] = await host.sql<{ text: string }>(
      "select string_agg(row_to_json(found)::text, ' ') as text from tollgate.audit as found",
    )
    assert.ok(!row!.text.includes('hunter2'))
    assert.ok(!JSON.stringify([host.lines, host.logs]).includes('hunter2'))
  })

  test('a session ends after fifteen minutes without a request', async () => {
    const { cookie } = await nextLogin()
    clock.forward(limits.sessionIdleMs - minute)
    assert.equal((await session(cookie)).status, 200)
    clock.forward(limits.sessionIdleMs - minute)
    assert.equal((await session(cookie)).status, 200)
    clock.forward(limits.sessionIdleMs)
    assert.equal((await session(cookie)).status, 401)
  })

  test('a session ends after twelve hours despite requests', async () => {
    const { cookie } = await nextLogin()
    for (let passedMs = 0; passedMs < limits.sessionMs - minute; passedMs += 10 * minute) {
      assert.equal((await session(cookie)).status, 200, String(passedMs))
      clock.forward(10 * minute)
    }
    assert.equal((await session(cookie)).status, 401)
  })

  test('each login begins another session, and a logout ends it for good', async () => {
    const one = await nextLogin()
    const other = await nextLogin()
    assert.notEqual(one.cookie, other.cookie)
    const out = await office(host.url, '/operator/v1/logout', { cookie: one.cookie, values: {} })
    assert.equal(out.status, 200)
    assert.match(out.headers.get('set-cookie') ?? '', /^tollgate-operator=; Max-Age=0; /)
    assert.equal((await session(one.cookie)).status, 401)
    assert.equal((await session(other.cookie)).status, 200)
    // A session id chosen by somebody else is invalid.
    const planted = `tollgate-operator=${'A'.repeat(43)}`
    assert.equal((await session(planted)).status, 401)
    assert.equal((await session(`${other.cookie}; ${planted}`)).status, 401)
  })

  test('a disabled or reset operator is out at once, in every process', async () => {
    const other = await host.another({ role: 'api', clock })
    const joe = await enrol(host.gateway, 'joe', 'support')
    const first = await logIn(host.url, joe, clock)
    assert.equal((await session(first.cookie)).status, 200)
    await other.people.disable(joe.id)
    assert.equal((await session(first.cookie)).status, 401)
    await other.people.enable(joe.id)
    assert.equal((await session(first.cookie)).status, 401)
    clock.forward(limits.codeStepMs)
    const second = await logIn(host.url, joe, clock)
    await other.people.reset(joe.id, password)
    assert.equal((await session(second.cookie)).status, 401)
    clock.forward(limits.codeStepMs)
    assert.equal((await logIn(host.url, joe, clock)).status, 401)
  })

  test('a session that begins beside the reset, change or end of its person does not outlive it', async () => {
    for (const how of ['reset', 'change', 'disable'] as const) {
      const vic = await enrol(host.gateway, `vic-${how}`, 'operator')
      clock.forward(limits.codeStepMs)
      const own = await logIn(host.url, vic, clock)
      clock.forward(limits.codeStepMs)
      const [newPassword, code] = ['another horse 9 x', codeOf(vic.secret, clock.realMs(), 1)]
      await host.sql('begin')
      await host.sql('select from tollgate.person where id = $1 for update', [vic.id])
      const locked = (count: number) =>
        until(async () => {
          const [row] = await observer
            .query(
              `select count(*)::integer as waiting from pg_stat_activity
             where wait_event_type = 'Lock' and datname = current_database()`,
            )
            .then(({ rows }) => rows)
          return row.waiting >= count ? true : undefined
        })
      const observer = new pg.Client({ connectionString: host.database.url })
      await observer.connect()
      const beside = logIn(host.url, vic, clock)
      await locked(1)
      const values = { password, code, newPassword }
      const act =
        how === 'reset'
          ? host.gateway.people.reset(vic.id, newPassword)
          : how === 'disable'
            ? host.gateway.people.disable(vic.id)
            : office(host.url, '/operator/v1/password', { cookie: own.cookie, values })
      await locked(2)
      await host.sql('commit')
      await observer.end()
      await act
      if (how === 'disable') await host.gateway.people.enable(vic.id)
      const { status, cookie } = await beside
      if (status === 200) assert.equal((await session(cookie)).status, 401, how)
      const kept = how === 'change' ? 200 : 401
      assert.equal((await session(own.cookie)).status, kept, how)
    }
  })

  test("a tenant's admins see logouts, readings and people who leave their entity", async () => {
    const [mia, mo] = [
      await enrol(host.gateway, 'mia', 'admin', host.merchant),
      await enrol(host.gateway, 'moe', 'viewer', host.merchant),
    ]
    clock.forward(limits.codeStepMs)
    const { cookie } = await logIn(host.url, mia, clock)
    const left = await logIn(host.url, mo, clock)
    await office(host.url, '/operator/v1/logout', { cookie: left.cookie, values: {} })
    await office(host.url, '/operator/v1/audit', { cookie })
    await host.gateway.people.change(mo.id, { entityId: null })
    const { body } = await office(host.url, '/operator/v1/audit', { cookie })
    const seen = (body.entries as { action: string }[]).map(({ action }) => action)
    for (const action of ['person.logged-out', 'audit.listed', 'person.changed']) {
      assert.ok(seen.includes(action), action)
    }
  })

  test('a password with older parameters is stored again with the current ones', async () => {
    const stored = async () =>
      (
        await host.sql<{ password: string }>(
          "select password from tollgate.person where name = 'jane'",
        )
      )[0]!.password
    assert.match(await stored(), /^\$scrypt\$ln=8,/)
    const other = await host.another({ role: 'api', clock, passwordLogRounds: 9 })
    clock.forward(limits.codeStepMs)
    const code = codeOf(jane.secret, clock.realMs())
    await other.people.login({ name: 'jane', password, code })
    assert.match(await stored(), /^\$scrypt\$ln=9,/)
    assert.equal((await nextLogin()).status, 200)
  })

  test('a password is changed with the old one and a code, and other sessions end', async () => {
    const ann = await enrol(host.gateway, 'ann', 'viewer')
    const old = await logIn(host.url, ann, clock)
    clock.forward(limits.codeStepMs)
    const { cookie } = await logIn(host.url, ann, clock)
    clock.forward(limits.codeStepMs)
    const code = codeOf(ann.secret, clock.realMs())
    const newPassword = 'wrong horse 9 staple'
    const change = (values: object) =>
      office(host.url, '/operator/v1/password', { cookie, values: { newPassword, ...values } })
    assert.equal((await change({ password: 'not the old 1', code })).status, 401)
    assert.equal((await change({ password, code, newPassword: 'short 1' })).status, 400)
    assert.equal((await change({ password, code })).status, 200)
    assert.equal((await session(cookie)).status, 200)
    assert.equal((await session(old.cookie)).status, 401)
    clock.forward(limits.codeStepMs)
    assert.equal((await logIn(host.url, ann, clock, { password: newPassword })).status, 200)
  })

  test('a request from another page than the office changes nothing', async () => {
    const { cookie } = await nextLogin()
    const before = await actions()
    for (const headers of [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: `${host.url}.evil.example` },
      { Origin: host.url.replace('http:', 'https:') },
      { Origin: '' },
    ]) {
      for (const path of ['/operator/v1/logout', '/operator/v1/login']) {
        const answer = await office(host.url, path, { cookie, values: {}, headers })
        assert.equal(answer.status, 403, JSON.stringify(headers))
        assert.match(answer.body.result.description, /Origin/)
        assert.equal(answer.headers.get('access-control-allow-origin'), null)
      }
    }
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const answer = await office(host.url, '/operator/v1/logout', {
        cookie,
        values: '{}',
        headers: { 'Content-Type': type },
      })
      assert.equal(answer.status, 400)
    }
    assert.deepEqual(await actions(), before)
    assert.equal((await session(cookie)).status, 200)
  })

  test('a request that is not an object of known texts is refused by name', async () => {
    const { cookie } = await nextLogin()
    const reject = (values: object | string) =>
      office(host.url, `/operator/v1/proposals/${'0'.repeat(32)}/reject`, { cookie, values })
    for (const [values, name] of [
      ['[]', undefined],
      ['{"reason":', undefined],
      [{ reason: 7 }, 'reason'],
      [{ reason: 'a'.repeat(1001) }, 'reason'],
      [{}, 'reason'],
      [{ reason: 'so', constructor: 'x' }, 'unknown'],
    ] as const) {
      const { status, body } = await reject(values)
      assert.equal(status, 400, JSON.stringify(values))
      assert.equal(body.result.parameterErrors?.[0]?.name, name)
    }
    assert.equal((await reject(`{"reason":"${' '.repeat(limits.officeBodyBytes)}"}`)).status, 400)
    assert.equal((await reject({ reason: 'so' })).status, 404)
  })
})

describe('too many failed logins', () => {
  const clock = movedClock()
  let host: Hosted
  before(async () => {
    host = await startHost(
      { surfaces: ['office'], trustedProxy: ['loopback'] },
      { clock, passwordLogRounds: 8 },
    )
  })
  after(() => host.close())

  const from = (address: string, values: object) =>
    office(host.url, '/operator/v1/login', { values, headers: { 'X-Forwarded-For': address } })

  test('failed logins of a name make it wait, longer each time, whether it exists or not', async () => {
    const max = await enrol(host.gateway, 'max', 'operator')
    for (const name of ['max', 'nobody']) {
      let address = 0
      const fail = () => {
        address += 1
        return from(`203.0.113.${address}`, { name, password: 'not the one 1', code: '000000' })
      }
      for (let failed = 0; failed < limits.loginFailures; failed += 1) {
        assert.equal((await fail()).status, 401)
      }
      for (const pauseMs of limits.namePausesMs.slice(0, 3)) {
        const paused = await fail()
        assert.equal(paused.status, 429)
        assert.equal(Number(paused.headers.get('retry-after')), pauseMs / 1000)
        // Correct credentials are refused too, so that a correct guess is not revealed.
        const right = { name, password, code: codeOf(max.secret, clock.realMs()) }
        assert.equal((await from('198.51.100.1', right)).status, 429)
        clock.forward(pauseMs)
        assert.equal((await fail()).status, 401)
      }
      clock.forward(limits.namePausesMs[3])
    }
    assert.equal((await logIn(host.url, max, clock)).status, 200)
    const alarms = host.logs.filter(({ fields }) => fields.alarm === 'lockout')
    assert.ok(alarms.some(({ fields }) => fields.subject === max.id && fields.security === true))
    const [row] = await host.sql<{ count: bigint }>(
      "select count(*) from tollgate.audit where action = 'person.locked-out' and actor = 'max'",
    )
    assert.ok(Number(row!.count) >= 1)
  })

  test('failed logins from an address make that address wait, and no other', async () => {
    const eva = await enrol(host.gateway, 'eva', 'operator')
    const guess = (name: string) =>
      from('192.0.2.1', { name, password: 'not the one 1', code: '000000' })
    for (let failed = 0; failed < limits.loginFailures; failed += 1) {
      assert.equal((await guess(`name-${failed}`)).status, 401)
    }
    assert.equal((await guess('eva')).status, 429)
    const right = { name: 'eva', password, code: codeOf(eva.secret, clock.realMs()) }
    assert.equal((await from('192.0.2.1', right)).status, 429)
    assert.equal((await from('192.0.2.2', right)).status, 200)
  })

  test('a login turned away as too many counts for nobody', async () => {
    const ida = await enrol(host.gateway, 'ida', 'operator')
    for (let round = 0; round <= limits.loginFailures; round += 1) {
      clock.forward(limits.codeStepMs)
      const crowd = Array.from({ length: 60 }, (_, at) =>
        host.gateway.people
          .login({ name: `crowd${at}`, password, code: '000000' }, { network: `${round} ${at}` })
          .catch(() => {}),
      )
      const login = { name: 'ida', password, code: codeOf(ida.secret, clock.realMs()) }
      await assert.rejects(host.gateway.people.login(login, { network: `ida ${round}` }), {
        status: 429,
        retryAfterSeconds: 5,
      })
      await Promise.all(crowd)
    }
    clock.forward(limits.codeStepMs)
    assert.equal((await logIn(host.url, ida, clock)).status, 200)
  })

  test('a pause is on record when the login that began it breaks off', async () => {
    const max = await enrol(host.gateway, 'maud', 'operator')
    const rows = async () =>
      host.sql("select id from tollgate.audit where action = 'person.locked-out'")
    const before = (await rows()).length
    const login = (no: number) =>
      host.gateway.people.login(
        { name: 'maud', password: 'not the one 1', code: '000000' },
        { network: `maud ${no}` },
      )
    for (let no = 1; no < limits.loginFailures; no += 1) {
      await assert.rejects(login(no), { status: 401 })
    }
    await host.sql('alter table tollgate.person rename to person_away')
    try {
      await assert.rejects(login(limits.loginFailures))
    } finally {
      await host.sql('alter table tollgate.person_away rename to person')
    }
    assert.equal((await rows()).length, before + 1)
    await host.gateway.people.unlock(max.id)
  })

  test('guesses at the password of a session are on record and begin a pause', async () => {
    const pia = await enrol(host.gateway, 'pia', 'operator')
    clock.forward(limits.codeStepMs)
    const { cookie } = await logIn(host.url, pia, clock)
    const guess = () =>
      office(host.url, '/operator/v1/password', {
        cookie,
        values: { password: 'not the one 1', code: '000000', newPassword: 'another horse 9 x' },
      })
    for (let no = 0; no < limits.loginFailures; no += 1) assert.equal((await guess()).status, 401)
    assert.equal((await guess()).status, 429)
    const told = await host.sql<{ action: string }>(
      "select action from tollgate.audit where resource = $1 and action like 'person.lo%' order by at, id",
      [pia.id],
    )
    const count = (action: string) => told.filter((row) => row.action === action).length
    assert.equal(count('person.login-failed'), limits.loginFailures)
    assert.equal(count('person.locked-out'), 1)
    assert.ok(
      host.logs.some(({ fields }) => fields.alarm === 'lockout' && fields.subject === pia.id),
    )
  })

  test('failed logins count before the check, so many at once gain nothing', async () => {
    const tom = await enrol(host.gateway, 'tom', 'operator')
    const statuses = await Promise.all(
      Array.from({ length: 2 * limits.loginFailures }, async (_, index) => {
        const code = String(index).padStart(6, '0')
        return (await from(`198.51.100.${index + 10}`, { name: 'tom', password, code })).status
      }),
    )
    assert.equal(statuses.filter((status) => status === 401).length, limits.loginFailures)
    assert.equal(statuses.filter((status) => status === 429).length, limits.loginFailures)
    await host.gateway.people.unlock(tom.id)
    assert.equal((await logIn(host.url, tom, clock)).status, 200)
  })
})
