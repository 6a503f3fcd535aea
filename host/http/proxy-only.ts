import { GatewayError } from '@tollgate/core'
import { endpoints } from '@tollgate/schemas'
import { compile } from 'proxy-addr'
import { type HttpRequest, pathOf } from './exchange.ts'

/** Health checks may come from any address and reveal nothing else. */
const openPaths = new Set(
  endpoints
    .filter(({ operation }) => operation === 'health.live' || operation === 'health.ready')
    .map(({ path }) => path),
)

export const notByProxy = new GatewayError('600.300.200', {
  status: 403,
  description:
    "caller's IP address is not allowed: this host takes requests from its declared proxies only (TOLLGATE_TRUSTED_PROXY); connect to the proxy, over HTTPS",
})

/**
 * Tells requests that came through a declared proxy from those that are refused, since only the former
 * were encrypted on their way. A refused request is not read, and its connection ends with the answer.
 */
export function onlyThroughProxy(
  trustedProxy: readonly string[],
): (request: HttpRequest) => boolean {
  const isProxy = compile([...trustedProxy])
  return ({ method, url, socket: { remoteAddress } }) =>
    (method === 'GET' && openPaths.has(pathOf(url))) ||
    (remoteAddress !== undefined && isProxy(remoteAddress, 0))
}
