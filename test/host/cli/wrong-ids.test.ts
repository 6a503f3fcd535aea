/** A mistake on the command line is answered with one line that names it, and never with a stack. */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { makeKey } from '../../../core/index.ts'
import { allCommands } from '../../../host/cli.ts'
import type { Command } from '../../../host/commands/command.ts'
import { errorText } from '../../../host/error-text.ts'
import { MetricsOptionsError } from '../../../plugins/metrics/options.ts'
import { createDatabase, type TestDatabase } from '../../rig/database.ts'
import { projectFolder, type Ran, runTollgate } from './tollgate.ts'

describe('the command line: wrong ids', () => {
  let database: TestDatabase
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>
  let psp: string

  before(async () => {
    database = await createDatabase()
    project = await projectFolder()
    env = { DATABASE_URL: database.url, TOLLGATE_KEYS: makeKey('main') }
    const run = (line: string) => runTollgate(line.split(' '), { folder: project.path, env })
    assert.equal((await run('migrate')).code, 0)
    psp = (await run('entity create --kind psp --name Acme')).out.trim()
    await writeFile(join(project.path, 'password'), 'a long enough password', { mode: 0o600 })
    // The word of settlement import is a file.
    await writeFile(join(project.path, 'nope'), 'text')
  })
  after(async () => {
    await database.drop()
    await project.remove()
  })

  const unknown = 'f'.repeat(32)

  /** Lines of the log, which stand beside the answer. */
  const logged = /^\{"level":.*\n/gm

  async function runAll(lines: readonly (readonly string[])[]) {
    const all: (Ran & { readonly words: readonly string[] })[] = []
    for (const words of lines) {
      const ran = await runTollgate(words, { folder: project.path, env })
      all.push({ words, ...ran, err: ran.err.replaceAll(logged, '') })
    }
    return all
  }

  /** Values of options that are no ids. */
  const values: Readonly<Record<string, string>> = {
    kind: 'merchant',
    url: 'https://shop.example/hooks',
    settings: '{}',
    rules: '[]',
    priority: '1',
    role: 'viewer',
    as: 'approved',
    connector: 'simulator',
    'password-file': 'password',
  }

  const isId = ({ value = '' }) => value === 'id'

  /** The command with a wrong id in the place of every word and of every option that takes one. */
  function withWrongIds({ name, words = [], options = {} }: Command): string[] {
    const id = 'nope'
    const given = Object.entries(options).flatMap(([option, row]) => {
      if (isId(row) && option !== 'proposal' && option !== 'id') return [`--${option}`, id]
      const isNeeded = row.isRequired === true || option === 'password-file'
      return isNeeded ? [`--${option}`, values[option] ?? 'text'] : []
    })
    return [...name.split(' '), ...words.map(() => id), ...given]
  }

  /** The first talk to a running host, and the others work without an id. */
  const others = ['listen', 'events', 'demo', 'keys make', 'keys rotate']

  const refused: Readonly<Record<string, RegExp>> = {
    'entity create': /^a merchant needs --parent, the id of a division$/,
    'token list': /^--entity nope is no entity: tollgate entity list$/,
    'operator create': /^--entity is no entity of yours$/,
    'operator change': /^no operator has the name nope: tollgate operator list$/,
    'operator disable': /^no operator has the name nope: tollgate operator list$/,
    'operator confirm': /^there is no proposal nope: /,
    'attention resolve': /^no entry of the operators' list has the id nope: /,
    'payment settle': /^nothing has the number nope, among ids of all time and other numbers of /,
    'webhook list': /^invalid or missing parameter: --entity must match /,
    'webhook test': /there is no such webhook endpoint$/,
    'settlement import': /^--account must be the id of an acquirer account$/,
    'settlement report': /^invalid or missing parameter: --entity must be the id of an entity/,
  }

  test('every command refuses a wrong id in one line', async () => {
    const asked = (await allCommands()).filter(
      ({ name, words = [], options = {} }) =>
        !others.some((other) => name.startsWith(other)) &&
        (words.length > 0 || Object.values(options).some(isId)),
    )
    assert.ok(asked.length > 30)
    const results = await runAll(asked.map(withWrongIds))
    for (const [at, { words, code, out, err }] of results.entries()) {
      const { name } = asked[at]!
      const line = words.join(' ')
      assert.doesNotMatch(err, /^ {4}at /m, line)
      assert.deepEqual([code, err.trim().split('\n').length], [1, 1], `${line}: ${out}${err}`)
      if (refused[name] !== undefined) assert.match(err.trim(), refused[name])
    }
  })

  test('a refusal names each wrong option, and what would be right', async () => {
    const create = ['webhook', 'create', '--entity', psp, '--url']
    const url = 'https://shop.example/hooks'
    const operator = ['operator', 'create', 'joe', '--entity', 'all', '--password-file', 'password']
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [[...create, 'https://10.0.0.1/hooks'], /^[^\n]*: --url must lead to a public address$/],
      [[...create, 'http://shop.example/hooks'], /^[^\n]*: --url must be an https URL$/],
      [[...create, url, '--types', 'FOO'], /^[^\n]*: --types /],
      [[...operator, '--role', 'boss'], /^--role must be one of viewer, [a-z, ]+$/],
      [['webhook', 'list', '--entity', unknown], /^there is no entity with the id of --entity: /],
    ]
    const results = await runAll(cases.map(([words]) => words))
    for (const [at, { code, err }] of results.entries()) {
      assert.equal(code, 1)
      assert.match(err.trim(), cases[at]![1])
    }
  })

  test('an entity says that it was closed and opened again', async () => {
    const [closed, opened] = await runAll([
      ['entity', 'close', psp],
      ['entity', 'open', psp],
    ])
    assert.deepEqual([closed?.out, opened?.out], [`${psp} is closed\n`, `${psp} is open\n`])
  })

  test('a wrong option of a plugin, such as a port in use, is one line too', () => {
    const error = new MetricsOptionsError('metrics: port 9464 on 127.0.0.1 cannot be used')
    assert.equal(errorText(error), error.message)
    assert.match(errorText(new TypeError('a fault')), /^ {4}at /m, 'a fault of ours has its stack')
  })
})
