/** Paths of requests: as clients send them, and as the endpoints table reads them. */
import type { ServerResponse } from 'node:http'
import type { NextFunction, Request } from 'express'

/** Deployed clients join their base URL and the path with two slashes. */
export function withoutDoubleSlashes(
  request: Request,
  _: ServerResponse,
  next: NextFunction,
): void {
  const { url } = request
  if (url.includes('//')) {
    const end = url.indexOf('?')
    const path = end === -1 ? url : url.slice(0, end)
    if (path.startsWith('/')) {
      request.url = path.replaceAll(/\/{2,}/g, '/') + (end === -1 ? '' : url.slice(end))
    }
  }
  next()
}

/** The parameters of the path; the parts of a deep one joined again. */
export function parametersOf({ params }: Request): Readonly<Record<string, string>> {
  const given = Object.entries(params as Readonly<Record<string, string | string[]>>)
  return Object.fromEntries(
    given.map(([name, value]) => [name, Array.isArray(value) ? value.join('/') : value]),
  )
}
