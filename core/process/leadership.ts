/** What a process does about failovers: it looks for a new leader, readies it, and tells its operators. */

import type { Log } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { type Database, patience } from '../db/database.ts'
import type { Lanes } from '../db/lanes.ts'
import type { Server } from '../db/leader.ts'
import type * as pg from '../db/pg-types.ts'
import type { Sql } from '../db/sql.ts'
import { errorFields } from '../error-words.ts'
import { leaveOutRepeated } from './store-repeated.ts'
import { addTimeline, newestTimeline, newestTxid, skipTxids } from './store-timeline.ts'

export class Leadership {
  readonly #database: Database
  readonly #log: Log
  #timer: NodeJS.Timeout | undefined
  #probing: Promise<void> | undefined

  constructor(database: Database, log: Log) {
    this.#database = database
    this.#log = log
  }

  /**
   * Readies the present leader, also for a failover while no process ran, and watches from now on.
   *
   * @param lost Restores what a failover lost. Called after each, once the new leader is ready.
   */
  async start(lanes: Lanes, lost: () => Promise<void>): Promise<void> {
    const { leader } = this.#database
    await this.#database.connected(lanes.pools.single, patience(limits.welcomeMs), (client) =>
      leader.welcomeBy((...given) => this.#welcome(...given), client),
    )
    leader.onRise(({ timeline }, was) => {
      this.#log.warn(
        { timeline, before: was.timeline },
        'another database server leads: connections to the one before were closed',
      )
      lost().catch((error: unknown) => {
        const text = 'answers of before the failover could not be compared'
        this.#log.warn(errorFields(error), text)
      })
    })
    this.#timer = setInterval(() => this.#probe(), limits.leaderProbeMs)
    this.#timer.unref()
  }

  /** A probe that fails says nothing: outages show in the statements themselves. */
  #probe(): void {
    this.#probing ??= this.#database
      .probe()
      .catch(() => {})
      .finally(() => {
        this.#probing = undefined
      })
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#probing
  }

  /**
   * The feed orders events by transaction numbers, and its readers keep positions. A leader that never got
   * the last commits of the one before would give their numbers out again, below the readers' positions. So
   * it leaves numbers out before anything is written.
   */
  async #welcome(
    client: pg.ClientBase,
    { timeline, system, nextTxid }: Server,
    knownTxid: bigint,
  ): Promise<void> {
    if (timeline === null) return
    const ask = async <Row>(statement: Sql<Row>): Promise<Row[]> => {
      const { text, values } = this.#database.config(statement)
      return (await client.query({ text, values: values as unknown[] })).rows as Row[]
    }
    const [before] = await ask(newestTimeline)
    const isRestored = before !== undefined && isOther(before.system, system)
    const isNew = before !== undefined && (isRestored || before.timeline < timeline)
    await ask(leaveOutRepeated(isNew))
    if (before !== undefined && !isRestored && before.timeline >= timeline) return
    if (isRestored) {
      const [newest] = await ask(newestTxid)
      const last = await catchUp(client, nextTxid, largest(knownTxid, BigInt(newest?.txid ?? 0)))
      this.#log.info(
        { from: String(nextTxid), to: String(last) },
        'the database was restored into another cluster: this start leaves out the transaction numbers of its rows, so that the event feed and reports miss nothing',
      )
    } else if (before !== undefined) {
      await skip(client, nextTxid, largest(nextTxid, knownTxid) + BigInt(limits.skippedTxids))
    }
    await ask(addTimeline(timeline, system))
  }
}

const isOther = (one: string | null, other: string | null) =>
  one !== null && other !== null && one !== other

const largest = (one: bigint, other: bigint) => (one > other ? one : other)

/**
 * A dump that was restored into a new cluster brings rows with numbers that the server has not reached. Until it
 * has, feed and reports would hide them and miss new ones. Readers know numbers of after the dump, which stay out.
 *
 * @returns the last number that is left out.
 */
async function catchUp(client: pg.ClientBase, next: bigint, newest: bigint): Promise<bigint> {
  if (newest > next && newest - next > BigInt(limits.restoredTxids)) {
    throw new Error(
      `the database was restored into another cluster, whose transaction counter is ${next}, and its rows have numbers up to ${newest}. Before starting any process, run outside of a transaction: ${skipTxids(newest + 1n)}`,
    )
  }
  const last = largest(next, newest) + BigInt(limits.skippedTxids)
  await skip(client, next, last)
  return last
}

/**
 * Uses up numbers in steps that end within any time limit of a statement. A limit of its own would be a setting
 * of the session, which a pooler hands on to strangers.
 */
async function skip(client: pg.ClientBase, next: bigint, last: bigint): Promise<void> {
  const step = BigInt(limits.skippedTxidsAtOnce)
  for (let to = next + step; ; to += step) {
    await client.query(skipTxids(to < last ? to : last))
    if (to >= last) return
  }
}
