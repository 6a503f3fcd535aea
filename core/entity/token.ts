/** What this process knows of a token: who its holder is, until when, and where from. */
import { hash as digestOf } from 'node:crypto'
import { rights, tokenRights } from '@tollgate/schemas'
import { allOfTokens, type RightSet, rightSet } from '../caller/rights.ts'
import { type Networks, networksOf } from '../net/address.ts'
import type { TokenRow } from './store.ts'

/** Narrower than what any token may. */
export type TokenLimits = {
  /** Names of rights; every right of tokens unless given. */
  readonly rights?: readonly string[]
  /** It is refused from then on; it ends only by hand unless given. */
  readonly expiresAt?: Date
  /** Addresses and CIDR blocks, IPv4 or IPv6, that it may be used from; everywhere unless given. */
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

/** Why a token is not taken. It is told in the log alone: who found a token learns nothing of it. */
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

/** @param from Address of the client; a token of certain networks is of no use where it is not known. */
export function unfit(
  token: KnownToken,
  nowMs: number,
  from: string | undefined,
): Unfit | undefined {
  if (nowMs >= token.expiresMs) return 'expired'
  const isElsewhere = token.networks !== undefined && !token.networks.has(from ?? '')
  return isElsewhere ? 'used from elsewhere' : undefined
}

/** What is stored of a token that has no limits. */
export const plainHash = (token: string): Buffer => digestOf('sha256', token, 'buffer')

/**
 * What is stored of one that has. A version of the engine that knows no limits looks for the other
 * hash: to its processes such a token is unknown, instead of one that may do everything.
 */
export const limitedHash = (token: string): Buffer =>
  digestOf('sha256', `limited access token\n${token}`, 'buffer')

/** @throws Error naming what cannot be. */
export function checkTokenLimits(limits: TokenLimits, nowMs: number): void {
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
  if (limits.expiresAt !== undefined && !(limits.expiresAt.getTime() > nowMs)) {
    throw new Error('a token must expire in the future')
  }
  if (limits.networks !== undefined) {
    if (limits.networks.length === 0) throw new Error('name a network, or leave networks out')
    networksOf(limits.networks)
  }
}

const namesOfRights = tokenRights.join(', ')
