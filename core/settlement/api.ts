/** Settlement files, for the embedding program and operators. */
import { limits, type RightName } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import type { Caller } from '../caller/caller.ts'
import { embedder, type RequestOptions } from '../caller/embedder.ts'
import { refuseUnlessHolds } from '../caller/rights.ts'
import type { Engine } from '../engine.ts'
import type { AccountRow } from '../entity/store.ts'
import { GatewayError } from '../errors.ts'
import { isId, lowestId } from '../ids.ts'
import { refuseWhenManyWait, searchInTurn } from '../report/search-turns.ts'
import { assign, type Decided, rerun } from './assign.ts'
import { type CheckedRecord, check } from './check.ts'
import { fetchNow } from './fetch.ts'
import { EmptyFile, merchantOfAccount, receive } from './receive.ts'
import { commonEntity, settlementOf } from './scope.ts'
import { FileTooLarge } from './sealed-file.ts'
import { unsettledPayments } from './store-check.ts'
import { entityOfRecord, exceptionalRecords } from './store-exception.ts'
import { exceptionsOf, type FileRow, fileById, newestFiles } from './store-file.ts'
import { anyAccount } from './store-scope.ts'
import {
  type ExceptionalRecordView,
  exceptionalRecordView,
  fileView,
  type SettlementFileView,
  type UnsettledPaymentView,
  unsettledView,
} from './view.ts'

const most = { files: 1_000, exceptions: 1_000, records: 1_000 }

export type ImportOptions = Pick<RequestOptions, 'caller' | 'by'> & {
  /** The merchant account that the file belongs to. */
  readonly accountId: string
  /** Shown to operators. */
  readonly name?: string
  /** Keeps unreadable lines as exceptions, instead of refusing the file. */
  readonly skipBadLines?: boolean
}

export type DecisionOptions = Pick<RequestOptions, 'caller' | 'by'> & {
  /** For the audit trail. */
  readonly reason: string
  /** A remark about the represented person, without proof. */
  readonly onBehalfOf?: string
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
   * Stores a settlement file, sealed. A worker reads it within seconds; `file` shows the result. Lines of
   * merchants outside of the caller's entity are not kept.
   *
   * @throws GatewayError 400 for an unknown account, an account whose connector reads no settlement files,
   * an empty file and one of more than 4 GiB; 403 without the right `reconcile`.
   */
  readonly import = async (
    stream: AsyncIterable<Uint8Array>,
    options: ImportOptions,
  ): Promise<ImportedFile> => {
    const caller = this.#caller(options, 'settlement.import', 'reconcile')
    const account = await this.#account(caller, options.accountId)
    settlementOf(this.#engine, account.connector)
    const merchant = await merchantOfAccount(this.#engine, account)
    if (merchant === undefined) throw wrong('accountId', 'has no merchant number at its institute')
    if (!(await this.#acts(caller, await commonEntity(this.#engine, merchant.channelIds)))) {
      throw wrong(
        'accountId',
        'has a merchant number of other merchants, too: import the file above them',
      )
    }
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
            reachEntityId: caller.entityId,
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

  /**
   * Fetches the new files of an account now. The engine fetches by itself every hour.
   *
   * @returns the number of files. @throws GatewayError 400 for an unknown account, and one whose connector fetches
   * none; 502 when the acquirer's server fails; 403 without the right `reconcile`.
   */
  readonly fetch = async (
    accountId: string,
    options: Pick<RequestOptions, 'caller'> = {},
  ): Promise<number> => {
    const caller = this.#caller(options, 'settlement.fetch', 'reconcile')
    const account = await this.#account(caller, accountId)
    if (settlementOf(this.#engine, account.connector).fetch === undefined) {
      throw wrong(
        'accountId',
        `belongs to ${account.connector}, which fetches no files: import them`,
      )
    }
    return fetchNow(this.#engine, account).catch((thrown: unknown) => {
      const { name } = thrown instanceof Error ? thrown : { name: 'unknown' }
      throw new GatewayError('900.100.200', {
        status: 502,
        description: `the files could not be fetched (${name}); tollgate account check proves the credentials`,
      })
    })
  }

  /** Files of the caller's entity and the entities below it, newest first. */
  readonly files = async (
    options: Pick<RequestOptions, 'caller'> & { readonly limit?: number } = {},
  ): Promise<SettlementFileView[]> => {
    const caller = this.#caller(options, 'settlement.files', 'reconcile')
    const { limit = 100 } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > most.files) {
      throw wrong('limit', `must be a whole number from 1 to ${most.files}`)
    }
    const rows = await this.#engine.lanes.read(newestFiles(limit, caller.entityId))
    return rows.map((row) => fileView(row))
  }

  /**
   * Records that fit no payment, or several, or that differ from their payment; newest first, at the caller's
   * entity and the entities below it.
   *
   * @throws GatewayError 404 for an unknown `fileId`; 403 without the right `reconcile`.
   */
  readonly exceptions = async (
    options: Pick<RequestOptions, 'caller'> & {
      readonly fileId?: string
      /** At most 1,000; 100 by default. */
      readonly limit?: number
    } = {},
  ): Promise<ExceptionalRecordView[]> => {
    const caller = this.#caller(options, 'settlement.exceptions', 'reconcile')
    const { limit = 100, fileId } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > most.records) {
      throw wrong('limit', `must be a whole number from 1 to ${most.records}`)
    }
    if (fileId !== undefined) await this.#file(caller, fileId)
    const rows = await this.#engine.lanes.read(
      exceptionalRecords(limit, caller.entityId, fileId ?? null),
    )
    return rows.map(exceptionalRecordView)
  }

  /**
   * Gives a record to payments of its own merchant, for good: no later file and no retry changes it.
   *
   * @param paymentIds 1 to 100 ids.
   * @throws GatewayError 404 for an unknown record; 400 200.300.404 naming `paymentIds`; 400 700.100.100 for a
   * record whose match is certain; 403 without the rights `reconcile` and `decide`.
   */
  readonly assign = async (
    recordId: string,
    paymentIds: readonly string[],
    options: DecisionOptions,
  ): Promise<void> => {
    const caller = this.#caller(options, 'settlement.assign', 'reconcile', 'decide')
    const decided = decidedOf(caller, options)
    await this.#refuseForeign(caller, recordId)
    await this.#engine.inFlight.track(assign(this.#engine, recordId, paymentIds, decided))
  }

  /**
   * Marks a record as checked: it leaves the list until a correction changes it. Nothing else happens to it.
   *
   * @returns what was checked.
   * @throws GatewayError 404 for an unknown record; 400 700.400.570 for a record that is not to be checked, or that
   * waits for `assign` or `rerun`; 403 without the right `reconcile`.
   */
  readonly check = async (recordId: string, options: DecisionOptions): Promise<CheckedRecord> => {
    const caller = this.#caller(options, 'settlement.check', 'reconcile')
    const decided = decidedOf(caller, options)
    await this.#refuseForeign(caller, recordId)
    return this.#engine.inFlight.track(check(this.#engine, recordId, decided))
  }

  /**
   * Approved payments of a time frame that no record has paid out, by id: of connectors with settlement files, and
   * without preauthorisations and reversed payments. An institute settles some days later.
   *
   * @throws GatewayError 400 200.300.404 naming a wrong option; 403 without the right `reconcile`; 429 when too many
   * reads of the merchant wait.
   */
  readonly unsettled = async (
    options: Pick<RequestOptions, 'caller'> & {
      readonly from: Date
      readonly to: Date
      /** The last payment of the page before. */
      readonly after?: string
      /** At most 1,000; 100 by default. */
      readonly limit?: number
    },
  ): Promise<UnsettledPaymentView[]> => {
    const caller = this.#caller(options, 'settlement.unsettled', 'reconcile')
    const { from, to, after = lowestId, limit = 100 } = options
    if (!Number.isInteger(limit) || limit < 1 || limit > most.records) {
      throw wrong('limit', `must be a whole number from 1 to ${most.records}`)
    }
    if (!(from < to)) throw wrong('from', 'must be before to')
    if (!isId(after)) throw wrong('after', 'must be the id of a payment')
    const settling = this.#engine.registry.names().filter((name) => {
      return this.#engine.registry.get(name)?.connector.settlement !== undefined
    })
    const channels = await this.#engine.directory.visible(caller, undefined)
    const { lanes, directory } = this.#engine
    const merchant = await directory.merchantBehind(caller)
    refuseWhenManyWait(lanes, merchant)
    const rows = await searchInTurn(
      lanes,
      merchant,
      unsettledPayments({ from, to, after, limit }, settling, channels),
    )
    return rows.map(unsettledView)
  }

  /**
   * Reads a file again from its stored bytes, for example after a missing account was added. Decided records
   * stay; the others are compared with all payments of their merchant, and hourly for another 30 days.
   *
   * @throws GatewayError 404 for an unknown file; 400 700.400.580 for a file that is being read, and for one
   * whose bytes are deleted, after 90 days; 403 without the right `reconcile`.
   */
  readonly rerun = async (fileId: string, options: DecisionOptions): Promise<void> => {
    const caller = this.#caller(options, 'settlement.rerun', 'reconcile')
    const decided = decidedOf(caller, options)
    await this.#file(caller, fileId)
    await this.#engine.inFlight.track(rerun(this.#engine, fileId, decided, caller.entityId))
  }

  /** One file with its first thousand exceptions. @throws GatewayError 404. */
  readonly file = async (
    id: string,
    options: Pick<RequestOptions, 'caller'> = {},
  ): Promise<SettlementFileView> => {
    const caller = this.#caller(options, 'settlement.file', 'reconcile')
    const row = await this.#file(caller, id)
    return fileView(row, await this.#engine.lanes.read(exceptionsOf(id, most.exceptions)))
  }

  async #refuseForeign(caller: Caller, recordId: string): Promise<void> {
    const [row] = isId(recordId) ? await this.#engine.lanes.single(entityOfRecord(recordId)) : []
    if (row !== undefined && (await this.#acts(caller, row.entity_id))) return
    throw unknown('settlement record', recordId)
  }

  async #file(caller: Caller, id: string): Promise<FileRow> {
    const [row] = isId(id) ? await this.#engine.lanes.read(fileById(id)) : []
    if (row === undefined || !(await this.#acts(caller, row.entity_id))) {
      throw unknown('settlement file', id)
    }
    return row
  }

  #caller(
    { caller = embedder, by }: Pick<RequestOptions, 'caller' | 'by'>,
    call: string,
    ...rights: readonly RightName[]
  ): Caller {
    for (const right of rights) refuseUnlessHolds(this.#engine, caller, right, call)
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
    throw wrong('accountId', 'must be the id of an acquirer account')
  }
}

const mostCharacters = { reason: 1_000, onBehalfOf: 200 }

function decidedOf(caller: Caller, { reason, onBehalfOf }: DecisionOptions): Decided {
  const given = onBehalfOf === undefined ? { reason } : { reason, onBehalfOf }
  for (const [name, value] of Object.entries(given)) {
    const length = mostCharacters[name as keyof typeof mostCharacters]
    if (typeof value === 'string' && value.trim() !== '' && value.length <= length) continue
    throw wrong(name, `must be 1 to ${length} characters`)
  }
  return { by: actorOf(caller), ...given }
}

const unknown = (noun: string, id: string): GatewayError =>
  new GatewayError('700.400.580', {
    status: 404,
    description: `There is no ${noun} ${isId(id) ? id : 'of this id'}.`,
  })

const wrong = (name: string, message: string): GatewayError =>
  new GatewayError('200.300.404', {
    parameterErrors: [{ name, message }],
    description: `${name} ${message}`,
  })
