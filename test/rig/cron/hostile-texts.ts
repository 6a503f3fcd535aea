/** Texts that are schedules only by chance. */
import fc from 'fast-check'
import { expression } from '../../core/cron/arbitraries.ts'

const piece = fc.constantFrom(
  ...['*', '?', 'L', 'W', '#', '/', '-', ',', ' ', '\t', '\n', '\0', '0', '1', '31', '59', '60'],
  ...['*/0', '*/-1', '1-1000000000', '0/1', '*/1', 'LW', 'L-', '1W', '6#', 'FRIL', 'JAN', 'sun'],
  ...['99999999999999999999', '1e9', '0x10', 'NaN', '__proto__', '٣', '²', '\u017f', '\u200b'],
  ...['\ud800', '😀', "'; drop table", '$(id)', '%00', '2099', '1970-2099/1'],
)
const soup = fc.array(piece, { maxLength: 40 }).map((all) => all.join(''))
const fieldSoup = fc
  .array(
    fc.array(piece, { minLength: 1, maxLength: 8 }).map((all) => all.join('')),
    { minLength: 6, maxLength: 7 },
  )
  .map((fields) => fields.join(' '))
const harmless = fc.constantFrom('1', '2', '', ' ', ',2', '-3', '/2')
const mutated = fc
  .tuple(
    expression,
    fc.array(fc.tuple(fc.nat(256), fc.nat(2), fc.oneof(piece, harmless)), {
      minLength: 1,
      maxLength: 3,
    }),
  )
  .map(([text, changes]) =>
    changes.reduce((current, [where, length, instead]) => {
      const at = where % (current.length + 1)
      return current.slice(0, at) + instead + current.slice(at + length)
    }, text),
  )
const long = fc.constantFrom(
  ','.repeat(256),
  '*'.repeat(256),
  ' '.repeat(256),
  '?'.repeat(256),
  `${'*,'.repeat(122)}* 0 0 * * ?`,
  `0 0 0 1 1 ? ${'*,'.repeat(121)}*`,
  `0 0 0 1 1 ? ${'/1,'.repeat(80)}/1`,
  `0 0 0 ${'1-31/1,'.repeat(34)}1 * ?`,
  `${'0'.repeat(240)}1 0 0 * * ?`,
  `${'9'.repeat(244)} 0 0 * * ?`,
  `0 0 0 ${'L'.repeat(200)} * ?`,
  `0 0 0 ? * ${'FRI#'.repeat(50)}`,
  `0 0 0 ? * ${'-'.repeat(200)}`,
  'a'.repeat(1_000_000),
)
/** Any text in place of a schedule. */
export const hostile = fc.oneof(
  { weight: 3, arbitrary: mutated },
  { weight: 2, arbitrary: soup },
  { weight: 2, arbitrary: fieldSoup },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 300 }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 300 }) },
  { weight: 1, arbitrary: long },
)
