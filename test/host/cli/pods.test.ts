/** Pods on the command line: their settings, a start with one of them away, and commands for one pod. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import pg from 'pg'
import { makeKey } from '../../../core/index.ts'
import { readSettings, SettingsError } from '../../../host/config/read-settings.ts'
import { defineConfig } from '../../../host/index.ts'
import { createDatabase } from '../../rig/database.ts'
import { lineTo } from '../../rig/proxy.ts'
import { ask, debit } from '../http/hosted.ts'
import { projectFolder, runTollgate, type Started, startTollgate } from './tollgate.ts'

const main = { number: 0, name: 'main', database: 'postgres://u:secret-word@db/main' }
const second = { number: 1, name: 'second', database: 'postgres://u:secret-word@db/second' }

const inFile = (pods: unknown, environment: Record<string, string> = {}) =>
  readSettings({ environment, file: { path: 'tollgate.config.ts', config: { pods } } })

function problemsOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof SettingsError, String(error))
    assert.ok(!error.message.includes('secret-word'), 'no message holds a password')
    return error.problems.join('\n')
  }
  assert.fail('these settings were accepted')
}

describe('the setting pods', () => {
  test('is a list, in the file or as JSON, in the order of the numbers', () => {
    assert.deepEqual(readSettings({ environment: {} }).pods, [])
    const { pods } = defineConfig({ pods: [second, main] })
    assert.deepEqual(inFile(pods).pods, [main, second])
    const TOLLGATE_PODS = JSON.stringify([second, main])
    assert.deepEqual(readSettings({ environment: { TOLLGATE_PODS } }).pods, [main, second])
  })

  test('says what is wrong with each pod, and shows no password', () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      ['many', /pods in tollgate\.config\.ts: expected a list of pods/],
      [[7], /entry 1: expected an object with number, name and database/],
      [[main, { ...second, number: 50 }], /entry 2: number: expected a whole number from 0 to 49/],
      [[{ ...main, name: 'a b' }], /entry 1: name: expected 1 to 15 letters, digits and hyphens/],
      [
        [{ ...main, database: 'mysql://secret-word' }],
        /entry 1: database: expected an address such as postgres:/,
      ],
      [[{ ...main, schema: 'x' }], /schema is no property of a pod; the properties are: number/],
      [[{ ...main, name: '12' }], /entry 1: name: a number alone would be taken for that of a pod/],
      [[main, { ...second, number: 0 }], /the number 0 is given twice; each pod has its own/],
      [[main, { ...second, name: 'main' }], /the name "main" is given twice/],
      [
        [main, { ...second, database: 'postgresql://other@DB:5432/main?sslmode=require' }],
        /the database db:5432\/main is given twice/,
      ],
    ]
    for (const [pods, expected] of cases)
      assert.match(
        problemsOf(() => inFile(pods)),
        expected,
      )
  })

  test('does not go with DATABASE_URL, and on live needs encryption as it does', () => {
    const both = problemsOf(() => inFile([main], { DATABASE_URL: main.database }))
    assert.match(
      both,
      /DATABASE_URL and pods are both set: name the database of DATABASE_URL as pod 0/,
    )
    const live = { TOLLGATE_ENVIRONMENT: 'live' }
    assert.match(
      problemsOf(() => inFile([main, second], live)),
      /the database of pod 0 and 1 is on another machine without encryption/,
    )
    const encrypted = [main, second].map((pod) => ({
      ...pod,
      database: `${pod.database}?sslmode=verify-full`,
    }))
    assert.equal(inFile(encrypted, live).pods.length, 2)
  })
})

async function onDatabase(url: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    for (const statement of statements) await client.query(statement)
  } finally {
    await client.end()
  }
}

describe('an installation of two pods', () => {
  test('starts while one is away, serves it later, and works with one pod at a time', async () => {
    const project = await projectFolder()
    const databases = [await createDatabase(), await createDatabase()]
    const line = await lineTo(databases[1]!.url)
    const pods = [
      { number: 0, name: 'main', database: databases[0]!.url },
      { number: 1, name: 'second', database: line.url },
    ]
    const env = {
      ...{ TOLLGATE_PODS: JSON.stringify(pods), TOLLGATE_KEYS: makeKey('k') },
      ...{ PORT: '0', TOLLGATE_LOG_FORMAT: 'json' },
    }
    const where = { folder: project.path, env }
    const run = (...words: string[]) => runTollgate(words, where)
    let served: Started | undefined
    try {
      line.down()
      served = startTollgate(['serve'], where)
      await served.said(/"pod":1,"name":"second".*the database of a pod is away/)
      await served.said(/A first payment:/)
      const url = /Base URL +(\S+)/.exec(served.text.out)![1]!
      const token = /Access token +(\S+)/.exec(served.text.out)![1]!
      const entityId = /Entity id +(\S+)/.exec(served.text.out)![1]!
      const paid = await ask(url, '/v1/payments', { token, form: { ...debit, entityId } })
      assert.equal(paid.status, 200)
      const ready = async () => (await ask(url, '/readyz')).body.result.description
      assert.match(await ready(), /; away: pod 1$/)
      const one = await run('pod', 'list')
      assert.match(one.out, /0 +main +\S+ +1 +ready\n1 +second .*away: /)
      assert.equal(one.code, 1)

      line.up()
      await served.said(/the pod is back and served/)
      assert.doesNotMatch(await ready(), /away/)
      const missing = await run('entity', 'list')
      assert.deepEqual(
        [missing.code, missing.err],
        [1, '--pod is missing: name the pod to work on, 0 (main), 1 (second)\n'],
      )
      const unknown = await run('entity', 'list', '--pod', '2')
      assert.match(unknown.err, /--pod 2 is not one of the pods: 0 \(main\), 1 \(second\)/)
      assert.equal(
        (await run('entity', 'list', '--pod', 'second')).out,
        'no entities yet: tollgate entity create --kind psp --name …\n',
      )
      assert.match((await run('entity', 'list', '--pod', '0')).out, /merchant/)
      assert.match((await run('pod', 'list')).out, /1 +second +\S+ +0 +ready/)
      assert.equal((await served.end()).code, 0)

      // The same databases with each other's numbers.
      const [first, other] = pods
      const crossed = [
        { ...first, number: 1 },
        { ...other, number: 0 },
      ]
      const wrong = { ...where, env: { ...env, TOLLGATE_PODS: JSON.stringify(crossed) } }
      const refused = await runTollgate(['serve'], wrong)
      assert.equal(refused.code, 1)
      assert.match(refused.err, /This database belongs to pod 1 and cannot be used as pod 0/)
      const listed = await runTollgate(['pod', 'list'], wrong)
      assert.match(listed.out, /0 +second .*wrong: the database belongs to pod 1/)
      // A standby that only reads, and is promoted later.
      const name = databases[1]!.name
      await onDatabase(
        databases[1]!.url,
        `alter database ${name} set default_transaction_read_only = on`,
      )
      const between = startTollgate(['serve'], where)
      try {
        await between.said(/Base URL +\S+/)
        const home = /Base URL +(\S+)/.exec(between.text.out)![1]!
        const state = async () => (await ask(home, '/readyz')).body.result.description
        assert.match(await state(), /; away: pod 1$/)
        await onDatabase(
          databases[1]!.url,
          'set default_transaction_read_only = off',
          `alter database ${name} reset default_transaction_read_only`,
        )
        await between.said(/the pod is back and served/)
        assert.doesNotMatch(await state(), /away/)
      } finally {
        await between.end()
      }
      // A process may serve one pod alone.
      const alone = startTollgate(['serve', '--pod', '1'], where)
      await alone.said(/Listens on/)
      assert.equal((await alone.end()).code, 0)
    } finally {
      await served?.end()
      await line.close()
      for (const database of databases) await database.drop()
      await project.remove()
    }
  })
})
