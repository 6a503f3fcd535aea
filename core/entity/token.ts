/** A token in this process: its owner, expiry and allowed networks. */
import { hash as digestOf } from 'node:crypto'
import { rights, tokenRights } from '@tollgate/schemas'
import { allOfTokens, type RightSet, rightSet } from '../caller/rights.ts'
import { type Networks, networksOf } from '../net/address.ts'
import type { TokenRow } from './store.ts'

/** Limits of a token. */
export type TokenLimits = {
  /** Names of rights. Default: all rights of tokens. */
  readonly rights?: readonly string[]
  /** The expiry. Without it, only a revocation ends the token. */
  readonly expiresAt?: Date
  /** Allowed addresses and CIDR blocks, IPv4 or IPv6. Default: all. */
  readonly networks?: readonly string[]
}

export type KnownToken = {
  readonly id: string
  readonly entityId: string
  readonly environment: string
  readonly rights: RightSet
  readonly expiresMs: number
  readonly networks: Networks | undefined
}

/** Why a token is refused. Only the log tells the reason, so a thief learns nothing. */
export type Unfit = 'expired' | 'used from elsewhere'

export function knownToken(row: TokenRow): KnownToken | 'revoked' {
  if (row.revoked_at !== null) return 'revoked'
  return {
    id: row.id,
    entityId: row.entity_id,
    environment: row.environment,
    rights: row.rights === null ? allOfTokens : rightSet(row.rights) & allOfTokens,
    expiresMs: row.expires_at?.getTime() ?? Number.POSITIVE_INFINITY,
    networks: row.networks === null ? undefined : networksOf(row.networks),
  }
}

/** @param from Address of the client. Without it, a token with networks is refused. */
export function unfit(
  token: KnownToken,
  nowMs: number,
  from: string | undefined,
): Unfit | undefined {
  if (nowMs >= token.expiresMs) return 'expired'
  const isElsewhere = token.networks !== undefined && !token.networks.has(from ?? '')
  return isElsewhere ? 'used from elsewhere' : undefined
}

/** The stored hash of a token without limits. */
export const plainHash = (token: string): Buffer => digestOf('sha256', token, 'buffer')

/**
 * The stored hash of a token with limits. An older engine version without limits looks up the other
 * hash, so such a token is unknown to it instead of unlimited.
 */
export const limitedHash = (token: string): Buffer =>
  digestOf('sha256', `limited access token\n${token}`, 'buffer')

/** @throws Error naming the wrong limit. */
export function checkTokenLimits(limits: TokenLimits, nowMs: number): void {
  for (const name of ['rights', 'networks'] as const) {
    if (limits[name] === undefined || Array.isArray(limits[name])) continue
    throw new Error(`${name} must be a list of texts; leave it out for all`)
  }
  if (limits.rights !== undefined) {
    if (limits.rights.length === 0) throw new Error(`a token needs a right: ${namesOfRights}`)
    for (const name of limits.rights) {
      if (tokenRights.some((right) => right === name)) continue
      const isOther = rights.some((right) => right.name === name)
      throw new Error(
        `"${name}" is no right${isOther ? ' of a token' : ''} (there are: ${namesOfRights})`,
      )
    }
  }
  if (limits.expiresAt !== undefined && !(limits.expiresAt instanceof Date)) {
    throw new Error('expiresAt must be a Date')
  }
  if (limits.expiresAt !== undefined && !(limits.expiresAt.getTime() > nowMs)) {
    throw new Error('a token must expire in the future')
  }
  if (limits.networks !== undefined) {
    if (limits.networks.length === 0) throw new Error('name a network, or leave networks out')
    networksOf(limits.networks)
  }
}

const namesOfRights = tokenRights.join(', ')
