import assert from 'node:assert/strict'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { readConfigFile } from '../../../host/config/config-file.ts'
import { databaseFrom } from '../../../host/config/database-settings.ts'
import { loadPlugins } from '../../../host/config/plugins.ts'
import { readSettings, SettingsError } from '../../../host/config/read-settings.ts'
import { defineConfig, describeSettings } from '../../../host/index.ts'
import { scratchFolder } from '../../rig/cluster.ts'

describe('the command line: settings', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(scratchFolder(), 'tollgate-settings-'))
  })
  after(() => rm(folder, { recursive: true }))

  /** The problems, one line each. */
  function problemsOf(work: () => unknown): readonly string[] {
    try {
      work()
    } catch (error) {
      assert.ok(error instanceof SettingsError, String(error))
      return error.problems
    }
    assert.fail('these settings were accepted')
  }

  const fromEnvironment = (environment: Record<string, string>) => readSettings({ environment })

  /** A valid live installation, for tests to spoil. */
  const live = {
    TOLLGATE_ENVIRONMENT: 'live',
    DATABASE_URL: 'postgres://u:p@db/tollgate?sslmode=verify-full',
  }

  test('without settings the gateway is a test installation on this machine', () => {
    const settings = fromEnvironment({})
    assert.equal(settings.environment, 'test')
    assert.equal(settings.host, '127.0.0.1')
    assert.equal(settings.port, 8080)
    assert.equal(settings.dataDirectory, '.tollgate')
    assert.equal(settings.role, 'all')
    assert.equal(settings.databaseUrl, undefined)
  })

  test('command line wins over environment, environment over file, file over defaults', () => {
    const file = {
      path: 'tollgate.config.ts',
      config: defineConfig({ port: 1, role: 'api', logLevel: 'warn' }),
    }
    const settings = readSettings({
      environment: { PORT: '2', TOLLGATE_ROLE: 'worker', HOST: '' },
      options: { port: { from: '--port', value: '3' } },
      file,
    })
    assert.equal(settings.port, 3)
    assert.equal(settings.role, 'worker')
    assert.equal(settings.logLevel, 'warn')
    assert.equal(settings.host, '127.0.0.1', 'an empty variable counts as not set')
  })

  test('all wrong settings are named at once, with the allowed values', () => {
    const environment = {
      PORT: '99999',
      DATABASE_URL: 'mysql://user:hunter2@host/name',
      TOLLGATE_ROLE: 'boss',
      TOLLGATE_MIGRATE: 'yes',
      TOLLGATE_CONNECTORS: '{"simulator": 1}',
    }
    const problems = problemsOf(() => fromEnvironment(environment))
    assert.equal(problems.length, 5)
    const expected = [
      /^DATABASE_URL \(hidden\): expected an address such as postgres:\/\//,
      /^TOLLGATE_MIGRATE is "yes": expected true or false/,
      /^TOLLGATE_ROLE is "boss": expected one of all, api, worker/,
      /^PORT is "99999": expected a whole number from 0 to 65535/,
      /^TOLLGATE_CONNECTORS: expected an object/,
    ]
    for (const [index, pattern] of expected.entries()) assert.match(problems[index] ?? '', pattern)
    assert.doesNotMatch(problems.join(), /hunter2/)
  })

  test('a number has no blanks, signs or hexadecimal digits', () => {
    for (const PORT of ['80 80', '-1', '0x50', '1e3', '8080.5', 'NaN']) {
      assert.equal(problemsOf(() => fromEnvironment({ PORT })).length, 1, PORT)
    }
    assert.equal(fromEnvironment({ PORT: ' 8081 ' }).port, 8081)
  })

  test('an unknown name in the file is refused with the known ones', () => {
    const file = { path: 'tollgate.config.ts', config: { prot: 1 } }
    const [problem] = problemsOf(() => readSettings({ environment: {}, file }))
    assert.match(
      problem ?? '',
      /^prot in tollgate.config.ts is not a setting: did you mean port\? The settings are: .*port/,
    )
  })

  test('an unknown variable is refused with the nearest name and without its value', () => {
    assert.deepEqual(
      problemsOf(() =>
        fromEnvironment({
          TOLLGATE_ENVIROMENT: 'live',
          TOLLGATE_KEYS_FILE: 'secret',
          TOLLGATE_PROT: '8081',
        }),
      ),
      [
        'TOLLGATE_ENVIROMENT is not a setting: did you mean TOLLGATE_ENVIRONMENT?',
        'TOLLGATE_KEYS_FILE is not a setting: did you mean TOLLGATE_KEY_FILE?',
        'TOLLGATE_PROT is not a setting: did you mean PORT?',
      ],
    )
    fromEnvironment({ TOLLGATE_TOKEN: 'of the command line', TOLLGATE_TEST_DATABASE_URL: 'x' })
  })

  test('the encryption of the database is given in the URL or by settings, and whole', () => {
    const other = { ...live, DATABASE_URL: 'postgres://u:p@db/tollgate' }
    const settings = fromEnvironment({ ...other, TOLLGATE_DATABASE_VERIFY: 'full' })
    assert.equal(settings.databaseVerify, 'full')
    const problems = problemsOf(() =>
      fromEnvironment({ ...live, TOLLGATE_DATABASE_CERTIFICATE_FILE: 'client.pem' }),
    )
    assert.equal(problems.length, 2)
    assert.match(problems[0]!, /_CERTIFICATE_FILE and TOLLGATE_DATABASE_KEY_FILE belong together/)
    assert.match(problems[1]!, /^DATABASE_URL has a parameter of the encryption/)
    assert.match(
      problemsOf(() => fromEnvironment({ TOLLGATE_DATABASE_CA_FILE: 'ca.pem' }))[0]!,
      /^DATABASE_URL is not set, but the encryption/,
    )
    assert.match(
      problemsOf(() => fromEnvironment(other))[0]!,
      /set TOLLGATE_DATABASE_VERIFY to full/,
    )
  })

  test('the files of the encryption reach the engine as texts, and a missing one is named', async () => {
    const ca = join(folder, 'ca.pem')
    await writeFile(ca, 'a certificate')
    const environment = {
      DATABASE_URL: 'postgres://u:p@db/tollgate',
      TOLLGATE_READ_CONNECTIONS: '9',
    }
    const settings = fromEnvironment({ ...environment, TOLLGATE_DATABASE_CA_FILE: 'ca.pem' })
    const options = databaseFrom(settings, 'postgres://u:p@db/tollgate', folder)
    assert.deepEqual(options.ssl, { ca: 'a certificate' })
    assert.deepEqual([options.prepare, options.pool?.read], [true, 9])
    const plain = databaseFrom(fromEnvironment(environment), 'postgres://u:p@db/tollgate', folder)
    assert.equal(plain.ssl, undefined)
    const missing = fromEnvironment({ ...environment, TOLLGATE_DATABASE_CA_FILE: 'none.pem' })
    assert.throws(
      () => databaseFrom(missing, 'postgres://u:p@db/tollgate', folder),
      /TOLLGATE_DATABASE_CA_FILE is .*none\.pem, which cannot be read \(ENOENT\)/,
    )
  })

  test('live listens beyond this machine only with a certificate or a proxy', () => {
    assert.equal(fromEnvironment(live).host, '127.0.0.1')
    const beyond = { ...live, HOST: '0.0.0.0' }
    const [problem] = problemsOf(() => fromEnvironment(beyond))
    assert.match(
      problem ?? '',
      /^HOST is "0.0.0.0".*TOLLGATE_TLS_CERTIFICATE_FILE.*TOLLGATE_TRUSTED_PROXY/,
    )
    assert.equal(
      fromEnvironment({ ...beyond, TOLLGATE_TRUSTED_PROXY: '10.0.0.0/8' }).host,
      '0.0.0.0',
    )
    const tls = { TOLLGATE_TLS_CERTIFICATE_FILE: 'c.pem', TOLLGATE_TLS_KEY_FILE: 'k.pem' }
    assert.equal(fromEnvironment({ ...beyond, ...tls }).host, '0.0.0.0')
    assert.equal(fromEnvironment({ ...beyond, TOLLGATE_ROLE: 'worker' }).role, 'worker')
    assert.equal(fromEnvironment({ HOST: '0.0.0.0' }).host, '0.0.0.0', 'test may')
  })

  test('live reaches a database on another machine only with encryption, unless plain is accepted', () => {
    const at = (url: string, more = {}) => fromEnvironment({ ...live, DATABASE_URL: url, ...more })
    const plain = [
      'postgres://u:hunter2@db/tollgate',
      'postgres://u:hunter2@db/tollgate?sslmode=disable',
      'postgres://u:hunter2@10.0.0.5:5433/tollgate?ssl=0',
      'postgres://u:hunter2@localhost/tollgate?host=db.example',
    ]
    for (const url of plain) {
      const [problem = ''] = problemsOf(() => at(url))
      assert.match(
        problem,
        /^DATABASE_URL .*without encryption.*sslmode=verify-full.*DATABASE_PLAIN/,
      )
      assert.doesNotMatch(problem, /hunter2/)
      assert.equal(at(url, { TOLLGATE_DATABASE_PLAIN: 'accepted' }).databaseUrl, url)
      assert.equal(at(url, { TOLLGATE_ENVIRONMENT: 'test' }).databaseUrl, url, 'test may')
    }
    const right = [
      'postgres://u:p@db/tollgate?sslmode=verify-full',
      'postgres://u:p@db/tollgate?sslmode=no-verify',
      'postgres://u:p@127.0.0.1/tollgate',
      'postgres://u:p@localhost/tollgate?sslmode=disable',
      'postgres://u:p@[::1]/tollgate',
      'postgres:///tollgate?host=/var/run/postgresql',
    ]
    for (const url of right) assert.equal(at(url).databaseUrl, url)
  })

  test('a password that ends the host too early is told how to be written', () => {
    for (const password of ['a/b', '1/2', 'a#b', 'a?b', '1?2@3']) {
      const [problem = ''] = problemsOf(() =>
        fromEnvironment({ DATABASE_URL: `postgres://u:${password}@db/tollgate` }),
      )
      assert.match(problem, /^DATABASE_URL .*write @ as %40/, password)
      assert.ok(!problem.includes(password))
    }
    const escaped = 'postgres://u:a%2Fb%40c@db/tollgate'
    assert.equal(fromEnvironment({ DATABASE_URL: escaped }).databaseUrl, escaped)
  })

  test('live needs a database server and has no demo', () => {
    const { DATABASE_URL: _, ...none } = live
    assert.match(problemsOf(() => fromEnvironment(none)).join(), /DATABASE_URL is not set/)
    const demo = { ...live, TOLLGATE_DEMO: 'true' }
    assert.match(problemsOf(() => fromEnvironment(demo)).join(), /TOLLGATE_DEMO/)
  })

  test('live does not let merchants reach this machine', () => {
    const name = 'TOLLGATE_ALLOW_LOOPBACK_FOR_MERCHANTS'
    const [problem = ''] = problemsOf(() => fromEnvironment({ ...live, [name]: 'true' }))
    assert.match(problem, new RegExp(`^${name} is true`))
    fromEnvironment({ ...live, [name]: 'false' })
  })

  test('contradicting settings are refused', () => {
    const half = problemsOf(() => fromEnvironment({ TOLLGATE_TLS_KEY_FILE: 'k.pem' }))
    assert.match(half.join(), /belong together/)
    const both = { TOLLGATE_KEYS: 'a:b', TOLLGATE_KEY_FILE: 'keys' }
    assert.match(problemsOf(() => fromEnvironment(both)).join(), /set one of them/)
    for (const proxy of ['everyone', '10.0.0.0/33', '10.0.0', '::1/129']) {
      const problems = problemsOf(() => fromEnvironment({ TOLLGATE_TRUSTED_PROXY: proxy }))
      assert.match(problems.join(), /addresses, subnets/, proxy)
    }
  })

  test('the configuration file can be TypeScript', async () => {
    const project = join(folder, 'typed')
    await mkdir(project)
    const text = 'const port: number = 8443\nexport default { port }\n'
    await writeFile(join(project, 'tollgate.config.ts'), text)
    assert.deepEqual(await readConfigFile(project), {
      path: 'tollgate.config.ts',
      config: { port: 8443 },
    })
    assert.equal(await readConfigFile(folder), undefined)
  })

  test('the configuration file of a CommonJS project can export its settings, and import its own files', async () => {
    const project = join(folder, 'commonjs')
    await mkdir(project)
    await writeFile(join(project, 'package.json'), '{"type":"commonjs"}')
    await writeFile(join(project, 'port.ts'), 'export const port: number = 8444\n')
    await writeFile(
      join(project, 'tollgate.config.ts'),
      "import { port } from './port.ts'\nexport default { port }\n",
    )
    assert.deepEqual((await readConfigFile(project))?.config, { port: 8444 })
    await writeFile(join(project, 'as-before.ts'), 'module.exports = { port: 1 as number }\n')
    assert.deepEqual((await readConfigFile(project, 'as-before.ts'))?.config, { port: 1 })
    await writeFile(join(project, 'plain.js'), 'export default { port: 2 }\n')
    assert.deepEqual((await readConfigFile(project, 'plain.js'))?.config, { port: 2 })
  })

  test('an unusable configuration file is refused with the reason', async () => {
    const project = join(folder, 'broken')
    await mkdir(project)
    await writeFile(join(project, 'tollgate.config.mjs'), 'export const port = 1\n')
    await assert.rejects(readConfigFile(project), /export default defineConfig/)
    await writeFile(join(project, 'other.mjs'), 'throw new Error("no luck")\n')
    await assert.rejects(
      readConfigFile(project, 'other.mjs'),
      /other.mjs cannot be loaded: no luck/,
    )
    await assert.rejects(
      readConfigFile(project, 'missing.mjs'),
      /configuration file .*missing.mjs does not exist/,
    )
    await writeFile(join(project, 'tollgate.config.js'), 'export default {}\n')
    await assert.rejects(readConfigFile(project), /tollgate.config.js and tollgate.config.mjs/)
  })

  test('plugins are loaded from the project by name, and test includes the simulator', async () => {
    const project = join(folder, 'plugged')
    const home = join(project, 'node_modules', 'acme-acquirer')
    await mkdir(home, { recursive: true })
    await writeFile(
      join(home, 'package.json'),
      '{"name":"acme-acquirer","type":"module","main":"index.js"}',
    )
    await writeFile(join(home, 'index.js'), "export default { name: 'acme', contract: 1 }\n")
    const named = ['acme-acquirer']
    const test = await loadPlugins({ plugins: named, environment: 'test' }, project)
    assert.deepEqual(
      test.map(({ name }) => name),
      ['simulator', 'acme'],
    )
    const live = await loadPlugins({ plugins: named, environment: 'live' }, project)
    assert.deepEqual(
      live.map(({ name }) => name),
      ['acme'],
    )
  })

  test('all plugins that cannot be loaded are named', async () => {
    const project = join(folder, 'plugless')
    await mkdir(project)
    await writeFile(join(project, 'bad.mjs'), 'export const nothing = 1\n')
    const plugins = ['not-there', 'fs', './bad.mjs']
    await assert.rejects(loadPlugins({ plugins, environment: 'test' }, project), (error) => {
      assert.ok(error instanceof SettingsError)
      assert.match(error.problems[0] ?? '', /"not-there" cannot be loaded: no such package/)
      assert.match(error.problems[1] ?? '', /"fs" cannot be loaded: no such package/)
      assert.match(error.problems[2] ?? '', /default export is not a plugin/)
      return error.problems.length === 3
    })
  })

  test('every setting has a name, a variable and a description', () => {
    const rows = describeSettings()
    const names = rows.map(({ name }) => name)
    const variables = rows.map(({ env }) => env).filter((env) => env !== '')
    assert.equal(new Set(names).size, names.length)
    assert.equal(new Set(variables).size, variables.length)
    for (const { meaning } of rows) assert.match(meaning, /^[A-Za-z].*\.$/)
  })
})
