/** Answers whether a resource lives in this database, for hosts that serve several. */
import type { Sql } from '../db/sql.ts'
import type { Engine } from '../engine.ts'
import { limitedHash, plainHash } from '../entity/token.ts'
import { isCheckoutId, isId } from '../ids.ts'
import { type Found, hasAccount, hasCheckout, hasEntity, hasPayment, hasToken } from './store.ts'

/** A token is looked up by its text, everything else by its id. */
export type HeldKind = 'token' | 'entity' | 'account' | 'payment' | 'checkout'

/** The look-up of each kind; undefined for a text that cannot be one. */
const lookUps: Readonly<Record<HeldKind, (value: string) => Sql<Found> | undefined>> = {
  token: (token) => hasToken(plainHash(token), limitedHash(token)),
  entity: (id) => (isId(id) ? hasEntity(id) : undefined),
  account: (id) => (isId(id) ? hasAccount(id) : undefined),
  payment: (id) => (isId(id) ? hasPayment(id) : undefined),
  checkout: (id) => (isCheckoutId(id) ? hasCheckout(id) : undefined),
}

/** @throws the database's error. */
export async function holds(engine: Engine, kind: HeldKind, value: string): Promise<boolean> {
  const lookUp = lookUps[kind](value)
  if (lookUp === undefined) return false
  const [row] = await engine.lanes.read(lookUp)
  return row!.found
}
