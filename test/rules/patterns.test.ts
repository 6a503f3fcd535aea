/** Every regular expression of the product takes time proportional to the length of its text. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ambiguityOf } from '../attacks/regex-ambiguity.ts'
import { literalsIn, productLiterals, tablePatterns } from '../attacks/regex-literals.ts'
import { sources } from '../rig/sources.ts'
import { workedMs } from '../rig/worked.ts'

/** Expressions whose time could grow faster, and the limits of their texts. */
const bounded: Readonly<
  Record<
    string,
    {
      readonly source: string
      readonly flags?: string
      readonly because: string
      readonly characters: number
    }
  >
> = {
  'core/redaction/scrub.ts': {
    source: `((?:^|[?&;\\s])([^=&?;\\s"'<>]{1,64})=)("[^"]*"?|'[^']*'?|[^&;\\s"'<>]+)`,
    because:
      'A name has at most 64 characters, so each place of the text is looked at 64 times at most.',
    characters: 256 * 1024,
  },
  'core/request/card-data.ts': {
    source:
      '(?<![0-9a-z-])(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?:[0-9a-f]{8}){4,16})(?![0-9a-z-])',
    flags: 'gi',
    because:
      'It begins only where no letter and no digit is before, and reads 128 characters from there at most.',
    characters: 64 * 1024,
  },
  'core/request/names.ts': {
    source: '\\p{Nd}(?:[\\p{P}\\p{S}\\p{Z}\\p{Cf}]?\\p{Nd}){12,}',
    flags: 'gu',
    because: 'It reads what is repeated to the client, after that was cut.',
    characters: 1024,
  },
  'schemas/generate/types.ts': {
    source: '\\/\\*\\*\\n \\* This interface was referenced by[\\s\\S]*?\\*\\/\\n',
    because: 'It reads generated sources, and runs with the generator only.',
    characters: 256,
  },
}

const fileOf = (where: string) => where.slice(0, where.lastIndexOf(':'))

test('every pattern of the field tables takes time proportional to the length of its text', () => {
  const all = tablePatterns()
  assert.ok(all.length >= 25, `${all.length} patterns`)
  for (const { source, flags, where } of all) {
    assert.equal(ambiguityOf(source, flags), undefined, `${where}: ${source}`)
  }
})

test('every regular expression of the product does so as well, or reads short texts only', () => {
  const all = productLiterals()
  assert.ok(all.length >= 80, `${all.length} literals`)
  const ambiguous = all.flatMap(({ where, source, flags }) =>
    ambiguityOf(source, flags) === undefined ? [] : [`${fileOf(where)} ${source}`],
  )
  const known = Object.entries(bounded).map(([file, { source }]) => `${file} ${source}`)
  assert.deepEqual(ambiguous.sort(), known.sort())
})

test('expressions for short texts read the longest of them in no time', () => {
  for (const [file, { source, flags = 'g', characters }] of Object.entries(bounded)) {
    const compiled = new RegExp(source, flags)
    const { pump } = ambiguityOf(source, flags)!
    for (const unit of [pump, 'a', '0', ' ', '0-', '[', '{', '&a', '"']) {
      const text = `${unit.repeat(characters / unit.length)}\u0000`
      const startedMs = workedMs()
      text.replace(compiled, '')
      // A hundred times the usual time, and a hundredth of a quadratic one.
      assert.ok(workedMs() - startedMs < 1_000, `${file}: ${source} on ${unit}…`)
    }
  }
})

test('expressions are built only from texts of the sources', () => {
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

test('the check finds dangerous patterns and passes others', () => {
  const exponential = [
    '(a+)+$',
    '^(a|a)*$',
    '^(a*)*$',
    '^(\\w+\\s?)*$',
    '^(?:[0-9]|[0-9]{2}){1,40}$',
  ]
  for (const source of exponential) {
    assert.equal(ambiguityOf(source, '')?.grows, 'exponentially', source)
  }
  for (const source of ['^a*a*$', '\\s+$', 'x+y', '^.*a.*b$', '^[a-z]+[a-z0-9]+!']) {
    assert.equal(ambiguityOf(source, '')?.grows, 'polynomially', source)
  }
  for (const source of [
    '^[a-z]+$',
    '^(a|b)*c$',
    '^(?:a|bc){1,9}$',
    '\\s+',
    '^[^=]+=.*$',
    '^a{2,9}b?$',
  ]) {
    assert.equal(ambiguityOf(source, ''), undefined, source)
  }
})

test('the check finds literals everywhere and takes no division for one', () => {
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
