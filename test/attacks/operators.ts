/**
 * Attempts to gain operator access: sessions, codes, passwords, pages of other sites, and requests
 * beyond a role.
 */
import simulator from '../../connectors/simulator/index.ts'
import { createGateway, localKeys } from '../../core/index.ts'
import { officeEndpoints } from '../../schemas/index.ts'
import { testKey } from '../rig/gateway.ts'
import { codeOf, password, secretIn } from '../rig/operators.ts'
import type { Attack, AttackRun } from './attack.ts'
import { foreign, own } from './ground.ts'
import { wrongWith } from './judge.ts'
import type { Random } from './random.ts'
import { type Answer, requestBytes, sendAll } from './wire.ts'

const wire = { connections: 8, pipelined: 4, withinMs: 60_000 }
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const login = '/operator/v1/login'
const cookieName = 'tollgate-operator'
const name = 'attacked'

type Headers = readonly (readonly [string, string])[]

const json = (path: string, values: object | string, headers: Headers): Buffer =>
  requestBytes(
    'POST',
    path,
    [['Content-Type', 'application/json'], ...headers],
    Buffer.from(typeof values === 'string' ? values : JSON.stringify(values)),
  )

const sessionIn = ({ headers }: Answer): string | undefined =>
  /tollgate-operator=([A-Za-z0-9_-]{43});/.exec(headers.get('set-cookie') ?? '')?.[1]

export const operators: Attack = {
  name: 'operators',
  title: "the operators' API without a login, from other sites, with used codes, and beyond a role",
  async run(run) {
    const { url } = await run.ground.host()
    const secret = await enrol(run)
    const ownSite: Headers = [['Origin', url]]
    const values = { name, password, code: codeOf(secret) }
    // The same code many times at once: one request is the rightful owner's.
    const raced = await sendAll(
      url,
      Array.from({ length: 8 }, () => json(login, values, ownSite)),
      { ...wire, pipelined: 1 },
    )
    const sessions = raced.flatMap((answer) => sessionIn(answer) ?? [])
    if (sessions.length !== 1) run.find(`a code let in ${sessions.length} times`, 'the same login')
    const session = sessions[0] ?? ''
    const before = await contents(run)
    const tried = {
      ...(await withoutSession(run, url, session)),
      ...(await fromOtherSites(run, url, session)),
      ...(await beyondRole(run, url, session)),
      ...(await garbage(run, url, session)),
    }
    if ((await contents(run)) !== before) run.find('something was written', 'by refused requests')
    return { ...tried, ...(await guessed(run, url, secret)) }
  },
}

/** A support person of the attacker's merchant. @returns the secret of their authenticator. */
async function enrol({ ground }: AttackRun): Promise<string> {
  await using gateway = await createGateway({
    database: { url: ground.databaseUrl },
    plugins: [simulator],
    environment: 'test',
    keys: localKeys(testKey),
    role: 'api',
    migrate: false,
  })
  const person = { name, password, role: 'support', entityId: own.merchant }
  const made = await gateway.people.create(person)
  if ('invited' in made) throw new Error(`${name} has to join first`)
  return secretIn(made.otpauthUri)
}

const contents = async ({ ground }: AttackRun): Promise<string> =>
  JSON.stringify(
    await ground.sql(
      `select (select count(*) from tollgate.person) as people, (select count(*) from tollgate.proposal) as proposals,
         (select count(*) from tollgate.token) as tokens,
         (select count(*) from tollgate.attention where resolved_at is not null) as resolved,
         (select count(*) from tollgate.audit where actor_kind = 'operator' and action not like 'person.log%') as audited`,
    ),
  )

/** Every route with every kind of wrong session. */
async function withoutSession(run: AttackRun, url: string, session: string) {
  const wrong = [
    undefined,
    ...nearSessions(session),
    ...Array.from({ length: run.profile === 'full' ? 500 : 20 }, () =>
      run.random.text(alphabet, 43),
    ),
  ]
  const requests = wrong.flatMap((one) =>
    officeEndpoints
      .filter(({ right }) => right !== 'none')
      .map((endpoint) =>
        request(endpoint, [
          ['Origin', url],
          ...(one === undefined ? [] : [['Cookie', `${cookieName}=${one}`] as const]),
        ]),
      ),
  )
  const answers = await sendAll(url, requests, wire)
  for (const answer of answers) judge(run, answer, [401], 'a session that is none')
  return { 'requests without a session': answers.length }
}

/**
 * Requests that a page elsewhere can cause a browser to send: with the session, and with a foreign
 * origin.
 */
async function fromOtherSites(run: AttackRun, url: string, session: string) {
  const { port } = new URL(url)
  const origins = [
    undefined,
    '',
    'null',
    'https://evil.example',
    `https://127.0.0.1:${port}`,
    `http://127.0.0.1.evil.example:${port}`,
    'http://127.0.0.1',
    `http://127.0.0.1:${port}/`,
    `http://127.0.0.1:${port}, https://evil.example`,
    `http://evil.example#127.0.0.1:${port}`,
    `http://127.0.0.2:${port}`,
    `HTTP://127.0.0.1:${port}`,
    `http://[::1]:${port}`,
  ]
  const requests = origins.flatMap((origin) =>
    officeEndpoints
      .filter(({ method }) => method === 'POST')
      .map((endpoint) =>
        request(endpoint, [
          ['Cookie', `${cookieName}=${session}`],
          ...(origin === undefined ? [] : [['Origin', origin] as const]),
        ]),
      ),
  )
  const answers = await sendAll(url, requests, wire)
  for (const answer of answers) {
    judge(run, answer, [403], 'an origin that is none')
    if ([...answer.headers.keys()].some((header) => header.startsWith('access-control'))) {
      run.find('another site can read an answer', 'any of them')
    }
  }
  return { 'requests from other sites': answers.length }
}

/** A support person sends every request, also with foreign ids. */
async function beyondRole(run: AttackRun, url: string, session: string) {
  const headers: Headers = [
    ['Cookie', `${cookieName}=${session}`],
    ['Origin', url],
  ]
  const held = ['none', 'session', 'read']
  const beyond = officeEndpoints.filter(({ right }) => !held.includes(right))
  const ids = [
    own.channel,
    own.merchant,
    foreign.channel,
    '0'.repeat(32),
    '..',
    '%2e%2e',
    "' or 1=1 --",
  ]
  const requests = ids.flatMap((id) => beyond.map((endpoint) => request(endpoint, headers, id)))
  const answers = await sendAll(url, requests, wire)
  for (const answer of answers) judge(run, answer, [403, 404], 'a right that is not there')
  return { 'requests beyond a role': answers.length }
}

/** Malformed requests with a valid session. */
async function garbage(run: AttackRun, url: string, session: string) {
  const headers: Headers = [
    ['Cookie', `${cookieName}=${session}`],
    ['Origin', url],
  ]
  const bodies = [
    '',
    '{',
    '[]',
    'null',
    '7',
    '"x"',
    '{"password":{"$ne":""}}',
    '{"password":["a"],"code":"1","newPassword":"x"}',
    '{"__proto__":{"role":"admin"}}',
    '{"constructor":"x"}',
    `{"password":"${'a'.repeat(60_000)}"}`,
    `{"password":"${'a'.repeat(70_000)}"}`,
    '{"password":"\\u0000"}',
    `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  ]
  const answers = await sendAll(
    url,
    bodies.map((body) => json('/operator/v1/password', body, headers)),
    wire,
  )
  for (const answer of answers) judge(run, answer, [400], 'a malformed request')
  return { 'requests that are none': answers.length }
}

/**
 * Random codes with the right password: ten are checked, from any address, and then the rightful
 * owner waits too.
 */
async function guessed(run: AttackRun, url: string, secret: string) {
  const count = run.profile === 'full' ? 2_000 : 100
  const right = codeOf(secret)
  const codes = Array.from({ length: count }, () => codeByChance(run.random, right))
  const answers = await sendAll(
    url,
    codes.map((code) => json(login, { name, password, code }, [['Origin', url]])),
    wire,
  )
  const tried = answers.filter(({ status }) => status === 401).length
  for (const answer of answers) judge(run, answer, [401, 429], 'a code by chance')
  if (tried > 10)
    run.find(`${tried} codes were tried before the pause`, 'logins with the right password')
  return { 'codes by chance': count, 'of them tried': tried }
}

function codeByChance(random: Random, right: string): string {
  const code = random.text('0123456789', 6)
  return code === right ? '000000' : code
}

function nearSessions(session: string): string[] {
  const changed = [...session].map((letter, at) => {
    const other = alphabet[(alphabet.indexOf(letter) + 7) % alphabet.length]!
    return session.slice(0, at) + other + session.slice(at + 1)
  })
  return [...changed, session.slice(1), `${session}A`, session.toLowerCase(), `"${session}"`, '']
}

function request(
  { method, path, fields }: (typeof officeEndpoints)[number],
  headers: Headers,
  id = '0'.repeat(32),
): Buffer {
  const target = path.replace('{id}', encodeURI(id))
  if (method === 'GET') return requestBytes('GET', target, headers, undefined)
  const values = Object.fromEntries(fields.map((field) => [field.name, 'x']))
  return json(target, values, headers)
}

function judge(run: AttackRun, answer: Answer, allowed: readonly number[], what: string): void {
  const wrong = wrongWith(answer)
  if (wrong !== undefined) run.find(`${what}: ${wrong}`, answer.body.slice(0, 300))
  else if (!allowed.includes(answer.status)) {
    run.find(`${what} is answered ${answer.status}`, answer.body.slice(0, 300))
  }
}
