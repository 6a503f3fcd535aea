/** Settlement files, for the embedding program and operators. */
import { limits } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import type { Caller } from '../caller/caller.ts'
import { embedder, type RequestOptions } from '../caller/embedder.ts'
import { refuseUnlessHolds } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import type { AccountRow } from '../entity/store.ts'
import { GatewayError } from '../errors.ts'
import { isId } from '../ids.ts'
import { EmptyFile, merchantOfAccount, receive } from './receive.ts'
import { settlementOf } from './scope.ts'
import { FileTooLarge } from './sealed-file.ts'
import { exceptionsOf, fileById, newestFiles } from './store-file.ts'
import { anyAccount } from './store-scope.ts'
import { fileView, type SettlementFileView } from './view.ts'

const most = { files: 1_000, exceptions: 1_000 }

export type ImportOptions = Pick<RequestOptions, 'caller' | 'by'> & {
  /** The merchant account that the file belongs to. */
  readonly accountId: string
  /** Shown to operators. */
  readonly name?: string
  /** Keeps unreadable lines as exceptions, instead of refusing the file. */
  readonly skipBadLines?: boolean
}

export type ImportedFile = {
  /** Of an earlier file with the same bytes, if there is one. */
  readonly id: string
  /** The bytes were imported before, so nothing happens. */
  readonly isRepeat: boolean
  readonly bytes: number
}

export class Settlements {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /**
   * Stores a settlement file, sealed. A worker reads it within seconds; `file` shows the result.
   *
   * @throws GatewayError 400 for an unknown account, an account whose connector reads no settlement files,
   * an empty file and one of more than 4 GiB; 403 without the right `reconcile`.
   */
  readonly import = async (
    stream: AsyncIterable<Uint8Array>,
    options: ImportOptions,
  ): Promise<ImportedFile> => {
    const caller = this.#caller(options, 'settlement.import')
    const account = await this.#account(caller, options.accountId)
    settlementOf(this.#engine, account.connector)
    const merchant = await merchantOfAccount(this.#engine, account)
    if (merchant === undefined) throw wrong('accountId', 'has no merchant number at its institute')
    if (typeof stream?.[Symbol.asyncIterator] !== 'function') {
      throw wrong('stream', 'must be an async iterable of bytes')
    }
    const { connector, mode, id: accountId, channel_id: entityId } = account
    try {
      const { fileId, isRepeat, bytes } = await this.#engine.inFlight.track(
        receive(
          this.#engine,
          {
            ...{ connector, mode, accountId, entityId, merchant },
            name: options.name ?? 'settlement file',
            source: 'import',
            skipsBad: options.skipBadLines === true,
            by: actorOf(caller),
          },
          stream,
        ),
      )
      return { id: fileId, isRepeat, bytes }
    } catch (thrown) {
      if (thrown instanceof EmptyFile) throw wrong('file', 'is empty')
      if (!(thrown instanceof FileTooLarge)) throw thrown
      throw wrong('file', `has more than ${limits.settlementFileBytes} bytes`)
    }
  }

  /** Files of the caller's entity and the entities below it, newest first. */
  readonly files = async (
    options: Pick<RequestOptions, 'caller'> & { readonly limit?: number } = {},
  ): Promise<SettlementFileView[]> => {
    const caller = this.#caller(options, 'settlement.files')
    const { limit = 100 } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > most.files) {
      throw wrong('limit', `must be a whole number from 1 to ${most.files}`)
    }
    const rows = await this.#engine.lanes.read(newestFiles(limit, caller.entityId))
    return rows.map((row) => fileView(row))
  }

  /** One file with its first thousand exceptions. @throws GatewayError 404. */
  readonly file = async (
    id: string,
    options: Pick<RequestOptions, 'caller'> = {},
  ): Promise<SettlementFileView> => {
    const caller = this.#caller(options, 'settlement.file')
    const [row] = isId(id) ? await this.#engine.lanes.read(fileById(id)) : []
    if (row === undefined || !(await this.#acts(caller, row.entity_id))) {
      throw new GatewayError('700.400.580', {
        status: 404,
        description: `There is no settlement file ${isId(id) ? id : 'of this id'}.`,
      })
    }
    return fileView(row, await this.#engine.lanes.read(exceptionsOf(id, most.exceptions)))
  }

  #caller({ caller = embedder, by }: Pick<RequestOptions, 'caller' | 'by'>, what: string): Caller {
    refuseUnlessHolds(this.#engine, caller, 'reconcile', what)
    return by === undefined ? caller : { ...caller, by }
  }

  #acts(caller: Caller, entityId: string): Promise<boolean> {
    return caller.entityId === null
      ? Promise.resolve(true)
      : this.#engine.directory.acts(caller, entityId)
  }

  async #account(caller: Caller, id: unknown): Promise<AccountRow> {
    const [account] =
      typeof id === 'string' && isId(id) ? await this.#engine.lanes.single(anyAccount(id)) : []
    if (account !== undefined && (await this.#acts(caller, account.channel_id))) return account
    throw wrong('accountId', 'must be the id of a merchant account')
  }
}

const wrong = (name: string, message: string): GatewayError =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })
