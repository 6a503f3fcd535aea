const brand = Symbol.for('tollgate.Sensitive')
const hidden = '[sensitive]'

/**
 * A value that must not reach a log, an error or a table. It prints and serialises as
 * `[sensitive]`; only `reveal()` returns the value. The brand is a registered symbol, so two copies
 * of this package in one process recognise each other's values.
 */
export class Sensitive<T = string> {
  readonly #value: T
  readonly [brand] = true

  constructor(value: T) {
    this.#value = value
  }

  reveal(): T {
    return this.#value
  }

  toString(): string {
    return hidden
  }

  toJSON(): string {
    return hidden
  }

  [Symbol.toPrimitive](): string {
    return hidden
  }

  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return hidden
  }

  static is(value: unknown): value is Sensitive<unknown> {
    return typeof value === 'object' && value !== null && brand in value
  }
}
