/** The limits of a token: rights, expiry, networks, its last use, its successor. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Clock, type GatewayError, newId, systemClock } from '../../../core/index.ts'
import { limits } from '../../../schemas/index.ts'
import { startGateway, type TestGateway, until } from '../../rig/gateway.ts'

const hourMs = 3_600_000

describe('access tokens', () => {
  let run: TestGateway
  let aheadMs = 0
  const clock: Clock = {
    ...systemClock,
    elapsedMs: () => systemClock.elapsedMs() + aheadMs,
    realMs: () => systemClock.realMs() + aheadMs,
  }
  before(async () => {
    run = await startGateway({ role: 'api', clock })
  })
  after(() => run.close())

  const made = (limits: object = {}) =>
    run.gateway.entities.createToken(run.channel, 'tested', limits as never)
  const use = (token: string, from?: string) => run.gateway.authenticate(`Bearer ${token}`, from)
  const refusal = (work: Promise<unknown>): Promise<GatewayError> =>
    work.then(
      () => assert.fail('it was allowed'),
      (error: GatewayError) => error,
    )
  const row = async (id: string) =>
    (await run.gateway.entities.tokens(run.channel)).find((token) => token.id === id)!

  test('a token without limits has every right of tokens, without expiry and from any address', async () => {
    const { token } = await made()
    const all = await use(token)
    const named = await made({ rights: ['read', 'charge', 'refund', 'payout', 'configure'] })
    assert.equal((await use(named.token)).rights, all.rights)
    assert.deepEqual(await use(token, '2001:db8::1'), all)
  })

  test('a misspelt limit makes no token, which would have no limit', async () => {
    const before = (await run.gateway.entities.tokens(run.channel)).length
    for (const [given, name, message] of [
      [{ righs: ['read'] }, 'righs', 'is no option of this call; did you mean rights?'],
      [{ network: ['10.0.0.1'] }, 'network', 'is no option of this call; did you mean networks?'],
      [
        { expires: new Date(clock.realMs() + hourMs) },
        'expires',
        'is no option of this call; did you mean expiresAt?',
      ],
      ['read', 'options', 'must be an object, such as { rights }'],
    ] as const) {
      const { code, parameterErrors } = await refusal(made(given as object))
      assert.deepEqual(
        { code, parameterErrors },
        {
          code: '200.300.404',
          parameterErrors: [{ name, message }],
        },
      )
    }
    assert.equal((await run.gateway.entities.tokens(run.channel)).length, before)
  })

  test('impossible limits are refused at creation, with the allowed ones', async () => {
    for (const [given, words] of [
      [{ rights: [] }, /needs a right: read, charge, refund, payout, configure/],
      [{ rights: ['reed'] }, /"reed" is no right \(there are: read, charge/],
      [{ rights: ['Read'] }, /"Read" is no right/],
      [{ expiresAt: new Date(clock.realMs() - 1) }, /must expire in the future/],
      [{ expiresAt: new Date('nonsense') }, /must expire in the future/],
      [{ networks: [] }, /name a network/],
      [{ networks: ['10.0.0.0/33'] }, /"10\.0\.0\.0\/33" is neither an IP address nor/],
      [{ networks: ['10.0.0.1', 'shop.example'] }, /"shop\.example" is neither/],
      [{ networks: ['fe80::1%eth0'] }, /is neither/],
    ] as const) {
      await assert.rejects(made(given), words, JSON.stringify(given))
    }
  })

  test('a token expires at its moment, also in a process that has it cached', async () => {
    const { token } = await made({ expiresAt: new Date(clock.realMs() + hourMs) })
    await use(token)
    aheadMs += hourMs - 60_000
    await use(token)
    aheadMs += 60_000
    const { status, code } = await refusal(use(token))
    assert.deepEqual([status, code], [403, '800.900.300'])
  })

  test('a token is taken only from its networks: IPv4, IPv6, and IPv4 as written by a dual-stack socket', async () => {
    const { token } = await made({ networks: ['10.1.0.0/16', '2001:db8::/32', '203.0.113.7'] })
    for (const from of ['10.1.255.1', '::ffff:10.1.0.9', '2001:db8:5::1', '203.0.113.7']) {
      await use(token, from)
    }
    const elsewhere = ['10.2.0.1', '::ffff:10.2.0.1', '2001:db9::1', '203.0.113.8', '::1']
    for (const from of [...elsewhere, undefined, '', '10.1.0.1, 10.2.0.1', '10.1.0.1:80', 'x']) {
      const { status, code } = await refusal(use(token, from))
      assert.deepEqual([status, code], [403, '800.900.300'], from)
    }
  })

  test('unknown, revoked, expired and misplaced tokens are refused alike; the log tells the last two', async () => {
    const revoked = await made()
    await run.gateway.entities.revokeToken(revoked.id)
    const ended = await made({ expiresAt: new Date(clock.realMs() + hourMs) })
    const bound = await made({ networks: ['10.0.0.0/8'] })
    // The refusal on another environment hides the token's state as well.
    await run.sql(`update tollgate.token set environment = 'live' where id = $1`, [bound.id])
    aheadMs += 2 * hourMs
    const told: string[] = []
    for (const token of ['x'.repeat(43), revoked.token, ended.token, bound.token]) {
      const { status, code, message } = await refusal(use(token, '192.0.2.1'))
      told.push(`${status} ${code} ${message}`)
    }
    assert.equal(new Set(told).size, 1, told.join('\n'))
    const logged = run.logs
      .filter(({ message }) => message === 'an access token was refused')
      .map(({ fields }) => fields)
    assert.deepEqual(logged.slice(-2), [
      { token: ended.id, why: 'expired', from: '192.0.2.1' },
      { token: bound.id, why: 'used from elsewhere', from: '192.0.2.1' },
    ])
  })

  test('a process of the previous version finds a token without limits and no other', async () => {
    const byPlainHash = async (token: string) => {
      const rows = await run.sql<{ id: string }>(
        `select id from tollgate.token where hash = sha256(convert_to($1, 'UTF8'))`,
        [token],
      )
      return rows.map(({ id }) => id)
    }
    const free = await made()
    assert.deepEqual(await byPlainHash(free.token), [free.id])
    for (const limit of [
      { rights: ['read'] },
      { networks: ['10.0.0.0/8'] },
      { expiresAt: new Date(clock.realMs() + hourMs) },
    ]) {
      assert.deepEqual(await byPlainHash((await made(limit)).token), [])
    }
  })

  test("a token's last use is recorded apart from the payment, at most once a minute", async () => {
    const one = await made()
    const other = await made()
    assert.equal((await row(one.id)).last_used_at, null)
    await Promise.all([one, one, other].map(({ token }) => use(token)))
    const usedAt = async (id: string) => (await row(id)).last_used_at ?? undefined
    const first = await until(() => usedAt(one.id))
    await until(() => usedAt(other.id))
    const versionOf = async (id: string) =>
      (await run.sql('select xmin::text as v from tollgate.token where id = $1', [id]))[0]
    const before = await versionOf(one.id)
    aheadMs += limits.tokenUseMs / 2
    await use(one.token)
    // A use that was due would be recorded in the same statement, as the other token's is.
    aheadMs += limits.tokenUseMs / 2
    await use(other.token)
    await until(async () => ((await usedAt(other.id))! > first ? true : undefined))
    assert.deepEqual(await versionOf(one.id), before)
    await use(one.token)
    await until(async () => ((await usedAt(one.id))! > first ? true : undefined))
  })

  test('a refused use is not recorded, and a closing process writes its records', async () => {
    const bound = await made({ networks: ['10.0.0.0/8'] })
    const used = await made()
    const process = await run.another({ role: 'api', clock })
    await refusal(process.authenticate(`Bearer ${bound.token}`, '192.0.2.1'))
    await process.authenticate(`Bearer ${used.token}`)
    await process.close()
    assert.notEqual((await row(used.id)).last_used_at, null)
    assert.equal((await row(bound.id)).last_used_at, null)
  })

  test('both tokens of a rotation work until the overlap ends, with the same rights and networks', async () => {
    const networks = ['10.0.0.0/8']
    const old = await made({ rights: ['read', 'refund'], networks })
    // Postgres' own clock decides the start of the overlap.
    const overlapMs = aheadMs + hourMs
    const next = await run.gateway.entities.rotateToken(old.id, { overlapMs })
    const from = '10.0.0.1'
    const before = await use(old.token, from)
    const after = await use(next.token, from)
    assert.deepEqual({ ...before, id: '' }, { ...after, id: '' })
    await refusal(use(next.token, '192.0.2.1'))
    const { expires_at: end, successor_id: successor } = await row(old.id)
    assert.equal(successor, next.id)
    assert.equal(end?.getTime(), next.oldExpiresAt.getTime())
    assert.equal((await row(next.id)).expires_at, null)
    aheadMs += hourMs
    await refusal(use(old.token, from))
    await use(next.token, from)
  })

  test('a token rotated without limits is found by processes of the previous version', async () => {
    const old = await made()
    const next = await run.gateway.entities.rotateToken(old.id)
    const rows = await run.sql<{ id: string }>(
      `select id from tollgate.token where hash = sha256(convert_to($1, 'UTF8'))`,
      [next.token],
    )
    assert.deepEqual(rows, [{ id: next.id }])
    await use(next.token)
  })

  test('a successor lasts as long as its predecessor was to, and a rotation never extends the predecessor', async () => {
    const process = await run.another({ role: 'api', clock: systemClock })
    const { entities } = process
    const soon = new Date(systemClock.realMs() + hourMs)
    const old = await entities.createToken(run.channel, 'short', { expiresAt: soon })
    const next = await entities.rotateToken(old.id, { overlapMs: 30 * 24 * hourMs })
    assert.equal(next.oldExpiresAt.getTime(), soon.getTime())
    assert.ok(Math.abs(next.expiresAt!.getTime() - soon.getTime()) < 60_000)
    const later = new Date(systemClock.realMs() + 9 * hourMs)
    const last = await entities.rotateToken(next.id, { overlapMs: 0, expiresAt: later })
    assert.equal(last.expiresAt?.getTime(), later.getTime())
    const { status } = await refusal(process.authenticate(`Bearer ${next.token}`))
    assert.equal(status, 403, 'an overlap of zero ends the token at once')
    await process.close()
  })

  test('a token rotated twice at once has one successor; an expired one has none', async () => {
    const { entities } = run.gateway
    const old = await made()
    const rotations = await Promise.allSettled([1, 2, 3].map(() => entities.rotateToken(old.id)))
    const good = rotations.filter(({ status }) => status === 'fulfilled')
    assert.equal(good.length, 1)
    await assert.rejects(entities.rotateToken(old.id), /was rotated before: [0-9a-f]{32} is in/)
    const revoked = await made()
    await entities.revokeToken(revoked.id)
    await assert.rejects(entities.rotateToken(revoked.id), /has ended: make a new one/)
    await assert.rejects(entities.rotateToken('nonsense'), /a token is named by its id/)
    await assert.rejects(entities.rotateToken(newId()), /there is no token/)
    for (const overlapMs of [-1, Number.NaN, limits.tokenOverlapMs.most + 1]) {
      await assert.rejects(entities.rotateToken(old.id, { overlapMs }), /90 days at most/)
    }
  })

  test('unknown names of rights grant nothing', async () => {
    const { id, token } = await made({ rights: ['read'] })
    const only = (await use(token)).rights
    await run.sql(`update tollgate.token set rights = '{read,teleport}' where id = $1`, [id])
    const process = await run.another({ role: 'api', clock })
    assert.equal((await process.authenticate(`Bearer ${token}`)).rights, only)
    await process.close()
  })
})
