/** The acquirer settles during a run: each time a business day ends, and the hosts fetch its file. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Ground } from '../rig/installation/ground.ts'
import { merchantId } from '../rig/installation/installation.ts'

const dayMs = 86_400_000
/** Work on files rests beside payments, so that a fifth of the time is left for it. */
const dayLastsMs = 60_000

export class Settlements {
  readonly #ground: Pick<Ground, 'acquirer' | 'sql'>
  #days = 1
  /** A day on which no money moved has none. */
  #files = 0

  constructor(ground: Pick<Ground, 'acquirer' | 'sql'>) {
    this.#ground = ground
  }

  /** Money that moved since the last day settles on this one, which is in the future. */
  async settle(): Promise<void> {
    const { acquirer } = this.#ground
    this.#days += 1
    const files = await acquirer.settle(merchantId, new Date(Date.now() + this.#days * dayMs))
    this.#files = Math.max(this.#files, files)
    await this.#fetch()
  }

  /** Ends business days, as often as the hosts can take beside payments and deaths. */
  async settleRegularly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await pause(dayLastsMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) return
      // The database may be down; its money settles on the next day.
      await this.settle().catch(() => undefined)
    }
  }

  #fetch(): Promise<unknown> {
    return this.#ground.sql(
      "update tollgate.timer set due_at = now() where kind = 'settlement-fetch'",
    )
  }

  /** Whether the run settled any day. */
  get hasSettled(): boolean {
    return this.#days > 1
  }

  /** Waits until the hosts have carried out every file. */
  async done(withinMs: number): Promise<void> {
    const untilMs = performance.now() + withinMs
    for (;;) {
      const [left] = await this.#ground.sql<{ name: string; state: string }>(
        `select name, state from tollgate.settlement_file
         where state in ('arrived', 'staged', 'decided') order by id limit 1`,
      )
      const [last] = await this.#ground.sql<{ files: bigint }>(
        'select count(distinct name) as files from tollgate.settlement_file',
      )
      if (left === undefined && Number(last!.files) >= this.#files) return
      if (performance.now() > untilMs) {
        const what = left === undefined ? 'a file was not fetched' : `${left.name} is ${left.state}`
        throw new Error(`settlement files are not done: ${what}`)
      }
      await this.#fetch()
      await pause(500)
    }
  }
}
