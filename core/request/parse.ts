import {
  type Condition,
  type Operation,
  type OperationName,
  operationNamed,
  operations,
  type Requests,
} from '@tollgate/schemas'
import { type CheckCodes, codesOf } from './codes.ts'
import { type CheckConditions, conditionsOf } from './conditions.ts'
import { type Decoded, decode, type RequestInput } from './decode.ts'
import { ParameterErrors } from './parameter-errors.ts'
import { type Plan, planOf } from './plan.ts'
import type { Nested } from './request.ts'
import { type Check, Schemas } from './schema.ts'

type Prepared = {
  readonly plan: Plan
  readonly checkSchema: Check
  readonly checkConditions: CheckConditions
  readonly checkCodes: CheckCodes
}

/** Decodes and validates the requests of a set of operations, each prepared at its first request. */
export class RequestParser {
  readonly #find: (name: string) => Operation
  readonly #schemas = new Schemas()
  readonly #prepared = new Map<string, Prepared>()

  constructor(find: (name: string) => Operation) {
    this.#find = find
  }

  /**
   * Reads a request. Throws a GatewayError of status 400 with all its `parameterErrors` when it
   * breaks the tables: 200.300.404, or the value's own code when every error shares it.
   */
  parse(operation: string, input: RequestInput): Decoded {
    return this.open(operation, input).check()
  }

  /** Decodes a request and leaves its validation for later: rights are told before mistakes. */
  open(operation: string, input: RequestInput): Opened<Decoded> {
    const { plan, checkSchema, checkConditions, checkCodes } = this.prepare(operation)
    const errors = new ParameterErrors()
    const decoded = decode(plan, input, errors)
    return {
      entityId: typeof decoded.request.entityId === 'string' ? decoded.request.entityId : undefined,
      paymentTypes: () => paymentTypesIn(decoded.request),
      holds: (field) => decoded.request[field] !== undefined,
      check() {
        checkSchema(decoded.request, errors)
        checkConditions(decoded.request, errors)
        checkCodes(decoded.request, errors)
        if (!errors.isEmpty) throw errors.refusal()
        return decoded
      },
    }
  }

  /** Compiles what the operation needs, so that its first request does not wait for it. */
  prepare(operation: string): Prepared {
    const known = this.#prepared.get(operation)
    if (known !== undefined) return known
    const found = this.#find(operation)
    const prepared = {
      plan: planOf(found),
      checkSchema: this.#schemas.compile(found),
      checkConditions: conditionsOf(found),
      checkCodes: codesOf(found),
    }
    this.#prepared.set(operation, prepared)
    return prepared
  }
}

// What is compiled depends on the tables alone, so all engines of a process share it.
const parser = new RequestParser(operationNamed)

/** A request type as the engine sees it: where an embedder may write a boolean, it finds the word. */
export type TextOnly<T> = T extends string
  ? T
  : T extends boolean
    ? never
    : T extends readonly (infer Element)[]
      ? TextOnly<Element>[]
      : { [Key in keyof T]: TextOnly<T[Key]> }

/** A request that fits its operation's tables. */
export type Parsed<Request = Nested> = Omit<Decoded, 'request'> & { readonly request: Request }

/** A decoded request. `check` validates it and throws like `parseRequest`. */
export type Opened<Request> = {
  readonly entityId: string | undefined
  /** Of the request, and those that it names for single brands. */
  paymentTypes(): readonly string[]
  /** Whether it holds this field of the first level. */
  holds(field: string): boolean
  check(): Request
}

/** Read from the very object that is carried out, so that nobody can show one type and make another. */
function paymentTypesIn({ paymentType, overridePaymentType }: Nested): readonly string[] {
  const overrides = typeof overridePaymentType === 'object' ? overridePaymentType : {}
  return [paymentType, ...Object.values(overrides)].filter((type) => typeof type === 'string')
}

/** Decodes the request of an operation; only what breaks the limits of decoding is refused here. */
export function openRequest(operation: string, input: RequestInput): Opened<Parsed> {
  return parser.open(operation, input)
}

/**
 * Reads the request of an operation of the endpoints table. Throws a GatewayError of status 400 that
 * names every parameter which is wrong: 200.300.404, or the value's own code when all share it.
 */
export function parseRequest<Name extends OperationName>(
  operation: Name,
  input: RequestInput,
): Parsed<TextOnly<Requests[Name]>>
export function parseRequest(operation: string, input: RequestInput): Parsed
export function parseRequest(operation: string, input: RequestInput): Parsed {
  return parser.parse(operation, input)
}

/**
 * A check of conditions that hold in some situations only, such as those of an authentication. It
 * takes a parsed request and throws like `parseRequest`.
 */
export function conditionCheck(
  operation: string,
  conditions: readonly Condition[],
): (request: Nested) => void {
  const check = conditionsOf(operationNamed(operation), conditions)
  return (request) => {
    const errors = new ParameterErrors()
    check(request, errors)
    if (!errors.isEmpty) throw errors.refusal()
  }
}

/** Compiles the given operations, all of them by default, ahead of their first request. */
export function warm(names: readonly string[] = [...operations().keys()]): void {
  for (const name of names) parser.prepare(name)
}
