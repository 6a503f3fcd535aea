/** What the surface is made of, from the options of whoever serves it. */
import { type Gateway, optionForms, Pods, unfitFieldsUrl } from '@tollgate/core'
import type { Surface } from '@tollgate/schemas'
import { AnswerBudget, type AnswerBudgetOptions } from './answer-budget.ts'
import { BodyBudget, type BodyBudgetOptions } from './body-budget.ts'
import { type HostLog, silent } from './request-log.ts'
import type { RouterParts } from './router.ts'
import { unfitOrigin } from './session-cookie.ts'
import { defaultSurfaces, type Origins } from './surfaces.ts'
import { defaultThrottle, Refusals, Throttle, type ThrottleOptions } from './throttle.ts'
import { UnderWay } from './under-way.ts'

/** Options of the surface, whoever reads and writes the bytes. */
export type SurfaceOptions = {
  readonly log?: HostLog
  readonly throttle?: Partial<ThrottleOptions>
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
}

/** @throws Error when an origin does not fit. */
export function routerParts(served: Gateway | Pods, options: SurfaceOptions): RouterParts {
  const pods = served instanceof Pods ? served : undefined
  // What concerns no single pod, such as a malformed request, any of them can answer.
  const gateway = served instanceof Pods ? served.gateways[0]! : served
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
  return {
    gateway,
    pods,
    bodies: new BodyBudget(options.bodies),
    answers: new AnswerBudget(options.answers),
    underWay: new UnderWay(),
    surfaces,
    origins,
    office: { names: officeNames(gateway, surfaces, origins) },
    proxyOnly: options.proxyOnly ?? false,
    throttle: new Throttle(optionForms.withDefaults(defaultThrottle, options.throttle)),
    refusals: new Refusals(),
    log: options.log ?? silent,
    trustedProxy: options.trustedProxy ?? [],
    state: { closing: false },
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
