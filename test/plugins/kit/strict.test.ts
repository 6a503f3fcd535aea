/** One value has one spelling: whatever two readers could read differently is refused. */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { test } from 'node:test'
import {
  pemCertificates,
  pemKeys,
  strictBase64,
  strictBase64Url,
  strictJson,
  strictMembers,
} from '@tollgate/plugin-kit'

test('an object has exactly the members that it must and may have', () => {
  assert.deepEqual(strictJson('{"a":"1","b":2}', ['a'], ['b']), { a: '1', b: 2 })
  assert.deepEqual(strictJson('{"a":"1"}', ['a'], ['b']), { a: '1' })
  assert.equal(strictJson('{"b":2}', ['a'], ['b']), undefined)
  assert.equal(strictJson('{"a":"1","c":2}', ['a'], ['b']), undefined)
  assert.deepEqual(strictJson('{"a":"1","c":2}', ['a'], [], { others: true }), { a: '1', c: 2 })
  assert.equal(strictJson('{"toString":1}', ['a', 'toString']), undefined)
})

test('a member that comes twice is refused, at every depth and in every spelling', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":{"b":1,"b":2}}',
    '{"a":[{"b":1,"b":2}]}',
    '{"a":1,"\\u0061":2}',
    '{"a":{"__proto__":1,"__proto__":2}}',
  ]) {
    assert.equal(strictJson(text, ['a']), undefined, text)
  }
})

test('colons and quotes in texts are no members', () => {
  const value = { a: ':"\\":{}[],:', b: { 'c:"d': '"' } }
  assert.deepEqual(strictJson(JSON.stringify(value), ['a', 'b']), value)
})

test('anything but an object is refused, and nothing throws', () => {
  for (const text of ['', '{', '[]', 'null', '"a"', '1', '{"a":1} x', '['.repeat(50_000)]) {
    assert.equal(strictJson(text, []), undefined)
  }
  for (const value of [null, undefined, [], 'a', 1])
    assert.equal(strictMembers(value, []), undefined)
})

test('base64 has its one spelling', () => {
  assert.deepEqual(strictBase64('AQI='), Buffer.from([1, 2]))
  for (const text of ['AQI', 'AQJ=', 'AQI=\n', 'A QI=', 'AQ==A', 7]) {
    assert.equal(strictBase64(text), undefined, String(text))
  }
  assert.deepEqual(strictBase64Url('-_8'), Buffer.from([0xfb, 0xff]))
  for (const text of ['+/8', '-_8=', '-_9']) assert.equal(strictBase64Url(text), undefined, text)
})

test('keys and certificates in one text come apart, also from one line', () => {
  const block = (label: string, body: string) =>
    `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`
  const [one, two] = [block('PRIVATE KEY', 'QUJD'), block('EC PRIVATE KEY', 'REVG')]
  const certificate = block('CERTIFICATE', 'R0hJ')
  const text = `a note\n${one}${certificate}\n${two}`
  assert.deepEqual(pemKeys(text), [one, two])
  assert.deepEqual(pemCertificates(text), [certificate])
  assert.deepEqual(pemKeys(text.replaceAll('\n', '\\n')), [one, two])
  assert.deepEqual(pemKeys(text.replaceAll('\n', '\r\n')), [one, two])
  for (const none of ['no key', 'QUJD', '']) assert.deepEqual(pemKeys(none), [])
})

test('a key as the base64 of its PKCS #8 is the key of its PEM', () => {
  const keys = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey)
  const pem = keys.map((key) => key.export({ type: 'pkcs8', format: 'pem' }))
  const words = keys.map((key) => key.export({ type: 'pkcs8', format: 'der' }).toString('base64'))
  for (const between of [',', '\n', '\\n', ', ']) {
    assert.deepEqual(pemKeys(`${words.join(between)}\n`), pem)
  }
})

test('a key that lost a character is a key that cannot be read, and not left out', () => {
  const [one, two] = [1, 2].map(() =>
    generateKeyPairSync('ec', { namedCurve: 'P-256' })
      .privateKey.export({ type: 'pkcs8', format: 'der' })
      .toString('base64'),
  ) as [string, string]
  const keys = pemKeys(`${one}\n${two.slice(0, -1)}`)
  assert.equal(keys.length, 2)
  createPrivateKey(keys[0]!)
  assert.equal(pemKeys(`note ${one}`).length, 1)
})
