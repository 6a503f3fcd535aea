/** Which row of a table has the path of a request. */
import { pathOf } from './exchange.ts'

/** A way to a row: one spelling of its path, with `{id}` parameters. */
export type Route<Row> = {
  readonly method: 'GET' | 'POST' | 'DELETE'
  readonly path: string
  /** The last parameter takes the rest of the path. */
  readonly deep: boolean
  readonly row: Row
}

/** The parameters of a path, by their names in the table. */
export type Params = Readonly<Record<string, string>>

export type Found<Row> = {
  readonly route: Route<Row>
  readonly params: Params
}

type Split<Row> = { readonly route: Route<Row>; readonly parts: readonly string[] }

/**
 * The routes of a table by their number of parts, in the order of the table. A path may end with a
 * slash; letters count as they are.
 */
export class Routes<Row> {
  readonly #byLength: ReadonlyMap<number, readonly Split<Row>[]>
  readonly #deep: readonly Split<Row>[]

  constructor(routes: readonly Route<Row>[]) {
    const split = routes.map((route) => ({ route, parts: route.path.split('/') }))
    this.#byLength = Map.groupBy(
      split.filter(({ route }) => !route.deep),
      ({ parts }) => parts.length,
    )
    this.#deep = split.filter(({ route }) => route.deep)
  }

  /** A path parameter that is no valid percent-encoding is no id of ours, so nothing is found. */
  find(method: string, url: string): Found<Row> | undefined {
    const asked = pathOf(url).split('/')
    const reads = method === 'HEAD' ? 'GET' : method
    const deep = this.#deep.find(
      ({ route, parts }) =>
        route.method === reads && asked.length >= parts.length && fits(parts, asked),
    )
    if (deep !== undefined) return found(deep, asked)
    if (asked.length > 2 && asked.at(-1) === '') asked.pop()
    const one = this.#byLength
      .get(asked.length)
      ?.find(({ route, parts }) => route.method === reads && fits(parts, asked))
    return one === undefined ? undefined : found(one, asked)
  }
}

/** Whether each part is the same text, or any text for a parameter. */
export const fits = (parts: readonly string[], asked: readonly string[]): boolean =>
  parts.every((part, at) => (part.startsWith('{') ? asked[at] !== '' : part === asked[at]))

function found<Row>(
  { route, parts }: Split<Row>,
  asked: readonly string[],
): Found<Row> | undefined {
  const params: Record<string, string> = {}
  try {
    for (const [at, part] of parts.entries()) {
      if (!part.startsWith('{')) continue
      const value = route.deep && at === parts.length - 1 ? asked.slice(at).join('/') : asked[at]!
      params[part.slice(1, -1)] = decodeURIComponent(value)
    }
  } catch {
    return undefined
  }
  return { route, params }
}
