/** The copy of records into the stage table. The speed of the server limits the reading of the file. */
import { once } from 'node:events'
import { limits } from '@tollgate/schemas'
import type { Client } from '../db/database.ts'
import { copyLine, copyStage } from './store-stage.ts'
import type { StagedRecord } from './types.ts'

export class StageCopy {
  readonly #copy: ReturnType<typeof copyStage>
  readonly #fileId: string
  #lines: string[] = []
  #records = 0
  #failure: Error | undefined

  constructor(client: Client, schema: string, fileId: string) {
    this.#fileId = fileId
    this.#copy = client.query(copyStage(schema))
    // A connection can break while nothing waits for it. Without a listener, that would end the process.
    this.#copy.on('error', (error) => {
      this.#failure ??= error
    })
  }

  async add(scopeId: string, record: StagedRecord): Promise<void> {
    this.#lines.push(copyLine(this.#fileId, scopeId, record, ++this.#records))
    if (this.#lines.length >= limits.settlementCopyLines) await this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure
    const text = this.#lines.join('')
    this.#lines = []
    if (text !== '' && !this.#copy.write(text)) await once(this.#copy, 'drain')
  }

  /** @throws the database's own error */
  async end(): Promise<void> {
    await this.#flush()
    const finished = once(this.#copy, 'finish')
    this.#copy.end()
    await finished
  }

  /** Ends the copy without its rows; the transaction has to roll back. */
  abort(): void {
    if (this.#failure === undefined) this.#copy.destroy()
  }
}
