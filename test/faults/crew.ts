/** The hosts of a run. A host that ends for any reason is replaced by another process. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../rig/installation/ground.ts'
import type { Host } from '../rig/installation/host.ts'
import { isOverloaded, type Line } from './line.ts'
import { type CrewName, crewNames } from './plan.ts'

/** Short, so that many leases expire in a run. */
export const connectorTimeoutMs = 2_000

type Place = {
  host: Host | undefined
  /** Resolves with the last order for this place. */
  busy: Promise<void>
}

export class Crew implements Line {
  readonly #ground: Ground
  readonly #places = new Map<CrewName, Place>()
  readonly #tending: Promise<void>[] = []
  #closing = false
  /** Hosts that ended other than by kill -9. */
  readonly fallen: string[] = []
  readonly counts = { started: 0, killed: 0 }

  constructor(ground: Ground) {
    this.#ground = ground
    for (const name of crewNames) {
      this.#places.set(name, { host: undefined, busy: Promise.resolve() })
    }
  }

  async start(): Promise<void> {
    await Promise.all(
      crewNames.map(async (name) => {
        const place = this.#places.get(name)!
        place.host = await this.#begin(name)
        this.#tending.push(this.#tend(name, place))
      }),
    )
  }

  async #begin(name: CrewName): Promise<Host> {
    for (let tries = 0; ; tries += 1) {
      try {
        const host = await this.#ground.host(name, { role: name, connectorTimeoutMs })
        this.counts.started += 1
        return host
      } catch (error) {
        // A host cannot start without its database, so the start is repeated as a supervisor would.
        if (this.#closing || tries > mostStarts) throw error
        await pause(250)
      }
    }
  }

  async #tend(name: CrewName, place: Place): Promise<void> {
    while (!this.#closing) {
      const how = await place.host!.gone()
      place.host = undefined
      if (this.#closing) return
      if (how === 'SIGKILL') this.counts.killed += 1
      else this.fallen.push(`${name} ended with ${how}`)
      place.host = await this.#begin(name)
    }
  }

  any(at: number): Host | undefined {
    const fronts = [this.#places.get('api')!.host, this.#places.get('all')!.host]
    const up = fronts.filter((host) => host !== undefined)
    const free = up.filter((host) => !isOverloaded(host))
    const from = free.length > 0 ? free : up
    return from[Math.floor(at * from.length)]
  }

  running(name: CrewName): Host | undefined {
    return this.#places.get(name)!.host
  }

  /** Runs `work` after all earlier orders for this host. */
  inTurn(name: CrewName, work: () => Promise<void>): Promise<void> {
    const place = this.#places.get(name)!
    const mine = place.busy.then(work)
    place.busy = mine.catch(() => undefined)
    return mine
  }

  /** The host of this name, awaited during its start; undefined when it does not start in time. */
  async present(name: CrewName, withinMs = 15_000): Promise<Host | undefined> {
    const until = performance.now() + withinMs
    while (performance.now() < until) {
      const host = this.running(name)
      if (host !== undefined) return host
      await pause(50)
    }
    return undefined
  }

  async allPresent(): Promise<void> {
    for (const name of crewNames) {
      if ((await this.present(name, 60_000)) === undefined) {
        throw new Error(`the host ${name} does not start again`)
      }
    }
  }

  async close(): Promise<void> {
    this.#closing = true
    for (const { host } of this.#places.values()) host?.resume()
    await Promise.all([...this.#places.values()].map(({ host }) => host?.kill()))
    await Promise.allSettled(this.#tending)
  }
}

const mostStarts = 60
