import type { Condition } from '../table.ts'

/** The conditions of every street address below `prefix`. */
export function addressConditions(prefix: string): readonly Condition[] {
  return [
    {
      rule: 'not-digits-only',
      of: [`${prefix}.street1`, `${prefix}.street2`],
      ignoring: { when: `${prefix}.houseNumber1`, of: [`${prefix}.street2`] },
      message: `${prefix}.street1 and ${prefix}.street2 must not hold digits only: name the street`,
    },
    {
      rule: 'requires',
      when: [`${prefix}.houseNumber2`],
      need: [`${prefix}.houseNumber1`],
      message: `${prefix}.houseNumber2 needs ${prefix}.houseNumber1`,
    },
  ]
}
