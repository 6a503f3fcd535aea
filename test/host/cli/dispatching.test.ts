import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { startGateway, type TestGateway, testKey } from '../../rig/gateway.ts'
import { root } from '../../rig/sources.ts'
import { runLines } from './on-path.ts'
import { projectFolder, runTollgate } from './tollgate.ts'

describe('the command line: dispatching', () => {
  let run: TestGateway
  let project: Awaited<ReturnType<typeof projectFolder>>
  let env: Record<string, string>

  before(async () => {
    run = await startGateway()
    project = await projectFolder()
    env = { DATABASE_URL: run.database.url, TOLLGATE_KEYS: testKey }
  })
  after(async () => {
    await run.close()
    await project.remove()
  })

  /** The first fenced block of a language in the guide. */
  function block(language: string): string {
    const guide = readFileSync(path.join(root, 'docs/dispatching.md'), 'utf8')
    const found = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(guide)
    assert.ok(found, `the guide has a block of ${language}`)
    return found[1]!
  }

  /** Runs shell lines with the command line on the PATH, as users do. */
  async function shell(script: string): Promise<string[]> {
    const out = await runLines(script, { folder: project.path, env }, { MERCHANT: run.merchant })
    return out.trim().split('\n')
  }

  test('the commands of the dispatching guide work as written', async () => {
    const lines = await shell(block('sh'))
    const list = lines.slice(0, 3).map((line) => line.split(/ {2,}/))
    assert.deepEqual(
      list.map(([priority, , name, taken]) => [priority, name, taken]),
      [
        ['10', 'Dollar', 'currencies USD,CAD'],
        ['20', 'Dollar', 'brands AMEX, countries US'],
        ['90', 'Euro', 'everything'],
      ],
    )
    assert.deepEqual(lines.slice(3), [`rule 10: ${list[0]?.[1]} Dollar`])
    const { rules } = await run.gateway.entities.dispatching.list(run.merchant)
    assert.deepEqual(
      rules.map(({ priority, channelId }) => [priority, channelId]),
      [[1, list[2]?.[1]]],
    )
    const audit = await run.sql<{ actor: string; kind: string }>(
      `select distinct actor, actor_kind as kind from tollgate.audit where action = 'dispatching.changed'`,
    )
    assert.deepEqual(audit, [{ actor: userInfo().username, kind: 'system-user' }])
  })

  test('the program in the dispatching guide adds to the existing rules', async () => {
    const { gateway, merchant, channel } = run
    await gateway.entities.dispatching.replace(merchant, [{ priority: 900, channelId: channel }])
    const AsyncFunction = (async () => {}).constructor as new (
      ...texts: string[]
    ) => (...values: unknown[]) => Promise<{ priority: number }>
    const program = new AsyncFunction(
      'gateway',
      'merchant',
      'dollar',
      `${block('js')}\nreturn rule`,
    )
    assert.equal((await program(gateway, merchant, channel)).priority, 500)
  })

  test('a wrong rule is refused in one sentence', async () => {
    const refused = async (words: readonly string[], expected: RegExp) => {
      const { code, out, err } = await runTollgate(words, { folder: project.path, env })
      assert.equal(code, 1, out)
      assert.match(err, expected)
      assert.doesNotMatch(err, /^\s+at /m)
    }
    const add = ['entity', 'rule', 'add', run.merchant, '--channel', run.channel]
    await refused(
      [...add, '--priority', '5', '--currencies', 'EURO'],
      /^rule 5: currencies: "EURO" must be an ISO 4217 code/m,
    )
    await refused(
      [...add, '--priority', 'first'],
      /^--priority must be a whole number, not "first"/,
    )
    await refused(
      ['entity', 'rule', 'set', run.merchant, '--rules', '{}'],
      /^--rules must be a JSON list: \[/,
    )
    await refused(
      ['entity', 'rule', 'list', run.channel],
      /rules belong to a merchant, .* to a channel/,
    )
  })

  test('a closed channel is marked, and a trial shows its refusal', async () => {
    await run.gateway.entities.dispatching.replace(run.merchant, [
      { priority: 1, channelId: run.channel },
      { priority: 2, channelId: run.channel, brands: ['VISA'] },
    ])
    const lines = await shell(`tollgate entity close ${run.channel} >&2
      tollgate entity rule list $MERCHANT
      tollgate entity rule try $MERCHANT || echo refused
      tollgate entity open ${run.channel} >&2
      tollgate entity rule try $MERCHANT`)
    assert.match(lines[0]!, /everything +\(channel closed: matching requests are refused\)$/)
    assert.match(
      lines[1]!,
      /VISA +\(channel closed: matching requests are refused; never matches: rule 1 matches everything before it\)$/,
    )
    assert.deepEqual(lines.slice(2), [
      `rule 1: ${run.channel} Demo (closed: such a request is refused)`,
      'refused',
      `rule 1: ${run.channel} Demo`,
    ])
    await run.gateway.entities.dispatching.replace(run.merchant, [])
    const none = await shell('tollgate entity rule try $MERCHANT || echo refused')
    assert.deepEqual(none, ['no rule matches: such a request is refused', 'refused'])
  })
})
