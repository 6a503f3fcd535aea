/** Who decides and why, on a command line. */
import type { Decided } from '@tollgate/core'
import { commandLineActor } from './actor.ts'
import { type Given, needed, type Option } from './command.ts'

export const byOption: Readonly<Record<string, Option>> = {
  by: {
    type: 'string',
    value: 'name',
    meaning: 'In whose name: a remark. The audit record names the user of this system.',
  },
}

/** Of what needs two people, where the installation asks for them. */
export const proposalOption: Readonly<Record<string, Option>> = {
  proposal: {
    type: 'string',
    value: 'id',
    meaning: 'With four eyes: the proposal that another person confirmed; without it one is made.',
  },
}

export const reasonOption: Readonly<Record<string, Option>> = {
  reason: { type: 'string', value: 'text', meaning: 'Why; it stands in the audit record.' },
}

/** @param otherwise The reason of what explains itself; without it --reason has to be given. */
export function decidedBy(given: Given, otherwise?: string): Decided {
  const reason =
    otherwise === undefined ? needed(given, 'reason') : (given.options.reason ?? otherwise)
  const { by } = given.options
  return { by: commandLineActor(), reason, ...(by === undefined ? {} : { onBehalfOf: by }) }
}
