/** A forger's signature is read for no longer than one of the wallet, and its keys are used for nothing. */
import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import * as der from '../../../connectors/apple-pay/sandbox/der.ts'
import { marks, signedAt } from '../../../connectors/apple-pay/signature.ts'
import type { Token, Version } from '../../../connectors/apple-pay/token.ts'

const name = der.sequence(der.set(der.sequence(der.oid('2.5.4.3'), der.text('x'))))
const sha256 = der.sequence(der.oid('2.16.840.1.101.3.4.2.1'))
const from = new Date(Date.UTC(2020, 0, 1))
const until = new Date(Date.UTC(2090, 0, 1))
const keyOf = (kind: 'ec' | 'rsa') =>
  (kind === 'ec'
    ? generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
    : generateKeyPairSync('rsa', { modulusLength: 2048 })
  ).publicKey.export({ type: 'spki', format: 'der' })
const ecKey = keyOf('ec')

function certificate(number: Buffer, mark: string, key: Buffer, extensions = 0): Buffer {
  const algorithm = der.sequence(der.oid('1.2.840.10045.4.3.2'))
  const empty = der.sequence(der.oid('1.2'), der.octets(Buffer.alloc(0)))
  const marked = der.sequence(der.oid(mark), der.octets(der.tlv(0x05)))
  const body = der.sequence(
    der.tagged(0, der.small(2)),
    number,
    algorithm,
    name,
    der.sequence(der.time(from), der.time(until)),
    name,
    key,
    der.tagged(3, der.sequence(...Array.from({ length: extensions }, () => empty), marked)),
  )
  return der.sequence(body, algorithm, der.bits(randomBytes(64)))
}

type Forged = {
  readonly version?: Version
  readonly key?: Buffer
  readonly extensions?: number
  readonly certificates?: number
  readonly attributes?: number
}

/** All in it fits the token but the signatures. */
function forged({ version = 'EC_v1', key = ecKey, ...more }: Forged): Token {
  const signed = Buffer.from('what the signature covers')
  const digest = createHash('sha256').update(signed).digest()
  const numbers = [der.serial(randomBytes(8)), der.serial(randomBytes(8))] as const
  const attribute = (type: string, value: Buffer) => der.sequence(der.oid(type), der.set(value))
  const attributes = [
    attribute('1.2.840.113549.1.9.3', der.oid('1.2.840.113549.1.7.1')),
    attribute('1.2.840.113549.1.9.5', der.time(new Date())),
    attribute('1.2.840.113549.1.9.4', der.octets(digest)),
    ...Array.from({ length: more.attributes ?? 0 }, () => attribute('1.2', der.small(1))),
  ]
  const scheme = version === 'EC_v1' ? '1.2.840.10045.4.3.2' : '1.2.840.113549.1.1.11'
  const signer = der.sequence(
    der.small(1),
    der.sequence(name, numbers[0]),
    sha256,
    der.tagged(0, ...attributes),
    der.sequence(der.oid(scheme)),
    der.octets(randomBytes(64)),
  )
  const certificates = [
    certificate(numbers[0], marks.leaf, key, more.extensions),
    certificate(numbers[1], marks.intermediate, ecKey),
    ...Array.from({ length: more.certificates ?? 0 }, () =>
      certificate(der.serial(randomBytes(8)), '1.2.3.4', ecKey),
    ),
  ]
  const data = der.sequence(
    der.small(1),
    der.set(sha256),
    der.sequence(der.oid('1.2.840.113549.1.7.1')),
    der.tagged(0, ...certificates),
    der.set(signer),
  )
  const signature = der.sequence(der.oid('1.2.840.113549.1.7.2'), der.tagged(0, data))
  const unused = { data: Buffer.alloc(0), key: Buffer.alloc(0), publicKeyHash: Buffer.alloc(0) }
  return { version, signature, signed, ...unused }
}

test('the keys of a forged chain are used for nothing', () => {
  assert.deepEqual(signedAt(forged({}), []), { why: 'chain' })
  const rsa = forged({ version: 'RSA_v1', key: keyOf('rsa') })
  assert.deepEqual(signedAt(rsa, []), { why: 'chain' })
})

for (const more of [
  { extensions: 120 },
  { extensions: 1450 },
  { certificates: 28 },
  { attributes: 100 },
]) {
  test(`a signature with ${JSON.stringify(more)} more than one of the wallet is not read`, () => {
    assert.deepEqual(signedAt(forged(more), []), { why: 'malformed' })
  })
}

test('a few further certificates and extensions are read', () => {
  const more = forged({ extensions: 20, certificates: 2 })
  assert.deepEqual(signedAt(more, []), { why: 'chain' })
})
