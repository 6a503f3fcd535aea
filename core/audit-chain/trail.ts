import { limits } from '@tollgate/schemas'
import { actorBy, type By } from '../audit/actor.ts'
import { addAudit } from '../audit/store.ts'
import {
  type AuditFilter,
  type AuditRow,
  auditPage,
  auditPlace,
  type Place,
} from '../audit/store-list.ts'
import { systemClock } from '../clock.ts'
import { derive } from '../crypto/cipher.ts'
import { Database, type DatabaseOptions } from '../db/database.ts'
import { Lanes } from '../db/lanes.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { Keyring } from '../vault/keyring.ts'
import type { KeyProvider } from '../vault/keys.ts'
import { bounded } from '../vault/providers.ts'
import { chainPurpose } from '../vault/vault.ts'
import { anchorOf, type ChainKey, sealedHead, withHead } from './chain.ts'
import { endOfChain, forgetThrough, lastBefore, setHead } from './store-chain.ts'
import { type Verified, verifyTrail } from './verify.ts'

const pageRows = 500
const batchRows = 2000

/** The audit trail as people read and check it. Rows come into it with what they tell, and by no other way. */
export class AuditTrail {
  readonly #lanes: Lanes
  readonly #chainKey: (dataKeyId?: string) => Promise<ChainKey>

  constructor(lanes: Lanes, chainKey: (dataKeyId?: string) => Promise<ChainKey>) {
    this.#lanes = lanes
    this.#chainKey = chainKey
  }

  /** The newest rows first. @throws GatewayError 400 naming a filter that is no id. */
  list(filter: AuditFilter = {}, limit = 100): Promise<AuditRow[]> {
    check(filter)
    return this.#lanes.read(auditPage(filter, 'newest', null, limit), limits.slowReadMs)
  }

  /** The same for somebody at a page, in a lane of its own: from the row after `after`. */
  async search(filter: AuditFilter, after: string | undefined, limit: number): Promise<AuditRow[]> {
    check(filter)
    const [place] = after === undefined ? [null] : await this.#lanes.read(auditPlace(after))
    if (place === undefined) return []
    return this.#lanes.search(auditPage(filter, 'newest', place, limit))
  }

  /** All rows, the oldest first, read page by page. @throws GatewayError as `list`. */
  async *export(filter: AuditFilter = {}): AsyncGenerator<AuditRow> {
    check(filter)
    let from: Place | null = null
    for (;;) {
      const rows: AuditRow[] = await this.#lanes.read(
        auditPage(filter, 'oldest', from, pageRows),
        limits.slowReadMs,
      )
      yield* rows
      if (rows.length < pageRows) return
      const { at, id } = rows.at(-1)!
      from = { at, id }
    }
  }

  /** Puts on record that somebody read the trail, or took a copy of it. */
  async tellRead(
    by: By,
    how: 'listed' | 'exported' | 'verified',
    detail: AuditFilter,
    entityId: string | null = null,
  ): Promise<void> {
    const facts = { ...detail, ...(detail.since && { since: detail.since.toISOString() }) }
    await this.#lanes.single(
      addAudit({ actor: actorBy(by), action: `audit.${how}`, entityId, detail: facts }),
    )
  }

  /** Where the chain ends now, to be kept elsewhere. */
  async anchor(): Promise<string> {
    const [end] = await this.#lanes.read(endOfChain)
    return anchorOf(end!.last_no, end!.last_mac)
  }

  /**
   * Looks through the chain for rows that were changed, removed or added afterwards.
   *
   * @param anchors Ends of the chain that were kept elsewhere, as exports and the log tell them.
   */
  verify(anchors: readonly string[] = []): Promise<Verified> {
    for (const anchor of anchors) {
      if (/^[0-9]{1,18}:([0-9a-f]{64})?$/.test(anchor)) continue
      throw refused('anchor', 'is the number of a link, a colon and 64 hex digits')
    }
    return verifyTrail(this.#lanes, async (id) => (await this.#chainKey(id)).key, anchors)
  }

  /**
   * Forgets rows that are past their time, once the chain was found whole. The chain goes on from the last
   * of them. Only the owner of the tables may.
   *
   * @returns how many. @throws GatewayError 400 for a time that is not over, or when the chain has problems.
   */
  async forget(before: Date, by: By): Promise<bigint> {
    const latest = systemClock.realMs() - limits.auditDays * 24 * 3_600_000
    if (!(before.getTime() <= latest)) {
      throw refused('before', `must be ${limits.auditDays} days ago or earlier`)
    }
    const { problems } = await this.verify()
    if (problems.length > 0)
      throw refused('before', `finds a trail that was changed: ${problems[0]}`)
    let sum = 0n
    for (let rows = -1n; rows !== 0n; sum += rows) rows = await this.#forgetSome(before, by)
    return sum
  }

  async #forgetSome(before: Date, by: By): Promise<bigint> {
    const chainKey = await this.#chainKey()
    const { database } = this.#lanes
    return withHead(this.#lanes, this.#chainKey, async (client, head) => {
      const most = head.forgotten_no + BigInt(batchRows)
      const [last] = await database.query(client, lastBefore(before, head.forgotten_no, most))
      if (last === undefined) return 0n
      const [row] = await database.query(client, forgetThrough(last.no))
      const after = { ...head, forgotten_no: last.no, forgotten_mac: last.mac }
      await database.query(client, setHead(sealedHead(chainKey, after)))
      const anchor = anchorOf(last.no, last.mac)
      const detail = { before: before.toISOString(), rows: String(row!.forgotten), anchor }
      await database.query(
        client,
        addAudit({ actor: actorBy(by), action: 'audit.forgotten', detail }),
      )
      return row!.forgotten
    })
  }
}

function check({ entity, resource }: AuditFilter): void {
  for (const [name, id] of Object.entries({ entity, resource })) {
    if (id !== undefined && !isId(id)) throw refused(name, 'is 32 lower-case hex characters')
  }
}

const refused = (name: string, message: string) =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })

/** Looks through the trail of a database beside the processes that use it, without an engine. */
export async function verifyAudit(options: {
  readonly database: DatabaseOptions
  readonly keys: KeyProvider
}): Promise<Verified> {
  const database = new Database(options.database)
  try {
    const lanes = new Lanes(database, { single: 1, read: 1 })
    const keyring = new Keyring({
      lanes,
      keys: bounded(options.keys),
      clock: systemClock,
      log: { info() {}, warn() {} },
      keepMs: Number.POSITIVE_INFINITY,
    })
    const open = async (id: string) => derive((await keyring.get(id)).key, chainPurpose)
    return await verifyTrail(lanes, open)
  } finally {
    await database.close()
  }
}
