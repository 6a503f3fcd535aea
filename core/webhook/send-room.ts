/** The room of a process for attempts. Slow and failing endpoints take no room from fast ones. */
import { limits } from '@tollgate/schemas'
import type { EndpointQueue } from './endpoint-queue.ts'

/** An attempt that takes room from its count until its end. */
export type Counted = { begins(): void; ends(): void }

export class SendRoom {
  /** Queues that wait for room in the process: healthy ones and failing ones. */
  readonly #starved = { working: new Set<EndpointQueue>(), failing: new Set<EndpointQueue>() }
  #running = 0
  #fast = 0
  #toFailing = 0
  readonly #resume: (queue: EndpointQueue) => void
  readonly #onRoom: () => void

  /**
   * @param resume called with a waiting queue that got room.
   * @param onRoom called when so few queues wait that the process can claim more deliveries.
   */
  constructor(resume: (queue: EndpointQueue) => void, onRoom: () => void) {
    this.#resume = resume
    this.#onRoom = onRoom
  }

  /** Whether healthy endpoints wait for room: further claims would wait as well. */
  get isBehind(): boolean {
    return this.#starved.working.size >= limits.webhooksStarved
  }

  isFreeFor(queue: EndpointQueue): boolean {
    if (this.#running >= limits.webhooksRunning) return false
    return queue.failures > 0
      ? this.#toFailing < limits.webhooksToFailing
      : this.#fast < limits.webhooksFast
  }

  waitFor(queue: EndpointQueue): void {
    this.#starvedLike(queue).add(queue)
  }

  /** Counts an attempt. A slow attempt soon releases its place to others. */
  count(queue: EndpointQueue): Counted {
    const isFailing = queue.failures > 0
    let isFast = !isFailing
    this.#running += 1
    if (isFailing) this.#toFailing += 1
    else this.#fast += 1
    const slow = () => {
      if (isFast) this.#fast -= 1
      isFast = false
      this.#feed()
    }
    let timer: NodeJS.Timeout | undefined
    return {
      begins() {
        timer = setTimeout(slow, limits.webhookSlowMs)
      },
      ends: () => {
        clearTimeout(timer)
        this.#running -= 1
        if (isFailing) this.#toFailing -= 1
        slow()
      },
    }
  }

  #starvedLike(queue: EndpointQueue): Set<EndpointQueue> {
    return queue.failures > 0 ? this.#starved.failing : this.#starved.working
  }

  /** Gives room to the queues that waited longest. */
  #feed(): void {
    const wasBehind = this.isBehind
    for (const waiting of [this.#starved.working, this.#starved.failing]) {
      for (const queue of waiting) {
        // The queue's health changed since it began to wait, so it joins the other list.
        if (this.#starvedLike(queue) === waiting && !this.isFreeFor(queue)) break
        waiting.delete(queue)
        this.#resume(queue)
      }
    }
    if (wasBehind && !this.isBehind) this.#onRoom()
  }
}
