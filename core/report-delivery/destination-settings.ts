/** The settings of a destination as a request names them, checked. */
import { X509Certificate } from 'node:crypto'
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { readDestinationUrl } from './destination-url.ts'
import { readLoginKey } from './login-key.ts'
import type { StoredSettings } from './store.ts'
import type { DestinationSecret } from './types.ts'

/** Whether the login comes anew. */
export function hasSecret(fields: RequestFields): boolean {
  const login = groupOf(fields, 'login')
  return (textOf(login, 'password') ?? textOf(login, 'privateKey')) !== undefined
}

/** @throws GatewayError for a private key that cannot be used. */
export function secretIn(fields: RequestFields): DestinationSecret | undefined {
  const password = textOf(groupOf(fields, 'login'), 'password')
  if (password !== undefined) return { password }
  const privateKey = textOf(groupOf(fields, 'login'), 'privateKey')
  if (privateKey === undefined) return undefined
  const read = readLoginKey(privateKey)
  if (typeof read === 'string') throw refuse('200.300.404', 'login.privateKey', read)
  return { privateKey: read.key }
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
  const why = unfit(textOf(fields, 'certificate'))
  if (why !== undefined) throw wrong('certificate', why)
  return { ...settings, hostKeys: [] }
}

/** Answers and the audit trail show the certificates for ever, so nothing else may stand between them. */
function unfit(certificates: string | undefined): string | undefined {
  if (certificates === undefined) return undefined
  if (/PRIVATE KEY-----/i.test(certificates))
    return 'has a private key: send the certificates alone'
  const why = 'must be certificates in PEM format, and nothing else'
  const blocks = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g
  const parts = certificates.match(blocks) ?? []
  if (parts.length === 0 || certificates.replaceAll(blocks, '').trim() !== '') return why
  try {
    for (const part of parts) new X509Certificate(part)
    return undefined
  } catch {
    return why
  }
}
