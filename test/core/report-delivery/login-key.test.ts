/** Private keys of logins: OpenSSL gets those of known kinds alone, with numbers that it works with in a short time. */
import assert from 'node:assert/strict'
import { createPrivateKey, generateKeyPairSync, generatePrimeSync } from 'node:crypto'
import { describe, test } from 'node:test'
import ssh2 from 'ssh2'
import { readLoginKey } from '../../../core/report-delivery/login-key.ts'
import { readPemKey } from '../../../core/report-delivery/pem-key.ts'
import { der, newSshKey, pemOf, pkcs1File } from '../../rig/ssh-keys.ts'

const kinds =
  'must be a private key in OpenSSH format, or RSA or ECDSA in PEM, without a passphrase'
const unfit = 'must be an RSA key whose numbers belong together'

/** A key in PKCS #8 of this kind: its parameters and the number that is secret. */
function pkcs8(kind: string, parameters: Buffer, secret: Buffer): Buffer {
  const algorithm = der(0x30, Buffer.concat([der(6, Buffer.from(kind, 'hex')), parameters]))
  return der(0x30, Buffer.concat([der(2, Buffer.of(0)), algorithm, der(4, secret)]))
}

const small = (...numbers: number[]) =>
  der(0x30, Buffer.concat(numbers.map((number) => der(2, Buffer.of(number)))))

type Numbers = Readonly<Record<'n' | 'e' | 'd' | 'p' | 'q' | 'dp' | 'dq' | 'qi', bigint>>

/** A valid RSA key whose first prime has this many bits. */
function rsaNumbers(bits: number, firstBits: number): Numbers {
  const [p, q] = [firstBits, bits - firstBits].map((size) =>
    generatePrimeSync(size, { bigint: true }),
  ) as [bigint, bigint]
  const [e, phi] = [65_537n, (p - 1n) * (q - 1n)]
  // A prime that no exponent fits.
  if (phi % e === 0n) return rsaNumbers(bits, firstBits)
  let times = 1n
  while ((1n + times * phi) % e !== 0n) times += 1n
  const d = (1n + times * phi) / e
  return { n: p * q, e, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: power(q, p - 2n, p) }
}

function power(base: bigint, exponent: bigint, modulus: bigint): bigint {
  let [result, square] = [1n, base % modulus]
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % modulus
    square = (square * square) % modulus
  }
  return result
}

function pemOfNumbers(numbers: Numbers): string {
  const { n, e, d, p, q, dp, dq, qi } = numbers
  const bytes = [n, e, d, p, q, dp, dq, qi].map((number) => {
    const hex = number.toString(16)
    return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex')
  })
  return pkcs1File(bytes)
}

describe('private keys of logins', () => {
  test('those of RSA and ECDSA are taken in every form that OpenSSL writes', () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
    const pkcs1 = String(rsa.export({ type: 'pkcs1', format: 'pem' }))
    const wrapped = String(rsa.export({ type: 'pkcs8', format: 'pem' }))
    for (const text of [pkcs1, wrapped, `Bag Attributes\n    friendlyName: sftp\n${wrapped}`]) {
      assert.deepEqual(readLoginKey(text), { key: pkcs1 })
    }
    for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
      const ec = generateKeyPairSync('ec', { namedCurve }).privateKey
      const sec1 = String(ec.export({ type: 'sec1', format: 'pem' }))
      const parameters = pemOf('EC PARAMETERS', der(6, Buffer.from('2a8648ce3d030107', 'hex')))
      const forms = [sec1, String(ec.export({ type: 'pkcs8', format: 'pem' })), parameters + sec1]
      for (const text of forms) assert.deepEqual(readLoginKey(text), { key: sec1 })
    }
  })

  test('another kind is refused before OpenSSL decodes it, below every label', () => {
    const dsa = pkcs8('2a8648ce380401', small(23, 11, 4), der(2, Buffer.of(5)))
    const text = pemOf('PRIVATE KEY', dsa)
    assert.equal(createPrivateKey(text).asymmetricKeyType, 'dsa')
    const dh = pkcs8('2a864886f70d010301', small(23, 5), der(2, Buffer.of(6)))
    const { privateKey } = generateKeyPairSync('ed25519')
    const known = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    for (const other of [
      text,
      pemOf('RSA PRIVATE KEY', dsa),
      pemOf('EC PRIVATE KEY', dsa),
      pemOf('DSA PRIVATE KEY', small(0, 23, 11, 4, 12, 5)),
      pemOf('PRIVATE KEY', dh),
      text + String(known.export({ type: 'sec1', format: 'pem' })),
      String(known.export({ type: 'sec1', format: 'pem' })) + text,
      String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
      pemOf('PRIVATE KEY', Buffer.concat([dsa, Buffer.of(0)])),
      pemOf('PRIVATE KEY', Buffer.of(0x30, 0x80)),
    ]) {
      assert.throws(() => readPemKey(other), {
        message: 'no whole private key of one of the known kinds',
      })
      assert.equal(readLoginKey(other), kinds)
    }
  })

  test('RSA numbers that make a signature slow are refused, also where they belong together', () => {
    const even = rsaNumbers(2048, 1024)
    assert.ok(typeof readLoginKey(pemOfNumbers(even)) === 'object')
    assert.equal(readLoginKey(pemOfNumbers(rsaNumbers(2048, 1100))), unfit)
    const { p, q, dp, dq, qi } = even
    const long = 1n << 900n
    assert.equal(readLoginKey(pemOfNumbers({ ...even, dp: dp + (p - 1n) * long })), unfit)
    assert.equal(readLoginKey(pemOfNumbers({ ...even, dq: dq + (q - 1n) * long })), unfit)
    assert.equal(readLoginKey(pemOfNumbers({ ...even, qi: qi + p * long })), unfit)
    assert.equal(
      readLoginKey(pemOfNumbers({ ...even, e: (1n << 32n) + 1n })),
      'must be an RSA key whose exponent has at most 32 bits, as 65537 has',
    )
    for (const e of [0n, 1n, 2n, 65_536n]) {
      for (const numbers of [
        even,
        { ...even, p: p + 2n },
        { ...even, p: 1n, q: 1n, dp: 1n, dq: 1n },
      ]) {
        assert.equal(
          readLoginKey(pemOfNumbers({ ...numbers, e })),
          'must be an RSA key whose exponent is odd and 3 or more, as 65537 is',
        )
      }
    }
  })

  test('a key in OpenSSH format whose line breaks became blanks is stored as libraries read it', () => {
    const { private: text } = newSshKey()
    const blank = text.replaceAll('\n', ' ')
    assert.ok(ssh2.utils.parseKey(blank) instanceof Error)
    const read = readLoginKey(blank)
    assert.deepEqual(read, readLoginKey(text))
    assert.ok(typeof read === 'object' && !(ssh2.utils.parseKey(read.key) instanceof Error))
    assert.match(
      read.key,
      /^-----BEGIN OPENSSH PRIVATE KEY-----\n([A-Za-z0-9+/=]{1,70}\n)+-----END/,
    )
  })
})
