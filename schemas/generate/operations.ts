import { endpoints } from '../tables/endpoints.ts'
import { groups } from '../tables/index.ts'
import { type Operation, operationOf } from './operation.ts'

let all: ReadonlyMap<string, Operation> | undefined

/** Every operation of the endpoints table by name. Made at the first call, to keep imports fast. */
export function operations(): ReadonlyMap<string, Operation> {
  all ??= new Map(endpoints.map((endpoint) => [endpoint.operation, operationOf(endpoint, groups)]))
  return all
}

/** Throws for an unknown operation, because the caller is wrong, not the request. */
export function operationNamed(name: string): Operation {
  const found = operations().get(name)
  if (found === undefined) throw new Error(`the endpoints table has no operation "${name}"`)
  return found
}
