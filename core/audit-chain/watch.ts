/**
 * Watches the chain from one process: logs its end, so that an external log reveals a later cut,
 * and notices a stalled chain.
 */
import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Alarm } from '../audit/alarm.ts'
import type { Clock } from '../clock.ts'
import type { Lanes } from '../db/lanes.ts'
import { anchorOf, BrokenChain, type OpenChainKey, withHead } from './chain.ts'
import { anyUnlinked } from './store-chain.ts'

type Parts = {
  readonly lanes: Lanes
  readonly clock: Pick<Clock, 'elapsedMs'>
  readonly securityLog: Log
  readonly alarm: Alarm
  readonly open: OpenChainKey
}

export class ChainWatch {
  readonly #parts: Parts
  #lastNo = 0n
  /** The last logged end, and its time. */
  #toldNo: bigint | undefined
  #toldMs = Number.NEGATIVE_INFINITY
  /** Since when rows wait at this end. */
  #standing: { readonly no: bigint; readonly sinceMs: number } | undefined

  constructor(parts: Parts) {
    this.#parts = parts
  }

  /** @returns whether rows wait for their links. */
  async look(): Promise<boolean> {
    const [row] = await this.#parts.lanes.read(anyUnlinked)
    return row !== undefined && this.see(row)
  }

  /** The same for an end that was read. */
  see({ waits, last_no: no }: { readonly waits: boolean; readonly last_no: bigint }): boolean {
    const { clock, alarm } = this.#parts
    const nowMs = clock.elapsedMs()
    if (!waits) this.#standing = undefined
    else if (this.#standing?.no !== no) this.#standing = { no, sinceMs: nowMs }
    else if (nowMs - this.#standing.sinceMs > limits.auditLagMs) {
      alarm('audit-trail', {
        subject: 'standstill',
        why: 'rows wait and get no links',
        after: String(no),
      })
    }
    this.#lastNo = no
    return waits
  }

  /** Logs the present end once a minute, with or without new rows. */
  async tell(): Promise<void> {
    if (this.#parts.clock.elapsedMs() - this.#toldMs >= limits.alarmMs)
      await this.#tell(this.#lastNo)
  }

  /** Runs before the process ends, since the next process may start late. */
  async last(): Promise<void> {
    const [row] = await this.#parts.lanes.read(anyUnlinked)
    if (row !== undefined) await this.#tell(row.last_no)
  }

  async #tell(no: bigint): Promise<void> {
    if (no === 0n || no === this.#toldNo) return
    const { lanes, open, clock, securityLog, alarm } = this.#parts
    this.#toldMs = clock.elapsedMs()
    // Only a verified end is worth keeping.
    const head = await withHead(lanes, open, async (_, found) => found).catch((error: unknown) => {
      if (error instanceof BrokenChain)
        alarm('audit-trail', { subject: 'chain', why: error.message })
      else this.#toldMs = Number.NEGATIVE_INFINITY
      throw error
    })
    this.#toldNo = head.last_no
    securityLog.info({ anchor: anchorOf(head.last_no, head.last_mac) }, 'the audit trail goes on')
  }
}
