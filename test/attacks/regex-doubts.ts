/** Regular expressions that may take more time than the length of a text, as redos-detector judges them. */
import { isSafePattern } from 'redos-detector'

/** More steps or ways to match count as a doubt. The checker doubts some harmless expressions too. */
const most = { maxSteps: 3_000, maxScore: 20, timeout: Number.POSITIVE_INFINITY }

/** A text with the most ways to match, to be repeated; undefined where the checker has no doubt. */
export function doubtOf(source: string, flags: string): string | undefined {
  const { safe, trails } = isSafePattern(source, {
    ...most,
    caseInsensitive: flags.includes('i'),
    dotAll: flags.includes('s'),
    multiLine: flags.includes('m'),
    unicode: flags.includes('u'),
  })
  if (safe) return undefined
  const trail = trails.at(-1)?.trail ?? []
  const text = trail.map(({ a, b }) => characterOf([a.node.source, b.node.source], flags)).join('')
  return text === '' ? 'a' : text
}

const characters = [...'aA0 \n.-:;,=&%"\'<>[]{}()+/\\_é٣!']

/** One that all these classes take, as far as the usual ones go. */
function characterOf(classes: readonly string[], flags: string): string {
  const named = classes.flatMap((one) => [...one])
  const taken = classes.map((one) => new RegExp(`^(?:${one})$`, flags.replaceAll(/[gy]/g, '')))
  return [...characters, ...named].find((one) => taken.every((fits) => fits.test(one))) ?? ''
}
