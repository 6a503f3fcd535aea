/** Checks the request of a first payment. Nothing is written or sent yet. */
import type { Kind, Money, RequestFields } from '@tollgate/plugin-kit'
import { businessNow, clockOf } from '../business-time/time.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Mode } from '../connector/registry.ts'
import type { OpenTransaction } from '../db/open-transaction.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { type CheckedAccount, checkAccount } from '../request/account.ts'
import { checkCountries } from '../request/address.ts'
import { checkAmount } from '../request/amount.ts'
import { refuseUnavailable, refuseWithoutReturn } from '../request/capabilities.ts'
import { refuseOwnNumber } from '../request/own-number.ts'
import { refuse, textOf } from '../request/values.ts'
import { isOn } from '../three-d-secure/plan.ts'
import { refuseManyNumbers } from './distinct-number.ts'
import type { InCheckout } from './in-checkout.ts'
import { asOfToken, type FromWallet, refuseOtherAmount } from './opened-token.ts'
import { handlerOf } from './operation-kinds.ts'
import type { Scheduled } from './scheduled.ts'
import { refuseNumberLike } from './stored-number.ts'
import { numbersOf } from './stored-request.ts'

/** The purpose of a first payment, beside its request. */
export type Use = {
  /** The registration that pays. */
  readonly registrationId?: string
  /** Only stores the account, or only authenticates the shopper; moves no money. */
  readonly only?: 'verification' | 'authentication'
  /** The shopper is on a page of ours, which completes the fields of the browser. */
  readonly isAtCheckout?: boolean
  /** The test clock of the owning resource. */
  readonly clockId?: string | null
  /** The caller; absent when the engine itself asks. */
  readonly caller?: Caller
  readonly scheduled?: Scheduled
  /** The checkout that the shopper pays. */
  readonly inCheckout?: InCheckout
  /** The transaction of the embedding program that writes the payment; it is sent after the commit. */
  readonly within?: OpenTransaction
}

export type Asked = {
  readonly request: Request
  readonly use: Use
  /** The payment type; for a two-step payment, the type of its first step. */
  readonly paymentType: string
  readonly isVerification: boolean
  /** A preauthorization with an automatic capture. */
  readonly isChained: boolean
  /** The account is stored for later payments. */
  readonly isStored: boolean
  readonly kind: Kind
  readonly amount: Money
  readonly account: CheckedAccount
  readonly method: Exclude<CheckedAccount['kind'], 'none' | 'wallet'> | null
  readonly brand: string | null
  /** The token that the card came out of. */
  readonly wallet: FromWallet | undefined
  /** Values of class pan, by full name. */
  readonly numbers: Readonly<Record<string, string>>
  readonly mode: Mode
  readonly clockId: string | null
  /** Business time. */
  readonly now: Date
}

/** ISO 4217's code for transactions without a currency. */
const nothing = { minor: 0n, currency: 'XXX' }

/**
 * @param request with the card of its wallet's token, where it came with one.
 * @throws GatewayError with the code of the fault in the request.
 */
export async function checkFirst(
  engine: Engine,
  channel: Channel,
  request: Request,
  use: Use,
  wallet?: FromWallet,
): Promise<Asked> {
  const { fields } = request
  const isVerification = use.only === 'verification'
  const isAuthentication = use.only === 'authentication'
  const askedType = isVerification
    ? 'RG'
    : isAuthentication
      ? '3D'
      : (textOf(fields, 'paymentType') ?? '')
  const isPayment = !isVerification && !isAuthentication
  if (isPayment) refuseUnavailable(fields, askedType, isOn(channel))
  // A stored account was confirmed when it was stored.
  if (isPayment && use.registrationId === undefined) refuseWithoutReturn(fields)
  const isChained = askedType === 'PA.CP'
  const paymentType = isChained ? 'PA' : askedType
  const clockId = await clockOf(engine, channel, fields, use.clockId ?? null)
  const now = await businessNow(engine, channel.id, clockId)
  const cvvAsked = !isAuthentication && channel.settings.cvvRequired === true
  const account = checkOpened(wallet, () =>
    checkAccount(fields, {
      now,
      cvvAsked,
      opened: wallet?.field,
      isFromBrowser: use.isAtCheckout === true && use.registrationId === undefined,
    }),
  )
  const amount = isVerification ? nothing : checkAmount(fields, { now, followUp: false })
  checkCountries(fields)
  const isStored = isVerification || textOf(fields, 'createRegistration') === 'true'
  if (isStored) refuseUnstorable(account)
  const numbers = numbersOf(fields)
  if (use.registrationId === undefined) {
    // A checkout compares last: pages around card fields must learn nothing from it.
    if (use.inCheckout === undefined) refuseRepeatedNumber({ request, numbers, wallet })
    refuseManyNumbers(engine, channel, use.caller, numbers)
  }
  const asked: Asked = {
    request,
    use,
    paymentType,
    isVerification,
    isChained,
    isStored,
    kind: handlerOf[paymentType] ?? 'verify',
    amount,
    account,
    wallet,
    method: account.kind === 'none' || account.kind === 'wallet' ? null : account.kind,
    brand: account.brand?.code ?? null,
    numbers,
    mode: modeOf(engine, fields),
    clockId,
    now,
  }
  // An account that is only stored moves no money.
  if (wallet !== undefined && !isVerification) refuseOtherAmount(engine, request, amount, wallet)
  return asked
}

/**
 * A number out of a token is compared by its visible digits alone: whoever sent the token does not know the number, and
 * would read it from the answers.
 *
 * @throws RepeatedNumber 400 naming the field that repeats a number of the request.
 */
export function refuseRepeatedNumber({
  request: { names },
  numbers,
  wallet,
}: Pick<Asked, 'request' | 'numbers' | 'wallet'>): void {
  if (wallet === undefined) {
    refuseOwnNumber(numbers, names)
    return
  }
  const { 'card.number': ofToken, ...sent } = numbers
  refuseOwnNumber(sent, names)
  const isSent = ([name]: Request['names'][number]) =>
    numbers[name] === undefined && name !== `${wallet.field}.paymentToken`
  if (ofToken !== undefined) refuseNumberLike(ofToken, names.filter(isSent))
}

function checkOpened(wallet: FromWallet | undefined, check: () => CheckedAccount): CheckedAccount {
  try {
    return check()
  } catch (error) {
    throw wallet === undefined ? error : asOfToken(error, wallet.field)
  }
}

/** @throws GatewayError 100.150.205 when a payment has no account to store. */
function refuseUnstorable(account: CheckedAccount): void {
  if (account.kind !== 'none' && account.kind !== 'wallet') return
  throw new GatewayError('100.150.205', {
    parameterErrors: [
      {
        name: 'createRegistration',
        value: 'true',
        message: 'needs account data to store: a card, a bank, token or virtual account',
      },
    ],
  })
}

/**
 * The mode of a first payment: the simulator, unless a test requests the acquirer's test system.
 */
export function modeOf(engine: Engine, fields: RequestFields): Mode {
  const testMode = textOf(fields, 'testMode')
  if (engine.environment === 'test') return testMode === 'EXTERNAL' ? 'EXTERNAL' : 'INTERNAL'
  if (testMode === undefined) return 'LIVE'
  throw refuse(
    '200.300.404',
    'testMode',
    'is not an allowed parameter in the live environment',
    testMode,
  )
}
