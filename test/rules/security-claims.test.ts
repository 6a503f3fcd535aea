/** Every claim of SECURITY.md names the test that holds it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { root } from '../rig/sources.ts'

const text = readFileSync(path.join(root, 'SECURITY.md'), 'utf8')
const section = (title: string) =>
  text.split('\n## ').find((part) => part.startsWith(`${title}\n`)) ?? ''

/** A file with this many tests is evidence only together with a title. */
const many = 10
const openings = /^\s*(?:test|it)\(/gm

type Evidence = { readonly file: string; readonly titles: readonly string[] }

/** `` `test/….ts` “title”, “title” `` */
const evidenceIn = (claims: string): Evidence[] =>
  [...claims.matchAll(/`(test\/[^`]+)`((?:,? “[^”]+”)*)/g)].map(([, file, titles]) => ({
    file: file!,
    titles: [...titles!.matchAll(/“([^”]+)”/g)].map(([, title]) => title!),
  }))

/** The claims of a table row are the lines of its second cell, those of a list its points. */
const rowsOf = (title: string) =>
  section(title)
    .split('\n')
    .filter((line) => /^\| (?:[0-9]|V[0-9])/.test(line))
    .map((line) => {
      const [, requirement = '', here = '', left = ''] = line.split(/(?<!\\)\|/)
      return {
        requirement: requirement.trim(),
        claims: here.trim().split('<br>'),
        left: left.trim(),
      }
    })

const points = section('Threats')
  .split('\n')
  .filter((line) => line.startsWith('- '))
  .map((line) => line.slice(2))

/** Says of something that it is not done, or that nothing holds it. */
const claimsNothing = (claim: string) =>
  /^(?:Residual risk|Not tested|Not done|Not applicable): /.test(claim)

function withoutTest(claims: readonly string[]): string[] {
  return claims.filter((claim) => !claimsNothing(claim) && evidenceIn(claim).length === 0)
}

function hasTest(source: string, title: string): boolean {
  const quoted = title.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(String.raw`\b(?:test|it|describe)\(\s*(['"\`])${quoted}\1`).test(source)
}

test('every claim about an attacker names the test that holds it', () => {
  assert.ok(points.length > 20)
  assert.deepEqual(withoutTest(points), [])
})

for (const { title, rows } of [
  {
    title: 'PCI DSS 4.0.1',
    rows: ['3.3', '3.5', '3.7', '4.2', '6.4.3', '8.3', '8.4', '8.6', '10.2', '10.3', '11.6.1'],
  },
  {
    title: 'OWASP ASVS 5.0, level 2',
    rows: Array.from({ length: 17 }, (_, index) => `V${index + 1}`),
  },
]) {
  test(`${title}: each requirement has a row; each claim in it names the test that holds it`, () => {
    const found = rowsOf(title)
    assert.deepEqual(
      found.map(({ requirement }) => /^[V0-9.]+/.exec(requirement)?.[0]),
      rows,
    )
    assert.deepEqual(withoutTest(found.flatMap(({ claims }) => claims)), [])
    for (const { requirement, left } of found) assert.match(left, /\w/, requirement)
  })
}

test('every named test exists, by its title where its file has many', () => {
  const named = evidenceIn(text)
  assert.ok(named.length > 100)
  const wrong = named.flatMap(({ file, titles }) => {
    if (!existsSync(path.join(root, file))) return [`${file} does not exist`]
    const source = readFileSync(path.join(root, file), 'utf8')
    const count = source.match(openings)?.length ?? 0
    if (count === 0) return [`${file} has no test`]
    if (count >= many && titles.length === 0) return [`${file} has ${count} tests: name one`]
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
