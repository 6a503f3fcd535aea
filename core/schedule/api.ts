import type { Requests } from '@tollgate/schemas'
import { type Request, read } from '../call.ts'
import { requireId } from '../caller/call-options.ts'
import type { Caller } from '../caller/caller.ts'
import { buildNumber, callerIn, type RequestOptions } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { changeSchedule, endSchedule } from './change.ts'
import {
  createSchedule,
  listExecutions,
  listSchedules,
  previewSchedule,
  readSchedule,
  type ScheduleWithNext,
} from './schedules.ts'
import {
  type Envelope,
  type ExecutionsView,
  executionsView,
  type PreviewView,
  previewView,
  type SchedulesView,
  type ScheduleView,
  schedulesView,
  scheduleView,
} from './view.ts'

/**
 * Schedules: charges of a registration at the times of a cron expression.
 *
 * @throws GatewayError like `payments`; 100.250.1xx for a job that cannot run.
 */
export class Schedules {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  readonly create = (
    request: Requests['schedules.create'],
    options: RequestOptions = {},
  ): Promise<ScheduleView> =>
    this.#schedule('schedules.create', request, options, (caller, read) =>
      createSchedule(this.#engine, caller, read, options.idempotencyKey),
    )
  readonly get = (id: string, options: RequestOptions = {}): Promise<ScheduleView> =>
    this.#schedule('schedules.get', {}, options, (caller) => {
      requireId(id)
      return readSchedule(this.#engine, caller, id, undefined)
    })
  /** Schedules of a registration, newest first. */
  readonly list = async (
    request: Requests['schedules.list'],
    options: RequestOptions = {},
  ): Promise<SchedulesView> => {
    const caller = callerIn(options)
    const read = await this.#read(caller, 'schedules.list', request)
    const page = await listSchedules(this.#engine, caller, read)
    return schedulesView(newId(), page, this.#envelope())
  }
  /** Executions and missed due times of a schedule, newest first. */
  readonly executions = async (
    id: string,
    request: Requests['schedules.executions'] = {},
    options: RequestOptions = {},
  ): Promise<ExecutionsView> => {
    const caller = callerIn(options)
    const read = await this.#read(caller, 'schedules.executions', request)
    const page = await listExecutions(this.#engine, caller, id, read)
    return executionsView(id, page, this.#envelope())
  }
  /** The due times of a job. Stores nothing. */
  readonly preview = async (
    request: Requests['schedules.preview'],
    options: RequestOptions = {},
  ): Promise<PreviewView> => {
    const caller = callerIn(options)
    const read = await this.#read(caller, 'schedules.preview', request)
    const { plan, next } = await previewSchedule(this.#engine, caller, read)
    return previewView(newId(), plan, next, this.#engine.environment, this.#envelope())
  }
  readonly reschedule = (
    id: string,
    request: Requests['schedules.reschedule'],
    options: RequestOptions = {},
  ): Promise<ScheduleView> =>
    this.#schedule('schedules.reschedule', request, options, (caller, read) =>
      changeSchedule(this.#engine, caller, id, read),
    )
  /** Cancels the schedule at once, or after the notice, at the `effectiveDate` of the response. */
  readonly cancel = (id: string, options: RequestOptions = {}): Promise<ScheduleView> =>
    this.#schedule('schedules.remove', {}, options, (caller, { fields }) =>
      endSchedule(this.#engine, caller, id, fields),
    )

  async #schedule(
    operation: string,
    values: unknown,
    options: RequestOptions,
    work: (caller: Caller, request: Request) => Promise<ScheduleWithNext>,
  ): Promise<ScheduleView> {
    const caller = callerIn(options)
    const { schedule, next } = await work(caller, await this.#read(caller, operation, values))
    return scheduleView(schedule, next, this.#envelope())
  }

  #envelope(): Envelope {
    return { ndc: newId(), buildNumber, now: new Date(this.#engine.clock.realMs()) }
  }

  #read(caller: Caller, operation: string, values: unknown): Promise<Request> {
    return read(this.#engine, caller, operation, { values })
  }
}
