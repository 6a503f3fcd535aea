/** An authority with certificates like the wallet's, and detached signatures by them. */
import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { marks } from '../signature.ts'
import type { Version } from '../token.ts'
import {
  bits,
  boolean,
  octets,
  oid,
  sequence,
  serial,
  set,
  small,
  tagged,
  text,
  time,
  tlv,
} from './der.ts'

const names = {
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  signedData: '1.2.840.113549.1.7.2',
  data: '1.2.840.113549.1.7.1',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  sha256: '2.16.840.1.101.3.4.2.1',
  ecdsaSha256: '1.2.840.10045.4.3.2',
  rsaSha256: '1.2.840.113549.1.1.11',
} as const

type Holder = {
  readonly key: KeyObject
  readonly name: Buffer
  readonly certificate: Buffer
  readonly number: Buffer
}

export type Authority = {
  /** Its root certificate in PEM. */
  readonly root: string
  /** A detached signature, in BER as the wallet makes it. */
  sign(content: Buffer, version: Version, at: Date): Buffer
}

export function createAuthority(title: string): Authority {
  const root = holder(`${title} root`, ecKey(), { isAuthority: true })
  const intermediate = holder(
    `${title} CA`,
    ecKey(),
    { isAuthority: true, mark: marks.intermediate },
    root,
  )
  const leaves = {
    EC_v1: holder(`${title} EC`, ecKey(), { mark: marks.leaf }, intermediate),
    RSA_v1: holder(`${title} RSA`, rsaKey(), { mark: marks.leaf }, intermediate),
  }
  return {
    root: pemOf(root.certificate),
    sign: (content, version, at) => signedBy(leaves[version], intermediate, content, at),
  }
}

type Traits = { readonly isAuthority?: true; readonly mark?: string }

function holder(title: string, key: KeyObject, traits: Traits, issuer?: Holder): Holder {
  const name = sequence(set(sequence(oid(names.commonName), text(title))))
  const number = serial(randomBytes(8))
  const algorithm = sequence(oid(names.ecdsaSha256))
  const body = sequence(
    tagged(0, small(2)),
    number,
    algorithm,
    issuer?.name ?? name,
    sequence(time(new Date(Date.UTC(2020, 0, 1))), time(new Date(Date.UTC(2090, 0, 1)))),
    name,
    createPublicKey(key).export({ type: 'spki', format: 'der' }),
    tagged(3, sequence(...extensionsOf(traits))),
  )
  const signature = sign('sha256', body, issuer?.key ?? key)
  return { key, name, number, certificate: sequence(body, algorithm, bits(signature)) }
}

function extensionsOf({ isAuthority, mark }: Traits): readonly Buffer[] {
  const constraint = sequence(...(isAuthority ? [boolean(true)] : []))
  return [
    sequence(oid(names.basicConstraints), boolean(true), octets(constraint)),
    ...(mark === undefined ? [] : [sequence(oid(mark), octets(tlv(0x05)))]),
  ]
}

function signedBy(leaf: Holder, intermediate: Holder, content: Buffer, at: Date): Buffer {
  const digest = createHash('sha256').update(content).digest()
  const attributes = [
    sequence(oid(names.contentType), set(oid(names.data))),
    sequence(oid(names.signingTime), set(time(at))),
    sequence(oid(names.messageDigest), set(octets(digest))),
  ]
  const isRsa = leaf.key.asymmetricKeyType === 'rsa'
  const signer = sequence(
    small(1),
    sequence(intermediate.name, leaf.number),
    sequence(oid(names.sha256)),
    tagged(0, ...attributes),
    sequence(oid(isRsa ? names.rsaSha256 : names.ecdsaSha256)),
    octets(sign('sha256', set(...attributes), leaf.key)),
  )
  return sequence(
    oid(names.signedData),
    tagged(
      0,
      sequence(
        small(1),
        set(sequence(oid(names.sha256))),
        sequence(oid(names.data)),
        tagged(0, leaf.certificate, intermediate.certificate),
        set(signer),
      ),
    ),
  )
}

export const ecKey = () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey
export const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey

const pemOf = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replaceAll(/(.{64})/g, '$1\n')}\n-----END CERTIFICATE-----\n`
