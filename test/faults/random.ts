/** Random numbers from a seed: the same on every machine, one independent stream for each name. */
import { createHash } from 'node:crypto'

export type Random = {
  /** At least 0, below 1. */
  next(): number
  /** A whole number from `least` to `most`, both inclusive. */
  between(least: number, most: number): number
  pick<T>(from: readonly T[]): T
  shuffled<T>(all: readonly T[]): T[]
}

export function randomOf(seed: number, stream: string): Random {
  const digest = createHash('sha256').update(`${seed} ${stream}`).digest()
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => digest.readInt32LE(at)) as [
    number,
    number,
    number,
    number,
  ]
  // sfc32, by Chris Doty-Humphrey: small, fast, and passes PractRand.
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (c << 21) | (c >>> 11)
    c = (c + sum) | 0
    return (sum >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return {
    next,
    between,
    pick: (from) => from[between(0, from.length - 1)]!,
    shuffled(all) {
      const mixed = [...all]
      for (let at = mixed.length - 1; at > 0; at -= 1) {
        const other = between(0, at)
        ;[mixed[at], mixed[other]] = [mixed[other]!, mixed[at]!]
      }
      return mixed
    },
  }
}
