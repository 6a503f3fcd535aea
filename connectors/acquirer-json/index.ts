import {
  type Context,
  contractVersion,
  defineConnector,
  definePlugin,
  none,
  type Operation,
  type Outcome,
  R,
  request,
  type SettingsOf,
  secret,
  settings,
  unknown,
} from '@tollgate/plugin-kit'
import { readCheck, readFound, readOutcome, readReversal } from './answers.ts'
import { claimsOf, isSigned, reply } from './events.ts'
import { followUp, pathOf, payment } from './requests.ts'

const config = settings('Example Bank', [
  ['url', { kind: 'url', max: 200 }, R, request, none, 'Base URL of the API.'],
])
// One installation serves many merchants: these settings differ between them. Secrets are sealed.
const account = settings('Account at Example Bank', [
  ['merchantId', { kind: 'text', min: 1, max: 32 }, R, request, none, 'Id of the merchant there.'],
  ['apiKey', { kind: 'text', min: 16, max: 64 }, R, request, secret, 'Proves our requests.'],
  ['eventSecret', { kind: 'text', min: 16, max: 64 }, R, request, secret, 'Proves their events.'],
])

type Bank = Context<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

/** Example Bank, JSON API version 3: cards and SEPA direct debit. */
export const acquirerJson = defineConnector({
  name: 'acquirer-json',
  title: 'Example Bank (JSON)',
  contract: contractVersion,
  config,
  account,
  supports: {
    brands: ['VISA', 'MASTER', 'DIRECTDEBIT_SEPA'],
    currencies: 'any',
    methods: ['card', 'bankAccount'],
    capture: { partial: true, multiple: true },
    refund: { partial: true },
    reverse: { partial: true },
    threeDSecure: 'external',
    // The bank's manual: "An Idempotency-Key is remembered for 90 days."
    key: { by: 'key', ttlMs: 90 * 24 * 60 * 60_000 },
    // "Look-ups may lag behind by some seconds." A generous value costs a minute, a tight one a
    // refund.
    enquiryVisibleAfterMs: 60_000,
    modes: ['EXTERNAL', 'LIVE'],
  },
  authorize: pay,
  debit: pay,
  credit: pay,
  verify: pay,
  capture: build,
  refund: build,
  reverse: build,
  increment: build,
  resolve: {
    enquire: async (operation, bank) => readFound(await look(operation, bank), operation),
    reverseByKey: async (operation, bank) =>
      readReversal(await move(bank, '/reversals', operation.key, {}), operation.key),
  },
  // The shopper's browser proves nothing, so the bank is asked.
  complete: async (operation, _back, bank) => {
    const answer = await look(operation, bank)
    const found = readFound(answer, operation)
    switch (found.is) {
      case 'notFound':
        return unknown('the bank does not know the payment')
      case 'requested':
      case 'reversed':
      case 'notReversed':
        return unknown('the payment is taken back, and its end is told in another way')
      default:
        return found
    }
  },
  inbound: {
    verify: (message, { account }) => isSigned(message, account.eventSecret),
    parse: claimsOf,
    reply: () => reply,
  },
  check: async ({ http, config, account }) =>
    readCheck(await http.get(addressOf(config, '/account'), {}, { headers: headersOf(account) })),
})

export default definePlugin({
  name: 'acquirer-json',
  contract: contractVersion,
  connectors: [acquirerJson],
})

async function pay(operation: Operation, bank: Bank): Promise<Outcome> {
  const answer = await move(bank, '/payments', operation.key, payment(operation))
  return readOutcome(answer, operation)
}

async function build(operation: Operation, bank: Bank): Promise<Outcome> {
  const answer = await move(bank, pathOf(operation), operation.key, followUp(operation))
  return readOutcome(answer, operation)
}

/**
 * Every request that can move money passes here, so none lacks its tag or its key. Errors of
 * `http` pass through, because the engine alone knows whether a byte was written.
 */
function move({ http, config, account }: Bank, path: string, key: string, body: object) {
  return http.post(addressOf(config, path), body, {
    moves: true,
    headers: { ...headersOf(account), 'idempotency-key': key },
  })
}

function look(operation: Operation, { http, config, account }: Bank) {
  const query = { reference: operation.key }
  return http.get(addressOf(config, '/payments'), query, { headers: headersOf(account) })
}

/** Operators write the base URL with or without a slash at its end. */
const addressOf = ({ url }: Bank['config'], path: string) => `${url.replace(/\/$/, '')}${path}`

const headersOf = ({ merchantId, apiKey }: Bank['account']) => ({
  authorization: `Bearer ${apiKey}`,
  'x-merchant': merchantId,
})
