/**
 * Finds the pod of a token or of a resource. The pods themselves are the directory: each is asked once, and the answer
 * is kept. A directory of its own would be a database that all pods depend on.
 */
import { limits } from '@tollgate/schemas'
import type { Clock } from '../clock.ts'
import { FreshCache } from '../entity/cache.ts'
import { plainHash } from '../entity/token.ts'
import { GatewayError } from '../errors.ts'
import type { Gateway } from '../gateway.ts'
import type { HeldKind } from '../pod-lookup/holds.ts'

/** A gateway of another pod, or the place of one whose database was away at the start. */
export type Pod = { readonly number: number; gateway: Gateway | undefined }

type Asked = { readonly pod: Pod; readonly found: boolean | 'away' }

/** Kinds of which a request shows one only once or a few times; they must not displace the others. */
const passing: ReadonlySet<HeldKind> = new Set(['payment', 'checkout'])

/** A resource stays in its pod, so what was found is kept for as long as there is room. */
const foundMs = 3_600_000

/** How long one pod may take to say whether it has something. A database that is down says so at once. */
const lookUpMs = 5_000

export class Finder {
  readonly #pods: readonly Pod[]
  readonly #clock: Pick<Clock, 'elapsedMs'>
  readonly #lasting: FreshCache<Pod | 'nowhere'>
  readonly #passing: FreshCache<Pod | 'nowhere'>
  /** Pods that did not answer are not asked again before this time. */
  readonly #awayUntil = new Map<Pod, number>()

  constructor(pods: readonly Pod[], clock: Pick<Clock, 'elapsedMs'>) {
    this.#pods = pods
    this.#clock = clock
    const cache = () =>
      new FreshCache<Pod | 'nowhere'>({
        freshMs: (found) => (found === 'nowhere' ? limits.unknownTokenCacheMs : foundMs),
        failClosedMs: 0,
        max: limits.cachedTokens,
        nowMs: () => clock.elapsedMs(),
      })
    this.#lasting = cache()
    this.#passing = cache()
  }

  /**
   * The gateway of the pod that holds this; undefined when no pod does.
   *
   * @throws GatewayError 503 when no pod has it and one does not answer, since that one may have it.
   */
  async find(kind: HeldKind, value: string): Promise<Gateway | undefined> {
    // A token is a secret, so memory holds its hash.
    const key = `${kind} ${kind === 'token' ? plainHash(value).toString('base64') : value}`
    const cache = passing.has(kind) ? this.#passing : this.#lasting
    const found = await cache.get(key, () => this.#ask((gateway) => gateway.holds(kind, value)))
    return found === 'nowhere' ? undefined : found.gateway
  }

  /** The same, by a question of the caller's own, whose answer is not kept. */
  async first(question: (gateway: Gateway) => Promise<boolean>): Promise<Gateway | undefined> {
    const found = await this.#ask(question)
    return found === 'nowhere' ? undefined : found.gateway
  }

  /** Asks all pods at once. The first that has it is the answer, so a pod that hangs delays no other. */
  async #ask(question: (gateway: Gateway) => Promise<boolean>): Promise<Pod | 'nowhere'> {
    const asking = this.#pods.map((pod) => this.#askOne(pod, question))
    const has = asking.map(async (one) => {
      const { pod, found } = await one
      return found === true ? pod : Promise.reject(new Error('not here'))
    })
    const holder = await Promise.any(has).catch(() => undefined)
    if (holder !== undefined) return holder
    const all = await Promise.all(asking)
    if (all.every(({ found }) => found === false)) return 'nowhere'
    throw new GatewayError('800.800.801', { status: 503, retryAfterSeconds: 1 })
  }

  async #askOne(pod: Pod, question: (gateway: Gateway) => Promise<boolean>): Promise<Asked> {
    const { gateway } = pod
    const until = this.#awayUntil.get(pod) ?? Number.NEGATIVE_INFINITY
    if (gateway === undefined || this.#clock.elapsedMs() < until) return { pod, found: 'away' }
    const late = Promise.withResolvers<'away'>()
    const timer = setTimeout(() => late.resolve('away'), lookUpMs)
    const asked = question(gateway).catch(() => 'away' as const)
    const found = await Promise.race([asked, late.promise])
    clearTimeout(timer)
    if (found === 'away') {
      this.#awayUntil.set(pod, this.#clock.elapsedMs() + limits.readinessMs)
    }
    return { pod, found }
  }
}
