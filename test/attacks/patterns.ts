import { workedMs } from '../rig/worked.ts'
import type { Attack } from './attack.ts'
import { doubtOf } from './regex-doubts.ts'
import { type Literal, productLiterals, tablePatterns } from './regex-literals.ts'

/** Far above the time of any of these expressions on a text of this length. */
const longestMs = 250
const lengths = {
  sample: [64],
  short: [64, 2_048],
  full: [64, 512, 4_096, 32_768, 262_144],
} as const

export const patterns: Attack = {
  name: 'patterns',
  title: 'texts that make every regular expression of the product backtrack',
  async run(run) {
    const all = [...productLiterals(), ...tablePatterns()]
    let texts = 0
    let slowestMs = 0
    let slowest = ''
    for (const literal of all) {
      const compiled = new RegExp(literal.source, literal.flags.replaceAll(/[gy]/g, ''))
      const doubt = doubtOf(literal.source, literal.flags)
      for (const hostile of hostileTexts(literal, doubt, lengths[run.profile])) {
        const startedMs = workedMs()
        compiled.exec(hostile)
        const tookMs = workedMs() - startedMs
        texts += 1
        if (tookMs > slowestMs) {
          slowestMs = tookMs
          slowest = literal.where
        }
        if (tookMs <= longestMs) continue
        run.find(
          `${literal.where} takes ${Math.round(tookMs)} ms`,
          `${hostile.length} characters: ${hostile.slice(0, 80)}`,
        )
        break
      }
      // The loop never waits, so it gives other work in this process a turn.
      await new Promise((resume) => setImmediate(resume))
    }
    return {
      expressions: all.length,
      texts,
      'slowest ms': slowestMs.toFixed(1),
      slowest,
    }
  },
}

const units = [
  'a',
  '0',
  ' ',
  '=',
  '.',
  '-',
  '"',
  '[',
  '/',
  '%',
  '&',
  '\\',
  '{',
  'a=',
  '0 ',
  'a.',
  '"a',
  '\n',
  'é',
  '\u{1F4B3}',
]
const ends = ['\u0000', '!', '"', '']

/** Short ones first: what grows too fast is seen before it takes for ever. `doubt` is a text of the checker. */
export function* hostileTexts(
  { source }: Literal,
  doubt: string | undefined,
  of: readonly number[],
): Generator<string> {
  const named = [...new Set(source.replaceAll(/\\[a-zA-Z](?:\{[^}]*\})?|[\\^$|()[\]{}*+?]/g, ''))]
  for (const length of of) {
    for (const unit of new Set([...(doubt === undefined ? [] : [doubt]), ...units, ...named])) {
      const pumped = unit.repeat(Math.ceil(length / unit.length)).slice(0, length)
      for (const end of ends) yield pumped + end
    }
  }
}
