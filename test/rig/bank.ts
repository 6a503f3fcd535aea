/** An acquirer whose accounts have a secret. */
import {
  approved,
  type Context,
  defineConnector,
  definePlugin,
  settings,
} from '@tollgate/plugin-kit'

const short = { kind: 'text', min: 1, max: 64 } as const

/** @param onDebit Sees what a debit is given, before it is sent. */
export const bankPlugin = (onDebit: (context: Context) => void = () => {}) =>
  definePlugin({
    name: 'bank',
    contract: 1,
    connectors: [
      defineConnector({
        name: 'bank',
        title: 'Bank',
        contract: 1,
        account: settings('Account at the bank', [
          ['merchantId', short, 'R', 'request', 'none', 'Number of the merchant.'],
          ['apiKey', short, 'R', 'request', 'secret', 'Login.'],
        ]),
        supports: {
          brands: 'any',
          currencies: 'any',
          methods: ['card'],
          key: { by: 'none' },
          enquiryVisibleAfterMs: 0,
        },
        debit: async (operation, context) => {
          onDebit(context)
          context.sending()
          return approved({ reference: operation.key })
        },
        resolve: { enquire: async () => ({ is: 'notFound' }) },
      }),
    ],
  })
