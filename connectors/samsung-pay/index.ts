import {
  contractVersion,
  definePlugin,
  defineWallet,
  refusedToken,
  type SettingsOf,
  type WalletContext,
} from '@tollgate/plugin-kit'
import { cardOf } from './card.ts'
import { account, config } from './settings.ts'
import { plainOf, privateKey, tokenOf } from './token.ts'

type Context = WalletContext<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

/**
 * Samsung Pay. Nobody signs its tokens: whoever has the public key can make one, and only the card's issuer can tell by
 * the cryptogram. So there are no trust anchors. Its tokens name no merchant either, so keys belong to an account: a token
 * under keys of several merchants would pay at each of them.
 */
export const samsungPay = defineWallet({
  name: 'samsung-pay',
  title: 'Samsung Pay',
  field: 'samsungPay',
  contract: contractVersion,
  config,
  account,
  open,
  check,
})

export default definePlugin({
  name: 'samsung-pay',
  contract: contractVersion,
  wallets: [samsungPay],
})

function open(compact: string, { keys, config, now }: Context) {
  const token = tokenOf(compact)
  if (typeof token === 'string') return refusedToken(token)
  const plain = plainOf(token, keys)
  if (plain === undefined) return refusedToken('decryption')
  const ageMs = config.tokenAgeSeconds! * 1000
  const content = cardOf(plain, ageMs)
  if (content === undefined) return refusedToken('content')
  const isNow = Math.abs(now().getTime() - content.atMs) <= ageMs
  return isNow ? content.card : refusedToken('stale')
}

function check({ keys }: Context) {
  const wrong = (why: string) => ({ ok: false, why }) as const
  if (keys.length === 0)
    return wrong(
      'privateKeys of the account has no private key, in PEM or as base64 of its PKCS #8',
    )
  if (keys.some((key) => privateKey(key) === undefined)) {
    return wrong('one of privateKeys is no private RSA key')
  }
  return { ok: true } as const
}
