import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chmod, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import pg from 'pg'
import { buildNumber, makeKey, migrationFiles } from '../../../core/index.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { spawnTollgate } from './spawned.ts'
import { projectFolder, type Ran, runTollgate } from './tollgate.ts'

describe('the command line: commands', () => {
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    env = { DATABASE_URL: database.url, TOLLGATE_KEYS: makeKey('main') }
  })
  after(async () => {
    await database.drop()
    await project.remove()
  })

  const run = (line: string, more: Record<string, string> = {}): Promise<Ran> =>
    runTollgate(line.split(' '), { folder: project.path, env: { ...env, ...more } })

  /** The command succeeded without further output. */
  async function done(line: string): Promise<string> {
    const { code, out, err } = await run(line)
    assert.equal(code, 0, `${out}${err}`)
    return out.trim()
  }

  /** The command refused in one sentence, without a stack. */
  async function refused(line: string, expected: RegExp, more: Record<string, string> = {}) {
    const { code, out, err } = await run(line, more)
    assert.equal(code, 1, out)
    assert.match(err, expected)
    assert.doesNotMatch(err, /^\s+at /m)
  }

  test('help names every command and every setting, and the version is that of the engine', async () => {
    const help = await done('--help')
    for (const word of ['serve', 'migrate', 'entity create', 'token revoke <id>', 'doctor']) {
      assert.ok(help.includes(word), word)
    }
    for (const name of ['DATABASE_URL', 'TOLLGATE_KEYS', 'TOLLGATE_PLUGINS', 'PORT']) {
      assert.ok(help.includes(name), name)
    }
    assert.match(await done('serve --help'), /--port <number>/)
    assert.equal(await done('--version'), buildNumber)
  })

  test('a word that begins several commands lists them, one line for each', async () => {
    for (const [line, code] of [
      ['settlement', 1],
      ['settlement --help', 0],
    ] as const) {
      const listed = await run(line)
      assert.equal(listed.code, code)
      const lines = listed.out.trimEnd().split('\n')
      assert.match(lines.at(-1)!, /tollgate settlement <command> --help/)
      assert.ok(lines.length > 4)
      for (const one of lines.slice(0, -2)) assert.match(one, /^ {2}settlement [a-z]+.* {2}[A-Z]/)
    }
  })

  test('an unknown command or setting is refused with the known ones', async () => {
    await refused('frobnicate', /unknown command "frobnicate"; see tollgate --help/)
    await refused('inspct', /unknown command "inspct"; did you mean inspect\?$/m)
    await refused(
      'token craete',
      /unknown command "token craete"; did you mean token create\? token has: create, list/,
    )
    await refused(
      'token frobnicate',
      /unknown command "token frobnicate"; token has: create, list, rotate, revoke/,
    )
    await refused('serve --prot 1', /Unknown option '--prot'; see tollgate serve --help/)
    await refused('token revoke', /usage: tollgate token revoke <id>/)
  })

  test('a reader that leaves early ends a command without a stack', async () => {
    const started = spawnTollgate(['--help'], { folder: project.path })
    started.child.stdout?.destroy()
    const { code, err } = await started.ended
    assert.deepEqual([code, err], [0, ''])
  })

  test('output onto a full disk is reported in one sentence', async () => {
    const full = await open('/dev/full', 'w')
    const started = spawnTollgate(['--help'], { folder: project.path, into: full.fd })
    const { code, err } = await started.ended
    await full.close()
    assert.deepEqual([code, err], [1, 'the output cannot be written (ENOSPC)\n'])
  })

  test('an old Node is refused with the needed version', async () => {
    const old = join(project.path, 'old.mjs')
    await writeFile(
      old,
      "Object.defineProperty(process, 'versions', { value: { node: '20.19.1' } })\n",
    )
    const started = spawnTollgate(['--help'], { folder: project.path, node: ['--import', old] })
    const { code, err } = await started.ended
    assert.equal(code, 1)
    assert.match(err, /needs Node 22\.18 or later, this is 20\.19\.1/)
  })

  test('an unreachable database is named without its password', async () => {
    const url = 'postgres://tollgate:hunter2@127.0.0.1:1/shop'
    const { code, err } = await run('migrate', { DATABASE_URL: url })
    assert.equal(code, 1)
    assert.match(err, /the database 127\.0\.0\.1:1\/shop cannot be used: no server listens there/)
    assert.doesNotMatch(err, /hunter2|^\s+at /m)
  })

  let division: string

  test('a command leaves an empty, an older and an unused database as it is, and says what to run', async () => {
    const other = await createDatabase()
    const client = new pg.Client({ connectionString: other.url })
    await client.connect()
    const at = { DATABASE_URL: other.url }
    const count = async (from: string): Promise<string> =>
      (await client.query(`select count(*) from ${from}`)).rows[0].count
    try {
      for (const line of ['token list', 'entity create --kind psp --name Acme', 'sftp']) {
        await refused(line, /^the database \S+ has no tables yet: run "tollgate migrate"$/m, at)
      }
      const made = "pg_namespace where nspname like 'tollgate%'"
      assert.equal(await count(made), '0')
      assert.equal((await run('migrate', at)).code, 0)
      const unused = /new and belongs to no environment yet: run "tollgate serve", "tollgate entity/
      await refused('token list', unused, at)
      assert.equal(await count('tollgate.installation'), '0')
      assert.equal(await count('tollgate.data_key'), '0')

      const last = 'select max(name) from tollgate.migration'
      await client.query(`delete from tollgate.migration where name = (${last})`)
      await refused('token list', /is of an older version: run "tollgate migrate"/, at)
      await client.query("insert into tollgate.migration (name, checksum) values ('9999-next', '')")
      await client.query(
        `insert into tollgate.migration (name, checksum)
         select name, '' from unnest($1::text[]) name on conflict do nothing`,
        [(await migrationFiles()).map(({ name }) => name)],
      )
      await refused(
        'token list',
        /by a newer version of Tollgate \(9999-next\): update this one/,
        at,
      )
    } finally {
      await client.end()
      await other.drop()
    }
  })

  test('a command makes no embedded database', async () => {
    const empty = join(project.path, 'empty')
    await mkdir(empty)
    const { code, err } = await runTollgate(['token', 'list'], { folder: empty })
    assert.equal(code, 1)
    assert.match(
      err,
      /^there is no database in \S+ yet: run "tollgate serve" or "tollgate migrate"/,
    )
    assert.deepEqual(await readdir(empty), [])
  })

  test('an installation is set up from nothing: migrate, then the entities from the top down', async () => {
    const early = await run('doctor')
    assert.equal(early.code, 1)
    assert.match(early.out, /no tables yet: run tollgate migrate/)
    assert.match(await done('migrate'), /is up to date$/)

    await refused('entity create --kind channel --name Shop', /--parent is missing/)
    await refused(
      'entity create --kind shop --name Shop',
      /one of psp, division, merchant, channel/,
    )
    const psp = await done('entity create --kind psp --name Acme')
    await refused(
      `entity create --kind channel --name Shop --parent ${psp}`,
      /the id of a merchant/,
    )
    division = await done(`entity create --kind division --name North --parent ${psp}`)
    await done(`entity set ${division} --settings {"cvvRequired":true}`)
    const set = await done(`entity set ${division} --settings {"checkoutTries":5}`)
    assert.deepEqual(JSON.parse(set), { cvvRequired: true, checkoutTries: 5 })
    const tree = await done('entity list')
    assert.match(tree, new RegExp(`^${psp} +psp +Acme$`, 'm'))
    assert.match(tree, new RegExp(`^${division} +division +North$`, 'm'))
  })

  test('a token is shown once, listed without its text, and revoked', async () => {
    const made = await done(`token create --entity ${division} --name till`)
    const id = /^id +([0-9a-f]{32})$/m.exec(made)?.[1] ?? ''
    const token = /^token +(\S{43})$/m.exec(made)?.[1] ?? ''
    assert.match(await done('token list'), new RegExp(`^${id} +division .* till .* valid$`, 'm'))
    assert.equal(await done(`token revoke ${id}`), `${id} is revoked`)
    const list = await done('token list')
    assert.match(list, new RegExp(`^${id} .* revoked 20`, 'm'))
    assert.equal(list.includes(token), false)
    await refused('token revoke nonsense', /a token is named by its id: tollgate token list/)
  })

  test('a token has rights, an expiry and networks, is listed with them, and is rotated', async () => {
    const create = `token create --entity ${division} --name desk`
    await refused(`${create} --rights reed`, /"reed" is no right \(there are: read, charge, refund/)
    await refused(`${create} --from shop.example`, /"shop.example" is neither an IP address nor/)
    for (const wrong of ['soon', '2027-02-31', '2027-13-01', '1w']) {
      await refused(`${create} --expires ${wrong}`, /--expires must be a duration such as 90d/)
    }
    const made = await done(
      `${create} --rights read,refund --expires 90d --from 10.1.0.0/16,2001:db8::/32`,
    )
    const id = /^id +([0-9a-f]{32})$/m.exec(made)?.[1] ?? ''
    const line = (text: string) => new RegExp(`^${id} .*${text}`, 'm')
    const limits =
      'desk +read,refund +10.1.0.0/16,2001:db8::/32 +20\\S+ \\S+ +never +valid until 20'
    assert.match(await done('token list'), line(limits))

    await refused(
      `token rotate ${id} --overlap 1w`,
      /--overlap must be a duration such as 30m, 12h/,
    )
    const rotated = await done(`token rotate ${id} --overlap 12h`)
    const next = /^id +([0-9a-f]{32})$/m.exec(rotated)?.[1] ?? ''
    assert.match(rotated, /^token +\S{43}$/m)
    assert.match(rotated, /^expires +20/m)
    assert.match(rotated, /^old token expires +20/m)
    const list = await done(`token list --entity ${division}`)
    assert.match(list, line(`valid until 20[^,]+, then ${next}$`))
    assert.match(list, new RegExp(`^${next} .* read,refund .* valid until 20`, 'm'))
    await refused(`token rotate ${id}`, new RegExp(`was rotated before: ${next} is in its place`))
  })

  test('the doctor looks at server, migrations, keys and rows', async () => {
    const report = await run('doctor')
    assert.match(report.out, /^ok +the key-encryption keys of this machine open all data keys$/m)
    // The tests' cluster runs without durability on purpose, and the doctor notices.
    const problems = report.out.split('\n').filter((line) => line.startsWith('PROBLEM'))
    assert.equal(problems.length, 1, report.out)
    assert.match(problems[0] ?? '', /a crash can lose acknowledged payments: set fsync/)
  })

  test('the doctor names each problem and fails', async () => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    await client.query(
      `insert into tollgate.attention (id, kind, payment_id, detail)
       values (gen_random_uuid(), 'undecided', $1, '{}')`,
      [randomUUID()],
    )
    await client.query(
      `insert into tollgate.attempt (key, payment_id, kind, connector, state, lease_until)
       values ('k', 'ffffffff-ffff-7fff-bfff-ffffffffffff', 'debit', 'simulator', 'sending', now() - interval '1 hour')`,
    )
    await client.query(
      `insert into tollgate.timer (id, due_at, kind, ref) values (gen_random_uuid(), now() - interval '6 minutes', 'look', 'k')`,
    )
    await client.query(
      `insert into tollgate.outbox (event_id, resource, seq)
       values (tollgate.id_at(now() - interval '6 minutes'), gen_random_uuid(), 1)`,
    )
    await client.end()
    const { code, out } = await run('doctor')
    assert.equal(code, 1)
    const noWorker = ': is a process with role worker or all running\\?$'
    assert.match(out, new RegExp(`^PROBLEM +1 overdue timer${noWorker}`, 'm'))
    assert.match(
      out,
      new RegExp(`^PROBLEM +1 event that no webhook has been made of${noWorker}`, 'm'),
    )
    assert.match(out, /^PROBLEM +1 attempt without its payment$/m)
    assert.match(out, /^PROBLEM +1 overdue attempt: /m)
    assert.match(
      out,
      /^PROBLEM +the operators' list has 1 entry of the kind undecided, the oldest since 20/m,
    )
    assert.match(out, /6 problems\.\s*$/)
  })

  test('a database keeps its environment', async () => {
    const live = { TOLLGATE_ENVIRONMENT: 'live' }
    await refused('serve --port 0', /belongs to a test installation/, live)
  })

  test('a live installation makes no keys and no demo', async () => {
    const fresh = await createDatabase()
    try {
      const settings = {
        TOLLGATE_ENVIRONMENT: 'live',
        DATABASE_URL: fresh.url,
        TOLLGATE_KEYS: '',
      }
      await refused('serve --port 0', /A live installation never creates keys by itself/, settings)
      assert.equal(existsSync(join(project.path, '.tollgate')), false)
    } finally {
      await fresh.drop()
    }
  })

  test('a key file readable by others is refused', async () => {
    const path = join(project.path, 'open-keys')
    await writeFile(path, `${env.TOLLGATE_KEYS}\n`, { mode: 0o644 })
    const settings = { TOLLGATE_KEYS: '', TOLLGATE_KEY_FILE: 'open-keys' }
    await refused(
      'entity list',
      /other users of this machine can read .*open-keys; run chmod 600/,
      settings,
    )
  })

  test('a key file of a group is accepted in a folder that is closed to other users', async () => {
    const folder = join(project.path, 'mounted')
    await mkdir(folder, { mode: 0o750 })
    const path = join(folder, 'keys')
    await writeFile(path, `${env.TOLLGATE_KEYS}\n`)
    const settings = { TOLLGATE_KEYS: '', TOLLGATE_KEY_FILE: 'mounted/keys' }
    await chmod(folder, 0o750)
    await chmod(path, 0o440)
    const { code, err } = await run('entity list', settings)
    assert.equal(code, 0, err)
    await chmod(folder, 0o751)
    await refused('entity list', /other users .*mounted\/keys; .*chmod 750/, settings)
    await chmod(folder, 0o750)
    for (const mode of [0o460, 0o444, 0o442]) {
      await chmod(path, mode)
      await refused('entity list', /other users of this machine can read/, settings)
    }
  })

  test('a connector in the list of plugins is refused with what to write instead', async () => {
    const connector = join(import.meta.dirname, '../../../connectors/acquirer-json/index.ts')
    await writeFile(
      join(project.path, 'wrong.mjs'),
      `import { acquirerJson } from ${JSON.stringify(connector)}
       export default { plugins: [acquirerJson] }`,
    )
    await refused(
      'entity list --config wrong.mjs',
      /"acquirer-json", which is a connector and no plugin: use definePlugin/,
    )
  })
})
