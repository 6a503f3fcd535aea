/** A payment token as it is on the wire, read without trusting anything in it. */
import { createHash } from 'node:crypto'
import { strictBase64, strictJson, strictMembers } from '@tollgate/plugin-kit'

export type Version = 'EC_v1' | 'RSA_v1'

export type Token = {
  readonly version: Version
  readonly data: Buffer
  readonly signature: Buffer
  /** A public key (EC_v1), or a key sealed under the merchant's (RSA_v1). */
  readonly key: Buffer
  readonly publicKeyHash: Buffer
  readonly transactionId: string
  /** What the signature covers. */
  readonly signed: Buffer
}

const hex = /^(?:[0-9a-fA-F]{2})+$/

export function tokenOf(text: string): Token | 'malformed' | 'version' {
  const read = strictJson(text, ['data', 'header', 'signature', 'version'])
  if (read === undefined) return 'malformed'
  const version = (['EC_v1', 'RSA_v1'] as const).find((one) => one === read.version)
  if (version === undefined) return 'version'
  const keyName = version === 'EC_v1' ? 'ephemeralPublicKey' : 'wrappedKey'
  const must = [keyName, 'publicKeyHash', 'transactionId']
  const header = strictMembers(read.header, must, ['applicationData'])
  const data = strictBase64(read.data)
  const signature = strictBase64(read.signature)
  const key = strictBase64(header?.[keyName])
  const publicKeyHash = strictBase64(header?.publicKeyHash)
  const transactionId = header?.transactionId
  const application = header?.applicationData ?? ''
  if (
    data === undefined ||
    signature === undefined ||
    key === undefined ||
    publicKeyHash?.length !== createHash('sha256').digest().length ||
    typeof transactionId !== 'string' ||
    !hex.test(transactionId) ||
    typeof application !== 'string' ||
    !(application === '' || hex.test(application))
  ) {
    return 'malformed'
  }
  const rest = [Buffer.from(transactionId, 'hex'), Buffer.from(application, 'hex')]
  const signed = Buffer.concat([key, data, ...rest])
  return {
    ...{ version, data, signature, key, publicKeyHash, signed },
    transactionId: transactionId.toLowerCase(),
  }
}
