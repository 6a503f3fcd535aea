/** The lines of a file that become no record. Bounded: a file can have a million of them. */
import { limits } from '@tollgate/schemas'
import { type ExceptionKind, type ExceptionLine, exceptionKinds } from './types.ts'

export class Exceptions {
  readonly #kept = new Map<ExceptionKind, ExceptionLine[]>(exceptionKinds.map((kind) => [kind, []]))
  readonly #counts = new Map<ExceptionKind, number>()

  add(exception: ExceptionLine): void {
    const kept = this.#kept.get(exception.kind)!
    if (kept.length < limits.settlementExceptions) kept.push(exception)
    this.#counts.set(exception.kind, this.count(exception.kind) + 1)
  }

  /** Adds `total` lines of a kind, the first of which are known. */
  addAll(kind: ExceptionKind, total: number, first: readonly number[], why: string): void {
    for (const line of first) this.add({ line, kind, why })
    this.#counts.set(kind, this.count(kind) + total - first.length)
  }

  count(kind: ExceptionKind): number {
    return this.#counts.get(kind) ?? 0
  }

  get total(): number {
    return exceptionKinds.reduce((sum, kind) => sum + this.count(kind), 0)
  }

  /** The first lines of each kind. */
  get kept(): readonly ExceptionLine[] {
    return [...this.#kept.values()].flat()
  }

  /** Kinds with lines, the number of lines, and the first of them. */
  get kinds(): readonly {
    readonly kind: ExceptionKind
    readonly count: number
    readonly first: readonly ExceptionLine[]
  }[] {
    return exceptionKinds.flatMap((kind) => {
      const count = this.count(kind)
      if (count === 0) return []
      return [{ kind, count, first: this.#kept.get(kind)!.slice(0, limits.settlementShownLines) }]
    })
  }
}
