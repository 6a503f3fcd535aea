/**
 * A self-signed certificate, written in DER by hand, because Node reads certificates and creates
 * none.
 */
import { generateKeyPairSync, type KeyPairKeyObjectResult, randomBytes, sign } from 'node:crypto'

/** Key and certificate in PEM. The certificate is its own authority. */
export type Identity = { readonly key: string; readonly cert: string }

/** An identity for host names and IPv4 addresses. */
export const selfSigned = (...hosts: readonly string[]): Identity =>
  signedBy(generateKeyPairSync('ec', { namedCurve: 'P-256' }), ecdsaWithSha256, hosts)

/** The same with an RSA key. */
export const selfSignedByRsa = (...hosts: readonly string[]): Identity =>
  signedBy(generateKeyPairSync('rsa', { modulusLength: 2048 }), rsaWithSha256, hosts)

function signedBy(
  { privateKey, publicKey }: KeyPairKeyObjectResult,
  algorithmId: Buffer,
  hosts: readonly string[],
): Identity {
  const name = sequence(set(sequence(commonName, utf8(hosts[0]!))))
  const algorithm = sequence(algorithmId)
  const year = new Date().getUTCFullYear()
  const body = sequence(
    tagged(0xa0, integer(2)),
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(8)])),
    algorithm,
    name,
    sequence(time(year - 1), time(year + 1)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    tagged(
      0xa3,
      sequence(
        sequence(basicConstraints, der(0x01, Buffer.of(0xff)), octets(sequence(isAuthority))),
        sequence(alternativeNames, octets(sequence(...hosts.map(hostName)))),
      ),
    ),
  )
  const signature = der(0x03, Buffer.concat([Buffer.of(0), sign('sha256', body, privateKey)]))
  const certificate = sequence(body, algorithm, signature).toString('base64')
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${certificate.match(/.{1,64}/g)!.join('\n')}\n-----END CERTIFICATE-----\n`,
  }
}

function der(tag: number, content: Buffer): Buffer {
  const length = content.length
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.of(tag, ...head), content])
}

const sequence = (...parts: readonly Buffer[]) => der(0x30, Buffer.concat(parts))
const set = (...parts: readonly Buffer[]) => der(0x31, Buffer.concat(parts))
const tagged = (tag: number, content: Buffer) => der(tag, content)
const octets = (content: Buffer) => der(0x04, content)
const integer = (value: number) => der(0x02, Buffer.of(value))
const utf8 = (text: string) => der(0x0c, Buffer.from(text))
const time = (year: number) => der(0x18, Buffer.from(`${year}0101000000Z`))
const identifier = (...bytes: readonly number[]) => der(0x06, Buffer.of(...bytes))

const hostName = (host: string) =>
  /^[\d.]+$/.test(host)
    ? der(0x87, Buffer.from(host.split('.').map(Number)))
    : der(0x82, Buffer.from(host))

const isAuthority = der(0x01, Buffer.of(0xff))
const commonName = identifier(0x55, 4, 3)
const basicConstraints = identifier(0x55, 0x1d, 0x13)
const alternativeNames = identifier(0x55, 0x1d, 0x11)
const ecdsaWithSha256 = identifier(0x2a, 0x86, 0x48, 0xce, 0x3d, 4, 3, 2)
const rsaWithSha256 = Buffer.concat([
  identifier(0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 0x0b),
  der(0x05, Buffer.alloc(0)),
])
