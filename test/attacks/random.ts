/** Random choices that a seed reproduces. */
export class Random {
  #state: number

  constructor(seed: number | string) {
    let state = 0x811c9dc5
    for (const character of String(seed)) {
      state = Math.imul(state ^ character.charCodeAt(0), 0x01000193)
    }
    this.#state = state >>> 0
  }

  /** 32 bits. */
  next(): number {
    // Mulberry32 is short and fast, and good enough to choose hostile bytes.
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }

  /** 0 to `end` - 1. */
  below(end: number): number {
    return this.next() % Math.max(1, end)
  }

  /** True once in `of` times. */
  once(of: number): boolean {
    return this.below(of) === 0
  }

  pick<T>(from: readonly T[]): T {
    return from[this.below(from.length)]!
  }

  digits(count: number): string {
    return Array.from({ length: count }, () => this.below(10)).join('')
  }

  text(alphabet: string, count: number): string {
    return Array.from({ length: count }, () => alphabet[this.below(alphabet.length)]).join('')
  }
}
