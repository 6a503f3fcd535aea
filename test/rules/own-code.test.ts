/** Constructs that no source of the product uses, because they would be unsafe anywhere. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sources } from '../rig/sources.ts'

const product = ['schemas', 'plugins', 'core', 'connectors', 'host'].flatMap(sources)

const offenders = (pattern: RegExp) =>
  product.flatMap(({ file, code }) =>
    [...code.matchAll(pattern)].map((found) => `${file}: ${found[0]}`),
  )

test('no text becomes code, and no shell is started', () => {
  const madeCode = /\beval\(|\bnew Function\(|'node:vm'|\bexec(?:Sync)?\(\s*[`'"]|\bshell: true/g
  assert.deepEqual(offenders(madeCode), [])
})

test('digests, keys and ciphers are SHA-2, HMAC, HKDF, scrypt and AES-256-GCM', () => {
  const makes =
    /\b(?:createHash|createHmac|createCipheriv|createDecipheriv|createSign|createVerify|hkdfSync|pbkdf2Sync|hash|digestOf)\(\s*'([^']+)'/g
  const strong = new Set(['sha256', 'sha384', 'sha512', 'aes-256-gcm'])
  // Authenticators support no other digest (RFC 6238).
  const isAuthenticator = (file: string, name: string) =>
    file === 'core/operator-access/codes.ts' && name === 'sha1'
  const named = product.flatMap(({ file, code }) =>
    [...code.matchAll(makes)].map(([, name]) => ({ file, name: name! })),
  )
  assert.ok(named.length > 20)
  assert.deepEqual(
    named.filter(({ file, name }) => !strong.has(name) && !isAuthenticator(file, name)),
    [],
  )
})

test('certificates are checked everywhere, unless the owner of a database says otherwise', () => {
  assert.deepEqual(
    offenders(/rejectUnauthorized:\s*false|NODE_TLS_REJECT_UNAUTHORIZED|checkServerIdentity:/g),
    // For `verify: 'ca'`.
    ['core/db/connection.ts: checkServerIdentity:'],
  )
})
