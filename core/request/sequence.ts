import type { ParameterErrors } from './parameter-errors.ts'
import type { Nested } from './request.ts'

const last = 'FINAL'

/** Notes a word that was meant to be the last of its kind: unread, it would leave the payment open. */
export function checkSequence({ sequence }: Nested, errors: ParameterErrors): void {
  if (typeof sequence !== 'string' || sequence === last) return
  if (sequence.toUpperCase() === last) errors.add('sequence', `must be ${last}, in capital letters`)
}
