/**
 * Reads the elements of a settlement file, stages its records, and returns everything else of it. Memory
 * holds a few thousand records at a time, however long the file is.
 */
import type { Settlement, SettlementItem } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { type Digest, maskedAccounts } from '../redaction/references.ts'
import { ItemCheck } from './checked-item.ts'
import { Exceptions } from './exceptions.ts'
import { headBytes, seemsToBe } from './foreign-bytes.ts'
import { digestOfNumber } from './known-bytes.ts'
import { occurrenceKey } from './record-key.ts'
import type { ScopeBook } from './scope-book.ts'
import type { CheckedItem, StagedBatchLine, StagedRecord } from './types.ts'

/** Why a file is not taken, for operators. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly line: number | null
  constructor(why: string, line: number | null = null) {
    super(why)
    this.line = line
  }
}

export type PlacedBatch = { readonly scopeId: string; readonly batchLine: StagedBatchLine }

/** A file without its records. */
export type ReadFile = {
  readonly reference: string | null
  /** Staged records. */
  readonly records: number
  readonly batchLines: readonly PlacedBatch[]
  readonly exceptions: Exceptions
}

type Given = {
  readonly settlement: Settlement
  readonly bytes: AsyncIterable<Uint8Array>
  readonly skipsBad: boolean
  readonly scopes: ScopeBook
  readonly digest: Digest
  readonly stage: (scopeId: string, record: StagedRecord) => Promise<void>
}

/** @throws Refusal when the file is cut off or cannot be read, and when its trailer does not fit. */
export async function readFile(given: Given): Promise<ReadFile> {
  const check = new ItemCheck(given.settlement, given.digest)
  const reading = new Reading(given)
  const seen: Seen = { head: Buffer.alloc(0) }
  try {
    for await (const item of itemsOf(given.settlement, given.bytes, seen)) {
      const checked = check.checked(item)
      // Most elements are records, which wait for nothing unless a buffer is full.
      await reading.take(checked)
    }
    return reading.result()
  } catch (thrown) {
    const seems = thrown instanceof Refusal ? seemsToBe(seen.head, seen.byParser) : undefined
    if (seems === undefined) throw thrown
    throw new Refusal(`the file is no ${given.settlement.format} file: ${seems}`)
  }
}

/** What the reading of a file saw besides its elements. */
type Seen = { head: Buffer; byBytes?: unknown; byParser?: unknown }

class Reading {
  readonly #given: Given
  readonly #exceptions = new Exceptions()
  readonly #batchLines: PlacedBatch[] = []
  /** How often the key of a batch line came. */
  readonly #twins = new Map<string, number>()
  readonly #totals = new Map<string, bigint>()
  #reference: string | null = null
  #records = 0
  /** Records and batch lines, those of unknown accounts too. */
  #lines = 0
  #end: Extract<CheckedItem, { is: 'end' }> | null = null

  constructor(given: Given) {
    this.#given = given
  }

  async take(checked: CheckedItem): Promise<void> {
    if (this.#end !== null) throw new Refusal('lines follow the end of the file')
    switch (checked.is) {
      case 'record':
        return this.#record(checked.record)
      case 'batch':
        return this.#batchLine(checked.batchLine)
      case 'file':
        if (this.#reference !== null) throw new Refusal('the file has two references')
        this.#reference = checked.reference
        return
      case 'exception':
        return this.#exceptions.add(checked.exception)
      case 'end':
        this.#end = checked
        return
      case 'bad': {
        const { line, why } = checked
        if (!this.#given.skipsBad) throw new Refusal(why, line === 0 ? null : line)
        this.#exceptions.add({ line, kind: 'UNREADABLE', why })
      }
    }
  }

  async #record(record: StagedRecord): Promise<void> {
    this.#lines += 1
    const { settledCurrency: currency, settledMinor, cashflow } = record
    const signed = cashflow === 'POS' ? settledMinor : -settledMinor
    this.#totals.set(currency, (this.#totals.get(currency) ?? 0n) + signed)
    const scopeId = await this.#scopeOf(record)
    if (scopeId === undefined) return
    this.#records += 1
    await this.#given.stage(scopeId, record)
  }

  async #batchLine(batchLine: StagedBatchLine): Promise<void> {
    this.#lines += 1
    const scopeId = await this.#scopeOf(batchLine)
    if (scopeId === undefined) return
    if (this.#batchLines.length >= limits.settlementBatchLines) {
      throw new Refusal(`the file has more than ${limits.settlementBatchLines} lines about payouts`)
    }
    const name = batchLine.key.toString('base64')
    const occurrence = (this.#twins.get(name) ?? 0) + 1
    this.#twins.set(name, occurrence)
    const key = occurrenceKey(batchLine.key, occurrence)
    this.#batchLines.push({ scopeId, batchLine: { ...batchLine, key } })
  }

  /** The line of an unknown number may be another merchant's, so that nothing of it is kept. */
  async #scopeOf({ line, merchantNumber }: StagedRecord | StagedBatchLine) {
    const scopeId = await this.#given.scopes.of(merchantNumber)
    if (scopeId === undefined) {
      const { scopes, digest } = this.#given
      const account = scopes.isLimited ? 'no account of the importer' : 'no account'
      const why = `${account} has the merchant number ${maskedAccounts(merchantNumber)}`
      const number = digestOfNumber(merchantNumber, digest)
      this.#exceptions.add({ line, kind: 'UNKNOWN_ACCOUNT', why, number })
    }
    return scopeId
  }

  result(): ReadFile {
    if (this.#end === null) {
      throw new Refusal('the file is cut off: it ends before its trailer or payout line')
    }
    this.#checkCount(this.#end.count)
    if (this.#end.totals !== null) this.#checkTotals(this.#end.totals)
    return {
      reference: this.#reference,
      records: this.#records,
      batchLines: this.#batchLines,
      exceptions: this.#exceptions,
    }
  }

  /** A skipped line may be a record or not, so that the trailer may count it or not. */
  #checkCount(count: number | null): void {
    if (count === null) return
    const skipped = this.#exceptions.count('UNREADABLE')
    if (count >= this.#lines && count <= this.#lines + skipped) return
    throw new Refusal(`the trailer counts ${count} lines, and the file has ${this.#lines}`)
  }

  /** The amounts of skipped lines are unknown, so that totals prove nothing beside them. */
  #checkTotals(totals: ReadonlyMap<string, bigint>): void {
    if (this.#exceptions.count('UNREADABLE') > 0) return
    for (const currency of new Set([...this.#totals.keys(), ...totals.keys()])) {
      const sum = this.#totals.get(currency) ?? 0n
      const expected = totals.get(currency) ?? 0n
      if (sum === expected) continue
      throw new Refusal(
        `the trailer has a total of ${expected} minor units of ${currency}, and the records sum up to ${sum}`,
      )
    }
  }
}

/** A parser that throws cannot read the file. Its message may repeat the file, so its name is kept only. */
async function* itemsOf(
  settlement: Settlement,
  bytes: AsyncIterable<Uint8Array>,
  seen: Seen,
): AsyncGenerator<SettlementItem> {
  const watched = (async function* () {
    try {
      for await (const chunk of bytes) {
        const missing = headBytes - seen.head.length
        if (missing > 0) seen.head = Buffer.concat([seen.head, chunk.subarray(0, missing)])
        yield chunk
      }
    } catch (thrown) {
      seen.byBytes = thrown
      throw thrown
    }
  })()
  const items = settlement.parse(watched)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await nextOf(settlement, items, seen)
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await items.return?.().catch(() => {})
  }
}

async function nextOf(
  { format }: Settlement,
  items: AsyncIterator<SettlementItem>,
  seen: Seen,
): Promise<IteratorResult<SettlementItem>> {
  try {
    return await items.next()
  } catch (thrown) {
    if (seen.byBytes !== undefined) throw seen.byBytes
    seen.byParser = thrown
    const name = thrown instanceof Error ? thrown.name.slice(0, 64) : 'unknown'
    throw new Refusal(`the file is no ${format} file: its reader failed (${name})`)
  }
}
