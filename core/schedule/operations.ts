/** Operations on schedules: raw call in, status and body out. */

import { bodyOf, type Call, type Handler, idIn, queryOf, type Reply, read } from '../call.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { textOf } from '../request/values.ts'
import { changeSchedule, endSchedule } from './change.ts'
import {
  createSchedule,
  listExecutions,
  listSchedules,
  previewSchedule,
  readSchedule,
  type ScheduleWithNext,
} from './schedules.ts'
import { type Envelope, executionsView, previewView, schedulesView, scheduleView } from './view.ts'

export const scheduleOperations: Readonly<Record<string, Handler>> = {
  async 'schedules.create'(engine, caller, call, build) {
    const request = await read(engine, caller, 'schedules.create', bodyOf(call))
    const made = await createSchedule(engine, caller, request, call.idempotencyKey)
    const reply = replyAbout(made, envelope(engine, call, build))
    return made.replayed === true ? { ...reply, headers: { 'Idempotent-Replayed': 'true' } } : reply
  },
  async 'schedules.preview'(engine, caller, call, build) {
    const request = await read(engine, caller, 'schedules.preview', bodyOf(call))
    const { plan, next } = await previewSchedule(engine, caller, request)
    return ok(previewView(newId(), plan, next, engine.environment, envelope(engine, call, build)))
  },
  async 'schedules.list'(engine, caller, call, build) {
    const request = await read(engine, caller, 'schedules.list', queryOf(call))
    const page = await listSchedules(engine, caller, request)
    return ok(schedulesView(newId(), page, envelope(engine, call, build)))
  },
  async 'schedules.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'schedules.get', queryOf(call))
    const told = await readSchedule(engine, caller, idIn(call), textOf(fields, 'entityId'))
    return replyAbout(told, envelope(engine, call, build))
  },
  async 'schedules.executions'(engine, caller, call, build) {
    const request = await read(engine, caller, 'schedules.executions', queryOf(call))
    const page = await listExecutions(engine, caller, idIn(call), request)
    return ok(executionsView(idIn(call), page, envelope(engine, call, build)))
  },
  async 'schedules.reschedule'(engine, caller, call, build) {
    const request = await read(engine, caller, 'schedules.reschedule', bodyOf(call))
    const told = await changeSchedule(engine, caller, idIn(call), request)
    return replyAbout(told, envelope(engine, call, build))
  },
  async 'schedules.remove'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'schedules.remove', queryOf(call))
    return replyAbout(
      await endSchedule(engine, caller, idIn(call), fields),
      envelope(engine, call, build),
    )
  },
}

function envelope(engine: Engine, call: Call, buildNumber: string): Envelope {
  return { ndc: call.requestId, buildNumber, now: new Date(engine.clock.realMs()) }
}

const ok = (body: Reply['body']): Reply => ({ status: 200, headers: {}, body })

const replyAbout = ({ schedule, next }: ScheduleWithNext, about: Envelope) =>
  ok(scheduleView(schedule, next, about))
