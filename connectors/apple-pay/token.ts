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
  /** What the signature covers: the parts in a row, without their borders. */
  readonly signed: Buffer
}

/** Parts behind the data have one length, so that no byte can move from one to the other. */
const digest = /^[0-9a-fA-F]{64}$/

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
    !digest.test(transactionId) ||
    typeof application !== 'string' ||
    !(application === '' || digest.test(application))
  ) {
    return 'malformed'
  }
  const rest = [Buffer.from(transactionId, 'hex'), Buffer.from(application, 'hex')]
  return {
    ...{ version, data, signature, key, publicKeyHash },
    signed: Buffer.concat([key, data, ...rest]),
  }
}
