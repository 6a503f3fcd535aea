/** Every job of the engine, and the names that are its own. */
import { deadOf } from '../queue/queue.ts'
import { advanceClock } from './advance-clock.ts'
import { auditLinks } from './audit-links.ts'
import { capture } from './capture.ts'
import { charge } from './charge.ts'
import type { JobDefinition } from './define.ts'
import { housekeeping } from './housekeeping.ts'
import { reconciliation } from './reconciliation.ts'
import { reportCut } from './report-cut.ts'
import { reportDelivery } from './report-delivery.ts'
import { scheduleTick } from './schedule-tick.ts'
import { settlementDay } from './settlement-day.ts'
import { settlementEffect } from './settlement-effect.ts'
import { settlementFetch } from './settlement-fetch.ts'
import { settlementRetry } from './settlement-retry.ts'
import { webhookRetry } from './webhook-retry.ts'

const nothing = async () => {}

/** A process that runs jobs gives its own of the two that need more than the engine. */
export const engineJobs = (
  tick = scheduleTick(nothing, nothing, nothing),
  retry = webhookRetry(nothing),
): readonly JobDefinition<never>[] => [
  charge,
  capture,
  tick,
  advanceClock,
  auditLinks,
  housekeeping,
  reconciliation,
  reportCut,
  settlementDay,
  settlementFetch,
  reportDelivery,
  settlementRetry,
  settlementEffect,
  retry,
]

const names: ReadonlySet<string> = new Set(engineJobs().map(({ name }) => name))

/** Whether a job of a program or plugin cannot have this name, because its queue would be one of the engine's. */
export const isEngineName = (name: string): boolean => names.has(name) || name.endsWith(deadOf(''))
