import type { ServerResponse } from 'node:http'
import { GatewayError } from '@tollgate/core'
import { endpoints } from '@tollgate/schemas'
import type { NextFunction, Request } from 'express'

/** Health checks may come from any address and reveal nothing else. */
const openPaths = new Set(
  endpoints
    .filter(({ operation }) => operation === 'health.live' || operation === 'health.ready')
    .map(({ path }) => path),
)

const notByProxy = new GatewayError('600.300.200', {
  status: 403,
  description:
    "caller's IP address is not allowed: this host takes requests from its declared proxies only (TOLLGATE_TRUSTED_PROXY); connect to the proxy, over HTTPS",
})

/**
 * Refuses requests that did not come through a declared proxy, since only those were encrypted on
 * their way. The request is not read, and the connection ends with the response.
 *
 * @param isProxy by address of the other end of the connection.
 */
export function onlyThroughProxy(
  isProxy: (address: string, hop: number) => boolean,
  refuse: (request: Request, response: ServerResponse, error: GatewayError) => Promise<void>,
) {
  return (request: Request, response: ServerResponse, next: NextFunction): void => {
    const { remoteAddress } = request.socket
    const isOpen = request.method === 'GET' && openPaths.has(request.path)
    if (isOpen || (remoteAddress !== undefined && isProxy(remoteAddress, 0))) next()
    else void refuse(request, response, notByProxy)
  }
}
