/** An engine with the three wallets, and shoppers' devices that make tokens for its channel. */
import { randomBytes } from 'node:crypto'
import type { Plugin } from '@tollgate/plugin-kit'
import type { TokenFlaw, TokenScene, WalletSandbox } from '@tollgate/plugin-kit/testing'
import applePlugin from '../../connectors/apple-pay/index.ts'
import { createSandbox as createApple } from '../../connectors/apple-pay/sandbox/sandbox.ts'
import googlePlugin from '../../connectors/google-pay/index.ts'
import { createSandbox as createGoogle } from '../../connectors/google-pay/sandbox/sandbox.ts'
import samsungPlugin from '../../connectors/samsung-pay/index.ts'
import { createSandbox as createSamsung } from '../../connectors/samsung-pay/sandbox/sandbox.ts'
import { type AcquirerRun, scriptedAcquirer, startWithAcquirer } from './acquirer.ts'

export const walletFields = ['applePay', 'googlePay', 'samsungPay'] as const
export type Field = (typeof walletFields)[number]

export const walletPlugins: readonly Plugin[] = [applePlugin, googlePlugin, samsungPlugin]

export const walletNames: Readonly<Record<Field, string>> = {
  applePay: 'apple-pay',
  googlePay: 'google-pay',
  samsungPay: 'samsung-pay',
}

export const walletBrands: Readonly<Record<Field, string>> = {
  applePay: 'APPLEPAY',
  googlePay: 'GOOGLEPAY',
  samsungPay: 'SAMSUNGPAY',
}

/** A device number of VISA in no test row of the simulator, and a card number. */
export const deviceNumber = '4895370013341927'
export const cardNumber = '4200000000000000'
export const cryptogram = 'AgAAAAAABk4DWZ4C28yUQAAAAAA='

export type Devices = Readonly<Record<Field, WalletSandbox>>

export const createDevices = (): Devices => ({
  applePay: createApple(),
  googlePay: createGoogle(),
  samsungPay: createSamsung(),
})

/** Settings of the installation by which the engine trusts the sandboxes. */
export const configOf = ({ applePay, googlePay }: Devices) => ({
  'apple-pay': applePay.settings.config,
  'google-pay': { ...googlePay.settings.config, testRootKeys: googlePay.roots[0] },
})

/** A device makes another one for each payment. */
export const newCryptogram = (): string => randomBytes(20).toString('base64')

/** A token of 92.00 EUR with a device number, made now. */
export const tokenOf = (
  sandbox: WalletSandbox,
  more: Partial<TokenScene> = {},
  flaw?: TokenFlaw,
): string =>
  sandbox.make(
    {
      number: deviceNumber,
      numberType: 'DPAN',
      expiryMonth: '05',
      expiryYear: '2034',
      cryptogram: newCryptogram(),
      eci: '05',
      amount: { minor: 9200n, currency: 'EUR' },
      at: new Date(),
      ...more,
    },
    flaw,
  )

export type WalletRun = AcquirerRun & { readonly devices: Devices }

/** A channel with a scripted acquirer and an account at each wallet. */
export async function startWithWallets(
  options: NonNullable<Parameters<typeof startWithAcquirer>[0]> = {},
): Promise<WalletRun> {
  const devices = createDevices()
  const acquirer = options.acquirer ?? scriptedAcquirer({ threeDSecure: 'external' })
  const run = await startWithAcquirer({
    ...options,
    acquirer,
    plugins: [...walletPlugins, ...(options.plugins ?? [])],
    connectors: { ...configOf(devices), ...options.connectors },
  })
  for (const field of walletFields) {
    await run.gateway.accounts.add({
      channelId: run.channel,
      connector: walletNames[field],
      mode: 'EXTERNAL',
      settings: devices[field].settings.account,
    })
  }
  return Object.assign(run, { devices })
}
