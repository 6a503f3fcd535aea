/** Clocks that merchants move in the test environment. */
import type { RequestFields } from '@tollgate/plugin-kit'
import { resultDescription } from '@tollgate/schemas'
import { actorOf } from '../audit/actor.ts'
import { addClock, type ClockRow, clockById, clocksOf, setOff } from '../business-time/store.ts'
import type { Answered, Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { wireTimestamp } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { doneResult } from '../payment/decide.ts'
import { refuse, textOf } from '../request/values.ts'
import { lastMoment, later, readWall } from '../schedule/local-time.ts'
import type { Envelope } from '../schedule/view.ts'

export type ClockView = Answered & {
  name?: string
  status: 'READY' | 'ADVANCING'
  /** `yyyy-MM-dd HH:mm:ss+0000` */
  now: string
  target?: string
  /** Progress in percent. */
  progress: number
}

const mostListed = 100

/** Creates a clock of an entity, usually a merchant, for all entities below it. @throws GatewayError on live. */
export async function createClock(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<ClockRow> {
  onlyInTests(engine)
  const entityId = await ownerOf(engine, caller, fields)
  const at = momentOf(fields, 'time') ?? new Date(Math.floor(engine.clock.realMs() / 1000) * 1000)
  engine.setupChanges.count(caller)
  const id = newId()
  const name = textOf(fields, 'name') ?? null
  const audit = { actor: actorOf(caller), action: 'clock.created', after: { name, at } }
  await engine.lanes.single(addClock(id, entityId, name, at, audit))
  return readClock(engine, caller, id)
}

/** @throws GatewayError 404 when the caller sees no clock with this id. */
export async function readClock(engine: Engine, caller: Caller, id: string): Promise<ClockRow> {
  onlyInTests(engine)
  const [row] = isId(id) ? await engine.lanes.single(clockById(id)) : []
  if (row === undefined || !(await engine.directory.acts(caller, row.entity_id))) {
    throw new GatewayError('700.400.580', {
      status: 404,
      description: `${resultDescription('700.400.580')}: there is no such test clock`,
    })
  }
  return row
}

/** The newest clocks of an entity. */
export async function listClocks(
  engine: Engine,
  caller: Caller,
  { fields }: Request,
): Promise<ClockRow[]> {
  onlyInTests(engine)
  return engine.lanes.read(clocksOf(await ownerOf(engine, caller, fields), mostListed))
}

/**
 * Starts the advance of a clock to a later moment. Any process carries out the due work on the way,
 * in order; `status` shows the arrival.
 */
export async function advanceTo(
  engine: Engine,
  caller: Caller,
  id: string,
  { fields }: Request,
): Promise<ClockRow> {
  const clock = await readClock(engine, caller, id)
  const by = textOf(fields, 'by')
  const name = by === undefined ? 'to' : 'by'
  const sent = by ?? textOf(fields, 'to') ?? ''
  const target = by === undefined ? momentOf(fields, 'to')! : durationAfter(clock.at, by)
  if (target <= clock.at) {
    throw refuse(
      '200.300.404',
      name,
      `must lead past ${wireTimestamp(clock.at)}: clocks go forward`,
      sent,
    )
  }
  engine.setupChanges.count(caller)
  const audit = {
    actor: actorOf(caller),
    action: 'clock.advanced',
    before: { at: clock.at },
    after: { at: target },
  }
  const [moving] = await engine.lanes.single(setOff(clock.id, target, audit))
  const [after] = await engine.lanes.single(clockById(clock.id))
  const isThere = after?.target?.getTime() === target.getTime()
  if (moving === undefined && !isThere) {
    throw refuse(
      '200.300.404',
      name,
      'the clock is on its way already: wait until it is READY',
      sent,
    )
  }
  return after!
}

export function clockView(row: ClockRow, { ndc, buildNumber, now }: Envelope): ClockView {
  const { target, started_from: from } = row
  const way = target === null || from === null ? 0 : target.getTime() - from.getTime()
  const done = way === 0 ? 100 : Math.floor((100 * (row.at.getTime() - from!.getTime())) / way)
  return {
    id: row.id,
    result: doneResult('test'),
    ...(row.name === null ? {} : { name: row.name }),
    status: target === null ? 'READY' : 'ADVANCING',
    now: wireTimestamp(row.at),
    ...(target === null ? {} : { target: wireTimestamp(target) }),
    progress: done,
    buildNumber,
    timestamp: wireTimestamp(now),
    ndc,
  }
}

function onlyInTests(engine: Engine): void {
  if (engine.environment === 'test') return
  throw new GatewayError('600.200.200', {
    description: 'Test clocks exist in the test environment only.',
  })
}

async function ownerOf(engine: Engine, caller: Caller, fields: RequestFields): Promise<string> {
  const id = textOf(fields, 'entityId') ?? caller.entityId
  if (id === null) throw refuse('200.300.404', 'entityId', 'is required: the owner of the clock')
  await engine.directory.mayName(caller, id)
  return id
}

function momentOf(fields: RequestFields, name: string): Date | undefined {
  const text = textOf(fields, name)
  if (text === undefined) return undefined
  const wall = readWall(text)
  const latest = lastMoment('UTC').getTime() / 1000
  if (wall !== null && wall >= 0 && wall <= latest) return new Date(wall * 1000)
  const message = 'must be a moment from 1970 to 2099, UTC, written yyyy-MM-dd HH:mm:ss'
  throw refuse('200.300.404', name, message, text)
}

const form =
  /^P(?:(\d{1,4})Y)?(?:(\d{1,4})M)?(?:(\d{1,5})W)?(?:(\d{1,6})D)?(?:T(?:(\d{1,6})H)?(?:(\d{1,8})M)?(?:(\d{1,10})S)?)?$/
const units = ['YEAR', 'MONTH', 'WEEK', 'DAY', 'HOUR', 'MINUTE', 'SECOND'] as const

/** By the calendar, from the largest unit to the smallest, never beyond 2099. */
function durationAfter(from: Date, text: string): Date {
  const numbers = form.exec(text)?.slice(1) ?? []
  let at = from
  for (const [index, unit] of units.entries()) {
    at = later(at, { unit, number: Number(numbers[index] ?? 0) }, 1, 'UTC')
  }
  return at
}
