/** An authenticator in the place of a connector: with accounts and events, without a handler for money. */
import type { Authenticator, Connector, Context } from '@tollgate/plugin-kit'

/** An authenticator's event says only that something happened: the engine enquires. */
const somethingHappened = { is: 'unknown', why: 'the authenticator has an answer' } as const

/** Events need an amount; the event of an authenticator is about none. */
const noAmount = { minor: 0n, currency: 'EUR' }

/** The connector in which an authenticator's accounts, calls and events are those of any other. */
export function asConnector(authenticator: Authenticator): Connector {
  const { name, title, contract, config, account, supports, inbound } = authenticator
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
      ...(supports.timeoutMs === undefined ? {} : { limits: { timeoutMs: supports.timeoutMs } }),
    },
    resolve: {},
    ...(inbound === undefined
      ? {}
      : {
          inbound: {
            ...(inbound.proof === undefined ? {} : { proof: inbound.proof }),
            verify: (message, context: Context) => inbound.verify(message, context),
            async parse(message, context: Context) {
              const claims = await inbound.parse(message, context)
              return claims.map(({ eventId, key }) => ({
                eventId,
                key,
                outcome: somethingHappened,
                amount: noAmount,
              }))
            },
            ...(inbound.reply === undefined
              ? {}
              : { reply: (message, context: Context) => inbound.reply!(message, context) }),
          },
        }),
  }
}
