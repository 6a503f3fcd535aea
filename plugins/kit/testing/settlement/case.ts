import type { Settlement } from '../../settlement.ts'
import type { SettlementStage } from './harness.ts'
import type { SettlementSandbox } from './sandbox.ts'

/** One rule for every connector with settlement files. */
export type SettlementCase = {
  /** The rule as a sentence. */
  readonly name: string
  /** The reason why the case does not apply, which is no fault; undefined: it applies. */
  readonly without?: (settlement: Settlement, sandbox: SettlementSandbox) => string | undefined
  /** Throws when the rule is broken. */
  run(stage: SettlementStage): Promise<void>
}

export const needsFetch: NonNullable<SettlementCase['without']> = ({ fetch }) =>
  fetch === undefined ? 'the connector has no fetch' : undefined
