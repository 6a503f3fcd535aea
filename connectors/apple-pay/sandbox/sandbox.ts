/** Makes tokens as the wallet does, with an authority and keys of its own, for tests and for trying out. */
import {
  constants,
  createCipheriv,
  createHash,
  createPublicKey,
  diffieHellman,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import type { TokenFlaw, TokenScene, WalletSandbox } from '@tollgate/plugin-kit/testing'
import { derivedKey, hashOf } from '../data.ts'
import type { Version } from '../token.ts'
import { type Authority, createAuthority, ecKey, rsaKey } from './authority.ts'
import { currencyOf } from './currency.ts'

const merchantId = 'merchant.com.example.sandbox'

/** Each has keys of its own. */
export function createSandbox(version: Version = 'EC_v1'): WalletSandbox {
  const [authority, foreignAuthority] = [createAuthority('Sandbox'), createAuthority('Other')]
  const key = version === 'EC_v1' ? ecKey : rsaKey
  const [newest, last, foreign] = [key(), key(), key()]
  return {
    settings: {
      config: { testRoots: authority.root },
      account: { merchantId, privateKeys: pemOf(newest) + pemOf(last) },
    },
    roots: [authority.root],
    foreignRoots: [foreignAuthority.root],
    foreignAccount: { merchantId: 'merchant.com.other', privateKeys: pemOf(foreign) },
    numberTypes: ['DPAN'],
    namesAmount: true,
    // An RSA key opens whatever is sealed for it; nothing else names the merchant.
    ...(version === 'RSA_v1' && {
      without: { 'foreign-recipient': 'the key alone is the recipient' },
    }),
    make(scene, flaw) {
      const to = flaw === 'last-key' ? last : flaw === 'foreign-key' ? foreign : newest
      const merchant = flaw === 'foreign-recipient' ? 'merchant.com.other' : merchantId
      const by = flaw === 'foreign-root' ? foreignAuthority : authority
      const sealed = seal(contentOf(scene, flaw), to, version, merchant, flaw)
      return tokenOf(sealed, to, version, by, scene.at, flaw)
    },
    respelled,
  }
}

function contentOf(scene: TokenScene, flaw: TokenFlaw | undefined): string {
  return JSON.stringify({
    applicationPrimaryAccountNumber: scene.number,
    applicationExpirationDate: `${scene.expiryYear.slice(-2)}${scene.expiryMonth}28`,
    currencyCode: currencyOf(scene.amount.currency),
    transactionAmount: Number(scene.amount.minor),
    deviceManufacturerIdentifier: '050110030273',
    paymentDataType: flaw === 'no-card' ? 'EMV' : '3DSecure',
    paymentData: {
      onlinePaymentCryptogram: scene.cryptogram,
      ...(scene.eci !== undefined && { eciIndicator: scene.eci.replace(/^0/, '') }),
    },
  })
}

type Sealed = { readonly key: Buffer; readonly data: Buffer }

function seal(
  text: string,
  to: KeyObject,
  version: Version,
  merchant: string,
  flaw: TokenFlaw | undefined,
): Sealed {
  const agreed = version === 'EC_v1' ? agree(to, merchant) : wrap(to)
  const algorithm = version === 'EC_v1' ? 'aes-256-gcm' : 'aes-128-gcm'
  const cipher = createCipheriv(algorithm, agreed.secret, Buffer.alloc(16))
  const body = Buffer.concat([cipher.update(text), cipher.final()])
  const tag = cipher.getAuthTag()
  if (flaw === 'wrong-tag') tag[0]! ^= 1
  const shown = flaw === 'cut-tag' ? tag.subarray(0, 12) : tag
  return { key: agreed.key, data: Buffer.concat([body, shown]) }
}

function agree(to: KeyObject, merchant: string) {
  const ephemeral = ecKey()
  const secret = diffieHellman({ privateKey: ephemeral, publicKey: createPublicKey(to) })
  return {
    key: createPublicKey(ephemeral).export({ type: 'spki', format: 'der' }),
    secret: derivedKey(secret, createHash('sha256').update(merchant).digest()),
  }
}

function wrap(to: KeyObject) {
  const secret = randomBytes(16)
  const padding = constants.RSA_PKCS1_OAEP_PADDING
  const key = publicEncrypt({ key: createPublicKey(to), padding, oaepHash: 'sha256' }, secret)
  return { key, secret }
}

function tokenOf(
  { key, data }: Sealed,
  to: KeyObject,
  version: Version,
  by: Authority,
  at: Date,
  flaw: TokenFlaw | undefined,
): string {
  const transactionId = randomBytes(32)
  const signature = by.sign(Buffer.concat([key, data, transactionId]), version, at)
  return JSON.stringify({
    version: flaw === 'old-version' ? 'EC_v0' : version,
    data: data.toString('base64'),
    signature: signature.toString('base64'),
    header: {
      [version === 'EC_v1' ? 'ephemeralPublicKey' : 'wrappedKey']: key.toString('base64'),
      publicKeyHash: hashOf(to).toString('base64'),
      transactionId: transactionId.toString('hex'),
    },
  })
}

/** The signature covers one row of bytes without the borders of its parts. */
function respelled(token: string): readonly string[] {
  const read = JSON.parse(token) as { data: string; header: Record<string, string> }
  const { data, header } = read
  const keyName = 'wrappedKey' in header ? 'wrappedKey' : 'ephemeralPublicKey'
  const id = header.transactionId!
  const like = (more: Record<string, string>, other = data) =>
    JSON.stringify({ ...read, data: other, header: { ...header, ...more } })
  const texts = [like({ transactionId: id.toUpperCase() }), JSON.stringify(read, undefined, 1)]
  for (let at = 2; at < id.length; at += 2) {
    texts.push(like({ transactionId: id.slice(0, at), applicationData: id.slice(at) }))
  }
  const bytes = Buffer.from(data, 'base64')
  const key = Buffer.from(header[keyName]!, 'base64')
  for (const many of [1, 16, 32]) {
    const [rest, tail] = [bytes.subarray(0, -many), bytes.subarray(-many).toString('hex')]
    texts.push(like({ transactionId: tail + id }, rest.toString('base64')))
    const moved = (tail + id).slice(0, id.length)
    const beyond = (tail + id).slice(id.length)
    const shifted = { transactionId: moved, applicationData: beyond }
    texts.push(like(shifted, rest.toString('base64')))
    const longer = Buffer.concat([key, bytes.subarray(0, many)]).toString('base64')
    texts.push(like({ [keyName]: longer }, bytes.subarray(many).toString('base64')))
  }
  return texts
}

const pemOf = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
