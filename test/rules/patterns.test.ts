/** Every regular expression of the product takes time in line with the length of its text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hostileTexts } from '../attacks/patterns.ts'
import { doubtOf } from '../attacks/regex-doubts.ts'
import {
  type Literal,
  literalsIn,
  productLiterals,
  tablePatterns,
} from '../attacks/regex-literals.ts'
import { sources } from '../rig/sources.ts'
import { workedMs } from '../rig/worked.ts'

test('every pattern of the field tables takes time in line with the length of its text', async () => {
  const all = tablePatterns()
  assert.ok(all.length >= 25, `${all.length} patterns`)
  await checkQuick(all)
})

test('every literal of the product does', async () => {
  const all = productLiterals()
  assert.ok(all.length >= 80, `${all.length} literals`)
  const doubted = await checkQuick(all)
  // A tenth of them is doubtful. None would mean that the checker sees nothing.
  assert.ok(doubted > 0 && doubted < all.length / 5, `${doubted} in doubt`)
})

/** Short texts first, so that an exponential expression fails before it takes for ever. */
const lengths = [16, 20, 22, 23, 24, 25, 26, 28, 1_024, 64 * 1_024]

/**
 * Tries the doubtful expressions on texts that make them backtrack.
 *
 * @param mostMs far above the time on the longest text, and a quarter of the time of a quadratic search.
 * @returns the number of doubtful expressions.
 */
async function checkQuick(all: readonly Literal[], mostMs = 500): Promise<number> {
  let doubted = 0
  for (const literal of all) {
    // The loop never waits, so it gives other work in this process a turn.
    await new Promise((resume) => setImmediate(resume))
    const { source, flags, where } = literal
    const doubt = doubtOf(source, flags)
    if (doubt === undefined) continue
    doubted += 1
    const compiled = new RegExp(source, `${flags.replaceAll(/[gy]/g, '')}g`)
    for (const text of hostileTexts(literal, doubt, lengths)) {
      const startedMs = workedMs()
      text.replace(compiled, '')
      const tookMs = workedMs() - startedMs
      assert.ok(tookMs < mostMs, `${where}: ${source} takes ${tookMs} ms on ${text.slice(0, 40)}…`)
    }
  }
  return doubted
}

test('expressions are made from texts only where the texts are ours', () => {
  const making = ['schemas', 'plugins/kit', 'core', 'connectors', 'host']
    .flatMap(sources)
    .filter(
      ({ file, code }) => !/\/(?:testing|sandbox|dist)\//.test(file) && /\bRegExp\(/.test(code),
    )
    .map(({ file }) => file)
  // From the tables of fields, of settings, and from the limits.
  assert.deepEqual(making, [
    'core/connector/settings.ts',
    'core/request/names.ts',
    'core/request/plan.ts',
  ])
})

test('the checker doubts dangerous expressions, and lets harmless ones pass', () => {
  const dangerous = [
    '(a+)+$',
    '^(a|a)*$',
    '^(a|aa)+$',
    '^(a*)*$',
    '(x+x+)+y',
    '^(\\w+\\s?)*$',
    '^(?:[0-9]|[0-9]{2}){1,40}$',
    '^(?=(a+)+$)b',
    '^(([a-z])+.)+[A-Z]([a-z])+$',
    '^a*a*$',
    '^(ab)*(ab)*$',
    '\\s+$',
    'x+y',
    '^.*a.*b$',
    '^\\s*(.*?)\\s*$',
    '^[a-z]+[a-z0-9]+!',
  ]
  for (const source of dangerous) assert.ok(doubtOf(source, ''), source)
  const harmless = ['^[a-z]+$', '^(a|b)*c$', '^(?:a|bc){1,9}$', '\\s+', '^[^=]+=.*$', '^a{2,9}b?$']
  for (const source of harmless) assert.equal(doubtOf(source, ''), undefined, source)
})

test('a doubt is a text to try, which tells slow expressions from quick ones', async () => {
  assert.match(doubtOf('^(ab)*(ab)*$', '')!, /^(?:ab)+a?$/)
  const literal = (source: string) => [{ where: 'x.ts:1', source, flags: '' }]
  await assert.rejects(checkQuick(literal('^(?:a+)+$'), 20), /x\.ts:1: .* takes \d+/)
  await assert.rejects(checkQuick(literal('x+y')), /x\.ts:1: .* takes \d+/)
  assert.equal(await checkQuick(literal('\\{([^{}]+)\\}')), 1)
})

test('literals are found wherever they stand, and divisions are none', () => {
  const source = [
    'const half = total / 2 / count // no /literal/',
    "const a = /[/\\]]+/giu.test(text) ? 'no /literal/' : /b/",
    'const c = `$\u007bone / two} $\u007b/c}/.exec(`$\u007b/d/}`)} no /literal/`',
    'if (x) return /e/.source /* no /literal/ */',
    'const [f] = list[0] / 2, g = (1 + 2) / 3 / 4',
  ].join('\n')
  assert.deepEqual(
    literalsIn(source, 'x.ts').map(
      (literal) => `${literal.where} ${literal.source} ${literal.flags}`,
    ),
    ['x.ts:2 [/\\]]+ giu', 'x.ts:2 b ', 'x.ts:3 c} ', 'x.ts:3 d ', 'x.ts:4 e '],
  )
})
