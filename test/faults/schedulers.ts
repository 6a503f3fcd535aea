/**
 * Merchants with subscriptions: each stores a card, schedules it every few seconds, changes it, and
 * ends by cancelling the schedule or by removing the card first; several at once on all hosts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { card } from '../rig/installation/client.ts'
import { channelId } from '../rig/installation/installation.ts'
import { type Answer, type History, isWord } from './history.ts'
import { ask, type Line, type Question } from './line.ts'
import { type Random, randomOf } from './random.ts'

export type Schedulers = {
  /** Resolves when all schedules are cancelled. */
  stop(): Promise<void>
}

export type SchedulerOptions = {
  readonly seed: number
  readonly count: number
  readonly line: Line
  readonly history: History
  /** Maximum number of attempts for one request. */
  readonly mostTries: number
}

/**
 * Seconds between two charges; each divides a minute, so that the checker can compute the instants.
 */
const paces = [1, 2, 3, 5] as const

export function openSchedulers(options: SchedulerOptions): Schedulers {
  let stopped = false
  const all = Promise.all(
    Array.from({ length: options.count }, async (_, no) => {
      const scheduler = new Scheduler(no, randomOf(options.seed, `scheduler ${no}`), options)
      while (!stopped) await scheduler.tell(() => stopped)
    }),
  )
  all.catch(() => undefined)
  return {
    async stop() {
      stopped = true
      await all
    },
  }
}

class Scheduler {
  readonly #no: number
  readonly #random: Random
  readonly #options: SchedulerOptions
  #asked = 0

  constructor(no: number, random: Random, options: SchedulerOptions) {
    this.#no = no
    this.#random = random
    this.#options = options
  }

  async tell(isOver: () => boolean): Promise<void> {
    const { 'card.cvv': _code, ...account } = card('4200000000000000')
    const stored = await this.#post('/v1/registrations', {
      testMode: 'EXTERNAL',
      paymentBrand: 'VISA',
      ...account,
    })
    if (stored?.status !== 200) return
    const pace = this.#random.pick(paces)
    const made = await this.#post('/scheduling/v1/schedules', {
      testMode: 'EXTERNAL',
      registrationId: stored.id,
      amount: '1.00',
      currency: 'EUR',
      paymentType: 'DB',
      'job.expression': `*/${pace} * * * * ?`,
    })
    if (made?.status !== 200) return
    const schedule = `/scheduling/v1/schedules/${made.id}`
    await this.#while(isOver, this.#random.between(2_000, 20_000))
    if (this.#random.next() < 0.3) {
      await this.#post(`${schedule}/reschedule`, {
        'job.expression': `*/${this.#random.pick(paces)} * * * * ?`,
      })
      await this.#while(isOver, this.#random.between(1_000, 8_000))
    }
    // Charges of a removed card fail, and the schedule continues.
    if (this.#random.next() < 0.3) {
      await this.#remove(`/v1/registrations/${stored.id}`)
      await this.#while(isOver, 3_000)
    }
    await this.#remove(schedule)
  }

  async #while(isOver: () => boolean, ms: number): Promise<void> {
    const until = performance.now() + ms
    while (!isOver() && performance.now() < until) await pause(100)
  }

  #post(path: string, fields: Readonly<Record<string, string>>): Promise<Answer | undefined> {
    this.#asked += 1
    const key = `scheduler-${this.#no}-${this.#asked}`
    const body = new URLSearchParams({ entityId: channelId, ...fields }).toString()
    return this.#insist(key, { method: 'POST', path, key, body })
  }

  #remove(path: string): Promise<Answer | undefined> {
    this.#asked += 1
    const key = `scheduler-${this.#no}-${this.#asked}`
    return this.#insist(key, { method: 'DELETE', path: `${path}?entityId=${channelId}` })
  }

  async #insist(reference: string, question: Omit<Question, 'token'>): Promise<Answer | undefined> {
    // Some send every request twice, to two hosts at the same moment.
    if (this.#random.next() < 0.4) {
      await Promise.all([this.#send(reference, question), this.#send(reference, question)])
    }
    for (let no = 0; no < this.#options.mostTries; no += 1) {
      const answer = await this.#send(reference, question)
      if (isWord(answer)) return answer
      await pause(this.#random.between(10, 250) * 2 ** Math.min(no, 4))
    }
    return undefined
  }

  async #send(reference: string, question: Omit<Question, 'token'>): Promise<Answer | undefined> {
    const host = this.#options.line.any(this.#random.next())
    if (host === undefined) {
      await pause(50)
      return undefined
    }
    const startedMs = Date.now()
    const answer = await ask(host, { ...question, token: host.token })
    this.#options.history.add({
      reference,
      type: question.method,
      on: undefined,
      host: host.name,
      startedMs,
      endedMs: Date.now(),
      asks: 'schedule',
      answer,
    })
    return answer
  }
}
