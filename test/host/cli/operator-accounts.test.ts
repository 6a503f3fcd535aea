/** Operators created on the machine itself, and four eyes between it and a person. */
import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'
import { codeOf, password, secretIn } from '../../rig/operators.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

describe('the command line: operator accounts', () => {
  let run: TestGateway
  let project: Awaited<ReturnType<typeof projectFolder>>
  let passwordFile: string

  before(async () => {
    run = await startGateway({ role: 'api', fourEyes: true })
    project = await projectFolder()
    passwordFile = join(project.path, 'password')
    await writeFile(passwordFile, `${password}\n`, { mode: 0o600 })
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  const tollgate = (words: readonly string[], more: Readonly<Record<string, string>> = {}) =>
    runTollgate(words, {
      folder: project.path,
      env: { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey, ...more },
    })
  const fourEyes = { TOLLGATE_FOUR_EYES: 'true' }
  const create = (name: string, ...more: readonly string[]) =>
    tollgate(['operator', 'create', name, '--password-file', passwordFile, ...more])
  const asAdmin = ['--role', 'admin', '--entity', 'all']

  test('an operator is created, listed, reset and disabled, and the login secrets are shown once', async () => {
    const made = await create('Jane', ...asAdmin)
    assert.equal(made.code, 0, made.err)
    const secret = secretIn(/otpauth:\S+/.exec(made.out)?.[0] ?? '')
    assert.equal(made.out.match(/([A-Z2-7]{4}-){3}[A-Z2-7]{4}/g)?.length, 10)
    assert.ok(!made.out.includes(password) && !made.err.includes(secret))
    const code = codeOf(secret)
    const { session } = await run.gateway.people.login({ name: 'jane', password, code })
    assert.equal((await run.gateway.people.personOf(session)).role, 'admin')
    const listed = await tollgate(['operator', 'list'])
    assert.match(listed.out, /jane +admin +all/)
    assert.ok(!listed.out.includes(secret))
    const reset = await tollgate(['operator', 'reset', 'jane', '--password-file', passwordFile])
    assert.equal(reset.code, 0, reset.err)
    assert.ok(!reset.out.includes(secret))
    await assert.rejects(run.gateway.people.personOf(session), /there is no session/)
    assert.equal((await tollgate(['operator', 'disable', 'jane'])).code, 0)
    assert.match((await tollgate(['operator', 'list'])).out, /disabled 20/)
    assert.equal((await tollgate(['operator', 'enable', 'jane'])).code, 0)
    const trail = await run.sql<{ action: string; actor_kind: string; actor: string }>(
      "select action, actor_kind, actor from tollgate.audit where actor_kind = 'system-user' order by at, id",
    )
    assert.deepEqual(
      trail.map(({ action }) => action),
      ['person.created', 'person.reset', 'person.disabled', 'person.enabled'],
    )
    assert.ok(trail.every(({ actor }) => actor === userInfo().username))
  })

  test('a password is neither an argument nor in a file that others can read', async () => {
    const word = await tollgate(['operator', 'create', 'joe', ...asAdmin, '--password', password])
    assert.equal(word.code, 1)
    assert.match(word.err, /--password is not accepted.*--password-file/)
    assert.ok(!word.err.includes(password))
    await chmod(passwordFile, 0o644)
    const readable = await create('joe', ...asAdmin)
    await chmod(passwordFile, 0o600)
    assert.equal(readable.code, 1)
    assert.match(readable.err, /chmod 600/)
    const none = await tollgate(['operator', 'create', 'joe', ...asAdmin])
    assert.match(none.err, /no password on standard input/)
  })

  test('an impossible request is refused in a sentence', async () => {
    for (const [words, expected] of [
      [['joe', '--role', 'owner', '--entity', 'all'], /^--role must be one of viewer, /m],
      [
        ['joe', '--role', 'viewer', '--entity', 'f'.repeat(32)],
        /^--entity is no entity of yours$/m,
      ],
      [['joe', '--role', 'viewer'], /--entity is missing/],
      [['j o e', '--role', 'viewer', '--entity', 'all'], /name must have/],
      [['jane', '--role', 'viewer', '--entity', 'all'], /another operator/],
    ] as const) {
      const [name, ...more] = words
      const { code, err } = await create(name, ...more)
      assert.equal(code, 1, err)
      assert.match(err, expected)
      assert.doesNotMatch(err, /^\s+at /m)
    }
  })

  test('a token from the command line waits for a person where two must agree', async () => {
    const make = (...more: readonly string[]) =>
      tollgate(['token', 'create', '--entity', run.channel, '--name', 'shop', ...more], fourEyes)
    const alone = await make()
    assert.equal(alone.code, 1)
    const proposal = /proposal ([0-9a-f]{32}) waits/.exec(alone.err)?.[1] ?? ''
    assert.notEqual(proposal, '', alone.err)
    const here = await tollgate(['operator', 'confirm', proposal], fourEyes)
    assert.equal(here.code, 1)
    assert.match(here.err, /your own proposal/)
    const waiting = await tollgate(['operator', 'confirm'], fourEyes)
    assert.match(waiting.out, new RegExp(`${proposal} +token.create .*waits`))
    const fresh = await create('anna', ...asAdmin)
    const code = codeOf(secretIn(/otpauth:\S+/.exec(fresh.out)?.[0] ?? ''))
    const { session } = await run.gateway.people.login({ name: 'anna', password, code })
    const by = await run.gateway.people.personOf(session)
    await run.gateway.people.confirm(proposal, { by })
    const made = await make('--proposal', proposal)
    assert.equal(made.code, 0, made.err)
    assert.match(made.out, /token +[A-Za-z0-9_-]{43}/)
    assert.equal((await make('--proposal', proposal)).code, 1)
    const keys = await tollgate(['keys', 'rotate'], fourEyes)
    assert.equal(keys.code, 1)
    assert.match(keys.err, /proposal [0-9a-f]{32} waits/)
  })

  test('a process serves one of the surfaces, and the office needs its origin on live', async () => {
    const surface = await tollgate(['serve', '--surface', 'merchant,backoffice'])
    assert.equal(surface.code, 1)
    assert.match(surface.err, /TOLLGATE_SURFACE .*merchant, fields, office/)
    const live = { TOLLGATE_ENVIRONMENT: 'live' }
    const unnamed = await tollgate(['serve', '--surface', 'office'], live)
    assert.match(unnamed.err, /TOLLGATE_OFFICE_URL is not set/)
    const plain = { ...live, TOLLGATE_OFFICE_URL: 'http://office.example.com' }
    const inPlain = await tollgate(['serve', '--surface', 'office'], plain)
    assert.match(inPlain.err, /TOLLGATE_OFFICE_URL .*must begin with https/)
    const demo = await tollgate(['serve'], { ...fourEyes, TOLLGATE_DEMO: 'true' })
    assert.match(demo.err, /TOLLGATE_FOUR_EYES and TOLLGATE_DEMO/)
  })
})
