/** The operator and the reason on a command line. */
import type { Decided } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import { type Given, needed, type Option } from './command.ts'

export const byOption: Readonly<Record<string, Option>> = {
  by: {
    type: 'string',
    value: 'name',
    meaning:
      'Remark on whose behalf you act. The audit trail records your operating system user as the actor.',
  },
}

/** For actions that need two people, where the installation requires them. */
export const proposalOption: Readonly<Record<string, Option>> = {
  proposal: {
    type: 'string',
    value: 'id',
    meaning:
      'With fourEyes: id of the proposal that a second person confirmed. Without it, the command creates a proposal.',
  },
}

export const reasonOption: Readonly<Record<string, Option>> = {
  reason: {
    type: 'string',
    value: 'text',
    meaning: 'Reason, for the audit trail.',
    isRequired: true,
  },
}

/** For actions that have a reason of their own. */
export const ownReasonOption: Readonly<Record<string, Option>> = {
  reason: { type: 'string', value: 'text', meaning: 'Reason, for the audit trail.' },
}

/** @param otherwise The default reason; without it, --reason is required. */
export function decidedBy(given: Given, otherwise?: string): Decided {
  const reason =
    otherwise === undefined ? needed(given, 'reason') : (given.options.reason ?? otherwise)
  const { by } = given.options
  return { by: commandLineActor(), reason, ...(by === undefined ? {} : { onBehalfOf: by }) }
}
