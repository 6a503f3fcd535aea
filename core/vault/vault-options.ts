import type { Log } from '@tollgate/plugin-kit'
import type { Clock } from '../clock.ts'
import type { PodPlace } from './installation-key.ts'

export type VaultOptions = {
  readonly clock?: Clock
  readonly log?: Log
  /** How long an opened data key is used without asking the provider again. Default four hours. */
  readonly keepMs?: number
  readonly pod?: PodPlace
}
