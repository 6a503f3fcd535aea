/** Makes tokens as the wallet does, with keys of its own, for tests and for trying out. */
import {
  constants,
  createCipheriv,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
} from 'node:crypto'
import type { TokenFlaw, TokenScene, WalletSandbox } from '@tollgate/plugin-kit/testing'
import { idOf } from '../token.ts'

export type SandboxOptions = {
  readonly alg?: 'RSA1_5' | 'RSA-OAEP' | 'RSA-OAEP-256'
  readonly enc?: 'A128GCM' | 'A256GCM'
  /** Devices authenticate nothing beside the text, although the standard says the header. */
  readonly authenticates?: 'header' | 'nothing'
}

/** Each has keys of its own. */
export function createSandbox(options: SandboxOptions = {}): WalletSandbox {
  const [newest, last, foreign] = [rsaKey(), rsaKey(), rsaKey()]
  return {
    settings: { config: {}, account: { privateKeys: pemOf(newest) + pemOf(last) } },
    roots: [],
    foreignRoots: [],
    foreignAccount: { privateKeys: pemOf(foreign) },
    numberTypes: ['DPAN'],
    namesAmount: true,
    without: { 'foreign-root': 'nobody signs the tokens of this wallet' },
    make(scene, flaw) {
      const isForeign = flaw === 'foreign-recipient' || flaw === 'foreign-key'
      const to = flaw === 'last-key' ? last : isForeign ? foreign : newest
      return sealed(contentOf(scene, flaw), to, options, flaw)
    },
    respelled,
  }
}

function contentOf(scene: TokenScene, flaw: TokenFlaw | undefined): string {
  return JSON.stringify({
    amount: String(scene.amount.minor),
    cryptogram: scene.cryptogram,
    currency_code: scene.amount.currency,
    ...(scene.eci !== undefined && { eci_indicator: scene.eci.replace(/^0/, '') }),
    tokenPanExpiration: scene.expiryMonth + scene.expiryYear.slice(-2),
    utc: String(scene.at.getTime()),
    ...(flaw !== 'no-card' && { tokenPAN: scene.number }),
  })
}

function sealed(
  text: string,
  to: KeyObject,
  { alg = 'RSA1_5', enc = 'A128GCM', authenticates = 'nothing' }: SandboxOptions,
  flaw: TokenFlaw | undefined,
): string {
  const part = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64url')
  const header = part(
    JSON.stringify({
      alg,
      kid: idOf(to),
      typ: 'JOSE',
      channelSecurityContext: 'RSA_PKI',
      enc,
      ...(flaw === 'old-version' && { zip: 'DEF' }),
    }),
  )
  const secret = randomBytes(enc === 'A128GCM' ? 16 : 32)
  const iv = randomBytes(12)
  const cipher = createCipheriv(enc === 'A128GCM' ? 'aes-128-gcm' : 'aes-256-gcm', secret, iv)
  if (authenticates === 'header') cipher.setAAD(Buffer.from(header))
  const body = Buffer.concat([cipher.update(text), cipher.final()])
  const tag = cipher.getAuthTag()
  if (flaw === 'wrong-tag') tag[0]! ^= 1
  const shown = flaw === 'cut-tag' ? tag.subarray(0, 12) : tag
  return [header, ...[wrapped(secret, to, alg), iv, body, shown].map(part)].join('.')
}

function wrapped(secret: Buffer, to: KeyObject, alg: NonNullable<SandboxOptions['alg']>): Buffer {
  const key = createPublicKey(to)
  if (alg === 'RSA1_5') return publicEncrypt({ key, padding: constants.RSA_PKCS1_PADDING }, secret)
  const oaepHash = alg === 'RSA-OAEP' ? 'sha1' : 'sha256'
  return publicEncrypt({ key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash }, secret)
}

/** Devices do not authenticate the header. */
function respelled(token: string): readonly string[] {
  const [header = '', ...parts] = token.split('.')
  const read = JSON.parse(String(Buffer.from(header, 'base64url'))) as Record<string, string>
  const { kid: _, ...unnamed } = read
  return [unnamed, { ...read, typ: 'JWE' }, { ...read, cty: 'text' }].map((other) =>
    [Buffer.from(JSON.stringify(other)).toString('base64url'), ...parts].join('.'),
  )
}

const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const pemOf = (key: KeyObject) => String(key.export({ type: 'pkcs8', format: 'pem' }))
