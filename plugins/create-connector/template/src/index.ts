/** The connector of Acme Bank: facts first, then the operations. */
import {
  type Context,
  contractVersion,
  defineConnector,
  definePlugin,
  type HttpAnswer,
  type HttpOptions,
  none,
  type Operation,
  type Outcome,
  R,
  request,
  type SettingsOf,
  secret,
  settings,
} from '@tollgate/plugin-kit'
import {
  checkIn,
  // #redirect
  completedIn,
  // #end
  foundIn,
  outcomeIn,
  reversalIn,
} from './answers.ts'
// #events
import { claimsIn, isSigned, reply } from './events.ts'
// #end
import { loggedIn } from './login.ts'
import { followUp, payment } from './requests.ts'
// #settlement
import { settlement } from './settlement.ts'
// #end
import { type Fields, written } from './wire.ts'

// DECIDE(installation): what is the same for all merchants of an installation?
const config = settings('Acme Bank', [
  ['url', { kind: 'url', max: 200 }, R, request, none, 'Base URL of the API.'],
])

const text = { kind: 'text', min: 5, max: 64 } as const
// DECIDE(account): what proves a merchant to the acquirer? Settings of class `secret` are sealed.
const account = settings('Account at Acme Bank', [
  ['user', text, R, request, none, 'User, the number of the merchant.'],
  ['password', text, R, request, secret, 'Password of the user.'],
  // #events
  ['notifySecret', text, R, request, secret, 'Proves the messages of Acme Bank.'],
  // #end
])

export type Bank = Context<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

export const acmeBank = defineConnector({
  name: 'acme-bank',
  title: 'Acme Bank',
  contract: contractVersion,
  config,
  account,
  supports: {
    // DECIDE(offer): which brands, currencies and methods, and which parts of an amount?
    brands: ['VISA', 'MASTER'],
    currencies: 'any',
    methods: ['card'],
    capture: { partial: true, multiple: true },
    refund: { partial: true },
    reverse: { partial: false },
    // DECIDE(key): does the same key sent twice do the work once, and for how long?
    key: { by: 'key', ttlMs: 30 * 24 * 60 * 60_000 },
    // DECIDE(lag): how long can an enquiry miss a payment? A generous value costs a minute, a tight one money.
    enquiryVisibleAfterMs: 60_000,
    modes: ['EXTERNAL', 'LIVE'],
  },
  // DECIDE(operations): which ones does the acquirer have? Leave out the others.
  authorize: pay,
  debit: pay,
  capture: follow,
  refund: follow,
  reverse: follow,
  resolve: {
    enquire: async (operation, bank) =>
      foundIn(await ask(bank, '/enquiries', { reference: operation.key }), operation),
    // DECIDE(undo): can an operation be undone by its key, and is the key harmless from then on?
    reverseByKey: async ({ key }, bank) =>
      reversalIn(await move(bank, '/reversals', { reference: key }), key),
  },
  // #redirect
  // DECIDE(return): the browser proves nothing, so the acquirer is asked. How?
  complete: async (operation, _back, bank) =>
    completedIn(await ask(bank, '/enquiries', { reference: operation.key }), operation),
  // #end
  // #events
  inbound: {
    verify: (message, { account }) => isSigned(message, account.notifySecret),
    parse: claimsIn,
    reply: () => reply,
  },
  // #end
  // #settlement
  settlement,
  // #end
  check: async (bank) => checkIn(await ask(bank, '/login', {})),
})

export default definePlugin({
  name: 'acme-bank',
  contract: contractVersion,
  connectors: [acmeBank],
})

async function pay(operation: Operation, bank: Bank): Promise<Outcome> {
  return outcomeIn(await move(bank, '/payments', payment(operation)), operation)
}

async function follow(operation: Operation, bank: Bank): Promise<Outcome> {
  return outcomeIn(await move(bank, '/payments', followUp(operation)), operation)
}

/**
 * Every request that can move money passes here, so none lacks its tag. Errors of `http` pass through: the
 * engine alone knows whether a byte was written, and decides about repeats.
 */
const move = (bank: Bank, path: string, fields: Fields) => send(bank, path, fields, true)

const ask = (bank: Bank, path: string, fields: Fields) => send(bank, path, fields, false)

function send(bank: Bank, path: string, fields: Fields, moves: boolean): Promise<HttpAnswer> {
  const body: HttpOptions = written(fields)
  // Operators write the URL with or without a slash at its end.
  const url = `${bank.config.url.replace(/\/$/, '')}${path}`
  return loggedIn(bank, moves, (authorization) => {
    const headers = { ...body.headers, authorization }
    return bank.http.request('POST', url, { ...body, moves, headers })
  })
}
