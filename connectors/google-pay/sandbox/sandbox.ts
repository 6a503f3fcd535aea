/** Makes tokens as the wallet does, with keys of its own, for tests and for trying out. */
import {
  createCipheriv,
  createHmac,
  diffieHellman,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomUUID,
  sign,
} from 'node:crypto'
import type { TokenFlaw, TokenScene, WalletSandbox } from '@tollgate/plugin-kit/testing'
import type { Version } from '../root-keys.ts'
import { lengthValue } from '../signature.ts'

type Pair = { readonly privateKey: KeyObject; readonly publicKey: KeyObject }

const gatewayId = 'sandbox'
const account = { gatewayMerchantId: 'merchant-1' }
const lifetimeMs = 7 * 24 * 60 * 60_000
/** Keys of the wallet outlive every scene. */
const keysUntil = String(Date.UTC(2090, 0, 1))

/** Each has keys of its own. */
export function createSandbox(): WalletSandbox {
  const [root, foreignRoot] = [pair(), pair()]
  const [newest, last, foreign] = [pair(), pair(), pair()]
  return {
    settings: {
      config: { gatewayId, privateKeys: pemOf(newest) + pemOf(last) },
      account,
    },
    roots: [rootDocument(root)],
    foreignRoots: [rootDocument(foreignRoot)],
    foreignAccount: { gatewayMerchantId: 'merchant-2' },
    numberTypes: ['DPAN', 'PAN'],
    namesAmount: false,
    make(scene, flaw) {
      const to = flaw === 'last-key' ? last : flaw === 'foreign-key' ? foreign : newest
      const by = flaw === 'foreign-root' ? foreignRoot : root
      const version = flaw === 'old-version' ? 'ECv1' : 'ECv2'
      const message = sealed(contentOf(scene, flaw), to.publicKey, version, flaw)
      return signed(message, by, version)
    },
    respelled,
  }
}

function contentOf(scene: TokenScene, flaw: TokenFlaw | undefined): string {
  const isDevice = scene.numberType === 'DPAN'
  return JSON.stringify({
    gatewayMerchantId: flaw === 'foreign-recipient' ? 'merchant-2' : account.gatewayMerchantId,
    messageExpiration: String(scene.at.getTime() + lifetimeMs),
    messageId: randomUUID(),
    paymentMethod: flaw === 'no-card' ? 'NOTHING' : 'CARD',
    paymentMethodDetails: {
      pan: scene.number,
      expirationMonth: Number(scene.expiryMonth),
      expirationYear: Number(scene.expiryYear),
      authMethod: isDevice ? 'CRYPTOGRAM_3DS' : 'PAN_ONLY',
      ...(isDevice && { cryptogram: scene.cryptogram }),
      ...(isDevice && scene.eci !== undefined && { eciIndicator: scene.eci }),
    },
  })
}

function sealed(
  text: string,
  to: KeyObject,
  version: 'ECv1' | 'ECv2',
  flaw: TokenFlaw | undefined,
): string {
  const ephemeral = pair()
  const point = pointOf(ephemeral.publicKey)
  const secret = diffieHellman({ privateKey: ephemeral.privateKey, publicKey: to })
  const half = version === 'ECv1' ? 16 : 32
  const material = Buffer.concat([point, secret])
  const keys = Buffer.from(hkdfSync('sha256', material, Buffer.alloc(0), 'Google', 2 * half))
  const algorithm = version === 'ECv1' ? 'aes-128-ctr' : 'aes-256-ctr'
  const cipher = createCipheriv(algorithm, keys.subarray(0, half), Buffer.alloc(16))
  const message = Buffer.concat([cipher.update(text), cipher.final()])
  const tag = createHmac('sha256', keys.subarray(half)).update(message).digest()
  if (flaw === 'wrong-tag') tag[0]! ^= 1
  return JSON.stringify({
    encryptedMessage: message.toString('base64'),
    ephemeralPublicKey: point.toString('base64'),
    tag: (flaw === 'cut-tag' ? tag.subarray(0, 16) : tag).toString('base64'),
  })
}

function signed(signedMessage: string, root: Pair, version: Version): string {
  const recipient = `gateway:${gatewayId}`
  const signing = pair()
  const signedKey = JSON.stringify({
    keyValue: spkiOf(signing.publicKey),
    keyExpiration: keysUntil,
  })
  const by = version === 'ECv1' ? root : signing
  const signature = (key: KeyObject, ...texts: readonly string[]) =>
    sign('sha256', lengthValue('Google', ...texts), key).toString('base64')
  return JSON.stringify({
    protocolVersion: version,
    signature: signature(by.privateKey, recipient, version, signedMessage),
    ...(version !== 'ECv1' && {
      intermediateSigningKey: {
        signedKey,
        signatures: [signature(root.privateKey, version, signedKey)],
      },
    }),
    signedMessage,
  })
}

/** The text around the signed message is not signed, and a list may hold further signatures. */
function respelled(token: string): readonly string[] {
  const read = JSON.parse(token) as { intermediateSigningKey: { signatures: string[] } }
  const key = read.intermediateSigningKey
  const [signature = ''] = key.signatures
  const like = (signatures: readonly string[]) =>
    JSON.stringify({ ...read, intermediateSigningKey: { ...key, signatures } })
  return [
    JSON.stringify(read, undefined, 1),
    JSON.stringify(Object.fromEntries(Object.entries(read).reverse())),
    like([signature, signature]),
    like(['AAAA', signature]),
  ]
}

const rootDocument = ({ publicKey }: Pair) =>
  JSON.stringify({
    keys: (['ECv1', 'ECv2', 'ECv2SigningOnly'] as const).map((protocolVersion) => ({
      keyValue: spkiOf(publicKey),
      protocolVersion,
      keyExpiration: keysUntil,
    })),
  })

const pair = (): Pair => generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
const pemOf = ({ privateKey }: Pair) => String(privateKey.export({ type: 'pkcs8', format: 'pem' }))
const spkiOf = (key: KeyObject) => key.export({ type: 'spki', format: 'der' }).toString('base64')

function pointOf(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' })
  return Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')])
}
