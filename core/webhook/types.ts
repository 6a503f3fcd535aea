import type { KeyObject } from 'node:crypto'
import type { StoredEvent } from './notification.ts'

export type Wrapper = 'TEXT' | 'JSON' | 'NONE'

/** Where notifications go. */
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

/** What of an endpoint is sealed. */
export type EndpointSecrets = {
  readonly encryptionKey: string
  readonly signingSecret: string
  readonly previousSecret?: string
  readonly previousEncryptionKey?: string
}

/** The same, ready to use. */
export type EndpointKeys = {
  readonly encryption: KeyObject
  /** Encrypts until `previousKeyUntil`, as long as the receiver takes nothing else. */
  readonly previousEncryption: KeyObject | undefined
  readonly signing: KeyObject
  /** Signs beside the other until `previousUntil`. */
  readonly previous: KeyObject | undefined
}

export type Callback = {
  readonly url: string
  readonly id: string
  readonly resourcePath: string
}

/** One notification on its way to one endpoint. */
export type Delivery = {
  readonly id: string
  readonly endpointId: string
  readonly kind: 'PAYMENT' | 'REGISTRATION' | 'SCHEDULE' | 'RISK' | 'CALLBACK'
  /** What is kept in order. */
  readonly resource: string
  readonly seq: number
  readonly attempts: number
  readonly createdAt: Date
  readonly event: StoredEvent | null
  readonly callback: Callback | null
  /** Of its endpoint, when it was read. */
  readonly version: number
}

/** How one try ended. */
export type Tried = {
  readonly at: Date
  readonly durationMs: number
  readonly status: number | null
  /** Why there is no status, or why the answer was not read to its end. */
  readonly error: string | null
  readonly delivered: boolean
  readonly retryAfterMs: number
  /** What went out, and the begin of what came back; without secrets and card numbers. */
  readonly request: Readonly<Record<string, unknown>>
  readonly answer: string | null
}
