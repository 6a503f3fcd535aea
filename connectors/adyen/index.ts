import { createHash } from 'node:crypto'
import {
  type Context,
  contractVersion,
  defineConnector,
  definePlugin,
  type HttpAnswer,
  match,
  none,
  O,
  type Operation,
  type Outcome,
  R,
  type Records,
  request,
  type SettingsOf,
  type ShopperReturn,
  secret,
  settings,
} from '@tollgate/plugin-kit'
import { awayFrom, readCheck, readDetails, readModification, readPayment } from './answers.ts'
import { claimsOf, reply } from './events.ts'
import { rememberIncrease, rememberModification } from './modifications.ts'
import { currencies } from './money.ts'
import { basisOf, notePayment, rememberBasis } from './payments.ts'
import { fetchReports } from './reports.ts'
import { modification, pathOf, payment } from './requests.ts'
import { parse } from './settlement.ts'
import { isProven } from './signature.ts'
import { undo } from './undo.ts'
import { wordsOf } from './undo-record.ts'

const config = settings('Adyen', [
  [
    'url',
    { kind: 'url', max: 200 },
    O,
    request,
    none,
    'Base URL of the Checkout API in test mode. Live accounts have their own, by livePrefix.',
    { default: 'https://checkout-test.adyen.com/v71', testOnly: true },
  ],
  [
    'reportUrl',
    { kind: 'url', max: 200 },
    O,
    request,
    none,
    'Base URL of report downloads in test mode.',
    { default: 'https://ca-test.adyen.com', testOnly: true },
  ],
])
const account = settings('Account at Adyen', [
  [
    'merchantAccount',
    { kind: 'text', min: 5, max: 64 },
    R,
    request,
    none,
    'Name of the merchant account.',
  ],
  [
    'apiKey',
    { kind: 'text', min: 16, max: 512 },
    R,
    request,
    secret,
    'API key of the web service user.',
  ],
  [
    'hmacKeys',
    match('[0-9A-Fa-f]{64}([, ]+[0-9A-Fa-f]{64}){0,3}', 'a1'.repeat(32)),
    R,
    request,
    secret,
    'HMAC keys of the standard webhook in hex, separated by commas: the new and the old one during a rotation.',
  ],
  [
    'livePrefix',
    match('[0-9a-z]{1,40}-[0-9A-Za-z]{1,80}', '1797a841fbb37ca7-AdyenDemo'),
    O,
    request,
    none,
    'Live only: the prefix of the live addresses, from the Customer Area.',
  ],
  [
    'reportUser',
    { kind: 'text', min: 1, max: 200 },
    O,
    request,
    none,
    'Report user, for settlement reports.',
  ],
  [
    'reportPassword',
    { kind: 'text', min: 1, max: 200 },
    O,
    request,
    secret,
    'Password of the report user.',
  ],
])

type Adyen = Context<SettingsOf<typeof config.rows>, SettingsOf<typeof account.rows>>

/** Adyen, Checkout API version 71 and Webhooks version 1: cards. */
export const adyen = defineConnector({
  name: 'adyen',
  title: 'Adyen',
  contract: contractVersion,
  config,
  account,
  supports: {
    brands: ['VISA', 'MASTER', 'AMEX', 'DINERS', 'DISCOVER', 'JCB', 'UNIONPAY', 'MAESTRO'],
    currencies,
    methods: ['card'],
    capture: { partial: true, multiple: true },
    refund: { partial: true },
    // A cancellation releases all of an authorisation.
    reverse: { partial: false },
    threeDSecure: 'own',
    // Adyen's documentation says 31 days at least. A week is more than any repeat needs.
    key: { by: 'key', ttlMs: 7 * 24 * 60 * 60_000 },
    // Only payments are cancelled by a reference of ours.
    reversibleByKey: ['authorize', 'debit', 'verify'],
    // No enquiry exists. Webhooks tell what became of a payment.
    enquiryVisibleAfterMs: 60_000,
    modes: ['EXTERNAL', 'LIVE'],
  },
  authorize: pay,
  debit: pay,
  verify: pay,
  capture: modify,
  refund: modify,
  reverse: modify,
  increment: modify,
  resolve: {
    reverseByKey: (operation, context) =>
      undo(operation, context, (path, body, key) => move(context, path, body, key)),
  },
  complete,
  inbound: {
    verify: (message, { account }) => isProven(message, account.hmacKeys),
    parse: claimsOf,
    reply: () => reply,
  },
  settlement: {
    format: 'ADYEN-SETTLEMENT-DETAILS',
    institute: 'Adyen',
    zone: 'Europe/Amsterdam',
    merchantOf: ({ merchantAccount }) => merchantAccount,
    refs: ['payment', 'modification'],
    fetch: (cursor, context) => fetchReports(cursor, context, reportOrigin(context)),
    parse,
  },
  check: async (context) =>
    readCheck(
      await context.http.post(
        `${apiOf(context)}/paymentMethods`,
        { merchantAccount: context.account.merchantAccount },
        { headers: headersOf(context) },
      ),
    ),
})

export default definePlugin({ name: 'adyen', contract: contractVersion, connectors: [adyen] })

async function pay(operation: Operation, context: Adyen): Promise<Outcome> {
  const body = payment(operation, context.account)
  const { kind, key } = operation
  // Adyen captures a sale days later at worst, and only tells if that fails.
  const known = kind === 'debit' ? ({ isSale: true } as const) : ({ isOwn: true } as const)
  if (kind !== 'verify') await notePayment(context.records, key, known)
  const outcome = readPayment(await move(context, '/payments', body, key), operation)
  const isAway =
    outcome.is === 'pending' && typeof outcome.next === 'object' && 'redirect' in outcome.next
  if (!isAway) return outcome
  try {
    await notePayment(context.records, key, { isAway: true })
  } catch {
    context.log.warn({}, 'a payment that is given up may have to be closed by hand')
  }
  return outcome
}

/** What is done to a payment. Adyen takes it, and tells its end by a webhook. */
async function modify(given: Operation, context: Adyen): Promise<Outcome> {
  const { records, account } = context
  const operation = await withPayment(given, records)
  const refused = refusedHere(operation)
  if (refused !== undefined) return refused
  const [path, body] = [pathOf(operation), modification(operation, account)]
  // Before the request: the webhook can be faster than its answer.
  if (operation.kind === 'increment') await rememberIncrease(records, operation)
  let taken: string | undefined
  try {
    const outcome = readModification(await move(context, path, body, operation.key), operation)
    taken = 'refs' in outcome ? outcome.refs?.modification : undefined
    return outcome
  } finally {
    await remember(operation, taken, context)
  }
}

/** What webhooks, and operations on this one, may need to know of it. */
async function remember(
  operation: Operation,
  taken: string | undefined,
  { records, log }: Adyen,
): Promise<void> {
  try {
    if (taken !== undefined) return await rememberModification(records, taken, operation)
    await rememberBasis(records, operation.key, operation.original?.refs.payment ?? '')
  } catch {
    // The webhook also has our own reference.
    log.warn({}, "Adyen's reference of an operation could not be kept")
  }
}

/** A payment or capture that a report or an operator approved may have no reference of Adyen. */
async function withPayment(operation: Operation, records: Records): Promise<Operation> {
  const { original } = operation
  if (original === undefined || original.refs.payment !== undefined) return operation
  const { key } = original
  const payment = (await basisOf(records, key)) ?? (await wordsOf(records, key)).authorised[0]
  if (payment === undefined) return operation
  return { ...operation, original: { ...original, refs: { ...original.refs, payment } } }
}

/** Operations that Adyen does not have, or would do otherwise than asked for. */
function refusedHere({ kind, amount, original }: Operation): Outcome | undefined {
  if (kind === 'reverse' && original?.kind !== 'authorize' && original?.kind !== 'debit') {
    return {
      is: 'declined',
      reason: '700.300.800',
      text: 'Adyen cancels whole payments only; refund a capture',
    }
  }
  // Adyen takes new sums. Of two increases at once, the second would undo the first.
  const { increasing } = original ?? {}
  if (kind === 'increment' && increasing !== undefined && increasing.minor > amount.minor) {
    return { is: 'declined', reason: '700.300.300', text: 'another increase is not decided yet' }
  }
  return undefined
}

/** The shopper is back from the page of Adyen. The browser proves nothing, so Adyen is asked. */
async function complete(
  operation: Operation,
  { query, form, memo }: ShopperReturn,
  context: Adyen,
): Promise<Outcome> {
  const redirectResult = query.redirectResult ?? form.redirectResult
  if (redirectResult === undefined || redirectResult === '') return awayFrom(memo)
  // A forged result must not use up the name of the right one.
  const name = createHash('sha256').update(`${operation.key} ${redirectResult}`).digest('hex')
  const body = { details: { redirectResult } }
  const answer = await move(context, '/payments/details', body, name)
  return readDetails(answer, operation, memo)
}

/**
 * Every request that can move money passes here, so none lacks its tag or its key. Errors of `http` pass through,
 * because the engine alone knows whether a byte was written.
 */
function move(context: Adyen, path: string, body: object, key: string): Promise<HttpAnswer> {
  return context.http.post(`${apiOf(context)}${path}`, body, {
    moves: true,
    headers: { ...headersOf(context), 'idempotency-key': key },
  })
}

const headersOf = ({ account }: Adyen) => ({ 'x-api-key': account.apiKey })

/** @throws Error before anything is sent, for a live account without its prefix. */
function apiOf({ mode, config, account }: Adyen): string {
  if (mode !== 'LIVE') {
    return (config.url ?? 'https://checkout-test.adyen.com/v71').replace(/\/$/, '')
  }
  const { livePrefix } = account
  if (livePrefix === undefined) throw new Error('a live account needs the setting livePrefix')
  return `https://${livePrefix}-checkout-live.adyenpayments.com/checkout/v71`
}

const reportOrigin = ({ mode, config }: Adyen): string =>
  mode === 'LIVE'
    ? 'https://ca-live.adyen.com'
    : (config.reportUrl ?? 'https://ca-test.adyen.com').replace(/\/$/, '')
