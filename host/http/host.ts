import { type Gateway, GatewayError, newId, Pods, unfitFieldsUrl } from '@tollgate/core'
import type { Surface } from '@tollgate/schemas'
import type { Express } from 'express'
import { AnswerBudget, type AnswerBudgetOptions } from './answer-budget.ts'
import { BodyBudget, type BodyBudgetOptions } from './body-budget.ts'
import { answerFault } from './fault.ts'
import { isLoopback } from './loopback.ts'
import { type HostLog, silent } from './request-log.ts'
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
import { unfitOrigin } from './session-cookie.ts'
import { defaultSurfaces, type Origins } from './surfaces.ts'
import { defaultThrottle, Refusals, Throttle, type ThrottleOptions } from './throttle.ts'
import { UnderWay } from './under-way.ts'

export type HostOptions = Partial<ListenAddress> & {
  readonly log?: HostLog
  readonly throttle?: Partial<ThrottleOptions>
  readonly limits?: Partial<ServerLimits>
  /** Memory for the bodies of requests under way. */
  readonly bodies?: BodyBudgetOptions
  /** Memory for answers to reads that were not sent yet. */
  readonly answers?: AnswerBudgetOptions
  /** Addresses or subnets of proxies in front, or `loopback`. */
  readonly trustedProxy?: readonly string[]
  /** Refuses requests that did not come through a proxy, except for /healthz and /readyz. */
  readonly proxyOnly?: boolean
  /** The served surfaces. Default: everything in test, all but `office` on live. */
  readonly surfaces?: readonly Surface[]
  /**
   * The external origin of each surface, for example `https://office.example.com`. Operators can
   * log in only with an origin for `office`, except on the loopback of a test installation.
   */
  readonly origins?: Origins
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
  /** The REST surface, to be mounted in an app of your own, ahead of body parsers. */
  readonly app: Express
  /** Serves it. @throws ListenError */
  listen(): Promise<Listening>
}

const malformed: Readonly<Record<Malformed, string>> = {
  'headers too large': 'the headers are larger than 16384 bytes',
  'too slow': 'the request did not arrive in time',
  malformed: 'this is no HTTP request',
  'no Host header': 'the Host header is missing',
}

/** The hosted surface of a gateway, or of several pods. */
export function createHost(served: Gateway | Pods, options: HostOptions = {}): Host {
  const pods = served instanceof Pods ? served : undefined
  // What concerns no single pod, such as a malformed request, any of them can answer.
  const gateway = served instanceof Pods ? served.gateways[0]! : served
  const log = options.log ?? silent
  const state = { closing: false }
  const underWay = new UnderWay()
  const surfaces = new Set(options.surfaces ?? defaultSurfaces(gateway.environment))
  const origins = options.origins ?? {}
  const unfit = unfitFieldsUrl(
    {
      environment: gateway.environment,
      fieldsUrl: origins.fields,
      publicUrl: origins.merchant,
    },
    { fieldsUrl: 'origins.fields', publicUrl: 'origins.merchant' },
  )
  if (unfit !== undefined) throw new Error(unfit)
  const office = { names: officeNames(gateway, surfaces, origins) }
  const app = createRouter({
    gateway,
    pods,
    bodies: new BodyBudget(options.bodies),
    answers: new AnswerBudget(options.answers),
    underWay,
    surfaces,
    origins,
    office,
    proxyOnly: options.proxyOnly ?? false,
    throttle: new Throttle({ ...defaultThrottle, ...options.throttle }),
    refusals: new Refusals(),
    log,
    trustedProxy: options.trustedProxy ?? [],
    state,
  })
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
    async listen() {
      const limits = { ...defaultLimits, ...options.limits }
      const server = openServer(app, address, limits, describe)
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

/** @throws Error when operators would send their passwords to where they do not belong. */
function officeNames(
  { environment }: Gateway,
  surfaces: ReadonlySet<Surface>,
  { office }: Origins,
): readonly string[] {
  if (!surfaces.has('office')) return []
  if (office === undefined) {
    if (environment === 'test') return []
    throw new Error('the surface office needs its origin on live: https://office.example.com')
  }
  const why = unfitOrigin(office, environment)
  if (why !== undefined) throw new Error(`the origin of the surface office ${why}`)
  return [new URL(office).origin]
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
