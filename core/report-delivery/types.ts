import type { Put, TransferErrorCode } from '@tollgate/plugin-kit'

/** A folder that receives the report files of one entity. */
export type Destination = {
  readonly id: string
  readonly entityId: string
  readonly url: string
  readonly user: string
  readonly login: 'PASSWORD' | 'KEY'
  readonly hostKeys: readonly string[]
  readonly certificate: string | null
  readonly raw: boolean
  readonly active: boolean
  readonly sealed: { readonly dataKeyId: string; readonly bytes: Buffer }
  readonly version: number
  readonly createdAt: Date
  readonly removedAt: Date | null
  readonly failures: number
  readonly failingSince: Date | null
}

/** Password or private key, whichever the login has. */
export type DestinationSecret = { readonly password: string } | { readonly privateKey: string }

/** A file that waits for a destination. */
export type Delivery = {
  readonly id: string
  readonly fileId: string
  readonly attempts: number
  /** An earlier attempt requested the final name and did not learn the result. */
  readonly isRenaming: boolean
}

/** The end of an attempt. */
export type Tried = {
  readonly at: Date
  readonly durationMs: number
  readonly result: Put | TransferErrorCode
  /** Words for people; null after a success. */
  readonly message: string | null
  readonly delivered: boolean
}

export type Replayed = {
  readonly replayed: number
  /** The number of the first file that one request leaves out. */
  readonly nextNo: number | undefined
}
