/** Operations on test clocks: raw call in, status and body out. */
import type { ClockRow } from '../business-time/store.ts'
import {
  bodyOf,
  type Call,
  type Handler,
  idIn,
  listResult,
  queryOf,
  type Reply,
  read,
} from '../call.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { advanceTo, clockView, createClock, listClocks, readClock } from './clocks.ts'

export const clockOperations: Readonly<Record<string, Handler>> = {
  async 'testClocks.create'(engine, caller, call, build) {
    const request = await read(engine, caller, 'testClocks.create', bodyOf(call))
    return reply(engine, await createClock(engine, caller, request), call, build)
  },
  async 'testClocks.get'(engine, caller, call, build) {
    await read(engine, caller, 'testClocks.get', queryOf(call))
    return reply(engine, await readClock(engine, caller, idIn(call)), call, build)
  },
  async 'testClocks.list'(engine, caller, call, build) {
    const request = await read(engine, caller, 'testClocks.list', queryOf(call))
    const rows = await listClocks(engine, caller, request)
    const now = new Date(engine.clock.realMs())
    const about = { ndc: call.requestId, buildNumber: build, now }
    const body = {
      id: newId(),
      result: listResult(),
      clocks: rows.map((row) => clockView(row, about)),
      buildNumber: build,
      timestamp: wireTimestamp(now),
      ndc: call.requestId,
    }
    return { status: 200, headers: {}, body }
  },
  async 'testClocks.advance'(engine, caller, call, build) {
    const request = await read(engine, caller, 'testClocks.advance', bodyOf(call))
    return reply(engine, await advanceTo(engine, caller, idIn(call), request), call, build)
  },
}

function reply(engine: Engine, row: ClockRow, call: Call, buildNumber: string): Reply {
  const now = new Date(engine.clock.realMs())
  return {
    status: 200,
    headers: {},
    body: clockView(row, { ndc: call.requestId, buildNumber, now }),
  }
}
