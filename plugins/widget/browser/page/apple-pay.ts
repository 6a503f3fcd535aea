import { type OfferedWallet, wholePlace } from './checkout.ts'
import type { Context } from './context.ts'
import { networksOf, type Sheet } from './wallet-button.ts'

/** What browsers with the wallet offer to pages. */
type AppleSession = {
  onvalidatemerchant: (event: { readonly validationURL: string }) => void
  onpaymentauthorized: (event: {
    readonly payment: { readonly token: { readonly paymentData: unknown } }
  }) => void
  oncancel: () => void
  begin(): void
  abort(): void
  completeMerchantValidation(session: unknown): void
  completePayment(status: number): void
}
type AppleSessions = {
  new (version: number, request: object): AppleSession
  canMakePayments(): boolean
  readonly STATUS_SUCCESS: number
  readonly STATUS_FAILURE: number
}

declare global {
  interface Window {
    ApplePaySession?: AppleSessions
  }
}

const version = 3
const networks = {
  ...{ VISA: 'visa', MASTER: 'masterCard', AMEX: 'amex', DISCOVER: 'discover', JCB: 'jcb' },
  ...{ MAESTRO: 'maestro', CARTEBANCAIRE: 'cartesBancaires', UNIONPAY: 'chinaUnionPay' },
  ...{ MADA: 'mada', ELO: 'elo' },
}

/** Null where the browser has no such wallet. */
export async function applePaySheet(
  context: Context,
  { merchantName = '', country = '' }: OfferedWallet,
): Promise<Sheet | null> {
  const { ApplePaySession } = window
  const supported = networksOf(context, networks)
  // Throws in pages that the wallet does not allow.
  if (ApplePaySession?.canMakePayments() !== true || supported.length === 0) return null
  let session: AppleSession | null = null
  return {
    open: () => {
      const { amount = '', currency = '' } = context.checkout
      // Within the press itself: browsers open no sheet later.
      const opened = new ApplePaySession(version, {
        countryCode: country,
        currencyCode: currency,
        supportedNetworks: supported,
        merchantCapabilities: ['supports3DS'],
        total: { label: merchantName, amount },
      })
      session = opened
      return new Promise((resolve, reject) => {
        opened.onvalidatemerchant = () => {
          recognised(context).then(
            (merchant) => opened.completeMerchantValidation(merchant),
            (thrown) => {
              session = null
              opened.abort()
              reject(thrown)
            },
          )
        }
        opened.onpaymentauthorized = ({ payment }) =>
          resolve(JSON.stringify(payment.token.paymentData))
        opened.oncancel = () => {
          session = null
          resolve(null)
        }
        opened.begin()
      })
    },
    close: (isTaken) => {
      const { STATUS_SUCCESS, STATUS_FAILURE } = ApplePaySession
      session?.completePayment(isTaken ? STATUS_SUCCESS : STATUS_FAILURE)
      session = null
    },
  }
}

/** The gateway has the certificate by which the wallet knows the merchant. */
async function recognised({ place }: Context): Promise<unknown> {
  const query = new URLSearchParams({ wallet: 'applePay', origin: location.origin })
  const response = await fetch(`${wholePlace(place)}/walletSession?${query}`, {
    credentials: 'omit',
    cache: 'no-store',
    referrerPolicy: 'no-referrer',
    headers: { Accept: 'application/json' },
  })
  if (!response.ok) throw new Error(`the gateway answered ${response.status}`)
  const { session } = (await response.json()) as { session: string }
  return JSON.parse(session)
}
