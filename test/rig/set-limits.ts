import { limits } from '@tollgate/schemas'

type Limits = { -readonly [Name in keyof typeof limits]: unknown }

/** Gives this process other limits. @returns a function that sets them back. */
export function setLimits(changed: Partial<Limits>): () => void {
  const usual = Object.fromEntries(
    Object.keys(changed).map((name) => [name, limits[name as never]]),
  )
  Object.assign(limits, changed)
  return () => void Object.assign(limits, usual)
}
