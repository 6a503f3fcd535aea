import { createHash } from 'node:crypto'
import { limits } from '@tollgate/schemas'
import type { Lanes } from '../db/lanes.ts'
import { addWidgetFile, type WidgetFileRow, widgetFile, widgetFilesOf } from './store.ts'
import type { WidgetRelease } from './types.ts'

/** The name of every loader among the stored files. */
export const loaderName = 'paymentWidgets.js'

export type StoredFile = {
  readonly type: string
  /** The content security policy of a frame. */
  readonly policy: string | undefined
  readonly bytes: Buffer
}

/**
 * The versions of the widget in the database. A version is stored completely before a checkout names it, so
 * any process serves any checkout, also while a deployment replaces one version by another.
 */
export class WidgetFiles {
  readonly #lanes: Lanes
  readonly #known = new Map<string, StoredFile>()
  #current: Pick<WidgetRelease['loader'], 'hash' | 'integrity'> | undefined

  constructor(lanes: Lanes) {
    this.#lanes = lanes
  }

  /** The hash and the integrity of the loader for new checkouts; undefined without a widget. */
  get current(): { readonly scriptHash: string; readonly integrity: string } | undefined {
    const loader = this.#current
    return loader && { scriptHash: loader.hash, integrity: loader.integrity }
  }

  /** Stores a version and gives it to the checkouts from here on. */
  async publish(release: WidgetRelease): Promise<void> {
    const rows = rowsOf(release)
    const hashes = [...new Set(rows.map(({ hash }) => hash))]
    const stored = await this.#lanes.read(widgetFilesOf(hashes))
    const isStored = new Set(stored.map(keyOf))
    // The loader is last: a version whose process died in the middle has none.
    for (const row of rows) {
      if (!isStored.has(keyOf(row))) await this.#lanes.single(addWidgetFile(row))
      this.#keep(row)
    }
    this.#current = release.loader
  }

  /** Undefined: no version has such a file. */
  async find(hash: string, name: string): Promise<StoredFile | undefined> {
    if (!isHash(hash) || !isName(name)) return undefined
    const known = this.#known.get(keyOf({ hash, name }))
    if (known !== undefined) return known
    const [row] = await this.#lanes.read(widgetFile(hash, name))
    return row && this.#keep(row)
  }

  /** The `integrity` of a loader. */
  async integrityOf(scriptHash: string): Promise<string | undefined> {
    const file = await this.find(scriptHash, loaderName)
    return file && `sha384-${createHash('sha384').update(file.bytes).digest('base64')}`
  }

  #keep(row: WidgetFileRow): StoredFile {
    const file = { type: row.type, policy: row.policy ?? undefined, bytes: row.bytes }
    // The oldest entry goes first; it is read again when it is asked for.
    for (const oldest of this.#known.keys()) {
      if (this.#known.size < limits.widgetFilesKept) break
      this.#known.delete(oldest)
    }
    this.#known.set(keyOf(row), file)
    return file
  }
}

function rowsOf({ loader, files, frames }: WidgetRelease): WidgetFileRow[] {
  return [
    ...files.map(({ hash, name, type, bytes }) => ({
      hash,
      name,
      type,
      policy: null,
      bytes: Buffer.from(bytes),
    })),
    ...frames.map(({ name, hash, html, contentSecurityPolicy }) => ({
      hash,
      name,
      type: 'text/html;charset=UTF-8',
      policy: contentSecurityPolicy,
      bytes: Buffer.from(html),
    })),
    {
      hash: loader.hash,
      name: loaderName,
      type: loader.type,
      policy: null,
      bytes: Buffer.from(loader.bytes),
    },
  ]
}

const keyOf = ({ hash, name }: { hash: string; name: string }) => `${hash}/${name}`
const isHash = (text: string) => /^[A-Za-z0-9_-]{8,128}$/.test(text)
const isName = (text: string) => /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(text)
