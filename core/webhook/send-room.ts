/**
 * The room of a process for attempts. Slow and failing endpoints take no room from fast ones, and those of one
 * merchant leave room to the others.
 */
import { limits } from '@tollgate/schemas'
import { SharedRoom } from '../process/shared-room.ts'
import type { EndpointQueue } from './endpoint-queue.ts'

/** An attempt that takes room from its count until its end. */
export type Counted = { begins(): void; ends(): void }

export class SendRoom {
  readonly #running = new SharedRoom<never>(
    limits.webhooksRunning,
    limits.webhooksRunningPerMerchant,
  )
  /** Without parts, since a merchant holds a place so shortly that turns are enough. */
  readonly #fast = new SharedRoom<EndpointQueue>(limits.webhooksFast)
  readonly #toFailing = new SharedRoom<EndpointQueue>(
    limits.webhooksToFailing,
    limits.webhooksToFailingPerMerchant,
  )
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

  /**
   * Whether healthy endpoints wait for room: further claims would wait as well. Endpoints of a merchant that has its
   * whole part wait for one another alone.
   */
  get isBehind(): boolean {
    let waiting = 0
    for (const [merchant, queues] of this.#fast.waiting()) {
      if (!this.#running.isWithinShare(merchant)) continue
      waiting += Math.min(queues, limits.webhooksStarvedPerMerchant)
      if (waiting >= limits.webhooksStarved) return true
    }
    return false
  }

  isFreeFor(queue: EndpointQueue): boolean {
    const { merchant } = queue
    return this.#running.isFreeFor(merchant) && this.#roomOf(queue).isFreeFor(merchant)
  }

  waitFor(queue: EndpointQueue): void {
    this.#roomOf(queue).waitFor(queue.merchant, queue)
  }

  /** Counts an attempt. A slow attempt soon releases its place to others. */
  count(queue: EndpointQueue): Counted {
    const { merchant } = queue
    const room = this.#roomOf(queue)
    let isFast = room === this.#fast
    this.#running.take(merchant)
    room.take(merchant)
    const slow = () => {
      if (isFast) room.leave(merchant)
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
        this.#running.leave(merchant)
        if (room === this.#toFailing) room.leave(merchant)
        slow()
      },
    }
  }

  #roomOf({ failures }: EndpointQueue): SharedRoom<EndpointQueue> {
    return failures > 0 ? this.#toFailing : this.#fast
  }

  /** Gives room to the queues that waited longest, of each merchant in turn. */
  #feed(): void {
    const wasBehind = this.isBehind
    const mayRun = (merchant: string | undefined) => this.#running.isFreeFor(merchant)
    for (const room of [this.#fast, this.#toFailing]) {
      for (let queue = room.next(mayRun); queue !== undefined; queue = room.next(mayRun)) {
        // A queue whose health changed since it began to wait may wait in the other room from here on.
        this.#resume(queue)
      }
    }
    if (wasBehind && !this.isBehind) this.#onRoom()
  }
}
