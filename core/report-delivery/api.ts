import type { Requests } from '@tollgate/schemas'
import { read } from '../call.ts'
import { buildNumber, embedder, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { aboutNow } from '../webhook/operations.ts'
import { destinationWork } from './operations.ts'
import type {
  ReportActionView,
  ReportDeliveriesView,
  ReportDestinationsView,
  ReportDestinationView,
} from './view.ts'

/** Folders of merchants that receive their report files. */
export class ReportDestinations {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = (
    request: Requests['reportDestinations.create'],
    options?: RequestOptions,
  ): Promise<ReportDestinationView> => this.#do('create', '', request, options)
  readonly list = (
    request: Requests['reportDestinations.list'] = {},
    options?: RequestOptions,
  ): Promise<ReportDestinationsView> => this.#do('list', '', request, options)
  /** Also finds removed destinations. */
  readonly get = (id: string, options?: RequestOptions): Promise<ReportDestinationView> =>
    this.#do('get', id, {}, options)
  /** A change of the server needs the login again. */
  readonly update = (
    id: string,
    request: Requests['reportDestinations.update'],
    options?: RequestOptions,
  ): Promise<ReportDestinationView> => this.#do('update', id, request, options)
  readonly remove = (id: string, options?: RequestOptions): Promise<ReportDestinationView> =>
    this.#do('remove', id, {}, options)
  /** Stores a small file now, removes it, and returns the result. */
  readonly test = (id: string, options?: RequestOptions): Promise<ReportActionView> =>
    this.#do('test', id, {}, options)
  readonly replay = (
    id: string,
    request: Requests['reportDestinations.replay'],
    options?: RequestOptions,
  ): Promise<ReportActionView> => this.#do('replay', id, request, options)
  /** Deliveries and their attempts, newest first. */
  readonly deliveries = (
    id: string,
    request: Requests['reportDestinations.deliveries'] = {},
    options?: RequestOptions,
  ): Promise<ReportDeliveriesView> => this.#do('deliveries', id, request, options)

  async #do<View>(
    verb: string,
    id: string,
    values: unknown,
    { caller: given = embedder, by }: RequestOptions = {},
  ): Promise<View> {
    const operation = `reportDestinations.${verb}`
    const caller = by === undefined ? given : { ...given, by }
    const request = await read(this.#engine, caller, operation, { values })
    const about = aboutNow(this.#engine, newId(), buildNumber)
    return (await destinationWork[operation]!(this.#engine, caller, id, request, about)) as View
  }
}
