/** What can be set for a node of the hierarchy. A channel's own value wins over those above it. */
const known: Readonly<Record<string, readonly (string | boolean)[]>> = {
  /** Refuse cards without a security code while the shopper is there to give one. */
  cvvRequired: [true, false],
  /** What becomes of money that moved on a payment already answered as declined. */
  lateSuccess: ['reverse', 'accept'],
  /** Keep approvals for less than was asked instead of reversing them. */
  partialApproval: [true, false],
}

/** @throws Error naming the setting that does not exist or has a value it cannot have. */
export function checkEntitySettings(settings: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(settings)) {
    const values = Object.hasOwn(known, name) ? known[name] : undefined
    if (values === undefined) {
      throw new Error(
        `"${name}" is no setting of an entity (there are: ${Object.keys(known).join(', ')})`,
      )
    }
    if (!values.includes(value as string)) {
      throw new Error(
        `the setting ${name} must be one of ${values.map((one) => JSON.stringify(one)).join(', ')}`,
      )
    }
  }
}
