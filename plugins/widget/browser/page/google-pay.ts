import type { OfferedWallet } from './checkout.ts'
import type { Context } from './context.ts'
import { element } from './dom.ts'
import { networksOf, type Sheet } from './wallet-button.ts'

const scriptAddress = 'https://pay.google.com/gp/p/js/pay.js'

type GoogleClient = {
  isReadyToPay(request: object): Promise<{ readonly result: boolean }>
  loadPaymentData(request: object): Promise<{
    readonly paymentMethodData: { readonly tokenizationData: { readonly token: string } }
  }>
}
type GooglePayments = {
  readonly payments: {
    readonly api: { readonly PaymentsClient: new (options: object) => GoogleClient }
  }
}

declare global {
  interface Window {
    google?: GooglePayments
  }
}

const networks = {
  ...{ VISA: 'VISA', MASTER: 'MASTERCARD', AMEX: 'AMEX', DISCOVER: 'DISCOVER', JCB: 'JCB' },
}

/**
 * Null where the page does not ask for it, does not allow its script, or the browser has no card in it. The script is of
 * another party and runs in the merchant's page, so the page has to name the brand in `inlineFlow`.
 */
export async function googlePaySheet(
  context: Context,
  wallet: OfferedWallet,
): Promise<Sheet | null> {
  const { inlineFlow } = context.options
  if (!Array.isArray(inlineFlow) || !inlineFlow.includes('GOOGLEPAY')) return null
  const supported = networksOf(context, networks)
  if (supported.length === 0) return null
  const { payments } = window.google ?? (await loadScript()) ?? {}
  if (payments === undefined) return null
  const { environment = 'TEST' } = wallet
  const client = new payments.api.PaymentsClient({ environment })
  const card = {
    type: 'CARD',
    parameters: {
      allowedAuthMethods: ['PAN_ONLY', 'CRYPTOGRAM_3DS'],
      allowedCardNetworks: supported,
    },
  }
  const api = { apiVersion: 2, apiVersionMinor: 0 }
  const { result } = await client.isReadyToPay({ ...api, allowedPaymentMethods: [card] })
  if (!result) return null
  return {
    open: () =>
      client.loadPaymentData(requestOf(context, wallet, { ...api, card })).then(
        ({ paymentMethodData }) => paymentMethodData.tokenizationData.token,
        (thrown: { statusCode?: string }) => {
          if (thrown?.statusCode === 'CANCELED') return null
          throw new Error(String(thrown?.statusCode ?? thrown))
        },
      ),
    // This sheet closes by itself.
    close: () => {},
  }
}

function requestOf(
  { checkout }: Context,
  { gateway, gatewayMerchantId, merchantId, merchantName }: OfferedWallet,
  { card, ...api }: { readonly card: object },
): object {
  const parameters = { gateway, gatewayMerchantId }
  return {
    ...api,
    allowedPaymentMethods: [
      { ...card, tokenizationSpecification: { type: 'PAYMENT_GATEWAY', parameters } },
    ],
    merchantInfo: { merchantId, merchantName },
    transactionInfo: {
      totalPriceStatus: 'FINAL',
      totalPrice: checkout.amount,
      currencyCode: checkout.currency,
    },
  }
}

let loading: Promise<GooglePayments | undefined> | undefined

/** Undefined where the page's policy or its browser refuses the script. */
function loadScript(): Promise<GooglePayments | undefined> {
  loading ??= new Promise((resolve) => {
    const script = element('script', { async: '' })
    const done = () => resolve(window.google)
    script.addEventListener('load', done, { once: true })
    script.addEventListener('error', done, { once: true })
    try {
      script.src = scriptAddress
    } catch {
      // A page with Trusted Types brings the script itself.
      return resolve(undefined)
    }
    document.head.append(script)
  })
  return loading
}
