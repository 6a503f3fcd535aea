import { type Field, isResultCode, limits, type Reason } from '@tollgate/schemas'
import { GatewayError, type ParameterError } from '../errors.ts'
import { printableName, printableValue } from './names.ts'

/** Code of syntax and format errors without a code of their own. */
const invalidParameter: Reason = '200.300.404'

/**
 * Collects the errors of a request, one entry per parameter. Throws when full: such a request needs
 * a rewrite, and hostile input costs no more.
 */
export class ParameterErrors {
  readonly #entries: ParameterError[] = []
  readonly #names = new Set<string>()
  readonly #codes = new Set<Reason>()

  get isEmpty(): boolean {
    return this.#entries.length === 0
  }

  has(name: string): boolean {
    return this.#names.has(name)
  }

  /** Whether an entry's name begins like this. */
  hasBelow(prefix: string): boolean {
    return [...this.#names].some((name) => name.startsWith(prefix))
  }

  /**
   * Adds an entry. Only values of known fields of class none are repeated; others could be personal
   * data or an account. A second entry for a name is dropped, since the first is the cause.
   */
  add(
    name: string,
    message: string,
    more: { known?: { field: Field; value: string }; code?: string | undefined } = {},
  ): void {
    if (this.#names.has(name)) return
    this.#names.add(name)
    const { known, code } = more
    const echoed = known !== undefined && known.field.class === 'none'
    this.#entries.push({
      name: printableName(name),
      ...(echoed ? { value: printableValue(known.value) } : {}),
      message,
    })
    this.#codes.add(code !== undefined && isResultCode(code) ? code : invalidParameter)
    if (this.#entries.length >= limits.parameterErrors) throw this.refusal()
  }

  /** The refusal with every entry. A code shared by all entries becomes the refusal's own. */
  refusal(): GatewayError {
    const [code] = this.#codes
    return new GatewayError(
      this.#codes.size === 1 && code !== undefined ? code : invalidParameter,
      { parameterErrors: this.#entries },
    )
  }
}
