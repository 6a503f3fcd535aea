import type { KeyObject } from 'node:crypto'
import type { StoredEvent } from './notification.ts'

export type Wrapper = 'TEXT' | 'JSON' | 'NONE'

/** A receiver of notifications. */
export type Endpoint = {
  readonly id: string
  readonly entityId: string
  readonly kind: 'webhook' | 'callback'
  readonly url: string
  readonly types: readonly string[]
  readonly wrapper: Wrapper
  readonly active: boolean
  readonly sealed: { readonly dataKeyId: string; readonly bytes: Buffer } | null
  readonly previousUntil: Date | null
  /** Until then the encryption key before the last rotation is tried as well. */
  readonly previousKeyUntil: Date | null
  readonly version: number
  readonly createdAt: Date
  readonly disabledAt: Date | null
  readonly disabledReason: string | null
  readonly removedAt: Date | null
  readonly failures: number
  readonly failingSince: Date | null
}

/** An attempt's reason to disable an endpoint, and the version of the endpoint that it tried. */
export type Verdict = { readonly reason: string; readonly version: number }

/** The sealed secrets of an endpoint. */
export type EndpointSecrets = {
  readonly encryptionKey: string
  readonly signingSecret: string
  readonly previousSecret?: string
  readonly previousEncryptionKey?: string
}

/** The secrets as parsed keys. */
export type EndpointKeys = {
  readonly encryption: KeyObject
  /** Encrypts until `previousKeyUntil`, while the receiver accepts no other key. */
  readonly previousEncryption: KeyObject | undefined
  readonly signing: KeyObject
  /** Signs beside the new secret until `previousUntil`. */
  readonly previous: KeyObject | undefined
}

export type Callback = {
  readonly url: string
  readonly id: string
  readonly resourcePath: string
}

/** A notification for one endpoint. */
export type Delivery = {
  readonly id: string
  readonly endpointId: string
  readonly kind: 'PAYMENT' | 'REGISTRATION' | 'SCHEDULE' | 'CALLBACK'
  /** Deliveries of one resource stay in order. */
  readonly resource: string
  readonly seq: number
  readonly attempts: number
  readonly createdAt: Date
  readonly event: StoredEvent | null
  readonly callback: Callback | null
  /** The endpoint's version at the time of the read. */
  readonly version: number
}

/** The result of one attempt. */
export type Tried = {
  readonly at: Date
  readonly durationMs: number
  readonly status: number | null
  /** Why the status is missing, or why the response was not read to its end. */
  readonly error: string | null
  readonly delivered: boolean
  readonly retryAfterMs: number
  /** The request and the start of the response, without secrets and card numbers. */
  readonly request: Readonly<Record<string, unknown>>
  readonly answer: string | null
}
