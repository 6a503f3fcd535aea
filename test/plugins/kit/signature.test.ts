/** Signatures and logins of acquirers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  basicAuthorization,
  digest,
  hmac,
  isAnyHmac,
  isHmac,
  isSameText,
  Sensitive,
} from '@tollgate/plugin-kit'

/** RFC 4231, test case 2. */
const known = {
  secret: 'Jefe',
  message: 'what do ya want for nothing?',
  hex: '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
}

test('an HMAC is that of the standard, in every encoding', () => {
  const { secret, message, hex } = known
  assert.equal(hmac(message, secret), hex)
  assert.equal(hmac(Buffer.from(message), Buffer.from(secret)), hex)
  const base64 = Buffer.from(hex, 'hex').toString('base64')
  assert.equal(hmac(message, secret, { encoding: 'base64' }), base64)
  assert.ok(isHmac(base64, message, secret, { encoding: 'base64' }))
  assert.ok(isHmac(hex.toUpperCase(), message, secret))
  assert.ok(isHmac(hmac(message, secret, { hash: 'sha512' }), message, secret, { hash: 'sha512' }))
})

test('what is not the whole signature of this message is no proof', () => {
  const { secret, message, hex } = known
  const wrong = [
    undefined,
    '',
    '0',
    hex.slice(0, -1),
    `${hex}0`,
    `${hex}zz`,
    ` ${hex}`,
    'ä'.repeat(64),
  ]
  for (const given of wrong) assert.equal(isHmac(given, message, secret), false, String(given))
  assert.equal(isHmac(hex, `${message} `, secret), false)
  assert.equal(isHmac(hex, message, `${secret}2`), false)
  const base64 = hmac(message, secret, { encoding: 'base64' })
  const padded = `${base64}=`
  assert.equal(isHmac(padded, message, secret, { encoding: 'base64' }), false)
})

test('an empty secret proves nothing and is refused', () => {
  assert.throws(() => hmac('a', ''), /must not be empty/)
  assert.throws(() => isHmac(undefined, 'a', Buffer.alloc(0)), /must not be empty/)
})

test('texts are the same or not, at any length', () => {
  assert.ok(isSameText('', ''))
  assert.ok(isSameText('ä', 'ä'))
  assert.ok(!isSameText('a', 'b'))
  assert.ok(!isSameText('a', 'aa'))
})

test('the login of HTTP Basic is UTF-8 and hidden', () => {
  const login = basicAuthorization('shop', 'pa:ß')
  assert.ok(Sensitive.is(login))
  assert.equal(login.reveal(), `Basic ${Buffer.from('shop:pa:ß').toString('base64')}`)
  assert.throws(() => basicAuthorization('a:b', 'c'), /must not contain a colon/)
  assert.throws(() => basicAuthorization('a', 'c\n'), /control characters/)
})

test('a sensitive message is signed without being revealed, also in parts', () => {
  const { secret, message, hex } = known
  assert.equal(hmac(new Sensitive(Buffer.from(message)), secret), hex)
  assert.equal(hmac(['what do ya want ', new Sensitive('for nothing?')], secret), hex)
  assert.equal(digest(''), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  assert.equal(digest(new Sensitive('abc'), { hash: 'md5' }), '900150983cd24fb0d6963f7d28e17f72')
})

test('one right signature of several is proof, under the secret of its key alone', () => {
  const { message } = known
  const secrets = { k1: 'old', k2: 'new', k3: undefined }
  const by = (secret: string, keyId?: string) => ({
    value: hmac(message, secret),
    ...(keyId === undefined ? {} : { keyId }),
  })
  const proofs = [[by('new', 'k2')], [by('else', 'k9'), by('old', 'k1')], [by('else'), by('old')]]
  for (const given of proofs) assert.ok(isAnyHmac(given, message, secrets))
  const none = [[], [{ value: undefined }], [by('new', 'k1')], [by('new', 'k3')], [by('new', 'k4')]]
  for (const given of none) assert.equal(isAnyHmac(given, message, secrets), false)
  assert.equal(
    isAnyHmac([{ value: hmac(message, 'old'), keyId: '__proto__' }], message, secrets),
    false,
  )
  assert.throws(() => isAnyHmac([], message, { k1: undefined }), /no secret/)
  assert.throws(() => isAnyHmac([], message, { k1: '' }), /must not be empty/)
})
