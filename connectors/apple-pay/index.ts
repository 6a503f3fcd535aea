import { hash, X509Certificate } from 'node:crypto'
import {
  contractVersion,
  definePlugin,
  defineWallet,
  pemCertificates,
  refusedToken,
  Sensitive,
  type SettingsOf,
  type WalletContext,
} from '@tollgate/plugin-kit'
import { cardOf } from './card.ts'
import { keyFor, type MerchantKey, merchantKeys, plainOf } from './data.ts'
import { appleRoot } from './root.ts'
import { account, config } from './settings.ts'
import { signedAt } from './signature.ts'
import { tokenOf } from './token.ts'

type Config = SettingsOf<typeof config.rows>
type Account = SettingsOf<typeof account.rows>
type Context = WalletContext<Config, Account>

/** Apple Pay: tokens of version EC_v1 and RSA_v1. */
export const applePay = defineWallet({
  name: 'apple-pay',
  title: 'Apple Pay',
  field: 'applePay',
  contract: contractVersion,
  config,
  account,
  trust: { roots, testSettings: ['testRoots', 'testSessionUrl'] },
  open,
  check,
  button: { facts, session },
})

export default definePlugin({ name: 'apple-pay', contract: contractVersion, wallets: [applePay] })

function roots(settings: Config, environment: 'test' | 'live') {
  const own = environment === 'live' ? settings.roots : settings.testRoots
  const certificates = own === undefined ? [] : pemCertificates(own)
  if (own !== undefined && certificates.length === 0) {
    throw new Error(`${environment === 'live' ? 'roots' : 'testRoots'} has no certificate in PEM`)
  }
  // A certificate that cannot be read stops the start, and not every token.
  for (const pem of certificates) new X509Certificate(pem)
  return { is: 'fixed', anchors: [appleRoot, ...certificates] } as const
}

function open(text: string, context: Context) {
  const token = tokenOf(text)
  if (typeof token === 'string') return refusedToken(token)
  const signed = signedAt(token, context.roots)
  if ('why' in signed) return refusedToken(signed.why)
  const { atMs } = signed
  const ageMs = context.config.signatureAgeSeconds! * 1000
  if (Math.abs(context.now().getTime() - atMs) > ageMs) return refusedToken('stale')
  const merchant = keyFor(token, keysOf(context))
  if (merchant === undefined) return refusedToken('recipient')
  const plain = plainOf(token, merchant)
  if (plain === undefined) return refusedToken('decryption')
  // All that is signed: a part of it could be read with other borders.
  const replayId = hash('sha256', token.signed)
  const replay = { replayId, replayUntil: new Date(atMs + ageMs + 1) }
  return cardOf(plain, replay) ?? refusedToken('content')
}

/** Keys that cannot be read open nothing: the check of the account names them. */
function keysOf({ keys, account }: Context): readonly MerchantKey[] {
  const certificates = pemCertificates(account.certificates ?? '')
  return keys.flatMap((key) => {
    try {
      return merchantKeys([key], certificates, account.merchantId)
    } catch {
      return []
    }
  })
}

function check(context: Context) {
  const wrong = (why: string) => ({ ok: false, why }) as const
  const found = keysOf(context)
  if (context.keys.length === 0)
    return wrong('privateKeys has no private key, in PEM or as base64 of its PKCS #8')
  if (found.length < context.keys.length) {
    return wrong('one of privateKeys or of certificates cannot be read')
  }
  const isKnown = ({ key, merchant }: MerchantKey) =>
    key.asymmetricKeyType === 'rsa' || merchant !== undefined
  if (!found.every(isKnown)) {
    return wrong('the merchant of a key is unknown: add merchantId, or the certificate of the key')
  }
  return { ok: true } as const
}

/** Pages of the wallet's script know the merchant only by a session, which needs the identity. */
function facts(
  _: Config,
  { merchantName, identityCertificate, identityKey, merchantId, country }: Account,
) {
  if (identityCertificate === undefined || identityKey === undefined) return undefined
  if (merchantName === undefined || merchantId === undefined || country === undefined) {
    return undefined
  }
  return { merchantName, country }
}

/** Where the wallet's own address stands, an address of the page would let it choose whom we tell. */
const sessionUrl = 'https://apple-pay-gateway.apple.com/paymentservices/paymentSession'

function session({ testSessionUrl }: Config, account: Account, page: string) {
  return {
    url: testSessionUrl ?? sessionUrl,
    json: {
      merchantIdentifier: account.merchantId!,
      displayName: account.merchantName!,
      initiative: 'web',
      initiativeContext: page,
    },
    tls: { cert: account.identityCertificate!, key: new Sensitive(account.identityKey!) },
  }
}
