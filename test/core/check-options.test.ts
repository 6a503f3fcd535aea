/** A program that embeds the gateway learns of all its mistakes at once, before anything is opened. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import simulator from '@tollgate/connector-simulator'
import { createGateway, localKeys, makeKey, OptionsError } from '../../core/index.ts'

const right = {
  database: { url: 'postgres://nobody:secret@127.0.0.1:1/none' },
  environment: 'test',
  keys: localKeys(makeKey('k1')),
  plugins: [simulator],
}

async function problemsOf(options: unknown): Promise<Record<string, string>> {
  const error = await createGateway(options as never).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof OptionsError, String(error))
  for (const { option, message } of error.problems) {
    assert.ok(error.message.includes(`\n  ${option} ${message}`), error.message)
  }
  return Object.fromEntries(error.problems.map(({ option, message }) => [option, message]))
}

describe('options of createGateway', () => {
  test('the snippet of the README with unset variables names the database and the keys', async () => {
    const { NO_SUCH_URL, NO_SUCH_KEYS } = process.env
    const problems = await problemsOf({
      ...right,
      database: { url: NO_SUCH_URL },
      keys: localKeys(NO_SUCH_KEYS),
    })
    assert.deepEqual(Object.keys(problems).toSorted(), ['database.url', 'keys'])
    assert.equal(problems['database.url'], 'is missing')
    assert.match(
      problems.keys!,
      /has no keys.+is not set; makeKey\('main'\) of @tollgate\/core .+tollgate keys make/,
    )
  })

  test('missing, unknown and wrong options stand in one error', async () => {
    assert.deepEqual(
      await problemsOf({
        database: { url: 'mysql://x:geheim@host/db', shema: 'pay', pool: { read: 0, reads: 4 } },
        plugins: 'simulator',
        connectorTimeoutMS: 5,
        enviroment: 'test',
        role: 'both',
        migrate: 'false',
        stepDays: 1.5,
        publicUrl: 'pay.example.com',
        cardTesting: { number: -1, cards: 3 },
        log: { info() {} },
      }),
      {
        environment: 'is missing',
        keys: 'is missing',
        plugins: 'must be a list, not "simulator"',
        connectorTimeoutMS: 'is no option; did you mean connectorTimeoutMs?',
        enviroment: 'is no option; did you mean environment?',
        role: "must be 'all' or 'api' or 'worker', not \"both\"",
        migrate: 'must be true or false, not "false"',
        stepDays: 'must be a whole number from 0 to 3650, not 1.5',
        publicUrl: 'must be an address such as https://pay.example.com, not "pay.example.com"',
        log: 'must have warn()',
        'database.url':
          'must be an address such as postgres://user:password@host:5432/name: in a user, a password or a name, write @ as %40, / as %2F, ? as %3F, # as %23 and % as %25',
        'database.shema': 'is no option; did you mean database.schema?',
        'database.pool.read': 'must be a whole number from 1 to 200, not 0',
        'database.pool.reads': 'is no option; did you mean database.pool.read?',
        'cardTesting.number': 'must be a whole number from 0 to 1000000000, not -1',
        'cardTesting.cards': 'is no option',
      },
    )
  })

  test('an encryption that cannot work is named, and no key is shown', async () => {
    const url = 'postgres://nobody:secret@127.0.0.1:1/none?sslmode=require'
    const ssl = { ca: './ca.pem', key: 'geheim', verify: 'none', servername: 'x' }
    const problems = await problemsOf({ ...right, database: { url, ssl } })
    assert.deepEqual(problems, {
      'database.ssl.ca': "is of no use with verify 'none', which checks nothing",
      'database.ssl.key':
        'must be PEM text with "-----BEGIN … PRIVATE KEY-----", not the name of a file',
      'database.ssl.servername': 'is no option',
      'database.ssl.cert': 'is missing: a client certificate and its key belong together',
      'database.ssl':
        'and sslmode in database.url are both given, and the driver would follow the URL: use one of them',
    })
  })

  test('an address or key in the place of another option is not shown', async () => {
    const url = 'postgres://shop:geheim@127.0.0.1:1/shop'
    const key = makeKey('k1')
    const problems = await problemsOf({
      ...right,
      database: url,
      publicUrl: 'postgres://shop:ge/heim@127.0.0.1:1/shop',
      name: 5,
      plugins: key,
      role: key,
      pod: url,
    })
    assert.deepEqual(problems, {
      database: 'must be an object such as { url }, not a text',
      publicUrl: 'must be an address such as https://pay.example.com, not a text',
      name: 'must be a text, not 5',
      plugins: 'must be a list, not a text',
      role: "must be 'all' or 'api' or 'worker', not a text",
      pod: 'must be an object, not a text',
    })
    for (const secret of [
      'shop:geheim@127.0.0.1',
      'postgres://shop:geheim\n@127.0.0.1/shop',
      'shop:ge\nheim@127.0.0.1',
      Buffer.alloc(32, 7).toString('base64'),
      Buffer.alloc(30, 0xfb).toString('base64url'),
      `key ${Buffer.alloc(48, 0xfb).toString('base64')}\n`,
    ]) {
      const { role } = await problemsOf({ ...right, role: secret })
      assert.equal(role, "must be 'all' or 'api' or 'worker', not a text")
    }
    const { role } = await problemsOf({ ...right, role: 'api all@once' })
    assert.match(role!, /not "api all@once"$/)
  })

  test('a job without a name or work is named, and so are two jobs of one name', async () => {
    const run = async () => {}
    const told = async (...jobs: unknown[]) => (await problemsOf({ ...right, jobs })).jobs!
    assert.match(await told({ name: 'mail', run }, { run }), /position 1$/)
    assert.match(await told({ name: 'mail' }), /position 0$/)
    assert.match(await told(undefined), /position 0$/)
    assert.match(await told({ name: 'a mail', run }), /position 0$/)
    assert.equal(
      await told({ name: 'mail', run }, { name: 'mail', run }),
      'has two jobs of the name "mail"',
    )
  })

  test('a job with the name of one of the engine is named, also one of a plugin', async () => {
    const job = (name: string) => ({ name, run: async () => {} })
    const own = ['webhook-retry', 'charge', 'mail-dead']
    const told = `has job names that are the engine's own: "webhook-retry", "charge", "mail-dead"; choose others, also none that ends in -dead`
    const jobs = ['mail', ...own].map(job)
    assert.equal((await problemsOf({ ...right, jobs })).jobs, told)
    const plugin = { name: 'acme', contract: 1, jobs }
    const problems = await problemsOf({ ...right, plugins: [simulator, plugin] })
    assert.equal(problems.plugins, `has "acme", which ${told}`)
  })

  test('a connector in the place of a plugin is named', async () => {
    const [connector] = simulator.connectors!
    const problems = await problemsOf({ ...right, plugins: [connector] })
    assert.match(problems.plugins!, /"simulator", which is a connector and no plugin/)
    assert.match((await problemsOf({ ...right, plugins: [undefined] })).plugins!, /position 0/)
  })

  test('a module and a promise of one in the place of a plugin are named, with the remedy', async () => {
    const plugins = async (one: unknown) => (await problemsOf({ ...right, plugins: [one] })).plugins
    const path = '../../connectors/simulator/index.ts'
    assert.equal(await plugins(import(path)), 'has a promise at position 0: await it')
    assert.equal(
      await plugins(await import(path)),
      'has a module at position 0: pass its default export',
    )
    assert.equal(await plugins(undefined), 'has no plugin at position 0, but undefined')
  })

  test('ports that merchants must not reach are whole numbers below a known name', async () => {
    const told = (allowLoopbackForMerchants: unknown) =>
      problemsOf({ ...right, allowLoopbackForMerchants })
    const option = 'allowLoopbackForMerchants.exceptPorts'
    const range = 'must be a whole number from 0 to 65535, not'
    for (const [wrong, why] of [
      ['5432', '"5432"'],
      [Number.NaN, 'NaN'],
      [undefined, 'undefined'],
      [65_536, '65536'],
      [-1, '-1'],
      [80.5, '80.5'],
    ] as const) {
      assert.deepEqual(await told({ exceptPorts: [8080, wrong] }), {
        [option]: `has an entry at position 1 that ${range} ${why}`,
      })
    }
    assert.deepEqual(await told({ exceptPorts: 5432 }), { [option]: 'must be a list, not 5432' })
    assert.deepEqual(await told({ exceptPort: [5432] }), {
      [option]: 'is missing',
      'allowLoopbackForMerchants.exceptPort': `is no option; did you mean ${option}?`,
    })
    assert.deepEqual(Object.keys(await told({ exceptPorts: [], exceptPort: [5432] })), [
      'allowLoopbackForMerchants.exceptPort',
    ])
    assert.match((await told('true')).allowLoopbackForMerchants!, /^must be true, false or \{/)
  })

  test('on live, merchants are not allowed to reach this machine', async () => {
    for (const allowed of [true, { exceptPorts: [5432] }]) {
      assert.deepEqual(
        await problemsOf({ ...right, environment: 'live', allowLoopbackForMerchants: allowed }),
        {
          allowLoopbackForMerchants: 'is for the test environment: leave it out on live',
        },
      )
    }
  })

  test('options that are inherited or getters of a class are checked as others are', async () => {
    class Limits {
      get bin() {
        return Number.NaN
      }
    }
    class Options {
      database = Object.create({ url: right.database.url, prepare: 'no' })
      environment = 'test'
      keys = right.keys
      plugins = right.plugins
      cardTesting = new Limits()
      pod = Object.create({ number: 1.5 })
      get fourEyes() {
        return 'false'
      }
      get allowLoopbackForMerchants() {
        return Object.create({ exceptPorts: ['5432'] })
      }
      describe() {}
    }
    const range = (most: number) => `must be a whole number from 0 to ${most}, not`
    const { 'pod.number': pod, ...problems } = await problemsOf(new Options())
    assert.match(pod!, /whole number/)
    assert.deepEqual(problems, {
      fourEyes: 'must be true or false, not "false"',
      'database.prepare': 'must be true or false, not "no"',
      'cardTesting.bin': `${range(1_000_000_000)} NaN`,
      'allowLoopbackForMerchants.exceptPorts': `has an entry at position 0 that ${range(65_535)} "5432"`,
    })
  })

  test('no options at all are refused as well', async () => {
    assert.deepEqual(await problemsOf(undefined), { options: 'must be an object, not undefined' })
  })
})
