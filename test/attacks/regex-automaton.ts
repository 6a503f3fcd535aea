/**
 * A regular expression as the graph of its places: which character class may follow which, in how
 * many ways. Enough to tell whether back-tracking can take more than linear time.
 */

/** A place that takes one character. Sets are of representative characters, by number. */
export type Place = { readonly takes: ReadonlySet<number>; readonly atom: string }

export type Automaton = {
  readonly places: readonly Place[]
  /** next[p] holds every place that may follow p, with the number of ways to it (1, or 2 for more). */
  readonly next: readonly ReadonlyMap<number, number>[]
  readonly first: ReadonlyMap<number, number>
  /** Places after which the expression has matched whatever follows. */
  readonly last: ReadonlySet<number>
  readonly alphabet: readonly string[]
}

type Node =
  | { readonly is: 'atom'; readonly atom: string }
  | { readonly is: 'end' }
  | { readonly is: 'empty' }
  | { readonly is: 'all'; readonly parts: readonly Node[] }
  | { readonly is: 'one'; readonly parts: readonly Node[] }
  | { readonly is: 'repeat'; readonly of: Node; readonly min: number; readonly max: number }

/** Repetitions beyond this are looked at as if they had no end. */
const unrolled = 4
const mostPlaces = 250

export class TooManyPlaces extends Error {}

/** @throws TooManyPlaces · Error for syntax that is not known here. */
export function automatonOf(source: string, flags: string): Automaton {
  const { tree, isAnchored } = parse(source)
  const whole: Node = isAnchored
    ? tree
    : // A search begins at every character: that is a loop of its own.
      {
        is: 'all',
        parts: [
          { is: 'repeat', of: { is: 'atom', atom: '[\\s\\S]' }, min: 0, max: Infinity },
          tree,
        ],
      }
  const atoms: string[] = []
  const next: Map<number, number>[] = []
  const link = (from: Edges, to: Edges) => {
    for (const [place, ways] of from) {
      for (const [following, more] of to) {
        const known = next[place]!.get(following) ?? 0
        next[place]!.set(following, Math.min(2, known + ways * more))
      }
    }
  }
  const build = (node: Node): Part => {
    switch (node.is) {
      case 'empty':
        return { first: new Map(), last: new Map(), empty: 1 }
      case 'end':
      case 'atom': {
        if (atoms.length >= mostPlaces) throw new TooManyPlaces(source)
        atoms.push(node.is === 'end' ? '$' : node.atom)
        next.push(new Map())
        const own = new Map([[atoms.length - 1, 1]])
        return { first: own, last: own, empty: 0 }
      }
      case 'one':
        return node.parts.map(build).reduce((sum, part) => ({
          first: both(sum.first, part.first),
          last: both(sum.last, part.last),
          empty: Math.min(2, sum.empty + part.empty),
        }))
      case 'all':
        return node.parts.map(build).reduce(
          (sum, part) => {
            link(sum.last, part.first)
            return {
              first: both(sum.first, times(part.first, sum.empty)),
              last: both(part.last, times(sum.last, part.empty)),
              empty: sum.empty * part.empty,
            }
          },
          { first: new Map(), last: new Map(), empty: 1 } as Part,
        )
      case 'repeat':
        return buildRepeat(node)
    }
  }
  const buildRepeat = ({ of, min, max }: Node & { is: 'repeat' }): Part => {
    if (max > unrolled) {
      const loop = build(of)
      // An iteration that takes nothing is given up by the matcher: only what takes counts.
      link(loop.last, loop.first)
      return { ...loop, empty: min === 0 || loop.empty > 0 ? 1 : 0 }
    }
    const optional: Node = { is: 'one', parts: [of, { is: 'empty' }] }
    const parts = Array.from({ length: max }, (_, index) => (index < min ? of : optional))
    return build({ is: 'all', parts })
  }
  const { first, last } = build(whole)
  const alphabet = alphabetOf(source)
  const places = atoms.map((atom) => ({ atom, takes: takenBy(atom, flags, alphabet) }))
  return { places, next, first, last: new Set(last.keys()), alphabet }
}

type Edges = ReadonlyMap<number, number>
type Part = { readonly first: Edges; readonly last: Edges; readonly empty: number }

function both(one: Edges, other: Edges): Edges {
  const sum = new Map(one)
  for (const [place, ways] of other) sum.set(place, Math.min(2, (sum.get(place) ?? 0) + ways))
  return sum
}

const times = (edges: Edges, ways: number): Edges =>
  ways === 0
    ? new Map()
    : new Map([...edges].map(([place, own]) => [place, Math.min(2, own * ways)]))

/** Characters of every kind, those the expression names, and their neighbours. The last stands for the end. */
function alphabetOf(source: string): string[] {
  const named = [...source].flatMap((character) => {
    const code = character.codePointAt(0)!
    return [character, String.fromCodePoint(code + 1), String.fromCodePoint(Math.max(0, code - 1))]
  })
  const usual = [...'azAZ059_ \t\n\r.-:;,=&%"\'<>[]{}()+/\\é߀\u2028\u0000\u007f\u0085٣']
  return [...new Set([...usual, ...named]), '']
}

function takenBy(atom: string, flags: string, alphabet: readonly string[]): Set<number> {
  const end = alphabet.length - 1
  if (atom === '$') return new Set([end])
  const one = new RegExp(`^(?:${atom})$`, flags.replaceAll(/[gy]/g, ''))
  return new Set(alphabet.keys().filter((index) => index !== end && one.test(alphabet[index]!)))
}

// Syntax.

function parse(source: string): { tree: Node; isAnchored: boolean } {
  const reader = { at: 0 }
  const tree = parseChoice(source, reader)
  if (reader.at < source.length) throw new Error(`cannot read ${source} at ${reader.at}`)
  // Anchored when every choice begins with ^, as in ^(?:a|b)$.
  return { tree, isAnchored: /^\^/.test(source) && !hasOuterChoice(source) }
}

function hasOuterChoice(source: string): boolean {
  let depth = 0
  for (const atom of source.match(/\\.|\[(?:\\.|[^\]\\])*\]|[\s\S]/g) ?? []) {
    if (atom === '(') depth += 1
    if (atom === ')') depth -= 1
    if (atom === '|' && depth === 0) return true
  }
  return false
}

type Reader = { at: number }

function parseChoice(source: string, reader: Reader): Node {
  const parts = [parseSequence(source, reader)]
  while (source[reader.at] === '|') {
    reader.at += 1
    parts.push(parseSequence(source, reader))
  }
  return parts.length === 1 ? parts[0]! : { is: 'one', parts }
}

function parseSequence(source: string, reader: Reader): Node {
  const parts: Node[] = []
  while (reader.at < source.length && source[reader.at] !== '|' && source[reader.at] !== ')') {
    parts.push(parseRepeated(source, reader))
  }
  return parts.length === 0 ? { is: 'empty' } : { is: 'all', parts }
}

function parseRepeated(source: string, reader: Reader): Node {
  const of = parseAtom(source, reader)
  const quantifier = /^(?:[*+?]|\{\d+(?:,\d*)?\})\??/.exec(source.slice(reader.at))?.[0]
  if (quantifier === undefined) return of
  reader.at += quantifier.length
  const [, low, comma, high] = /^\{(\d+)(,?)(\d*)\}/.exec(quantifier) ?? []
  const min = low === undefined ? (quantifier[0] === '+' ? 1 : 0) : Number(low)
  const most = comma === '' ? min : high === '' ? Infinity : Number(high)
  const max = low === undefined ? (quantifier[0] === '?' ? 1 : Infinity) : most
  return { is: 'repeat', of, min, max }
}

function parseAtom(source: string, reader: Reader): Node {
  const rest = source.slice(reader.at)
  const look = /^\(\?(?:[=!]|<[=!])/.exec(rest)?.[0]
  const open = /^\((?:\?:|\?<\w+>)?/.exec(rest)?.[0]
  if (look !== undefined || open !== undefined) {
    reader.at += (look ?? open)!.length
    const inner = parseChoice(source, reader)
    if (source[reader.at] !== ')') throw new Error(`a bracket stays open in ${source}`)
    reader.at += 1
    // A look ahead takes nothing; its own work is bounded by what it holds and is looked at apart.
    return look === undefined ? inner : { is: 'empty' }
  }
  if (rest[0] === '^') {
    reader.at += 1
    return { is: 'empty' }
  }
  if (rest[0] === '$') {
    reader.at += 1
    return { is: 'end' }
  }
  if (/^\\[bB]/.test(rest)) {
    reader.at += 2
    return { is: 'empty' }
  }
  const atom =
    /^(?:\[(?:\\.|[^\]\\])*\]|\\u\{[0-9a-fA-F]+\}|\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}|\\[pP]\{[^}]+\}|\\[1-9]|\\.|[\s\S])/u.exec(
      rest,
    )?.[0]
  if (atom === undefined || /^\\[1-9]/.test(atom)) throw new Error(`cannot judge ${source}`)
  reader.at += atom.length
  return { is: 'atom', atom }
}
