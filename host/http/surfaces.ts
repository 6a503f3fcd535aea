/**
 * Assigns requests to surfaces. A process serves some of them. A surface with its own origin is not
 * available under another surface's name.
 */
import { endpoints, officeEndpoints, type Surface, surfaces } from '@tollgate/schemas'
import { type HttpRequest, pathOf } from './exchange.ts'
import { fits } from './routes.ts'

/** The external origin of each surface; surfaces without their own origin are absent. */
export type Origins = { readonly [Name in Surface]?: string | undefined }

/** Whether the process lives may be asked on every surface. */
const openPaths: ReadonlySet<string> = new Set(
  endpoints.filter(({ operation }) => operation.startsWith('health.')).map(({ path }) => path),
)

/** The first part of every path of the surface `office`. */
const officePart = officeEndpoints[0].path.split('/')[1]

const spelled = ({ path, alsoPaths = [] }: (typeof endpoints)[number]) => [path, ...alsoPaths]

const isShared = new Set(
  endpoints.flatMap((row) => (row.surfaces === undefined ? [] : spelled(row))),
)

/** Rows of paths that are not of merchants alone, by their number of parts, in the order of routing. */
const sharedRows = Map.groupBy(
  endpoints.flatMap((row) =>
    spelled(row)
      .filter((path) => isShared.has(path))
      .map((path) => ({
        method: row.method,
        parts: path.split('/'),
        surfaces: row.surfaces ?? (['merchant'] as const),
      })),
  ),
  ({ parts }) => parts.length,
)

const ofMerchants: readonly Surface[] = ['merchant']

/**
 * The surfaces of a request, whether there is such a path or not. The same path may be a merchant's
 * by one method and a shopper's by another.
 */
function surfacesOf(path: string, method: string): readonly Surface[] {
  const asked = path.split('/')
  if (asked[1] === officePart) return ['office']
  if (asked.at(-1) === '') asked.pop()
  const rows = sharedRows.get(asked.length)?.filter(({ parts }) => fits(parts, asked)) ?? []
  const row = rows.find((one) => one.method === (method === 'HEAD' ? 'GET' : method)) ?? rows[0]
  return row?.surfaces ?? ofMerchants
}

type Named = { readonly host: string; readonly port: string }

/** The normalised name of a Host header: lower case, without the final dot. Undefined: no name. */
function namedBy(header: string): Named | undefined {
  const found = /^(\[[^\]]*\]|[^:]*)(?::([0-9]*))?$/.exec(header.trim().toLowerCase())
  const host = withoutFinalDots(found?.[1] ?? '')
  return host === '' ? undefined : { host, port: found?.[2] ?? '' }
}

/**
 * Tells requests whose surface is available under their host name from all others. An unknown name may be a
 * balancer's, so it serves merchants. Card fields and the office are available under their own names alone.
 *
 * @param serves the surfaces of this process.
 */
export function isOwnPath(
  serves: ReadonlySet<Surface>,
  origins: Origins,
): (request: HttpRequest) => boolean {
  const known = surfaces.flatMap((surface) => {
    const origin = origins[surface]
    if (origin === undefined) return []
    const { protocol, host } = new URL(origin)
    const usual = protocol === 'https:' ? '443' : '80'
    const { host: name, port } = namedBy(host)!
    return [{ surface, name, ports: port === '' ? ['', usual] : [port] }]
  })
  /** The surfaces of a name; under a port that none of them has, all that share the name. */
  const surfacesUnder = ({ host, port }: Named): ReadonlySet<Surface> | undefined => {
    const sameName = known.filter(({ name }) => name === host)
    const samePort = sameName.filter(({ ports }) => ports.includes(port))
    const found = samePort.length > 0 ? samePort : sameName
    return found.length === 0 ? undefined : new Set(found.map(({ surface }) => surface))
  }
  return ({ method, url, headers }) => {
    const path = pathOf(url)
    const name = namedBy(headers.host ?? '')
    const named = name === undefined ? undefined : surfacesUnder(name)
    // Under the name of card fields alone there is nothing else, whichever origins are set.
    const isOfFields = named?.has('fields') === true && !named.has('merchant')
    const isHere = (surface: Surface) =>
      serves.has(surface) &&
      (surface === 'fields' || !isOfFields) &&
      (origins[surface] === undefined ||
        (named === undefined ? surface === 'merchant' : named.has(surface)))
    return surfacesOf(path, method).some(isHere) || openPaths.has(path)
  }
}

/** The default surfaces: everything in test, and no accidental operators' API on live. */
export const defaultSurfaces = (environment: 'test' | 'live'): readonly Surface[] =>
  environment === 'live' ? surfaces.filter((surface) => surface !== 'office') : surfaces

function withoutFinalDots(name: string): string {
  let end = name.length
  while (name[end - 1] === '.') end -= 1
  return name.slice(0, end)
}
