/** Plans the days of payments with `testMode=INTERNAL`, when nobody waits: payments write no timers. */
import type { Settlement } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import type { Engine } from '../../engine.ts'
import { lowestIdAt } from '../../ids.ts'
import { addBooks, moveIdleBooks, planClock, planRealTime } from './store-plan.ts'

type Planning = Pick<Engine, 'lanes' | 'registry' | 'clock' | 'environment'>

export type WritingSettlement = Settlement & Required<Pick<Settlement, 'writeDay'>>

/** Undefined: the connector simulates no institute. */
export function writingOf(
  { registry }: Pick<Engine, 'registry'>,
  connector: string,
): WritingSettlement | undefined {
  const settlement = registry.get(connector)?.connector.settlement
  return settlement?.writeDay === undefined ? undefined : (settlement as WritingSettlement)
}

/** The id before which all payments are committed. */
export const safeId = ({ clock }: Pick<Engine, 'clock'>): string =>
  lowestIdAt(clock.realMs() - limits.simulatedDayLagMs)

/** Books with a position before this time move without a day to settle. */
const idleMs = 24 * 60 * 60_000

/** Gives channels with payments to settle their timer. No statement on live. */
export async function planDays(engine: Planning): Promise<void> {
  const { lanes, clock } = engine
  for (const { name, zone } of simulating(engine)) {
    await lanes.upkeep(addBooks(name))
    await lanes.upkeep(planRealTime(name, zone))
    const idle = lowestIdAt(clock.realMs() - idleMs)
    await lanes.upkeep(moveIdleBooks(name, idle, safeId(engine)))
  }
}

/** The same for the payments of a test clock, at each of its steps: a charge of this step may be the first. */
export async function planDaysOfClock(engine: Planning, clockId: string): Promise<void> {
  for (const { name, zone } of simulating(engine)) {
    await engine.lanes.single(planClock(name, zone, clockId))
  }
}

function simulating(engine: Planning): readonly { name: string; zone: string }[] {
  if (engine.environment !== 'test') return []
  return engine.registry.names().flatMap((name) => {
    const zone = writingOf(engine, name)?.zone
    return zone === undefined ? [] : [{ name, zone }]
  })
}
