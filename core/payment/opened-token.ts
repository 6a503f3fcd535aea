/**
 * Opens the encrypted token of a wallet before anything is written, and puts the card in its place. From here on the
 * payment is like one whose merchant sent the decrypted values.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type {
  Money,
  OpenedToken,
  RequestFields,
  WalletField,
  WalletRefusal,
} from '@tollgate/plugin-kit'
import { currencyOf, limits } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { encryptedWallet } from '../request/account.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import { replayOf } from '../wallet/store.ts'
import type { Replay } from '../wallet/wallets.ts'

/** A token that was opened: its wallet and what the first commit stores of it. */
export type FromWallet = {
  readonly field: WalletField
  readonly card: OpenedToken
  readonly replay: Replay
  /** When the work on the token began, on the monotonic clock. */
  readonly startedMs: number
}

/**
 * The request with the card of its token; the request itself where it has no token.
 *
 * @throws GatewayError 200.300.404 for a token that does not open, whatever the reason, after the same time; 600.200.200
 * where the channel takes no tokens of the wallet.
 */
export async function withOpenedToken(
  engine: Engine,
  channel: Channel,
  request: Request,
): Promise<{ readonly request: Request; readonly wallet?: FromWallet }> {
  const field = encryptedWallet(request.fields)
  if (field === undefined) return { request }
  const startedMs = engine.clock.elapsedMs()
  const token = textOf(groupOf(request.fields, field), 'paymentToken')!
  const answer = await engine.wallets.open(channel, field, token)
  if (answer.is === 'refused') {
    noteRefusal(engine, request, answer.wallet, answer.class)
    throw await afterSameTime(engine, startedMs, field)
  }
  const { card, replay } = answer
  return {
    request: { ...request, fields: withCard(request.fields, field, card) },
    wallet: { field, card, replay, startedMs },
  }
}

/** One error for every token that is not taken, so that it tells a forger nothing. */
function refusedToken(field: WalletField): GatewayError {
  return refuse('200.300.404', `${field}.paymentToken`, 'is not a token that can be paid with here')
}

/** The payment that was made with the token, if any. */
export async function paymentOfToken(
  { lanes }: Pick<Engine, 'lanes'>,
  { replay }: FromWallet,
): Promise<string | undefined> {
  const [row] = await lanes.read(replayOf(replay.wallet, replay.hash))
  return row?.payment_id
}

/** The token of another payment came again. */
export function replayedToken(
  engine: Engine,
  request: Request,
  { field, replay, startedMs }: FromWallet,
): Promise<GatewayError> {
  noteRefusal(engine, request, replay.wallet, 'replayed')
  return afterSameTime(engine, startedMs, field)
}

/**
 * Refusals are answered at the same moments after their start: what was wrong takes different times to find out, and
 * must not be read from a clock.
 */
async function afterSameTime(
  engine: Engine,
  startedMs: number,
  field: WalletField,
): Promise<GatewayError> {
  const step = limits.walletRefusalMs
  const tookMs = engine.clock.elapsedMs() - startedMs
  await pause(Math.ceil(tookMs / step) * step - tookMs)
  return refusedToken(field)
}

/** The only place that says why. A refused request has no payment, so its own number finds the step. */
function noteRefusal(
  engine: Engine,
  { ndc }: Request,
  wallet: string,
  why: WalletRefusal | 'threw' | 'replayed' | 'amount' | 'currency',
): void {
  engine.steps.note({
    paymentId: ndc !== undefined && isId(ndc) ? ndc : newId(),
    name: 'wallet',
    startedMs: engine.clock.realMs(),
    outcome: 'refused',
    detail: { ...(ndc === undefined ? {} : { ndc }), said: { wallet, class: why } },
  })
}

function withCard(fields: RequestFields, field: WalletField, card: OpenedToken): RequestFields {
  const { paymentToken: _, ...group } = groupOf(fields, field) as Record<string, string>
  const isDevice = card.numberType === 'DPAN'
  const proof = {
    ...(card.cryptogram === undefined ? {} : { verificationId: card.cryptogram.reveal() }),
    ...(card.eci === undefined ? {} : { eci: card.eci }),
  }
  const { [field]: _group, ...others } = fields
  return {
    ...others,
    ...(Object.keys(group).length === 0 ? {} : { [field]: group }),
    card: {
      ...groupOf(fields, 'card'),
      number: card.number.reveal(),
      expiryMonth: card.expiryMonth,
      expiryYear: card.expiryYear,
      numberType: card.numberType,
    },
    ...(isDevice ? { threeDSecure: { ...groupOf(fields, 'threeDSecure'), ...proof } } : {}),
  }
}

/**
 * The token says which amount the shopper saw.
 *
 * @throws GatewayError 200.300.404 naming the amount or the currency.
 */
export function refuseOtherAmount(
  engine: Engine,
  request: Request,
  asked: Money,
  { field, card: { amount }, replay }: FromWallet,
): void {
  if (amount === undefined) return
  const codes = [asked.currency, currencyOf(asked.currency)?.numeric]
  const wrong = !codes.includes(amount.currency)
    ? 'currency'
    : amount.minor !== asked.minor
      ? 'amount'
      : undefined
  if (wrong === undefined) return
  noteRefusal(engine, request, replay.wallet, wrong)
  const sent = textOf(request.fields, wrong)
  throw refuse('200.300.404', wrong, `differs from the one in ${field}.paymentToken`, sent)
}

/** A fault of the card in a token is named by the token: the merchant sent no card. */
export function asOfToken(error: unknown, field: WalletField): unknown {
  if (!(error instanceof GatewayError)) return error
  if (!error.parameterErrors.some(({ name }) => name.startsWith('card.'))) return error
  const parameterErrors = error.parameterErrors.map(({ name, message }) =>
    name.startsWith('card.')
      ? { name: `${field}.paymentToken`, message: `the card: ${message}` }
      : { name, message },
  )
  return new GatewayError(error.code, { status: error.status, parameterErrors })
}
