import {
  answerSchema,
  type Definitions,
  definitionsSchema,
  type ObjectSchema,
  requestSchema,
} from './json-schema.ts'
import type { Operation } from './operation.ts'

/** The JSON Schemas of all operations, with the groups they share. */
export type Documents = {
  readonly requests: ReadonlyMap<string, ObjectSchema>
  readonly requestDefinitions: Definitions
  readonly answers: ReadonlyMap<string, ObjectSchema>
  readonly answerDefinitions: Definitions
}

export function documentsOf(operations: ReadonlyMap<string, Operation>): Documents {
  const requestDefinitions: Definitions = new Map()
  const answerDefinitions: Definitions = new Map()
  const requests = new Map<string, ObjectSchema>()
  const answers = new Map<string, ObjectSchema>()
  for (const [name, operation] of operations) {
    requests.set(name, requestSchema(operation, requestDefinitions))
    answers.set(name, answerSchema(operation, answerDefinitions))
  }
  return { requests, requestDefinitions, answers, answerDefinitions }
}

/** One file for each operation and one for the shared groups, by path. */
export function schemaFiles(documents: Documents): Map<string, string> {
  const files = new Map<string, string>()
  const text = (schema: object) => `${JSON.stringify(schema, undefined, 1)}\n`
  for (const kind of ['requests', 'answers'] as const) {
    const definitions =
      kind === 'requests' ? documents.requestDefinitions : documents.answerDefinitions
    files.set(`${kind}/definitions.json`, text(definitionsSchema(kind, definitions)))
    for (const [name, schema] of documents[kind]) files.set(`${kind}/${name}.json`, text(schema))
  }
  return files
}

/** The schema with its references to shared groups rewritten by `to`. */
export function withReferences<T>(schema: T, to: (name: string) => string): T {
  const rewrite = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(rewrite)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [
        key,
        key === '$ref' && typeof inner === 'string'
          ? to(inner.slice(inner.lastIndexOf('/') + 1))
          : rewrite(inner),
      ]),
    )
  }
  return rewrite(schema) as T
}
