/** The settings of a destination as a request names them, checked. */
import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { readDestinationUrl } from './destination-url.ts'
import type { StoredSettings } from './store.ts'
import type { DestinationSecret } from './types.ts'

/** @throws GatewayError for a private key that cannot be used. */
export function secretIn(fields: RequestFields): DestinationSecret | undefined {
  const password = textOf(groupOf(fields, 'login'), 'password')
  if (password !== undefined) return { password }
  const privateKey = textOf(groupOf(fields, 'login'), 'privateKey')
  if (privateKey === undefined) return undefined
  const readable = readableKey(privateKey)
  if (readable === undefined) {
    const why =
      'must be a private key in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase'
    throw refuse('200.300.404', 'login.privateKey', why)
  }
  return { privateKey: readable }
}

/** Curves of SSH, by their names in OpenSSL. */
const curves: ReadonlySet<string | undefined> = new Set(['prime256v1', 'secp384r1', 'secp521r1'])

/**
 * A key in a format that SSH libraries read: they know PKCS #1 and SEC 1, but not PKCS #8. OpenSSH's own
 * format names its cipher, `none` without a passphrase.
 */
function readableKey(text: string): string | undefined {
  const own = /^-----BEGIN OPENSSH PRIVATE KEY-----([\sA-Za-z0-9+/=]+)-----END/.exec(text.trim())
  if (own !== null) {
    const bytes = Buffer.from(own[1]!, 'base64')
    const isOpen = bytes.subarray(0, 23).equals(Buffer.from('openssh-key-v1\0\0\0\0\x04none'))
    return isOpen ? text : undefined
  }
  try {
    const key = createPrivateKey(text)
    const { namedCurve } = key.asymmetricKeyDetails ?? {}
    if (key.asymmetricKeyType === 'rsa') return String(key.export({ type: 'pkcs1', format: 'pem' }))
    if (!curves.has(namedCurve)) return undefined
    return String(key.export({ type: 'sec1', format: 'pem' }))
  } catch {
    return undefined
  }
}

/** @throws GatewayError naming the wrong or missing field. */
export function settingsOf(
  engine: Engine,
  fields: RequestFields,
  secret: DestinationSecret | undefined,
  before: StoredSettings,
): StoredSettings {
  const url = textOf(fields, 'folderUrl') ?? before.url
  const { place } = readDestinationUrl(engine, url)
  const given = textOf(fields, 'hostKey')?.split(',')
  const login = secret === undefined ? before.login : 'privateKey' in secret ? 'KEY' : 'PASSWORD'
  const settings: StoredSettings = {
    url,
    user: textOf(groupOf(fields, 'login'), 'user') ?? before.user,
    login,
    hostKeys: given === undefined ? before.hostKeys : [...new Set(given)],
    certificate: textOf(fields, 'certificate') ?? before.certificate,
    raw: (textOf(fields, 'raw') ?? String(before.raw)) === 'true',
    active: (textOf(fields, 'active') ?? String(before.active)) === 'true',
  }
  const wrong = (name: string, why: string) => refuse('200.300.404', name, why)
  if (place.scheme === 'sftp') {
    if (settings.hostKeys.length === 0) {
      throw wrong(
        'hostKey',
        'is required: the fingerprint that ssh-keyscan and ssh-keygen -lf show',
      )
    }
    return { ...settings, certificate: null }
  }
  if (login === 'KEY') throw wrong('login.privateKey', 'is for sftp; ftps needs a password')
  if (settings.certificate !== null && !isCertificate(settings.certificate)) {
    throw wrong('certificate', 'must be certificates in PEM format')
  }
  return { ...settings, hostKeys: [] }
}

function isCertificate(text: string): boolean {
  const parts = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []
  try {
    for (const part of parts) new X509Certificate(part)
    return parts.length > 0
  } catch {
    return false
  }
}
