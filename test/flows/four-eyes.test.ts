/** With four eyes, no single person creates a token, an account, a data key or an admin. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  ConfirmationNeededError,
  type Gateway,
  KeyAdministration,
  localKeys,
  systemClock,
} from '../../core/index.ts'
import { limits } from '../../schemas/index.ts'
import { type Hosted, startHost } from '../host/http/hosted.ts'
import { bankPlugin } from '../rig/bank.ts'
import { testKey } from '../rig/gateway.ts'
import {
  type Enrolled,
  enrol,
  logIn,
  movedClock,
  office,
  password,
  secretIn,
} from '../rig/operators.ts'

const root = { kind: 'system-user', id: '0', name: 'root' } as const
const other = { kind: 'system-user', id: '1000', name: 'other' } as const

describe('four eyes', () => {
  const clock = movedClock()
  let host: Hosted
  let strict: Gateway
  let ann: Enrolled
  let bob: Enrolled
  const cookies = new Map<string, string>()

  before(async () => {
    host = await startHost(
      { surfaces: ['office'] },
      { clock, passwordLogRounds: 8, fourEyes: true, plugins: [bankPlugin()] },
    )
    strict = host.gateway
    ann = await enrol(strict, 'ann', 'admin')
    bob = await enrol(strict, 'bob', 'admin')
    await enrol(strict, 'limited', 'admin').then(
      () => assert.fail('a third admin was made by one person'),
      (error) => assert.ok(error instanceof ConfirmationNeededError),
    )
    await enrol(strict, 'watcher', 'viewer')
    for (const person of [ann, bob]) {
      cookies.set(person.name, (await logIn(host.url, person, clock)).cookie)
    }
  })
  after(() => host.close())

  /** The proposal made by a request of one person. */
  async function proposedBy(work: () => Promise<unknown>): Promise<string> {
    try {
      await work()
    } catch (error) {
      if (error instanceof ConfirmationNeededError) return error.proposal
      throw error
    }
    throw new Error('one person was enough')
  }
  const confirm = (name: string, proposal: string) =>
    office(host.url, `/operator/v1/proposals/${proposal}/confirm`, {
      cookie: cookies.get(name) ?? '',
      values: {},
    })
  const tokens = async () => (await strict.entities.tokens(host.channel)).length

  test('a token is created once another person agreed, once, and as agreed', async () => {
    const before = await tokens()
    const make = (more: object = {}, proposal?: string) =>
      strict.entities.createToken(host.channel, 'shop', {
        rights: ['read'],
        by: root,
        ...more,
        ...(proposal === undefined ? {} : { proposal }),
      })
    const proposal = await proposedBy(make)
    // Nobody has agreed yet.
    assert.equal(await proposedBy(() => make({}, proposal)), proposal)
    // Another user of the same machine is not another person.
    await assert.rejects(strict.people.confirm(proposal, { by: root }), /your own proposal/)
    await assert.rejects(strict.people.confirm(proposal, { by: other }), /on the command line too/)
    assert.equal(await tokens(), before)
    assert.equal((await confirm('ann', proposal)).status, 200)
    assert.equal((await confirm('bob', proposal)).status, 400)
    await assert.rejects(make({ rights: ['read', 'charge'] }, proposal), /about something else/)
    await assert.rejects(make({ by: other }, proposal), /no proposal .* of yours/)
    assert.equal(await tokens(), before)
    const outcomes = await Promise.allSettled([make({}, proposal), make({}, proposal)])
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    await assert.rejects(make({}, proposal), /carried out before/)
    assert.equal(await tokens(), before + 1)
    const trail = await host.sql<{ action: string; actor: string }>(
      `select action, actor from tollgate.audit
       where resource = $1 or action = 'token.created' and actor = 'root' order by at, id`,
      [proposal],
    )
    assert.deepEqual(trail.slice(-3), [
      { action: 'proposal.made', actor: 'root' },
      { action: 'proposal.confirmed', actor: 'ann' },
      { action: 'token.created', actor: 'root' },
    ])
  })

  test('an account at an acquirer is created by two people, with the secrets they agreed on', async () => {
    const make = (secret: string, proposal?: string) =>
      strict.entities.createAccount(
        {
          channelId: host.channel,
          connector: 'bank',
          mode: 'EXTERNAL',
          settings: { merchantId: '4711', apiKey: secret },
        },
        { by: root, proposal },
      )
    const proposal = await proposedBy(() => make('agreed-secret'))
    const [row] = await host.sql<{ text: string }>(
      'select row_to_json(proposal)::text as text from tollgate.proposal where id = $1',
      [proposal],
    )
    assert.ok(!row!.text.includes('agreed-secret'))
    assert.equal((await confirm('bob', proposal)).status, 200)
    await assert.rejects(make('another-secret', proposal), /about something else/)
    await make('agreed-secret', proposal)
    await assert.rejects(make('agreed-secret', proposal), /carried out before/)
  })

  test('a proposal ends after a day, or when it is rejected', async () => {
    const make = (proposal?: string) =>
      strict.entities.createToken(host.channel, 'late', { by: root, proposal })
    const late = await proposedBy(make)
    assert.equal((await confirm('ann', late)).status, 200)
    clock.forward(limits.proposalMs)
    await assert.rejects(make(late), /older than a day/)
    for (const person of [ann, bob]) {
      cookies.set(person.name, (await logIn(host.url, person, clock)).cookie)
    }
    const rejected = await proposedBy(make)
    const answer = await office(host.url, `/operator/v1/proposals/${rejected}/reject`, {
      cookie: cookies.get('ann') ?? '',
      values: { reason: 'nobody needs it' },
    })
    assert.equal(answer.status, 200, answer.text)
    assert.equal((await confirm('bob', rejected)).status, 400)
    await assert.rejects(make(rejected), /was rejected/)
  })

  test('an expiry relative to now is the one that was agreed', async () => {
    const day = 86_400_000
    const make = (proposal?: string) =>
      strict.entities.createToken(host.channel, 'ends', {
        by: root,
        proposal,
        expiresAt: new Date(clock.realMs() + 30 * day),
      })
    const agreed = new Date(clock.realMs() + 30 * day)
    const proposal = await proposedBy(make)
    assert.equal((await confirm('ann', proposal)).status, 200)
    clock.forward(60_000)
    const { id } = await make(proposal)
    const made = (await strict.entities.tokens(host.channel)).find((token) => token.id === id)
    assert.ok(Math.abs(made!.expires_at!.getTime() - agreed.getTime()) < 10_000)
  })

  test('tokens and data keys are rotated by two people', async () => {
    const [token] = await strict.entities.tokens(host.channel)
    const rotate = (proposal?: string) =>
      strict.entities.rotateToken(token!.id, { by: root, proposal })
    const proposal = await proposedBy(rotate)
    assert.equal((await confirm('bob', proposal)).status, 200)
    assert.notEqual((await rotate(proposal)).id, token!.id)
    await using keys = await KeyAdministration.open({
      database: { url: host.database.url },
      keys: localKeys(testKey),
      by: root,
      fourEyes: true,
    })
    const before = (await keys.status()).keys.length
    const ofKeys = await proposedBy(() => keys.rotate())
    assert.equal((await keys.status()).keys.length, before)
    // Work on keys uses the real clock.
    const person = await strict.people.personOf(cookies.get('ann')?.split('=')[1])
    const today = await host.another({ clock: systemClock })
    await today.people.confirm(ofKeys, { by: person })
    await assert.rejects(keys.rotate({ lost: true }, ofKeys), /about something else/)
    await keys.rotate({ graceMs: 0 }, ofKeys)
    assert.equal((await keys.status()).keys.length, before + 1)
    // The seal of an authenticator's secret moved along.
    clock.forward(limits.codeStepMs)
    assert.equal((await logIn(host.url, ann, clock)).status, 200)
  })

  test('operators who can agree are created, changed and reset by two people only', async () => {
    const post = (name: string, path: string, values: object) =>
      office(host.url, `/operator/v1/people${path}`, { cookie: cookies.get(name) ?? '', values })
    clock.forward(limits.codeStepMs)
    for (const person of [ann, bob]) {
      cookies.set(person.name, (await logIn(host.url, person, clock)).cookie)
    }
    const fresh = { name: 'carl', password, role: 'admin', entityId: 'all' }
    const proposed = await post('ann', '', fresh)
    assert.equal(proposed.status, 202, proposed.text)
    const proposal = String(proposed.body.proposal)
    assert.equal((await confirm('ann', proposal)).status, 400)
    assert.equal((await post('ann', '', { ...fresh, proposal })).status, 202)
    assert.equal((await confirm('bob', proposal)).status, 200)
    // Only the proposing person carries it out and sees the secrets shown once.
    assert.equal((await post('bob', '', { ...fresh, proposal })).status, 400)
    const made = await post('ann', '', { ...fresh, proposal })
    assert.equal(made.status, 200, made.text)
    assert.equal((await post('ann', `/${bob.id}/reset`, { password })).status, 202)
    assert.equal((await post('ann', `/${bob.id}`, { role: 'viewer' })).status, 202)
    const watcher = await strict.people.named('watcher')
    assert.equal((await post('ann', `/${watcher.id}`, { role: 'admin' })).status, 202)
    assert.equal((await post('ann', `/${watcher.id}`, { role: 'support' })).status, 200)
    // Disabling needs no second person, and cannot be used to return.
    assert.equal((await post('ann', `/${bob.id}/disable`, {})).status, 200)
    assert.equal((await post('ann', `/${bob.id}/enable`, {})).status, 202)
    await assert.rejects(
      strict.people.create({ name: 'dora', password, role: 'admin', entityId: null }, { by: root }),
      ConfirmationNeededError,
    )
  })

  const post = (name: string, path: string, values: object) =>
    office(host.url, `/operator/v1/${path}`, { cookie: cookies.get(name) ?? '', values })
  const join = (values: object) => office(host.url, '/operator/v1/join', { values })

  test('neither of two people can become the person whom they made, promoted or reset', async () => {
    await strict.people.create({ name: 'gina', password, role: 'viewer', entityId: null })
    const setUp = await host.another({ fourEyes: false, clock, passwordLogRounds: 8 })
    const [hugo, irma] = [await enrol(setUp, 'hugo', 'admin'), await enrol(setUp, 'irma', 'admin')]
    const gina = (await strict.people.named('gina')).id
    const newPassword = 'a horse of my own 9'
    for (const [name, path, values] of [
      ['fred', 'people', { name: 'fred', password, role: 'admin', entityId: 'all' }],
      ['fred', '', { password }],
      ['gina', `people/${gina}`, { role: 'admin' }],
    ] as const) {
      // Failures of the round before are forgotten, and sessions end.
      clock.forward(limits.loginForgottenMs)
      for (const person of [hugo, irma]) {
        cookies.set(person.name, (await logIn(host.url, person, clock)).cookie)
      }
      const to = path === '' ? `people/${(await strict.people.named('fred')).id}/reset` : path
      const { proposal } = (await post('hugo', to, values)).body
      const confirmed = await post('irma', `proposals/${String(proposal)}/confirm`, {})
      const made = await post('hugo', to, { ...values, proposal })
      assert.equal(made.status, 200, made.text)
      assert.ok(!made.text.includes('otpauth'))
      const invitation = String(confirmed.body.invitation)
      assert.match(invitation, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/)
      const whole = { name, password, invitation, newPassword }
      // Hugo has the password and Irma the invitation; neither is enough.
      const guess = 'AAAA-AAAA-AAAA-AAAA'
      assert.equal((await join({ ...whole, invitation: guess })).status, 401)
      assert.equal((await join({ ...whole, password: 'not the one 1' })).status, 401)
      assert.equal((await join({ ...whole, newPassword: password })).status, 400)
      const early = { name, password, recoveryCode: guess }
      assert.equal((await office(host.url, '/operator/v1/login', { values: early })).status, 401)
      const joined = await join(whole)
      assert.equal(joined.status, 200, joined.text)
      assert.equal((await join(whole)).status, 401)
      const secret = secretIn(String(joined.body.otpauthUri))
      clock.forward(limits.codeStepMs)
      assert.equal((await logIn(host.url, { name, secret }, clock)).status, 401)
      const login = await logIn(host.url, { name, secret }, clock, { password: newPassword })
      assert.equal(login.status, 200, login.text)
    }
    const [row] = await host.sql<{ count: bigint }>(
      "select count(*) from tollgate.audit where action = 'person.joined'",
    )
    assert.equal(Number(row!.count), 3)
  })

  test('an admin of a merchant does not agree to what happens above the merchant', async () => {
    const setUp = await host.another({ fourEyes: false, clock, passwordLogRounds: 8 })
    clock.forward(limits.loginForgottenMs)
    const above = await enrol(setUp, 'above', 'admin')
    const small = await enrol(setUp, 'small', 'admin', host.merchant)
    const later = await enrol(setUp, 'later', 'admin')
    for (const person of [small, later]) {
      clock.forward(limits.codeStepMs)
      cookies.set(person.name, (await logIn(host.url, person, clock)).cookie)
    }
    const move = { entityId: host.merchant }
    const { proposal } = (await post('later', `people/${above.id}`, move)).body
    assert.equal((await confirm('small', String(proposal))).status, 404)
    const seen = await office(host.url, '/operator/v1/proposals', {
      cookie: cookies.get('small') ?? '',
    })
    assert.deepEqual(seen.body.proposals, [])
  })

  test('one person has a number of open proposals, which are listed page by page', async () => {
    const by = { kind: 'system-user', id: '77', name: 'eager' } as const
    const propose = () =>
      strict.entities.createToken(host.channel, 'again', { rights: ['read'], by })
    for (let no = 0; no < limits.openProposals; no += 1) await proposedBy(propose)
    await assert.rejects(propose(), { status: 429 })
    const cookie = cookies.get('later') ?? ''
    const all: string[] = []
    for (let after = ''; ; ) {
      const page = await office(host.url, `/operator/v1/proposals?limit=20${after}`, { cookie })
      all.push(...(page.body.proposals as { id: string }[]).map(({ id }) => id))
      if (page.body.next === undefined) break
      after = `&after=${String(page.body.next)}`
    }
    assert.equal(new Set(all).size, (await strict.people.proposals()).length)
    assert.equal(new Set(all).size, all.length)
    const people = await office(host.url, '/operator/v1/people?limit=2', { cookie })
    assert.equal((people.body.people as unknown[]).length, 2)
    assert.equal(typeof people.body.next, 'string')
  })

  test('the table accepts no second person equal to the first', async () => {
    const proposal = await proposedBy(() =>
      strict.entities.createToken(host.channel, 'direct', { by: root }),
    )
    for (const [kind, id] of [
      ['system-user', '0'],
      ['system-user', '1000'],
      ['embedder', 'embedder'],
    ]) {
      await assert.rejects(
        host.sql(
          `update tollgate.proposal set confirmed_at = now(), confirmer_kind = $2, confirmer_id = $3 where id = $1`,
          [proposal, kind, id],
        ),
        /check constraint/,
      )
    }
  })
})
