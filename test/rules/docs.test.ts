/** The documentation names everything that the tables hold, and nothing that does not exist. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, test } from 'node:test'
import { checkEntitySettings } from '../../core/entity/settings.ts'
import { limits, operationNamed, paymentTypes } from '../../schemas/index.ts'
import { scenarios } from '../bench/scenarios/index.ts'
import { generatedParts, partsIn, withPart } from '../docs/facts.ts'
import { finders } from '../docs/names.ts'
import { allRows, brokenLinks, pageOf, pages, rowsBelow } from '../docs/pages.ts'
import { sentences } from '../docs/sentences.ts'
import { scratchFolder } from '../rig/cluster.ts'
import { root, sources } from '../rig/sources.ts'

const plain = (cell: string) => cell.replaceAll('`', '')

describe('parts that are made from tables', () => {
  for (const part of generatedParts()) {
    test(`${part.page} has the current ${part.name}: npm run docs`, () => {
      assert.ok(part.lines.length > 2)
      assert.equal(withPart(pageOf(part.page), part), pageOf(part.page))
    })
  }

  test('every mark in a page belongs to a part', () => {
    const known = generatedParts().map(({ page, name }) => `${page}: ${name}`)
    const marked = pages.flatMap(({ file, text }) =>
      partsIn(text).map((name) => `${file}: ${name}`),
    )
    assert.deepEqual(marked.sort(), known.sort())
  })

  test('the check sees a row that is not current', () => {
    const [part] = generatedParts()
    const stale = pageOf(part!.page).replace(
      part!.lines[3]!,
      part!.lines[3]!.replace(' | ', ' | x'),
    )
    assert.notEqual(withPart(stale, part!), stale)
  })

  test('npm run docs -- --check names a page that is not current, and leaves it', () => {
    const folder = mkdtempSync(path.join(scratchFolder(), 'tollgate-docs-'))
    try {
      const [stale] = generatedParts()
      for (const { page } of generatedParts()) {
        mkdirSync(path.join(folder, path.dirname(page)), { recursive: true })
        writeFileSync(path.join(folder, page), pageOf(page))
      }
      const docs = (...words: string[]) =>
        spawnSync(
          process.execPath,
          ['--conditions=@tollgate/source', 'test/docs/main.ts', '--in', folder, ...words],
          { cwd: root, encoding: 'utf8' },
        )
      const current = docs('--check')
      assert.deepEqual([current.status, current.stderr], [0, ''])
      const file = path.join(folder, stale!.page)
      const changed = pageOf(stale!.page).replace(stale!.lines[3]!, '')
      writeFileSync(file, changed)
      const found = docs('--check')
      assert.equal(found.status, 1)
      assert.equal(
        found.stderr,
        `${stale!.page} is stale in its ${stale!.name}: run npm run docs\n`,
      )
      assert.equal(readFileSync(file, 'utf8'), changed)
      assert.equal(docs().status, 0)
      assert.equal(readFileSync(file, 'utf8'), pageOf(stale!.page))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('names in the documentation', () => {
  const wrongPage = { file: 'a page', text: '' }
  for (const [what, find, wrong] of finders) {
    test(`${what} exist; ${wrong} would be noticed`, () => {
      assert.deepEqual(pages.flatMap(find), [])
      assert.equal(find({ ...wrongPage, text: wrong }).length, 1)
    })
  }

  test('links lead to files and headings', () => {
    assert.deepEqual(pages.flatMap(brokenLinks), [])
    const text = '# Title\n[a](none.md) [b](#title) [c](#nothing) [d](https://example.com)'
    assert.equal(brokenLinks({ file: 'README.md', text }).length, 2)
  })

  test('every page of the documentation is in the index of the README', () => {
    const readme = pageOf('README.md')
    const missing = pages.filter(
      ({ file }) => file.startsWith('docs/') && !readme.includes(`](${file})`),
    )
    assert.deepEqual(
      missing.map(({ file }) => file),
      [],
    )
  })
})

/** The engine's own refusal lists the settings, and says what each takes. */
function entitySettings(): Map<string, string> {
  const refusal = (settings: Readonly<Record<string, unknown>>): string => {
    try {
      checkEntitySettings(settings)
    } catch (error) {
      return (error as Error).message
    }
    return ''
  }
  const names = /there are: ([^)]+)\)/.exec(refusal({ none: 1 }))?.[1]?.split(', ') ?? []
  return new Map(
    names.map((name) => [
      name,
      /must be (.+)$/
        .exec(refusal({ [name]: undefined }))![1]!
        .replace(/^one of |^a whole number from /, ''),
    ]),
  )
}

test('the settings of an entity are those of the engine, with their values', () => {
  const known = entitySettings()
  assert.ok(known.size > 10)
  const rows = rowsBelow(pageOf('docs/operating.md'), '## Settings of an entity')
  assert.deepEqual(
    rows.map(([name = '', values = '']) => [plain(name), values]),
    [...known],
  )
})

/** Members of a union of texts in the engine's source. */
function unionIn(file: string, type: string): string[] {
  const source = sources('core').find((one) => one.file === file)!
  const [, members = ''] = new RegExp(`export type ${type} =([^=]*?)\\n\\n`).exec(source.code)!
  return [...members.matchAll(/'([^']+)'/g)].map(([, name]) => name!)
}

for (const { page, heading, kinds } of [
  {
    page: 'docs/operating.md',
    heading: "## The operators' list",
    kinds: unionIn('core/attention/store.ts', 'AttentionKind'),
  },
  {
    page: 'docs/audit.md',
    heading: '## The security log',
    kinds: unionIn('core/audit/alarm.ts', 'AlarmKind'),
  },
]) {
  test(`${page} lists the kinds that the engine has: ${heading}`, () => {
    assert.ok(kinds.length > 5)
    const rows = rowsBelow(pageOf(page), heading)
    assert.deepEqual(rows.map(([name = '']) => plain(name)).sort(), [...kinds].sort())
  })
}

/** Literals that the engine writes as actions of the audit trail. */
function auditActions(): Set<string> {
  const engine = sources('core')
  const texts = engine.flatMap(({ code }) => [
    ...code.matchAll(/['`]([a-z]+(?:[.-][a-z-]+)+)['`]/g),
  ])
  const said = new Set(texts.map(([, text]) => text!))
  for (const how of ['listed', 'exported', 'verified']) said.add(`audit.${how}`)
  return said
}

test('the audit page lists the actions that the engine records', () => {
  const rows = allRows(pageOf('docs/audit.md'))
  const from = rows.findIndex(([about]) => about === 'about')
  const to = rows.findIndex(([alarm]) => alarm === 'alarm')
  const listed = rows
    .slice(from + 1, to)
    .flatMap(([, actions = '']) => [...actions.matchAll(/`([^`]+)`/g)])
    .map(([, action]) => action!)
  const said = auditActions()
  assert.deepEqual(
    listed.filter((action) => !said.has(action)),
    [],
  )
  const recorded = sources('core').flatMap(({ code }) =>
    [...code.matchAll(/\b(?:action: |recorded\(|audited\()[^'\n]*'([a-z]+(?:[.-][a-z-]+)+)'/g)].map(
      ([, action]) => action!,
    ),
  )
  assert.ok(recorded.length > 30)
  assert.deepEqual([...new Set(recorded)].filter((action) => !listed.includes(action)).sort(), [])
})

const units = { d: 86_400_000, h: 3_600_000, min: 60_000, s: 1_000, ms: 1 } as const

/** A limit as a page writes it: by the unit at the end of its name. */
function written(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return [value.map((one) => written(name, one)[0]).join(', ')]
  if (typeof value === 'object') {
    const { min, max } = value as { min: number; max: number }
    return [`${min} to ${max}`]
  }
  const number = Number(value)
  if (name.endsWith('Bytes')) return [`${number / 1024 ** 2} MiB`, `${number / 1024} KiB`]
  if (!name.endsWith('Ms')) return [number.toLocaleString('en')]
  return Object.entries(units)
    .filter(([, ms]) => number % ms === 0)
    .map(([unit, ms]) => `${number / ms} ${unit}`)
}

test('a newcomer finds how to install the packages before they are on the registry', () => {
  const first = ['README.md', 'docs/embedding.md', 'docs/connector-in-an-hour.md']
  for (const page of [...first, 'core/README.md', 'host/README.md']) {
    const [block = ''] = /```sh\n[^`]*npm run pack -- [^`]*```/.exec(pageOf(page)) ?? []
    // The folder may hold more, such as the packages of the guide on connectors.
    // npx looks for a relative file elsewhere.
    assert.doesNotMatch(block, /npx -p \./, page)
    assert.match(block, /npm install (--no-save )?\.\.\/packages\/tollgate-\S*\.tgz/, page)
  }
})

test('every example waits for the end of its servers', () => {
  const files = globSync('examples/**/*.{mjs,cjs}', { cwd: root })
  assert.ok(files.length > 5)
  const texts = [...files.map((file) => readFileSync(path.join(root, file), 'utf8'))]
  for (const { text } of pages) texts.push(...(text.match(/```[mc]?[jt]s\n[\s\S]*?```/g) ?? []))
  const unheeded = texts.flatMap((text) => text.match(/^\s*\w+\.close\(\)$/gm) ?? [])
  assert.deepEqual(unheeded, [])
})

test('the limits in the documentation are those of the table', () => {
  const rows = allRows(pageOf('docs/limits.md')).filter(([name]) => name !== 'limit')
  assert.ok(rows.length > 50)
  const wrong = rows.filter(([cell = '', value = '']) => {
    const name = plain(cell)
    return !(name in limits) || !written(name, limits[name as keyof typeof limits]).includes(value)
  })
  assert.deepEqual(
    wrong.map(([name, value]) => `${name} ${value}`),
    [],
  )
  assert.deepEqual(written('bodyBytes', 8 * 1024 * 1024)[0], '8 MiB')
  assert.ok(!written('sessionIdleMs', 900_000).includes('16 min'))
})

test('sentences that repeat a limit have the number of the table', () => {
  const wrong = sentences.filter(([page, sentence]) => !pageOf(page).includes(sentence))
  assert.deepEqual(wrong, [])
})

test('the page about the step log lists the steps that the table names', () => {
  const names = operationNamed('payments.steps').answers.find(
    ({ name }) => name === 'steps[n].name',
  )!
  const listed = names.meaning.split('), ')[1]!.split(/, | or /)
  assert.ok(listed.length > 10)
  const page = pageOf('docs/steps.md')
  const missing = listed.filter((name) => !page.includes(`\`${name.replace(/\.$/, '')}\``))
  assert.deepEqual(missing, [])
})

test('the follow-ups that the payments page lists are those of the table', () => {
  const rows = rowsBelow(pageOf('docs/payments.md'), '## Follow-ups')
  const followUps = paymentTypes.filter(({ use }) => use === 'followUp')
  assert.deepEqual(
    rows.map(([code = '', , allowedOn]) => [plain(code), allowedOn]).sort(),
    followUps.map(({ code, refersTo }) => [code, refersTo.join(', ')]).sort(),
  )
})

test('the performance page describes every scenario of the benchmark', () => {
  const page = pageOf('docs/performance.md')
  const described = [...page.matchAll(/^### ([a-z-]+)$/gm)].map(([, name]) => name!)
  const names = scenarios.map(({ name }) => name)
  assert.ok(names.length > 10)
  assert.deepEqual(described.sort(), [...names].sort())
})

test('the README of the simulator lists the options of its program', () => {
  const program = readFileSync(path.join(root, 'connectors/simulator/main.ts'), 'utf8')
  const [, usage = ''] = /const usage = `([^`]+)`/.exec(program)!
  const readme = pageOf('connectors/simulator/README.md')
  const options = [...usage.matchAll(/^ {2}(--[a-z]+)/gm)].map(([, name]) => name!)
  assert.ok(options.length > 4)
  assert.deepEqual(
    options.filter((name) => !readme.includes(name)),
    [],
  )
})
