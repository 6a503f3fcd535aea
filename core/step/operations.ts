/** Operations that read step logs: raw call in, status and body out. */

import { buildNumber } from '../embedder.ts'
import type { Engine } from '../engine.ts'
import type { Caller } from '../entity/directory.ts'
import { newId } from '../ids.ts'
import { approvedCode } from '../payment/decide.ts'
import { type Handler, idIn, queryOf, read } from '../request/call.ts'
import { textOf } from '../request/values.ts'
import { type Kind, readSteps } from './steps.ts'
import { type StepsView, stepsView } from './view.ts'

const handler =
  (operation: string, kinds: readonly Kind[]): Handler =>
  async (engine, caller, call, build) => {
    const { fields } = await read(engine, caller, operation, queryOf(call))
    const steps = await readSteps(engine, caller, kinds, idIn(call), textOf(fields, 'entityId'))
    const about = { ...envelope(engine), ndc: call.requestId, buildNumber: build }
    return { status: 200, headers: {}, body: stepsView(idIn(call), steps, about) }
  }

/** The same for an embedding program. */
export async function stepsFor(
  engine: Engine,
  caller: Caller,
  kinds: readonly Kind[],
  id: string,
): Promise<StepsView> {
  const steps = await readSteps(engine, caller, kinds, id, undefined)
  return stepsView(id, steps, { ...envelope(engine), ndc: newId(), buildNumber })
}

/** What every answer about steps carries. */
const envelope = (engine: Engine) => ({
  code: approvedCode[engine.environment === 'test' ? 'INTERNAL' : 'LIVE'],
  now: new Date(engine.clock.realMs()),
})

export const stepOperations: Readonly<Record<string, Handler>> = {
  'payments.steps': handler('payments.steps', ['payment']),
  'registrations.steps': handler('registrations.steps', ['registration']),
  'schedules.steps': handler('schedules.steps', ['schedule', 'execution']),
}
