/** Proof that the wallet made a token: a detached signature, and its certificates up to a configured root. */
import { createHash, type KeyObject, verify, X509Certificate } from 'node:crypto'
import type { WalletRefusal } from '@tollgate/plugin-kit'
import {
  type BaseBlock,
  fromBER,
  GeneralizedTime,
  ObjectIdentifier,
  OctetString,
  UTCTime,
} from 'asn1js'
import {
  type Certificate,
  ContentInfo,
  IssuerAndSerialNumber,
  SignedData,
  type SignerInfo,
} from 'pkijs'
import type { Token, Version } from './token.ts'

/** Marks of the certificates that may sign payments, and of the ones that may issue those. */
export const marks = { leaf: '1.2.840.113635.100.6.29', intermediate: '1.2.840.113635.100.6.2.14' }

const oid = {
  signedData: '1.2.840.113549.1.7.2',
  data: '1.2.840.113549.1.7.1',
  contentType: '1.2.840.113549.1.9.3',
  messageDigest: '1.2.840.113549.1.9.4',
  signingTime: '1.2.840.113549.1.9.5',
  sha256: '2.16.840.1.101.3.4.2.1',
} as const

/** A leaf's kind of key decides how it signs. */
const schemes: Readonly<
  Record<Version, { readonly key: string; readonly signs: readonly string[] }>
> = {
  EC_v1: { key: 'ec', signs: ['1.2.840.10045.4.3.2'] },
  RSA_v1: { key: 'rsa', signs: ['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.1'] },
}

/**
 * Bounds of the structure, twice what signatures of the wallet take: anybody may send a signature, and reading one holds
 * up the process.
 */
const most = { bytes: 6144, nodes: 450, depth: 24 } as const

/**
 * Certificates that came with the token prove nothing by themselves: the chain ends at a root of the configuration.
 *
 * @param roots Certificates in PEM.
 * @returns when the wallet signed the token, or why it is not proven.
 */
export function signedAt({ version, signature, signed }: Token, roots: readonly string[]): Signed {
  try {
    const parts = partsOf(signature)
    return parts === undefined ? { why: 'malformed' } : proven(parts, version, signed, roots)
  } catch {
    // Keys and signatures are read only where they are used.
    return { why: 'malformed' }
  }
}

type Signed = { readonly atMs: number } | { readonly why: WalletRefusal }

function proven(
  { signer, leaf, intermediate }: Parts,
  version: Version,
  signed: Buffer,
  roots: readonly string[],
): Signed {
  const said = attributesOf(signer)
  if (said === undefined) return { why: 'malformed' }
  // From the root down: a key of a forger's choice, which may be costly, is used for nothing.
  const root = roots
    .map((pem) => new X509Certificate(pem))
    .find((one) => isIssued(intermediate, one) && one.ca)
  if (root === undefined || !isIssued(leaf, intermediate) || !intermediate.ca || leaf.ca) {
    return { why: 'chain' }
  }
  const scheme = schemes[version]
  if (leaf.publicKey.asymmetricKeyType !== scheme.key) return { why: 'signature' }
  if (!scheme.signs.includes(signer.signatureAlgorithm.algorithmId)) return { why: 'algorithm' }
  const digest = createHash('sha256').update(signed).digest()
  if (!digest.equals(said.digest) || !isSigned(said.bytes, leaf.publicKey, signer)) {
    return { why: 'signature' }
  }
  const isValid = [leaf, intermediate, root].every((one) => isValidAt(one, said.atMs))
  return isValid ? { atMs: said.atMs } : { why: 'chain-expired' }
}

type Parts = {
  readonly signer: SignerInfo
  readonly leaf: X509Certificate
  readonly intermediate: X509Certificate
}

/** The one signer with its one certificate and that one's issuer; undefined for any other structure. */
function partsOf(signature: Buffer): Parts | undefined {
  if (signature.length > most.bytes) return undefined
  const { result, offset } = fromBER(Uint8Array.from(signature), {
    ...{ maxNodes: most.nodes, maxDepth: most.depth, parseEmbedded: false },
  })
  if (offset !== signature.length) return undefined
  const info = new ContentInfo({ schema: result })
  if (info.contentType !== oid.signedData) return undefined
  const data = new SignedData({ schema: info.content })
  const [signer, ...others] = data.signerInfos
  const { eContent, eContentType } = data.encapContentInfo
  const isDetached = eContent === undefined && eContentType === oid.data
  if (signer === undefined || others.length > 0 || !isDetached) return undefined
  if (signer.digestAlgorithm.algorithmId !== oid.sha256) return undefined
  const leaf = onlyOne(data, marks.leaf)
  const intermediate = onlyOne(data, marks.intermediate)
  if (leaf === undefined || intermediate === undefined || leaf === intermediate) return undefined
  if (!isNamed(signer, leaf)) return undefined
  return { signer, leaf: readable(leaf), intermediate: readable(intermediate) }
}

function onlyOne({ certificates = [] }: SignedData, mark: string): Certificate | undefined {
  const marked = certificates.filter(
    (one): one is Certificate =>
      'tbsView' in one && one.extensions?.some(({ extnID }) => extnID === mark) === true,
  )
  return marked.length === 1 ? marked[0] : undefined
}

const isNamed = ({ sid }: SignerInfo, { issuer, serialNumber }: Certificate): boolean =>
  sid instanceof IssuerAndSerialNumber &&
  sid.issuer.isEqual(issuer) &&
  sid.serialNumber.isEqual(serialNumber)

const readable = (certificate: Certificate) =>
  new X509Certificate(Buffer.from(certificate.toSchema(false).toBER()))

type Said = { readonly digest: Buffer; readonly atMs: number; readonly bytes: Buffer }

/** The signed attributes that count, each exactly once. */
function attributesOf({ signedAttrs }: SignerInfo): Said | undefined {
  const attributes = signedAttrs?.attributes ?? []
  const onlyValueOf = (type: string): BaseBlock | undefined => {
    const found = attributes.filter((one) => one.type === type)
    const [value, ...others] = (found[0]?.values ?? []) as BaseBlock[]
    return found.length === 1 && others.length === 0 ? value : undefined
  }
  const type = onlyValueOf(oid.contentType)
  const digest = onlyValueOf(oid.messageDigest)
  const at = onlyValueOf(oid.signingTime)
  const isData = type instanceof ObjectIdentifier && type.valueBlock.toString() === oid.data
  const isTime = at instanceof UTCTime || at instanceof GeneralizedTime
  if (signedAttrs === undefined || !isData || !(digest instanceof OctetString) || !isTime) {
    return undefined
  }
  return {
    digest: Buffer.from(digest.valueBlock.valueHexView),
    atMs: at.toDate().getTime(),
    // Signed as a SET, although the signer's row holds it under another tag.
    bytes: Buffer.from(signedAttrs.encodedValue),
  }
}

function isSigned(bytes: Buffer, key: KeyObject, { signature }: SignerInfo): boolean {
  return verify('sha256', bytes, key, Buffer.from(signature.valueBlock.valueHexView))
}

const isIssued = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)

const isValidAt = ({ validFrom, validTo }: X509Certificate, ms: number): boolean =>
  Date.parse(validFrom) <= ms && ms <= Date.parse(validTo)
