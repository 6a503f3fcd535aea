/** Operations on the feed of events: raw call in, status and body out. */

import { type Call, type Handler, idIn, queryOf, read } from '../call.ts'
import type { Engine } from '../engine.ts'
import { approvedCode } from '../payment/decide.ts'
import { textOf } from '../request/values.ts'
import type { Envelope } from '../schedule/view.ts'
import { readFeed, readNotification } from './feed.ts'
import { eventsView, oneEventView } from './view.ts'

export const eventOperations: Readonly<Record<string, Handler>> = {
  async 'events.list'(engine, caller, call, build) {
    const request = await read(engine, caller, 'events.list', queryOf(call))
    const page = await readFeed(engine, caller, request, call.isGone)
    const body = eventsView(page, envelope(engine, call, build))
    return { status: 200, headers: {}, body }
  },
  async 'events.get'(engine, caller, call, build) {
    const { fields } = await read(engine, caller, 'events.get', queryOf(call))
    const entityId = textOf(fields, 'entityId')
    const notification = await readNotification(engine, caller, idIn(call), entityId)
    const body = oneEventView(notification, codeOf(engine), envelope(engine, call, build))
    return { status: 200, headers: {}, body }
  },
}

const codeOf = (engine: Engine) => approvedCode[engine.environment === 'test' ? 'INTERNAL' : 'LIVE']

function envelope(engine: Engine, call: Call, buildNumber: string): Envelope {
  return { ndc: call.requestId, buildNumber, now: new Date(engine.clock.realMs()) }
}
