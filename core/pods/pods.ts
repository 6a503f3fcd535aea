import { systemClock } from '../clock.ts'
import type { Environment } from '../engine.ts'
import type { Gateway } from '../gateway.ts'
import { highestPod } from '../ids.ts'
import type { HeldKind } from '../pod-lookup/holds.ts'
import { listOfPods, type PodEventsView } from './feed.ts'
import { Finder, type Pod } from './finder.ts'

export type PodState = {
  readonly number: number
  readonly isReady: boolean
  /** Which of its keys this process cannot open, in a sentence. */
  readonly whyShut: string | undefined
}

/**
 * Several databases as one installation: each is a pod with its own gateway, and an entity lives in one pod with
 * everything below it. `createHost` takes it instead of a gateway.
 */
export class Pods {
  readonly #pods: readonly Pod[]
  readonly #finder: Finder
  readonly environment: Environment
  /** The event feed of all pods, for the embedding program. */
  readonly events = {
    list: (...given: Parameters<PodEvents>): Promise<PodEventsView> => listOfPods(this, ...given),
  }

  /**
   * @param away Numbers of pods whose databases cannot be reached yet; `add` brings their gateways later.
   * @throws Error for a number given twice, and for gateways of different environments.
   */
  constructor(gateways: readonly Gateway[], { away = [] }: { away?: readonly number[] } = {}) {
    const [first] = gateways
    if (first === undefined) throw new Error('pods need at least one gateway')
    this.environment = first.environment
    const all: Pod[] = [
      ...gateways.map((gateway) => ({ number: gateway.pod, gateway })),
      ...away.map((number) => ({ number, gateway: undefined })),
    ].sort((one, other) => one.number - other.number)
    const twice = all.find(({ number }, at) => all[at + 1]?.number === number)
    if (twice !== undefined) throw new Error(`pod ${twice.number} is given twice`)
    const wrong = all.find(({ number }) => !(number >= 0 && number <= highestPod))
    if (wrong !== undefined) throw new Error(`a pod has a number from 0 to ${highestPod}`)
    for (const gateway of gateways) this.#refuseOther(gateway)
    this.#pods = all
    this.#finder = new Finder(all, systemClock)
  }

  /** The numbers of all pods, in order. */
  get numbers(): readonly number[] {
    return this.#pods.map(({ number }) => number)
  }

  /** The gateways that are here, in the order of their numbers. */
  get gateways(): readonly Gateway[] {
    return this.#pods.flatMap(({ gateway }) => gateway ?? [])
  }

  /** The gateway of a pod; undefined while its database is away since the start, or for another number. */
  at(number: number): Gateway | undefined {
    return this.#pods.find((pod) => pod.number === number)?.gateway
  }

  /** The gateway of a pod that was away. @throws Error for a number that is not here, or has its gateway. */
  add(gateway: Gateway): void {
    const pod = this.#pods.find(({ number }) => number === gateway.pod)
    if (pod === undefined) throw new Error(`there is no pod ${gateway.pod} here`)
    if (pod.gateway !== undefined) throw new Error(`pod ${gateway.pod} is given twice`)
    this.#refuseOther(gateway)
    pod.gateway = gateway
  }

  /**
   * The gateway of the pod that holds a token or a resource; undefined when no pod does.
   *
   * @throws GatewayError 503 when it may be in a pod that does not answer.
   */
  find(kind: HeldKind, value: string): Promise<Gateway | undefined> {
    return this.#finder.find(kind, value)
  }

  /** The same for what only a question of the caller's own can find. */
  findBy(question: (gateway: Gateway) => Promise<boolean>): Promise<Gateway | undefined> {
    return this.#finder.first(question)
  }

  /** Whether each pod takes requests now. */
  states(): Promise<PodState[]> {
    return Promise.all(
      this.#pods.map(async ({ number, gateway }) => {
        const isReady = gateway !== undefined && (await gateway.isReady())
        return { number, isReady, whyShut: gateway?.whyShut() }
      }),
    )
  }

  /** Closes all gateways. */
  async close(): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway.close()))
  }

  #refuseOther({ environment, pod }: Gateway): void {
    if (environment === this.environment) return
    throw new Error(`pod ${pod} is of the ${environment} environment, and others are not`)
  }
}

type PodEvents = (
  ...given: Parameters<typeof listOfPods> extends [unknown, ...infer Rest] ? Rest : never
) => Promise<PodEventsView>
