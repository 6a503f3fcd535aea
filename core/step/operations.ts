/** Operations that read step logs: raw call in, status and body out. */

import { type Handler, idIn, queryOf, read } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import { buildNumber } from '../caller/embedder.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { approvedCode } from '../payment/decide.ts'
import { textOf } from '../request/values.ts'
import type { Kind } from './find.ts'
import { readSteps } from './steps.ts'
import { type StepsView, stepsView } from './view.ts'

/** The kinds of resources behind each operation's id. */
const kindsOf = {
  'payments.steps': ['payment'],
  'registrations.steps': ['registration'],
  'schedules.steps': ['schedule', 'execution'],
} as const satisfies Readonly<Record<string, readonly Kind[]>>

export type StepOperation = keyof typeof kindsOf

const handler =
  (operation: StepOperation): Handler =>
  async (engine, caller, call, build) => {
    const { fields } = await read(engine, caller, operation, queryOf(call))
    const kinds = kindsOf[operation]
    const steps = await readSteps(engine, caller, kinds, idIn(call), textOf(fields, 'entityId'))
    const about = { ...envelope(engine), ndc: call.requestId, buildNumber: build }
    return { status: 200, headers: {}, body: stepsView(idIn(call), steps, about) }
  }

/** The same for an embedding program. */
export async function stepsFor(
  engine: Engine,
  caller: Caller,
  operation: StepOperation,
  id: string,
): Promise<StepsView> {
  await read(engine, caller, operation, { values: {} })
  const steps = await readSteps(engine, caller, kindsOf[operation], id, undefined)
  return stepsView(id, steps, { ...envelope(engine), ndc: newId(), buildNumber })
}

/** The fields of every response about steps. */
const envelope = (engine: Engine) => ({
  code: approvedCode[engine.environment === 'test' ? 'INTERNAL' : 'LIVE'],
  now: new Date(engine.clock.realMs()),
})

export const stepOperations: Readonly<Record<string, Handler>> = {
  'payments.steps': handler('payments.steps'),
  'registrations.steps': handler('registrations.steps'),
  'schedules.steps': handler('schedules.steps'),
}
