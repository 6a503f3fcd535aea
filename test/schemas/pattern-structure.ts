/**
 * The reason why a regular expression could backtrack without bound, or undefined when it cannot:
 * every repetition has an upper limit, and no repeated part has a choice of its own.
 */
export function unboundedOrNested(pattern: string): string | undefined {
  const open: { choices: boolean }[] = [{ choices: false }]
  for (let at = 0; at < pattern.length; ) {
    const atom = nextAtom(pattern, at)
    at += atom.length
    if (atom === '|') top(open).choices = true
    if (atom.startsWith('(')) open.push({ choices: false })
    if (atom === '(' || atom === '(?:' || atom === '|') continue
    const inside = atom === ')' ? open.pop() : undefined
    const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(pattern.slice(at))?.[0] ?? ''
    at += quantifier.length
    const [min, max] = limitsOf(quantifier)
    if (max === Infinity) return `${quantifier} has no upper limit`
    if (max > 1 && inside?.choices) return `a choice is repeated by ${quantifier}`
    if (min !== max || inside?.choices) top(open).choices = true
  }
  return undefined
}

/** The character class, escape, opening or closing bracket, or character that begins at `at`. */
function nextAtom(pattern: string, at: number): string {
  const atom = /^(?:\[(?:\\.|[^\]\\])*\]|\\.|\(\?:|\(\?[=!<].|[\s\S])/.exec(pattern.slice(at))?.[0]
  if (atom === undefined || /^\(\?[^:]/.test(atom)) throw new Error(`cannot judge ${pattern}`)
  return atom
}

function limitsOf(quantifier: string): [min: number, max: number] {
  const [, min, comma, max] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  if (min !== undefined) {
    return [Number(min), comma === '' ? Number(min) : max === '' ? Infinity : Number(max)]
  }
  if (quantifier === '') return [1, 1]
  return [quantifier[0] === '+' ? 1 : 0, quantifier[0] === '?' ? 1 : Infinity]
}

function top<T>(stack: readonly T[]): T {
  const last = stack.at(-1)
  if (last === undefined) throw new Error('a bracket closes that was not opened')
  return last
}
