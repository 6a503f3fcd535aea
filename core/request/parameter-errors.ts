import { type Field, isResultCode, limits, type Reason } from '@tollgate/schemas'
import { GatewayError, type ParameterError } from '../errors.ts'
import { printableName, printableValue } from './names.ts'

/** Code of every syntax and format error that has none of its own. */
const invalidParameter: Reason = '200.300.404'

/**
 * Collects what is wrong with a request, one entry per parameter. It stops the request by throwing
 * when it is full: whoever got that much wrong starts over, and hostile input costs no more.
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

  /** Whether anything whose name begins like this was noted. */
  hasBelow(prefix: string): boolean {
    return [...this.#names].some((name) => name.startsWith(prefix))
  }

  /**
   * Adds an entry. The value is repeated only for a known field of class none; everything else could
   * be personal or an account. A second entry for the same name is dropped: the first is the cause.
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

  /** The refusal with every entry. It has a code of its own only when all entries agree on it. */
  refusal(): GatewayError {
    const [code] = this.#codes
    return new GatewayError(
      this.#codes.size === 1 && code !== undefined ? code : invalidParameter,
      { parameterErrors: this.#entries },
    )
  }
}
