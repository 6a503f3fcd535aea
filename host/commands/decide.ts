/** Who decides and why, on a command line. */
import { userInfo } from 'node:os'
import type { Decided } from '@tollgate/core'
import { type Given, needed, type Option } from './command.ts'

export const byOption: Readonly<Record<string, Option>> = {
  by: {
    type: 'string',
    value: 'name',
    meaning: 'Who decides; the user of this system unless given.',
  },
}

export const reasonOption: Readonly<Record<string, Option>> = {
  reason: { type: 'string', value: 'text', meaning: 'Why; it stands in the audit record.' },
}

/** @param otherwise The reason of what explains itself; without it --reason has to be given. */
export function decidedBy(given: Given, otherwise?: string): Decided {
  const reason =
    otherwise === undefined ? needed(given, 'reason') : (given.options.reason ?? otherwise)
  return { by: given.options.by ?? systemUser(), reason }
}

/** A user id without an entry has no name. */
function systemUser(): string {
  try {
    return userInfo().username
  } catch {
    return `user ${process.getuid?.() ?? 'unknown'}`
  }
}
