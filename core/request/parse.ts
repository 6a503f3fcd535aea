import {
  type Condition,
  type Operation,
  type OperationName,
  operationNamed,
  operations,
  type Requests,
} from '@tollgate/schemas'
import { addWrongCheckDigit } from './check-digit.ts'
import { type CheckCodes, codesOf } from './codes.ts'
import { type CheckConditions, conditionsOf } from './conditions.ts'
import { type Decoded, decode, type RequestInput } from './decode.ts'
import { checkPageAddresses } from './page-address.ts'
import { ParameterErrors } from './parameter-errors.ts'
import { type Plan, planOf } from './plan.ts'
import type { Nested } from './request.ts'
import { type Check, Schemas } from './schema.ts'
import { checkSequence } from './sequence.ts'

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
   * Reads a request. A request that breaks the tables throws a GatewayError of status 400 with all
   * `parameterErrors`: 200.300.404, or the value's own code when every error shares it.
   */
  parse(operation: string, input: RequestInput): Decoded {
    return this.open(operation, input).check()
  }

  /** Decodes a request and validates later, so that refusals for rights come before errors. */
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
        checkPageAddresses(decoded.request, errors)
        checkSequence(decoded.request, errors)
        if (!errors.isEmpty) {
          addWrongCheckDigit(decoded.request, errors)
          throw errors.refusal()
        }
        return decoded
      },
    }
  }

  /** Compiles an operation ahead, so that its first request does not wait. */
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

// The compiled form depends on the tables alone, so all engines of a process share it.
const parser = new RequestParser(operationNamed)

/** A request type inside the engine: booleans of embedders arrive as text. */
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
  /** Payment types of the request, including those for single brands. */
  paymentTypes(): readonly string[]
  /** Whether the request has this field of the first level. */
  holds(field: string): boolean
  check(): Request
}

/**
 * Reads the carried-out object itself, so that the checked type and the used type cannot differ.
 */
function paymentTypesIn({ paymentType, overridePaymentType }: Nested): readonly string[] {
  const overrides = typeof overridePaymentType === 'object' ? overridePaymentType : {}
  return [paymentType, ...Object.values(overrides)].filter((type) => typeof type === 'string')
}

/** Decodes the request of an operation; refuses only input beyond the limits of decoding. */
export function openRequest(operation: string, input: RequestInput): Opened<Parsed> {
  return parser.open(operation, input)
}

/**
 * Reads the request of an operation of the endpoints table. Throws a GatewayError of status 400
 * that names every wrong parameter: 200.300.404, or the value's own code when all share it.
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
 * Checks conditions of certain situations, such as an authentication. Takes a parsed request and
 * throws like `parseRequest`.
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
