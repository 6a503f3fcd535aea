/** Every promise of SECURITY.md and every claim of docs/compliance.md names the test that holds it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { allRows } from '../docs/pages.ts'
import { root } from '../rig/sources.ts'

const promises = readFileSync(path.join(root, 'SECURITY.md'), 'utf8')
const compliance = readFileSync(path.join(root, 'docs/compliance.md'), 'utf8')

const sectionOf = (text: string, title: string) =>
  text.split('\n## ').find((part) => part.startsWith(`${title}\n`)) ?? ''

type Evidence = { readonly file: string; readonly titles: readonly string[] }

/** `` `test/….ts` “title”, “title” `` */
const evidenceIn = (claims: string): Evidence[] =>
  [...claims.matchAll(/`(test\/[^`]+)`((?:,? “[^”]+”)*)/g)].map(([, file, titles]) => ({
    file: file!,
    titles: [...titles!.matchAll(/“([^”]+)”/g)].map(([, title]) => title!),
  }))

/** The claims of a row are the lines of its third cell. */
const rowsOf = (title: string) =>
  allRows(sectionOf(compliance, title))
    .slice(1)
    .map(([requirement = '', who = '', ours = '', yours = '']) => ({
      requirement,
      who,
      claims: ours === nothing ? [] : ours.split('<br>'),
      yours,
    }))

const nothing = '–'

const points = sectionOf(promises, 'What we promise')
  .split('\n')
  .filter((line) => line.startsWith('- '))
  .map((line) => line.slice(2))

/** Says of something that it is not done, or that nothing holds it. */
const claimsNothing = (claim: string) => /^(?:Not done|Not applicable): /.test(claim)

function withoutTest(claims: readonly string[]): string[] {
  return claims.filter((claim) => !claimsNothing(claim) && evidenceIn(claim).length === 0)
}

function hasTest(source: string, title: string): boolean {
  const quoted = title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`\b(?:test|it|describe)\(\s*(['"\`])${quoted}\1`).test(source)
}

test('every promise names the test that holds it', () => {
  assert.ok(points.length > 20)
  assert.deepEqual(withoutTest(points), [])
})

for (const { title, rows } of [
  {
    title: 'PCI DSS 4.0.1',
    rows: [
      ...['2.2', '3.2', '3.3', '3.4', '3.5', '3.6, 3.7', '4.2', '6.2, 6.3', '6.4.3', '6.5', '7.2'],
      ...['8.2, 8.3', '8.4, 8.5', '8.6', '10.2', '10.3, 10.5', '10.4, 10.6, 10.7', '11.6.1'],
      '1, 5, 9, 11, 12',
    ],
  },
  {
    title: 'OWASP ASVS 5.0, level 2',
    rows: Array.from({ length: 17 }, (_, index) => `V${index + 1}`),
  },
]) {
  test(`${title}: each requirement has a row; each claim in it names the test that holds it`, () => {
    const found = rowsOf(title)
    assert.deepEqual(
      found.map(({ requirement }) => /^V?[0-9.]+(?:, [0-9.]+)*/.exec(requirement)?.[0]),
      rows,
    )
    assert.deepEqual(withoutTest(found.flatMap(({ claims }) => claims)), [])
    for (const { requirement, who, claims, yours } of found) {
      const isOurs = claims.some((claim) => !claimsNothing(claim))
      const isYours = yours !== nothing
      const said = isOurs ? (isYours ? 'both' : 'ours') : isYours ? 'yours' : nothing
      assert.equal(who, said, requirement)
    }
  })
}

test('an engineer reads SECURITY.md in ten minutes, and an assessor has one page', () => {
  assert.ok(Buffer.byteLength(promises) <= 15_000)
  assert.ok(Buffer.byteLength(compliance) <= 25_000)
})

test('every named test exists, by its title', () => {
  const named = [...evidenceIn(promises), ...evidenceIn(compliance)]
  assert.ok(named.length > 100)
  const wrong = named.flatMap(({ file, titles }) => {
    if (!existsSync(path.join(root, file))) return [`${file} does not exist`]
    const source = readFileSync(path.join(root, file), 'utf8')
    if (titles.length === 0) return [`${file}: name one of its tests`]
    return titles
      .filter((title) => !hasTest(source, title))
      .map((title) => `${file} has no test “${title}”`)
  })
  assert.deepEqual(wrong, [])
})

test('the check finds claims without a test', () => {
  assert.deepEqual(
    withoutTest(['done, says nobody', 'Not applicable: not served', 'done (`test/a.ts`)']),
    ['done, says nobody'],
  )
  const source = `test('one thing', () => {})\n  test(\n    'another?', () => {})`
  assert.deepEqual(
    ['one thing', 'another?', 'one', 'things'].map((title) => hasTest(source, title)),
    [true, true, false, false],
  )
})
