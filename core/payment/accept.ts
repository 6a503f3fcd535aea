/** From a valid request to its first commit: which channel, which acquirer, which rows. */
import type { Operation, RequestFields } from '@tollgate/plugin-kit'
import { Sensitive } from '@tollgate/plugin-kit'
import { limits } from '@tollgate/schemas'
import { businessNow, clockOf } from '../business-time/time.ts'
import type { Request } from '../call.ts'
import type { Caller } from '../caller/caller.ts'
import type { Mode } from '../connector/registry.ts'
import { outcomeUnknown, sqlState, violated } from '../db/database.ts'
import type { Engine } from '../engine.ts'
import type { Channel } from '../entity/directory.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import { idTimeMs, newId, shortId } from '../ids.ts'
import { type CheckedAccount, checkAccount } from '../request/account.ts'
import { checkCountries } from '../request/address.ts'
import { checkAmount } from '../request/amount.ts'
import { refuseUnavailable } from '../request/capabilities.ts'
import { refuseOwnNumber } from '../request/own-number.ts'
import { groupOf, refuse, textOf } from '../request/values.ts'
import type { AttemptContext } from './attempt-context.ts'
import { attemptKey } from './attempt-key.ts'
import { applyBackPressure } from './back-pressure.ts'
import { descriptorOf } from './descriptor.ts'
import { refuseManyNumbers } from './distinct-number.ts'
import { findEarlier, type Idempotency, replayed } from './idempotency.ts'
import { instrumentOf, shownNumbers } from './instrument.ts'
import { handlerOf } from './operation-kinds.ts'
import { holderOf, idempotencyOfOccurrence, type Scheduled } from './scheduled.ts'
import { sealNumbers } from './sealed-numbers.ts'
import { type AcceptRow, acceptOf, type RegisteringRow, type ScheduledRow } from './store-first.ts'
import { attemptByKey, paymentById } from './store-read.ts'
import { accountPart, noticeAt, numbersOf, withoutSecrets } from './stored-request.ts'
import { beginTrial } from './trial.ts'
import type { Payment } from './types.ts'

/** A first payment that may be sent, or the earlier one that the same idempotency key made. */
export type Accepted = { readonly work: AttemptContext } | { readonly replay: Payment }

/** What a first payment is for, beside what its request says. */
export type Use = {
  /** The registration that it is made with. */
  readonly registrationId?: string
  /** Only stores the account: moves no money. */
  readonly only?: 'verification'
  /** The test clock of what it belongs to. */
  readonly clockId?: string | null
  /** Who asks for it; absent where the engine itself does. */
  readonly caller?: Caller
  readonly scheduled?: Scheduled
}

/** ISO 4217's code for transactions without a currency. */
const nothing = { minor: 0n, currency: 'XXX' }

export async function acceptFirst(
  engine: Engine,
  channel: Channel,
  request: Request,
  idempotency: Idempotency | null,
  use: Use = {},
): Promise<Accepted> {
  const earlier = await findEarlier(engine, idempotency)
  if (earlier !== undefined) return { replay: earlier }
  const { fields } = request
  const isVerification = use.only === 'verification'
  const paymentType = isVerification ? 'RG' : (textOf(fields, 'paymentType') ?? '')
  if (!isVerification) refuseUnavailable(fields, paymentType)
  const isChained = paymentType === 'PA.CP'
  const type = isChained ? 'PA' : paymentType
  const clockId = await clockOf(engine, channel, fields, use.clockId ?? null)
  const now = await businessNow(engine, channel.id, clockId)
  const account = checkAccount(fields, { now, cvvAsked: channel.settings.cvvRequired === true })
  const { minor, currency } = isVerification
    ? nothing
    : checkAmount(fields, { now, followUp: false })
  checkCountries(fields)
  const isStored = isVerification || textOf(fields, 'createRegistration') === 'true'
  if (isStored) refuseUnstorable(account)
  const numbers = numbersOf(fields)
  if (use.registrationId === undefined) {
    refuseOwnNumber(numbers, request.names)
    refuseManyNumbers(engine, channel, use.caller, numbers['card.number'])
  }
  const mode = modeOf(engine, fields)
  const kind = handlerOf[type]!
  const brand = account.brand?.code ?? null
  const method = account.kind === 'none' || account.kind === 'wallet' ? null : account.kind
  const target = await engine.targets.choose(channel, {
    mode,
    kind: isVerification ? null : kind,
    method,
    brand,
    currency: isVerification ? null : currency,
  })
  const { connector } = target.loaded
  // Its second step is a capture: a connector that has none could only authorise and let go.
  if (isChained && connector.capture === undefined) throw new GatewayError('600.200.400')
  applyBackPressure(engine, connector)

  const id = newId()
  // In real time a payment is created at the time in its id: searches order by the id alone.
  const createdAt = clockId === null ? new Date(idTimeMs(id)) : now
  const startedMs = engine.clock.elapsedMs()
  const timeoutMs = Math.min(
    engine.connectorTimeoutMs,
    connector.supports.limits?.timeoutMs ?? Number.POSITIVE_INFINITY,
  )
  const stored = withoutSecrets(fields, shownNumbers(numbers))
  const isSealed = Object.keys(numbers).length > 0
  const registrationId = isVerification ? id : isStored ? newId() : (use.registrationId ?? null)
  const own = { id, channelId: channel.id, registrationId }
  // The node above a channel is its merchant: no look-up in the path of a payment.
  const merchantId = channel.path[1] ?? channel.id
  const sealed = isSealed ? sealNumbers(engine, merchantId, own, numbers) : null
  const taken = engine.shortNumbers.take()
  const shortNo = typeof taken === 'bigint' ? taken : await taken
  const keyedBy = use.scheduled === undefined ? idempotency : idempotencyOfOccurrence(use.scheduled)
  const payment: Payment = {
    id,
    channelId: channel.id,
    entityId: textOf(fields, 'entityId') ?? channel.id,
    rootId: id,
    parentId: null,
    referencedId: null,
    chainId: isChained ? newId() : null,
    accountId: target.accountId,
    shortNo,
    amount: { minor, currency },
    createdAt,
    paymentType: type,
    effect: isVerification ? 'verification' : type === 'PA' ? 'authorisation' : 'sale',
    mode,
    method,
    brand,
    connector: connector.name,
    attemptKey: attemptKey(engine, connector, id, keyedBy, 1),
    merchantTransactionId: textOf(fields, 'merchantTransactionId') ?? null,
    registrationId,
    scheduleId: use.scheduled?.scheduleId ?? null,
    clockId,
    state: 'processing',
    resultCode: '000.200.001',
    approvedMinor: null,
    finalBy: null,
    settledAt: null,
    answer: {},
    request: detected(account) ? { ...stored, brandResult: brand } : stored,
  }
  const row: AcceptRow | RegisteringRow | ScheduledRow = {
    id,
    channel_id: payment.channelId,
    entity_id: payment.entityId,
    root_id: id,
    chain_id: payment.chainId,
    account_id: payment.accountId,
    short_no: shortNo,
    amount_minor: minor,
    created_at: createdAt,
    currency,
    payment_type: type,
    effect: payment.effect,
    mode,
    method,
    brand,
    connector: connector.name,
    merchant_transaction_id: payment.merchantTransactionId,
    request: JSON.stringify(payment.request),
    attempt_key: payment.attemptKey,
    attempt_kind: kind,
    lease_ms: timeoutMs + limits.flushBudgetMs + limits.leaseMarginMs,
    data_key_id: sealed?.dataKeyId ?? null,
    fingerprint: sealed?.fingerprint ?? null,
    sealed: sealed?.sealed ?? null,
    idempotency_key: idempotency?.key ?? null,
    idempotency_fingerprint: idempotency?.fingerprint ?? null,
    registration_id: payment.registrationId,
    schedule_id: payment.scheduleId,
    clock_id: clockId,
    ...(use.scheduled === undefined
      ? {}
      : { occurrence_id: use.scheduled.occurrenceId, previous_id: use.scheduled.previousId }),
    ...(isStored
      ? {
          registration_short_no: isVerification ? shortNo : await engine.shortNumbers.take(),
          registration_request: JSON.stringify(accountPart(payment.request)),
          notice_id: newId(),
          notice_at: noticeAt(payment.request),
        }
      : {}),
  }
  const trial = beginTrial(engine, channel, id, request, account, numbers, sealed, use)
  await faultPoint('before-T1', id)
  const written = await writeFirst(engine, row, (no) =>
    attemptKey(engine, connector, id, keyedBy, no),
  ).catch((error: unknown) => {
    engine.cardTesting.end(trial)
    throw error
  })
  if (written === null) {
    engine.cardTesting.end(trial)
    const isScheduled = use.scheduled !== undefined
    return {
      replay: isScheduled
        ? await holderOf(engine, use.scheduled)
        : await replayed(engine, idempotency!),
    }
  }
  await faultPoint('after-T1', id)
  return {
    work: {
      payment: { ...payment, attemptKey: written.attempt_key },
      lease: 1,
      target,
      operation: operationOf(payment, written.attempt_key, kind, request, account, numbers),
      begun: { is: 'first', row: written },
      returns: null,
      trial,
      deadlineMs: startedMs + timeoutMs,
      sendByWallMs: engine.clock.realMs() + timeoutMs - (engine.clock.elapsedMs() - startedMs),
    },
  }
}

/**
 * T1. Running it again after a lost answer finds the row it wrote; a key that an older payment used
 * up gets the next number. Null: the idempotency key belongs to an earlier payment.
 */
async function writeFirst(
  engine: Engine,
  first: AcceptRow,
  keyNumber: (no: number) => string,
): Promise<AcceptRow | null> {
  let row = first
  for (let no = 1; ; no += 1) {
    try {
      const written = await engine.lanes.group(acceptOf(row), row)
      if (written !== undefined) return row
      return (await isWritten(engine, row)) ? row : null
    } catch (error) {
      if (sqlState(error) !== '23505') throw outcomeUnknown(error) ? unavailable() : error
      if (await isWritten(engine, row)) return row
      if (violated(error) !== 'attempt_pkey' || no > 8) throw error
      row = { ...row, attempt_key: keyNumber(no + 1) }
    }
  }
}

async function isWritten(engine: Engine, row: AcceptRow): Promise<boolean> {
  const [attempt] = await engine.lanes.single(attemptByKey(row.attempt_key))
  if (attempt?.payment_id !== row.id) return false
  return (await engine.lanes.single(paymentById(row.id, null))).length > 0
}

/** Nothing was sent and nothing will be: the client may send the same request again. */
export function unavailable(): GatewayError {
  return new GatewayError('999.999.888', {
    status: 503,
    description:
      'The database is not available. Nothing was sent to the acquirer: send the request again.',
    retryAfterSeconds: 1,
  })
}

/** @throws GatewayError 100.150.205 when a payment holds nothing that could be stored. */
export function refuseUnstorable(account: CheckedAccount): void {
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

function detected(account: CheckedAccount): boolean {
  return 'detected' in account && account.detected
}

/** The mode of a first payment: the simulator unless a test asks for the acquirer's own test system. */
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

function operationOf(
  payment: Payment,
  key: string,
  kind: Operation['kind'],
  request: Request,
  account: CheckedAccount,
  numbers: Readonly<Record<string, string>>,
): Operation {
  const instrument = instrumentOf(account, request.fields, numbers)
  const proof = proofOf(request.fields)
  const descriptor = descriptorOf(request.fields)
  return {
    kind,
    paymentId: payment.id,
    key,
    amount: payment.amount,
    request: payment.request as RequestFields,
    shortId: shortId(payment.shortNo),
    ...(payment.brand === null ? {} : { brand: payment.brand }),
    ...(instrument === undefined ? {} : { instrument }),
    ...(proof === undefined ? {} : { threeDSecure: proof }),
    ...(descriptor === undefined ? {} : { descriptor }),
    ...(payment.merchantTransactionId === null
      ? {}
      : { merchantTransactionId: payment.merchantTransactionId }),
  }
}

/** External 3-D Secure values, passed through unchanged. */
function proofOf(fields: RequestFields): Operation['threeDSecure'] {
  const group = groupOf(fields, 'threeDSecure')
  if (group === undefined) return undefined
  const { verificationId, ...rest } = group as Record<string, unknown>
  const shown = Object.fromEntries(
    ['eci', 'authenticationStatus', 'dsTransactionId', 'acsTransactionId', 'version']
      .filter((name) => typeof rest[name] === 'string')
      .map((name) => [name, rest[name] as string]),
  )
  return typeof verificationId === 'string'
    ? { ...shown, verificationId: new Sensitive(verificationId) }
    : shown
}
