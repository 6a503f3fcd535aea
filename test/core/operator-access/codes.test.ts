import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  codeAt,
  newCodeSecret,
  newRecoveryCodes,
  otpauthUri,
  recoveryHash,
  stepAt,
  stepOf,
} from '../../../core/operator-access/codes.ts'

/** `12345678901234567890`, the secret of the vectors in RFC 6238 and RFC 4226. */
const secret = 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ'

test('codes match RFC 6238, in their last six digits', () => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ] as const) {
    assert.equal(codeAt(secret, stepAt(seconds * 1000)), code)
  }
})

test('codes match RFC 4226', () => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583']
  assert.deepEqual(
    codes.map((_, step) => codeAt(secret, step)),
    codes,
  )
})

test('a code is accepted one step early or late, and no further', () => {
  const nowMs = 1_234_567_890_000
  const now = stepAt(nowMs)
  for (const [by, isGood] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const) {
    const found = stepOf(secret, codeAt(secret, now + by), nowMs)
    assert.equal(found, isGood ? now + by : undefined, String(by))
  }
  assert.equal(stepOf(secret, '', nowMs), undefined)
  assert.equal(stepOf(secret, `${codeAt(secret, now)}0`, nowMs), undefined)
})

test('secrets have 160 bits and are shown in the form that authenticators read', () => {
  const fresh = newCodeSecret()
  assert.match(fresh, /^[A-Z2-7]{32}$/)
  assert.notEqual(fresh, newCodeSecret())
  const uri = new URL(otpauthUri(fresh, 'jane@example.com', 'Tollgate test'))
  assert.equal(uri.protocol, 'otpauth:')
  assert.equal(uri.host, 'totp')
  assert.equal(uri.searchParams.get('secret'), fresh)
  assert.equal(uri.searchParams.get('period'), '30')
})

test('recovery codes differ, and are read in any spelling', () => {
  const codes = newRecoveryCodes()
  assert.equal(new Set(codes).size, 10)
  for (const code of codes) assert.match(code, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/)
  const [code = ''] = codes
  assert.ok(recoveryHash(code).equals(recoveryHash(` ${code.toLowerCase().replaceAll('-', ' ')}`)))
})
