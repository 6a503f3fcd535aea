import {
  contractVersion,
  definePlugin,
  defineWallet,
  refusedToken,
  type SettingsOf,
  type WalletContext,
} from '@tollgate/plugin-kit'
import { contentOf } from './card.ts'
import { privateKey, sealedIn, unsealed } from './message.ts'
import { rootKeysOf, type Version } from './root-keys.ts'
import { account, config, documents } from './settings.ts'
import { type Envelope, envelopeOf, proven } from './signature.ts'

type Config = SettingsOf<typeof config.rows>
type Account = SettingsOf<typeof account.rows>
type Context = WalletContext<Config, Account>

/** Google Pay: tokens of version ECv2, ECv2SigningOnly and, where a setting allows it, ECv1. */
export const googlePay = defineWallet({
  name: 'google-pay',
  title: 'Google Pay',
  field: 'googlePay',
  contract: contractVersion,
  config,
  account,
  trust: { roots, usable, testSettings: ['testRootKeys', 'testRootKeysUrl'] },
  open,
  check,
  button: { facts },
})

export default definePlugin({ name: 'google-pay', contract: contractVersion, wallets: [googlePay] })

function roots(settings: Config, environment: 'test' | 'live') {
  const [text, url] =
    environment === 'live'
      ? [settings.rootKeys, settings.rootKeysUrl]
      : [settings.testRootKeys, settings.testRootKeysUrl]
  if (environment === 'live' && url !== undefined && isForTests(url)) {
    throw new Error("rootKeysUrl is the address of the wallet's keys for test payments")
  }
  return text === undefined
    ? ({ is: 'document', url: url ?? documents[environment] } as const)
    : ({ is: 'fixed', anchors: [text] } as const)
}

/** Whether an address at the wallet's own host is that of its test keys, in whatever spelling. */
function isForTests(address: string): boolean {
  const { hostname, pathname } = new URL(address)
  const own = new URL(documents.test)
  if (hostname.replace(/\.$/, '') !== own.hostname) return false
  return plain(pathname) === plain(own.pathname)
}

function plain(path: string): string {
  let text = path
  try {
    text = decodeURIComponent(path)
  } catch {
    // Not the spelling of a document that exists.
  }
  return new URL(text.replaceAll(/[/\\]+/g, '/'), documents.test).pathname.toLowerCase()
}

function usable(document: string, settings: Config, now: Date): boolean {
  const nowMs = now.getTime()
  return allowed(settings).some((version) => rootKeysOf([document], version, nowMs).length > 0)
}

const later: readonly Version[] = ['ECv2', 'ECv2SigningOnly']

const allowed = ({ allowECv1 }: Config): readonly Version[] =>
  allowECv1 === true ? [...later, 'ECv1'] : later

function open(token: string, context: Context) {
  const envelope = envelopeOf(token, allowed(context.config))
  if (typeof envelope === 'string') return refusedToken(envelope)
  const nowMs = context.now().getTime()
  const proof = proven(envelope, recipientsOf(context), context.roots, nowMs)
  if ('why' in proof) return refusedToken(proof.why)
  const plain = plainOf(envelope, context)
  if (plain === undefined) return refusedToken('decryption')
  const content = contentOf(plain)
  if (content === undefined) return refusedToken('content')
  if (content.card.replayUntil.getTime() <= nowMs) return refusedToken('expired')
  const isForGateway = proof.recipient.startsWith('gateway:')
  const { gatewayMerchantId } = context.account
  if (
    isForGateway &&
    !(gatewayMerchantId !== undefined && content.gatewayMerchantId === gatewayMerchantId)
  ) {
    return refusedToken('recipient')
  }
  return content.card
}

function plainOf(envelope: Envelope, { keys }: Context): string | undefined {
  const { version, signedMessage } = envelope
  if (version === 'ECv2SigningOnly') return signedMessage
  const sealed = sealedIn(signedMessage)
  return sealed === undefined ? undefined : unsealed(sealed, version, keys)
}

function recipientsOf({ config, account }: Context): readonly string[] {
  return [
    ...(config.gatewayId === undefined ? [] : [`gateway:${config.gatewayId}`]),
    ...(account.merchantId === undefined ? [] : [`merchant:${account.merchantId}`]),
  ]
}

function check(context: Context) {
  const { keys, config, account } = context
  const wrong = (why: string) => ({ ok: false, why }) as const
  if (recipientsOf(context).length === 0) {
    return wrong('the installation has no gatewayId, and the account no merchantId')
  }
  if (config.gatewayId !== undefined && account.gatewayMerchantId === undefined) {
    return wrong('gatewayMerchantId is missing')
  }
  if (keys.length === 0)
    return wrong(
      'privateKeys of installation and account have no private key, in PEM or as base64 of its PKCS #8',
    )
  if (keys.some((key) => privateKey(key) === undefined)) {
    return wrong('one of privateKeys is no private key on P-256')
  }
  return { ok: true } as const
}

function facts(
  settings: Config,
  { gatewayMerchantId, merchantId, merchantName }: Account,
  environment: 'test' | 'live',
) {
  const { gatewayId } = settings
  if (gatewayId === undefined || gatewayMerchantId === undefined) return undefined
  if (environment === 'live' && merchantId === undefined) return undefined
  return {
    environment: environment === 'live' ? 'PRODUCTION' : 'TEST',
    gateway: gatewayId,
    gatewayMerchantId,
    ...(merchantId === undefined ? {} : { merchantId }),
    ...(merchantName === undefined ? {} : { merchantName }),
  }
}
