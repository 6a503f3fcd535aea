/**
 * The copy of records into the stage table. Each part of a file is a commit: the table is not logged. Lines that are
 * records with the same content are left out: records stay, so that nothing is to be done for them.
 */
import { once } from 'node:events'
import { setImmediate } from 'node:timers/promises'
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import { faultPoint } from '../fault-point.ts'
import type { Steps } from './steps.ts'
import { copyLine, copyStage, knownLines } from './store-stage.ts'
import type { StagedRecord } from './types.ts'

/** Lines until payments of this process have a turn. */
const turnLines = 100

/** Lines of a part that show whether records of it can be known. A new file costs no further look. */
const sampleLines = 50

type Waiting = { readonly scopeId: string; readonly record: StagedRecord }

export class StageCopy {
  readonly #steps: Steps
  readonly #schema: string
  readonly #fileId: string
  #waiting: Waiting[] = []
  /** The part before is copied while the next one is read. */
  #before: Promise<void> = Promise.resolve()
  #staged = 0

  constructor(steps: Steps, schema: string, fileId: string) {
    this.#steps = steps
    this.#schema = schema
    this.#fileId = fileId
  }

  /** Lines in the stage, once all are copied. */
  get staged(): number {
    return this.#staged
  }

  async add(scopeId: string, record: StagedRecord): Promise<void> {
    this.#waiting.push({ scopeId, record })
    if (this.#waiting.length >= limits.settlementCopyLines) await this.#next()
    else if (this.#waiting.length % turnLines === 0) await setImmediate()
  }

  async #next(): Promise<void> {
    await this.#before
    const part = this.#waiting
    this.#waiting = []
    this.#before = this.#copy(part)
    // Heard when the next part is full.
    this.#before.catch(() => {})
  }

  /** Copies the lines that wait. @throws ScopeLost, and the database's own error */
  async end(): Promise<void> {
    await this.#next()
    await this.#before
  }

  /** Waits for a part that is copied while the reading of the file failed: the leases end only after it. */
  async stop(): Promise<void> {
    await this.#before.catch(() => {})
  }

  async #copy(part: readonly Waiting[]): Promise<void> {
    const fresh = await this.#unknown(part)
    if (fresh.length === 0) return
    const text = fresh
      .map(({ scopeId, record }) => copyLine(this.#fileId, scopeId, record, ++this.#staged))
      .join('')
    await this.#steps.work((_, client) => copied(client, this.#schema, text))
    await faultPoint('settlement-copied', this.#fileId)
  }

  /** Equal lines without an id are so many records, and are told apart in the stage. */
  async #unknown(part: readonly Waiting[]): Promise<readonly Waiting[]> {
    const named = part.filter(({ record }) => record.settlementId !== null)
    const some = await this.#known(named.slice(0, sampleLines))
    if (some.size === 0) return part
    const known = await this.#known(named)
    return part.filter(({ record }) => !known.has(record))
  }

  async #known(part: readonly Waiting[]): Promise<ReadonlySet<StagedRecord>> {
    if (part.length === 0) return new Set()
    const lines = part.map(({ scopeId, record: { key, content } }) => ({ scopeId, key, content }))
    const known = await this.#steps.read(knownLines(lines))
    return new Set(known.map(({ no }) => part[no - 1]!.record))
  }
}

async function copied(client: Client, schema: string, text: string): Promise<void> {
  const copy = client.query(copyStage(schema))
  // A connection that breaks can say so twice. Without a listener, the second time would end the process.
  copy.on('error', () => {})
  const finished = once(copy, 'finish')
  copy.end(text)
  await finished
}
