import type { RequestListener } from 'node:http'
import { type Gateway, GatewayError, newId, optionForms, type Pods } from '@tollgate/core'
import { compile } from 'proxy-addr'
import { checkHostOptions, refuseArguments } from './check-options.ts'
import { expressApp } from './express-app.ts'
import { answerFault } from './fault.ts'
import { isLoopback } from './loopback.ts'
import { routerParts, type SurfaceOptions } from './parts.ts'
import { createRouter } from './router.ts'
import {
  closeServer,
  defaultLimits,
  type ListenAddress,
  listen,
  type Malformed,
  openServer,
  type ServerLimits,
} from './server.ts'

export type HostOptions = SurfaceOptions &
  Partial<ListenAddress> & {
    readonly limits?: Partial<ServerLimits>
    /** Time that running requests get to finish at close. Default 40,000. */
    readonly shutdownGraceMs?: number
  }

export type Listening = {
  /**
   * Runs after an uncaught error: requests without a response after `afterMs` get one, since their
   * handlers may be gone.
   */
  faulted(error: unknown, afterMs: number): void
  /** `http://127.0.0.1:8080`. */
  readonly url: string
  /** Takes nothing new and resolves when every running request was answered. The gateway stays open. */
  close(): Promise<void>
}

export type Host = {
  /**
   * The REST surface: an Express app, to be mounted in one of your own ahead of body parsers, or to be
   * called with the objects of Node's server.
   */
  readonly app: RequestListener
  /** Serves it at the address in the options of `createHost`. @throws ListenError · OptionsError for arguments */
  listen(): Promise<Listening>
  /**
   * For an app of your own: long reads end early from now on. Resolves when every running request was
   * answered. The gateway stays open.
   */
  close(): Promise<void>
}

const malformed: Readonly<Record<Malformed, string>> = {
  'headers too large': 'the headers are larger than 16384 bytes',
  'too slow': 'the request did not arrive in time',
  malformed: 'this is no HTTP request',
  'no Host header': 'the Host header is missing',
  'several Host headers': 'it has more than one Host header',
}

/**
 * The hosted surface of a gateway, or of several pods.
 *
 * @throws OptionsError naming every option that is unknown or wrong · Error when an origin does not fit.
 */
export function createHost(served: Gateway | Pods, options: HostOptions = {}): Host {
  checkHostOptions('createHost', served, options)
  const parts = routerParts(served, options)
  const { gateway, log, office, state, underWay } = parts
  const app = expressApp(createRouter(parts), parts.trustedProxy)
  const address: ListenAddress = {
    host: options.host ?? '127.0.0.1',
    port: options.port ?? 8080,
    tls: options.tls,
  }
  const describe = (problem: Malformed) => {
    const description = `invalid request message: ${malformed[problem]}`
    try {
      const requestId = newId()
      const { body } = gateway.refuse(new GatewayError('200.100.103', { description }), requestId)
      log.info({ problem, status: 400, ndc: requestId }, 'no request')
      return JSON.stringify(body)
    } catch {
      // Called within the server's own events, where an exception would be uncaught.
      return JSON.stringify({ result: { code: '200.100.103', description } })
    }
  }
  return {
    app,
    close() {
      state.closing = true
      return underWay.quiet()
    },
    async listen(...given: readonly unknown[]) {
      refuseArguments(given)
      const limits = optionForms.withDefaults(defaultLimits, options.limits)
      const isProxy = compile([...parts.trustedProxy])
      const server = openServer(
        app,
        address,
        limits,
        describe,
        (one) => isProxy(one, 0),
        (client, limit) =>
          gateway.alarm('connections', { subject: client, limit, most: limits[limit] }),
      )
      const url = await listen(server, address)
      if (office.names.length === 0) office.names = ownNames(gateway, address, url)
      let closed: Promise<void> | undefined
      return {
        url,
        faulted(error, afterMs) {
          underWay.forgotten(afterMs, (response, requestId) =>
            answerFault({ gateway, log }, response, error, requestId),
          )
        },
        close() {
          state.closing = true
          closed ??= closeServer(server, options.shutdownGraceMs ?? 40_000)
          return closed
        },
      }
    },
  }
}

/** Local clients may use either name of this machine. */
function ownNames(
  { environment }: Gateway,
  { host }: ListenAddress,
  url: string,
): readonly string[] {
  if (environment !== 'test' || !isLoopback(host)) return []
  const { protocol, port } = new URL(url)
  const names = [url, `${protocol}//localhost:${port}`, `${protocol}//127.0.0.1:${port}`]
  return [...new Set(names.map((name) => new URL(name).origin))]
}
