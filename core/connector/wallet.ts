/** A wallet in the place of a connector: with accounts, without a handler for money. */
import { type Connector, type Context, type Wallet, walletKeys } from '@tollgate/plugin-kit'

/** The connector in which a wallet's accounts are those of any other. */
export function walletAsConnector(wallet: Wallet): Connector {
  const { name, title, contract, config, account } = wallet
  return {
    name,
    title,
    contract,
    ...(config === undefined ? {} : { config }),
    ...(account === undefined ? {} : { account }),
    supports: {
      brands: 'any',
      currencies: 'any',
      methods: ['card'],
      key: { by: 'none' },
      enquiryVisibleAfterMs: 0,
      modes: ['EXTERNAL', 'LIVE'],
    },
    resolve: {},
    ...(wallet.check === undefined
      ? {}
      : {
          // Certificates have ends in real time.
          async check({ config, account, clock }: Context) {
            const keys = walletKeys(config, account)
            return wallet.check!({ config, account, keys, roots: [], now: () => clock.now() })
          },
        }),
  }
}
