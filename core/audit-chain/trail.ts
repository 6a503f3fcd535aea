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

/** Reads and verifies the audit trail. Rows are added only together with their actions. */
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

  /** A page for the office, in a lane of its own: from the row after `after`. */
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

  /** Records that a person read or exported the trail. */
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

  /** The present end of the chain, for safekeeping elsewhere. */
  async anchor(): Promise<string> {
    const [end] = await this.#lanes.read(endOfChain)
    return anchorOf(end!.last_no, end!.last_mac)
  }

  /**
   * Searches the chain for rows that were later changed, removed or added.
   *
   * @param anchors Ends of the chain kept elsewhere, from exports and the log.
   */
  verify(anchors: readonly string[] = []): Promise<Verified> {
    for (const anchor of anchors) {
      if (/^[0-9]{1,18}:([0-9a-f]{64})?$/.test(anchor)) continue
      throw refused('anchor', 'is the number of a link, a colon and 64 hex digits')
    }
    return verifyTrail(this.#lanes, async (id) => (await this.#chainKey(id)).key, anchors)
  }

  /**
   * Deletes rows past their retention, after the chain was verified. The chain continues from the
   * last of them. Requires the owner of the tables.
   *
   * @returns how many. @throws GatewayError 400 for a time in the future, or when the chain has
   * problems.
   */
  async forget(before: Date, by: By): Promise<bigint> {
    const latest = systemClock.realMs() - limits.auditDays * 24 * 3_600_000
    if (!(before.getTime() <= latest)) {
      throw refused('before', `must be ${limits.auditDays} days ago or earlier`)
    }
    const { problems, unchecked } = await this.verify()
    if (problems.length > unchecked.length)
      throw refused('before', `finds a trail that was changed: ${problems[0]}`)
    if (unchecked.length > 0) throw refused('before', `finds what proves nothing: ${unchecked[0]}`)
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

/** Verifies the trail of a database without an engine, beside running processes. */
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
