/**
 * Which requests belong to which surface. A process serves some of them; where the installation has an origin
 * of its own for one, its paths are not there under the name of another.
 */
import type { ServerResponse } from 'node:http'
import { endpoints, officeEndpoints, type Surface, surfaces } from '@tollgate/schemas'
import type { NextFunction, Request } from 'express'

/** Where each surface is reached from outside; those that have no origin of their own are left out. */
export type Origins = { readonly [Name in Surface]?: string | undefined }

/** Whether the process lives may be asked on every surface. */
const openPaths: ReadonlySet<string> = new Set(
  endpoints.filter(({ operation }) => operation.startsWith('health.')).map(({ path }) => path),
)

/** The first part of every path of the surface `office`. */
const officePart = officeEndpoints[0].path.split('/')[1]

/** Which surface a path is of, whether there is such a path or not. */
const surfaceOf = (path: string): Surface =>
  path.split('/', 2)[1] === officePart ? 'office' : 'merchant'

/**
 * Passes on what may be asked here, under the name that it was sent to. A name that no origin has says
 * nothing: it may be that of a balancer.
 *
 * @param serves what this process serves.
 */
export function onlyOwnPaths(
  serves: ReadonlySet<Surface>,
  origins: Origins,
  notHere: (request: Request, response: ServerResponse) => Promise<void>,
) {
  const byHost = new Map<string, Set<Surface>>()
  for (const surface of surfaces) {
    const origin = origins[surface]
    if (origin === undefined) continue
    const { host } = new URL(origin)
    byHost.set(host, (byHost.get(host) ?? new Set()).add(surface))
  }
  return (request: Request, response: ServerResponse, next: NextFunction): void => {
    const surface = surfaceOf(request.path)
    const named = byHost.get((request.headers.host ?? '').toLowerCase())
    const isHere =
      serves.has(surface) &&
      (named === undefined || named.has(surface) || origins[surface] === undefined)
    if (isHere || openPaths.has(request.path)) next()
    else void notHere(request, response)
  }
}

/** What a host serves unless it is told: everything while trying out, and no operators' API by accident. */
export const defaultSurfaces = (environment: 'test' | 'live'): readonly Surface[] =>
  environment === 'live' ? surfaces.filter((surface) => surface !== 'office') : surfaces
