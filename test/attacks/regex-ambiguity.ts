/** Whether matching can take exponential or polynomial time, and a text that shows it. */
import { type Automaton, automatonOf, TooManyPlaces } from './regex-automaton.ts'

export type Ambiguity = {
  readonly grows: 'exponentially' | 'polynomially'
  /** A text is `pump` many times and then something that does not fit. */
  readonly pump: string
}

/** Undefined when the time grows with the length alone. @throws Error for unknown syntax. */
export function ambiguityOf(source: string, flags: string): Ambiguity | undefined {
  let automaton: Automaton
  try {
    automaton = automatonOf(source, flags)
  } catch (error) {
    if (error instanceof TooManyPlaces) return { grows: 'polynomially', pump: 'a' }
    throw error
  }
  return exponential(automaton) ?? polynomial(automaton)
}

/** Whether the expression has matched by then, whatever comes: nothing makes it go back. */
const isHarmless = ({ last }: Automaton, place: number) => last.has(place)

function common({ places, alphabet }: Automaton, ...which: readonly number[]): string | undefined {
  const [one, ...others] = which
  for (const index of places[one!]!.takes) {
    if (others.every((other) => places[other]!.takes.has(index))) return alphabet[index]!
  }
  return undefined
}

/** Strongly connected parts of a graph, by node: Tarjan without recursion would be longer than this. */
function componentsOf(count: number, next: (node: number) => Iterable<number>): Int32Array {
  const index = new Int32Array(count).fill(-1)
  const low = new Int32Array(count)
  const component = new Int32Array(count).fill(-1)
  const stack: number[] = []
  let counter = 0
  let components = 0
  for (let root = 0; root < count; root += 1) {
    if (index[root] !== -1) continue
    const work: { node: number; rest: Iterator<number> }[] = []
    const enter = (node: number) => {
      index[node] = low[node] = counter
      counter += 1
      stack.push(node)
      work.push({ node, rest: next(node)[Symbol.iterator]() })
    }
    enter(root)
    while (work.length > 0) {
      const { node, rest } = work.at(-1)!
      const step = rest.next()
      if (step.done === true) {
        work.pop()
        const parent = work.at(-1)
        if (parent !== undefined) low[parent.node] = Math.min(low[parent.node]!, low[node]!)
        if (low[node] !== index[node]) continue
        for (let member = -1; member !== node; ) {
          member = stack.pop()!
          component[member] = components
        }
        components += 1
      } else if (index[step.value] === -1) enter(step.value)
      else if (component[step.value] === -1) low[node] = Math.min(low[node]!, index[step.value]!)
    }
  }
  return component
}

/** Two ways from a place back to itself with the same text. */
function exponential(automaton: Automaton): Ambiguity | undefined {
  const { next, places } = automaton
  const n = places.length
  const single = componentsOf(n, (place) => next[place]!.keys())
  for (const [place, following] of next.entries()) {
    for (const [to, ways] of following) {
      if (ways > 1 && single[place] === single[to] && !isHarmless(automaton, to)) {
        return { grows: 'exponentially', pump: common(automaton, to) ?? 'a' }
      }
    }
  }
  function* pairs(pair: number): Generator<number> {
    const [one, other] = [Math.floor(pair / n), pair % n]
    for (const left of next[one]!.keys()) {
      for (const right of next[other]!.keys()) {
        if (common(automaton, left, right) !== undefined) yield left * n + right
      }
    }
  }
  const component = componentsOf(n * n, pairs)
  const diagonal = new Map<number, number>()
  for (let place = 0; place < n; place += 1) diagonal.set(component[place * n + place]!, place)
  for (let pair = 0; pair < n * n; pair += 1) {
    const [one, other] = [Math.floor(pair / n), pair % n]
    if (one === other || !diagonal.has(component[pair]!)) continue
    if (isHarmless(automaton, one) && isHarmless(automaton, other)) continue
    return { grows: 'exponentially', pump: common(automaton, one, other) ?? 'a' }
  }
  return undefined
}

/** A loop, a later loop, and one text that goes round the first, round the second, or across. */
function polynomial(automaton: Automaton): Ambiguity | undefined {
  const { next, places } = automaton
  const n = places.length
  const component = componentsOf(n, (place) => next[place]!.keys())
  const loops = places
    .keys()
    .filter((place) => [...next[place]!.keys()].some((to) => component[to] === component[place]))
    .toArray()
  for (const one of loops) {
    for (const other of loops) {
      if (one === other || component[one] === component[other]) continue
      if (isHarmless(automaton, other) || common(automaton, one, other) === undefined) continue
      if (crosses(automaton, component, one, other)) {
        return { grows: 'polynomially', pump: common(automaton, one, other)! }
      }
    }
  }
  return undefined
}

/** Whether (one, one, other) leads to (one, other, other) by one text. */
function crosses(automaton: Automaton, component: Int32Array, one: number, other: number): boolean {
  const { next, places } = automaton
  const n = places.length
  const goal = (one * n + other) * n + other
  const start = (one * n + one) * n + other
  const seen = new Set([start])
  const queue = [start]
  for (let triple = queue.pop(); triple !== undefined; triple = queue.pop()) {
    const [a, b, c] = [Math.floor(triple / n / n), Math.floor(triple / n) % n, triple % n]
    for (const x of next[a]!.keys()) {
      if (component[x] !== component[one]) continue
      for (const z of next[c]!.keys()) {
        if (component[z] !== component[other] || common(automaton, x, z) === undefined) continue
        for (const y of next[b]!.keys()) {
          const to = (x * n + y) * n + z
          if (seen.has(to) || common(automaton, x, y, z) === undefined) continue
          if (to === goal) return true
          seen.add(to)
          queue.push(to)
        }
      }
    }
  }
  return false
}
