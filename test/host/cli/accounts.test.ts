/** An operator connects a channel to an acquirer on the command line. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmod, open as openFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { type RunningBank, startBank } from '../../../connectors/acquirer-json/sandbox/server.ts'
import { makeKey } from '../../../core/index.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { programLine } from './spawned.ts'
import { projectFolder, type Ran, runTollgate, startTollgate } from './tollgate.ts'

describe('the command line: accounts', () => {
  const secrets = { apiKey: 'a'.repeat(32), eventSecret: 'e'.repeat(32) }
  const plugin = join(import.meta.dirname, '../../../connectors/acquirer-json/index.ts')

  /** Clears the screen, writes a line over another, and turns the direction of writing. */
  const steering = 'no\u001b[2K\u001b[1A\r\u009b32m\u202ethe acquirer accepts'
  const steers = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/

  let bank: RunningBank
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>
  let channel: string

  before(async () => {
    bank = await startBank({ merchantId: 'shop-1', ...secrets })
    database = await createDatabase()
    project = await projectFolder()
    env = {
      DATABASE_URL: database.url,
      TOLLGATE_KEYS: makeKey('main'),
      TOLLGATE_PUBLIC_URL: 'https://pay.example',
    }
    await writeFile(
      join(project.path, 'tollgate.config.mjs'),
      `import plugin, { acquirerJson } from ${JSON.stringify(plugin)}
       const check = async () => ({ ok: false, why: ${JSON.stringify(steering)} })
       const rude = { ...acquirerJson, name: 'rude', title: ${JSON.stringify(steering)}, check }
       export default {
         plugins: [{ ...plugin, connectors: [...plugin.connectors, rude] }],
         connectors: { 'acquirer-json': { url: ${JSON.stringify(bank.url)} }, rude: { url: 'https://bank.example' } },
         demo: false,
       }`,
    )
    await writeFile(join(project.path, 'secrets.json'), JSON.stringify(secrets), { mode: 0o600 })
    await done('migrate')
    let parent: string | undefined
    for (const kind of ['psp', 'division', 'merchant', 'channel']) {
      const more = parent === undefined ? [] : ['--parent', parent]
      parent = await done('entity', 'create', '--kind', kind, '--name', 'Shop', ...more)
    }
    channel = parent!
  })
  after(async () => {
    await database.drop()
    await bank.close()
    await project.remove()
  })

  const run = (...words: string[]): Promise<Ran> =>
    runTollgate(words, { folder: project.path, env })

  async function done(...words: string[]): Promise<string> {
    const { code, out, err } = await run(...words)
    assert.equal(code, 0, `${out}${err}`)
    return out.trim()
  }

  async function refused(expected: RegExp, ...words: string[]): Promise<Ran> {
    const ran = await run(...words)
    assert.equal(ran.code, 1, ran.out)
    assert.match(ran.err, expected)
    assert.doesNotMatch(ran.err, /^\s+at /m)
    return ran
  }

  const order = (...more: string[]) => [
    ...['account', 'add', '--channel', channel, '--connector', 'acquirer-json'],
    ...['--settings', '{"merchantId":"shop-1"}', ...more],
  ]

  test('an operator adds an account, proves it, changes it and ends it', async () => {
    assert.match(
      await done('account', 'connectors'),
      /acquirer-json: Example Bank[\s\S]*apiKey +secret +required/,
    )
    const id = await done(...order('--secrets-file', 'secrets.json'))
    assert.match(id, /^[0-9a-f]{32}$/)
    assert.match(await done('account', 'check', id), /accepts the credentials/)
    const shown = await done('account', 'show', id)
    assert.match(shown, /setting merchantId +shop-1/)
    assert.match(shown, /secret apiKey +is set/)
    assert.match(
      shown,
      new RegExp(`events to +https://pay\\.example/connectors/acquirer-json/${id}/events`),
    )
    const withoutUrl = { folder: project.path, env: { ...env, TOLLGATE_PUBLIC_URL: '' } }
    assert.match(
      (await runTollgate(['account', 'show', id], withoutUrl)).out,
      /events to +unknown: set TOLLGATE_PUBLIC_URL/,
    )
    assert.match(
      await done('account', 'list'),
      new RegExp(`${id} +${channel} +acquirer-json +EXTERNAL +0 +all +enabled`),
    )
    await done('account', 'set', id, '--brands', 'VISA,MASTER', '--position', '4')
    await done('account', 'disable', id)
    const [listed] = JSON.parse(await done('account', 'list', '--json'))
    assert.deepEqual(
      [listed.id, listed.brands, listed.position, listed.active],
      [id, ['VISA', 'MASTER'], 4, false],
    )
    await done('account', 'enable', id)
    const twin = await run(...order('--secrets-file', 'secrets.json'))
    assert.match(twin.out, /^[0-9a-f]{32}\n$/)
    assert.match(twin.err, new RegExp(`the channel has account ${id} of acquirer-json as well`))
    await done('account', 'disable', twin.out.trim())
    const trail = await done('audit', 'list', '--resource', id)
    for (const action of ['created', 'checked', 'changed', 'disabled', 'enabled']) {
      assert.match(trail, new RegExp(`account\\.${action}`))
    }
    assert.doesNotMatch(shown + trail + JSON.stringify(listed), /aaaaaaaa|eeeeeeee/)
  })

  test('wrong credentials are refused by the acquirer, and right ones in their place are accepted', async () => {
    const wrong = join(project.path, 'wrong.json')
    await writeFile(wrong, JSON.stringify({ ...secrets, apiKey: 'w'.repeat(32) }), { mode: 0o600 })
    const id = await done(...order('--secrets-file', wrong))
    const checked = await run('account', 'check', id)
    assert.equal(checked.code, 1)
    assert.match(checked.out, /the acquirer refuses the credentials/)
    assert.doesNotMatch(checked.out + checked.err, /wwwwwwww/)
    await writeFile(wrong, JSON.stringify({ apiKey: secrets.apiKey }))
    assert.match(
      await done('account', 'rotate', id, '--secrets-file', wrong),
      new RegExp(`replaced apiKey of ${id}`),
    )
    assert.match(await done('account', 'check', id), /accepts the credentials/)
  })

  test('secrets come from standard input without a terminal', async () => {
    const listed = async () => JSON.parse(await done('account', 'list', '--json')).length
    const before = await listed()
    const stdin = JSON.stringify(secrets)
    const { code, out, err } = await runTollgate(order(), { folder: project.path, env, stdin })
    assert.equal(code, 0, err)
    assert.equal(await listed(), before + 1)
    assert.match(await done('account', 'check', out.trim()), /accepts the credentials/)
  })

  test('a prompt on a terminal does not show the secrets', async () => {
    const line = [...programLine(), ...order()].map((word) => `'${word}'`).join(' ')
    const child = spawn('script', ['--quiet', '--return', '--command', line, '/dev/null'], {
      cwd: project.path,
      env: { PATH: process.env.PATH ?? '', TERM: 'dumb', ...env },
    })
    let screen = ''
    const seen = (text: string) =>
      new Promise<void>((resolve, reject) => {
        const look = () => {
          if (screen.includes(text)) resolve()
        }
        child.stdout.on('data', look)
        child.once('close', () => reject(new Error(screen)))
        look()
      })
    child.stdout.on('data', (chunk: Buffer) => {
      screen += chunk.toString()
    })
    await seen('apiKey (')
    child.stdin.write(`${secrets.apiKey}\r`)
    await seen('eventSecret (')
    child.stdin.write(`${secrets.eventSecret}\r`)
    const [code] = await once(child, 'close')
    assert.equal(code, 0, screen)
    assert.doesNotMatch(screen, /aaaaaaaa|eeeeeeee/)
    const id = /\b[0-9a-f]{32}\b/.exec(screen.slice(screen.indexOf('eventSecret (')))?.[0] ?? ''
    assert.match(await done('account', 'check', id), /accepts the credentials/)
  })

  test('secrets on the command line, in open files and wrong words are refused', async () => {
    const open = join(project.path, 'open.json')
    await writeFile(open, JSON.stringify(secrets), { mode: 0o644 })
    await chmod(open, 0o644)
    await refused(
      /other users of this machine can read .*open\.json/,
      ...order('--secrets-file', open),
    )
    await refused(/--secrets is not accepted.*--secrets-file/, ...order('--secrets', '{}'))
    const visible = [
      ...['account', 'add', '--channel', channel, '--connector', 'acquirer-json'],
      ...['--settings', JSON.stringify({ merchantId: 'shop-1', ...secrets })],
    ]
    const { err } = await refused(/--settings must not have apiKey/, ...visible)
    assert.doesNotMatch(err, /aaaaaaaa/)
    await refused(/--channel is missing/, 'account', 'add', '--connector', 'acquirer-json')
    await refused(
      /mode must be EXTERNAL in the test/,
      ...order('--secrets-file', 'secrets.json', '--mode', 'LIVE'),
    )
    await refused(/secrets are missing.*apiKey, eventSecret/, ...order())
    await refused(/nothing was changed: give --brands/, 'account', 'set', 'f'.repeat(32))
    await refused(/^there is no such account$/m, 'account', 'show', 'f'.repeat(32))
  })

  test('texts of acquirers and settings do not steer the terminal', async () => {
    const rude = ['account', 'add', '--channel', channel, '--connector', 'rude']
    const settings = ['--settings', '{"merchantId":"shop-1"}', '--secrets-file', 'secrets.json']
    const id = await done(...rude, ...settings)
    const checked = await run('account', 'check', id)
    assert.equal(checked.code, 1)
    assert.match(checked.out, /refuses the credentials: no.*the acquirer accepts/)
    assert.doesNotMatch(checked.out, steers)
    assert.doesNotMatch(await done('account', 'connectors'), steers)
    // A setting of an earlier version, which could hold such characters.
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      `update tollgate.merchant_account set settings = jsonb_build_object('merchantId', $1::text) where id = $2`,
      [steering, id],
    )
    await client.end()
    env.TOLLGATE_FOUR_EYES = 'true'
    try {
      const { err } = await run('account', 'set', id, '--settings', '{"merchantId":"shop-2"}')
      assert.match(err, /two people are needed/)
      for (const words of [
        ['account', 'show', id],
        ['account', 'show', id, '--json'],
        ['account', 'list'],
        ['account', 'list', '--json'],
        ['operator', 'confirm'],
        ['operator', 'confirm', '--json'],
      ]) {
        const out = await done(...words)
        assert.doesNotMatch(out, steers, words.join(' '))
        if (words.includes('--json')) assert.match(JSON.stringify(JSON.parse(out)), /u001b\[2K/)
      }
    } finally {
      env.TOLLGATE_FOUR_EYES = ''
    }
  })

  test('wrong words of a change are refused by name, and change nothing', async () => {
    const id = await done(...order('--secrets-file', 'secrets.json', '--brands', 'VISA'))
    await done('account', 'set', id, '--position', '7')
    for (const position of ['', ' ', '0x1F', '1e2', '-1', '1001']) {
      await refused(
        /position must be a whole number from 0 to 1000/,
        ...['account', 'set', id, `--position=${position}`],
      )
    }
    for (const brands of ['', ',', 'VISA,']) {
      await refused(/--brands must be a list/, 'account', 'set', id, `--brands=${brands}`)
    }
    await refused(
      /merchantId must have no control characters/,
      ...['account', 'set', id, '--settings', '{"merchantId":"a\\u0000b"}'],
    )
    const { brands, position, settings } = JSON.parse(await done('account', 'show', id, '--json'))
    assert.deepEqual([brands, position, settings], [['VISA'], 7, { merchantId: 'shop-1' }])
    await refused(/^--entity must be 32 lower-case hex/m, 'account', 'list', '--entity', 'x')
  })

  test('a secret in the place of a name is not repeated, and a pipe that others write to is refused', async () => {
    const id = await done(...order('--secrets-file', 'secrets.json'))
    const misplaced = join(project.path, 'misplaced.json')
    await writeFile(misplaced, '{"SUPERSECRETVALUE":"x"}', { mode: 0o600 })
    const rotate = (file: string) => ['account', 'rotate', id, '--secrets-file', file]
    const { err } = await refused(/has a name that is no setting/, ...rotate(misplaced))
    assert.doesNotMatch(err, /SUPERSECRETVALUE/)
    const pipe = join(project.path, 'pipe')
    assert.equal(spawnSync('mkfifo', ['-m', '666', pipe]).status, 0)
    await chmod(pipe, 0o666)
    await refused(/other users of this machine can .*pipe/, ...rotate(pipe))
    await chmod(pipe, 0o600)
    const changing = done(...rotate(pipe))
    const writer = await openFile(pipe, 'w')
    await writer.writeFile(JSON.stringify(secrets))
    await writer.close()
    assert.match(await changing, /replaced apiKey, eventSecret/)
  })

  test('the start names the plugins, the connectors and their accounts', async () => {
    const served = startTollgate(['serve', '--port', '0'], { folder: project.path, env })
    try {
      await served.said(/Listens on/)
      assert.match(served.text.out, /Plugins +simulator, acquirer-json/)
      assert.match(served.text.out, /Connector +acquirer-json +\d+ accounts EXTERNAL/)
      assert.match(served.text.out, /Connector +simulator +testMode=INTERNAL/)
    } finally {
      assert.equal((await served.end()).code, 0)
    }
  })
})
