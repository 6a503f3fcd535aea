import type { Digest } from '../redaction/references.ts'
import type { Vault } from './vault.ts'

/** The digest of references that cannot be stored as they are. It throws when its key cannot be had now. */
export const referenceDigest =
  (vault: Vault): Digest =>
  (reference) =>
    vault.requestFingerprint(`reference of an acquirer\n${reference}`).toString('hex')
