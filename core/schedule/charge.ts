/** Charges occurrences: each is an ordinary payment with the registration, at most one at a time. */
import type { RequestFields } from '@tollgate/plugin-kit'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { payFirst } from '../payment/payments.ts'
import type { Payment } from '../payment/types.ts'
import { agreementWanted, inAgreement, withAccount } from '../registration/account.ts'
import { usable } from '../registration/registrations.ts'
import {
  type AgreementRow,
  agreementsOf,
  registrationsById,
  toRegistration,
} from '../registration/store.ts'
import type { Registration } from '../registration/types.ts'
import { removeTimer } from '../timer/store.ts'
import { resubmissionOf } from './policy.ts'
import { resubmitAt } from './resubmission.ts'
import {
  type ChargeRow,
  failOccurrence,
  lookAgain,
  occurrencesById,
  resubmitAfter,
} from './store-charge.ts'
import { timeOf } from './stored-plan.ts'

/** Charges under way at once for one job. */
const atOnce = 32
/** Refusals that say nothing about the charge itself: it is tried again. */
const passing = new Set([429, 503])
const lookAgainMs = 60_000

type Loaded = {
  readonly registrations: ReadonlyMap<string, Registration>
  readonly numbers: ReadonlyMap<string, Record<string, string> | GatewayError>
  readonly agreements: ReadonlyMap<string, AgreementRow>
}

/**
 * Does for each occurrence what is left to do: the charge, or another one after a decline where the
 * channel allows it. Safe to run any number of times and anywhere: the slot of an occurrence takes
 * one payment, and the next only after that was declined for good.
 *
 * @param after The attempt whose decline is to be followed by another charge now.
 * @throws what kept some of them from being charged, after all others were.
 */
export async function chargeOccurrences(
  engine: Engine,
  ids: readonly string[],
  after?: number,
): Promise<void> {
  const rows = await engine.lanes.read(occurrencesById(ids))
  const loaded = await load(engine, rows.filter(isUncharged))
  const errors: unknown[] = []
  let next = 0
  const work = async () => {
    for (let row = rows[next++]; row !== undefined; row = rows[next++]) {
      try {
        await continueOne(engine, row, loaded, after)
      } catch (error) {
        errors.push(error)
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, rows.length) }, work))
  if (errors.length > 0) throw errors[0]
}

const isUncharged = (row: ChargeRow) => row.payment_id === null && row.failure === null

/** What the charges need, read once for all. */
async function load(engine: Engine, rows: readonly ChargeRow[]): Promise<Loaded> {
  const ids = [...new Set(rows.map((row) => row.registration_id))]
  if (ids.length === 0)
    return { registrations: new Map(), numbers: new Map(), agreements: new Map() }
  const found = (await engine.lanes.read(registrationsById(ids, null))).map(toRegistration)
  const wanted = new Map<string, { id: string; agreementId: string | null }>()
  for (const row of rows) {
    const agreement = agreementWanted(row.request as RequestFields)
    if (agreement === undefined) continue
    const { agreementId } = agreement
    wanted.set(agreementKey(row.registration_id, agreementId), {
      id: row.registration_id,
      agreementId,
    })
  }
  const [numbers, agreements] = await Promise.all([
    engine.vault.unsealAll(found.flatMap(({ instrumentId }) => instrumentId ?? [])),
    wanted.size === 0 ? [] : engine.lanes.read(agreementsOf([...wanted.values()])),
  ])
  // A registration removed since it was read has lost its numbers: read again, it says that itself.
  const bare = found.filter(
    ({ instrumentId }) => instrumentId !== null && !numbers.has(instrumentId),
  )
  const anew =
    bare.length === 0
      ? []
      : await engine.lanes.read(
          registrationsById(
            bare.map(({ id }) => id),
            null,
          ),
        )
  return {
    registrations: new Map(
      [...found, ...anew.map(toRegistration)].map((registration) => [
        registration.id,
        registration,
      ]),
    ),
    numbers,
    agreements: new Map(agreements.map((row) => [agreementKey(row.id, row.agreement_id), row])),
  }
}

const agreementKey = (id: string, agreementId: string | null) => `${id} ${agreementId ?? ''}`

async function continueOne(
  engine: Engine,
  row: ChargeRow,
  loaded: Loaded,
  after: number | undefined,
): Promise<void> {
  if (row.failure !== null) return
  if (row.payment_id !== null) return afterwards(engine, row, after)
  let payment: Payment
  try {
    payment = await pay(engine, row, await prepared(row, loaded))
  } catch (error) {
    if (!(error instanceof GatewayError) || passing.has(error.status)) throw error
    await fail(engine, row, error.code)
    return
  }
  if (payment.state !== 'approved') await lookAfter(engine, row.occurrence_id)
}

type Prepared = { readonly registration: Registration; readonly fields: RequestFields }

/** @throws GatewayError when the registration cannot be charged. */
async function prepared(
  row: ChargeRow,
  { registrations, numbers, agreements }: Loaded,
): Promise<Prepared> {
  const known = registrations.get(row.registration_id)
  if (known === undefined) throw new GatewayError('100.150.200')
  const registration = usable(known)
  const own = registration.instrumentId === null ? {} : numbers.get(registration.instrumentId)
  if (own === undefined) throw new GatewayError('100.150.205')
  if (own instanceof GatewayError) throw own
  const sent = {
    ...row.request,
    amount: formatAmount(row.amount_minor, row.currency),
    currency: row.currency,
    paymentType: row.payment_type,
    ...(row.mode === 'LIVE' ? {} : { testMode: row.mode }),
    ...(row.merchant_transaction_id === null
      ? {}
      : { merchantTransactionId: row.merchant_transaction_id }),
  } as unknown as RequestFields
  const fields = withAccount(sent, registration, own)
  const wanted = agreementWanted(fields)
  if (wanted === undefined) return { registration, fields }
  const first = agreements.get(agreementKey(registration.id, wanted.agreementId))
  return { registration, fields: inAgreement(fields, registration, first) }
}

async function pay(
  engine: Engine,
  row: ChargeRow,
  { registration, fields }: Prepared,
): Promise<Payment> {
  const engineItself = { id: 'schedule', entityId: null }
  const channel = await engine.directory.channel(engineItself, row.channel_id)
  const { payment } = await payFirst(engine, channel, { fields, names: [] }, null, {
    registrationId: registration.id,
    clockId: row.clock_id,
    scheduled: {
      scheduleId: row.id,
      occurrenceId: row.occurrence_id,
      at: row.at,
      no: attemptsOf(row) + 1,
      previousId: row.payment_id,
    },
  })
  return payment
}

const attemptsOf = (row: ChargeRow) => (row.payment_id === null ? 0 : row.earlier + 1)

async function fail(engine: Engine, row: ChargeRow, code: string): Promise<void> {
  const eventId = newId()
  const [failed] = await engine.lanes.single(failOccurrence(row.occurrence_id, code, eventId))
  if (failed === undefined || !engine.events.wanted) return
  engine.events.emit({
    id: eventId,
    type: 'schedule.execution.failed',
    resource: failed.schedule_id,
    channelId: failed.channel_id,
    sequence: failed.seq,
    at: new Date(engine.clock.realMs()),
    data: { execution: row.occurrence_id, at: row.at.toISOString(), code },
  })
}

async function lookAfter(engine: Engine, occurrenceId: string): Promise<void> {
  const [row] = await engine.lanes.single(occurrencesById([occurrenceId]))
  if (row?.payment_id != null) await afterwards(engine, row, undefined)
}

/**
 * After a charge that was not approved: another one, now or later, or nothing.
 *
 * @param after The attempt whose decline waited long enough, when this is what a timer says.
 */
async function afterwards(
  engine: Engine,
  row: ChargeRow,
  after: number | undefined,
): Promise<void> {
  const { occurrence_id: id } = row
  const attempt = attemptsOf(row)
  if (after !== undefined && after !== attempt) {
    await engine.lanes.single(removeTimer('resubmit', `${id} ${after}`))
  }
  const policy = resubmissionOf(await engine.directory.settings(row.channel_id))
  if (policy === null || row.state === 'approved' || row.state === 'expired') {
    await endTimers(engine, id, attempt)
    return
  }
  if (row.state !== 'declined') {
    // What is open may still be charged: looked at again, in real time, until it is decided.
    const again = new Date(engine.clock.realMs() + lookAgainMs)
    await engine.lanes.single(lookAgain(newId(), id, again))
    return
  }
  const now = await timeOf(engine, row.clock_id)
  const ended = {
    code: row.result_code ?? '',
    advice: row.answer?.advice,
    attempt,
    endedAt: row.clock_id === null ? (row.settled_at ?? now) : now,
  }
  const due = resubmitAt(policy, ended, row.effective_end)
  if (due === null) await endTimers(engine, id, attempt)
  else if (after === attempt || due <= now) await chargeAgain(engine, row)
  else await engine.lanes.single(resubmitAfter(newId(), `${id} ${attempt}`, due, row.clock_id))
}

async function endTimers(engine: Engine, id: string, attempt: number): Promise<void> {
  await engine.lanes.single(removeTimer('execution', id))
  await engine.lanes.single(removeTimer('resubmit', `${id} ${attempt}`))
}

async function chargeAgain(engine: Engine, row: ChargeRow): Promise<void> {
  let isCharged = true
  try {
    await pay(engine, row, await prepared(row, await load(engine, [row])))
  } catch (error) {
    if (!(error instanceof GatewayError) || passing.has(error.status)) throw error
    // Nothing can be charged any more: the decline stands.
    isCharged = false
  }
  await endTimers(engine, row.occurrence_id, attemptsOf(row))
  if (isCharged) await lookAfter(engine, row.occurrence_id)
}
