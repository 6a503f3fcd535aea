/** Decisions of operators about records and files of settlement. Each commits an audit row. */
import { limits } from '@tollgate/schemas'
import { actorBy, type By } from '../audit/actor.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { isId, newId } from '../ids.ts'
import { maskCardNumbers } from '../redaction/mask.ts'
import { planReports } from '../report/stored-due.ts'
import { listExceptions } from './exception-entries.ts'
import { placesOfScopes } from './run.ts'
import { commonEntity } from './scope.ts'
import {
  type AssignablePayment,
  type AssignableRow,
  type AuditOfDecision,
  assignablePayments,
  assignRecord,
  chargebackByRecord,
  lateByRecord,
  lockForAssignment,
  readAgain,
} from './store-assign.ts'
import { planEffects } from './store-effect.ts'
import { markDuplicates, retryGuesses } from './store-record.ts'
import { planRetries } from './store-run.ts'

/** Payments of one record at most. */
const mostPayments = 100

/** The person, the reason and a remark about the represented person: all stored in the audit row. */
export type Decided = {
  readonly by: By
  readonly reason: string
  readonly onBehalfOf?: string
}

export const auditOf = ({ by, reason, onBehalfOf }: Decided): AuditOfDecision => ({
  id: newId(),
  actor: actorBy(by),
  remarks: {
    reason: maskCardNumbers(reason),
    ...(onBehalfOf !== undefined && { onBehalfOf: maskCardNumbers(onBehalfOf) }),
  },
})

/**
 * Gives a record to payments of its own merchant, for good: no later file and no retry changes it.
 *
 * @throws GatewayError 700.400.580 for an unknown record, 200.300.404 naming `paymentIds`, also while the
 * record's money counts for another payment, 700.100.100 for a record that is decided, and 700.400.570 while it
 * takes effect.
 */
export async function assign(
  engine: Engine,
  recordId: string,
  paymentIds: readonly string[],
  decided: Decided,
): Promise<void> {
  if (!isId(recordId)) throw new GatewayError('700.400.580')
  const ids = [...new Set(paymentIds)].sort()
  if (ids.length === 0 || ids.length > mostPayments || !ids.every(isId)) {
    throw refused(`must be 1 to ${mostPayments} ids of payments`)
  }
  const audit = auditOf(decided)
  await engine.lanes.bulk(async (client) => {
    const { database } = engine.lanes
    const [record] = await database.query(client, lockForAssignment(recordId))
    if (record === undefined) throw new GatewayError('700.400.580')
    refuseDecided(record)
    if (record.is_taking_effect) throw takesEffect()
    refuseUndecided(await database.query(client, lateByRecord(recordId)), ids)
    refuseCharged(await database.query(client, chargebackByRecord(recordId)), ids)
    const { scope_id: scopeId, connector, mode } = record
    const places = await placesOfScopes(engine, [scopeId], connector, mode)
    const payments = await database.query(client, assignablePayments(ids, scopeId, places))
    refuseUnfit(record, ids, payments)
    const given = payments.map((payment) => ({
      id: payment.id,
      minor: partOf(record, payment, payments.length),
    }))
    const statement = assignRecord(
      recordId,
      given,
      {
        owner: await ownerOf(engine, payments),
        discrepancies: discrepanciesOf(record, payments),
        hasEffect: hasEffect(record, payments),
      },
      audit,
    )
    const [moved] = await database.query(client, statement)
    if (moved === undefined) throw decidedAlready()
    await database.query(client, markDuplicates([recordId], moved.was))
    await database.query(client, retryGuesses([recordId]))
    await database.query(client, planEffects([scopeId], 0))
    await database.query(client, planRetries([scopeId], limits.settlementAgainMs))
    await listExceptions(engine, client, { id: record.file_id, name: record.file_name })
    await database.query(client, planReports([scopeId]))
  })
}

/**
 * Reads a file again from its stored bytes, for example after a missing account was added. Records that
 * are decided stay as they are; the others are tried for another 30 days, and once now among all payments.
 *
 * @throws GatewayError 700.400.580 for an unknown file, and for one that is under way or whose bytes are gone.
 */
export async function rerun(
  engine: Engine,
  fileId: string,
  decided: Decided,
  reachEntityId: string | null = null,
): Promise<void> {
  if (!isId(fileId)) throw new GatewayError('700.400.580')
  const audit = auditOf(decided)
  const [moved] = await engine.lanes.single(readAgain(fileId, reachEntityId, audit))
  if (moved !== undefined) return
  throw new GatewayError('700.400.580', {
    description:
      'There is no such settlement file, it is being processed, or its bytes are deleted: they are kept for 90 days.',
  })
}

function refuseDecided({ match_status: status, tier }: AssignableRow): void {
  const isOpen = status === 'NOT_MATCHED' || status === 'MULTIPLE_MATCHES' || tier === 'composite'
  if (!isOpen) throw decidedAlready()
}

const decidedAlready = () =>
  new GatewayError('700.100.100', {
    description: 'The record is decided: a certain match and an assignment are final.',
  })

/** Otherwise one record could take effect for two payments. */
const takesEffect = () =>
  new GatewayError('700.400.570', {
    description:
      'The record takes effect at this moment, for the payment that it names. Assign it once its file is processed.',
  })

/** The money of the record counts for a payment already: two payments would have it. */
function refuseUndecided(
  late: readonly { readonly id: string; readonly is_kept: boolean }[],
  ids: readonly string[],
): void {
  const other = late.find(({ id }) => !ids.includes(id))
  if (other === undefined) return
  if (other.is_kept) {
    throw refused(
      `the money of this record counts for payment ${other.id}, which was declined and is approved since then. Only that payment fits`,
    )
  }
  throw refused(
    `the money of this record counts as a late success of payment ${other.id}. Decide that one first, usually as declined because the money is another payment's: tollgate payment settle ${other.id}`,
  )
}

/** The record has recorded a chargeback elsewhere: two payments would be charged back. */
function refuseCharged(
  recorded: readonly { readonly id: string; readonly payment_id: string }[],
  ids: readonly string[],
): void {
  const other = recorded.find(({ payment_id: paymentId }) => !ids.includes(paymentId))
  if (other === undefined) return
  throw refused(
    `this record is chargeback ${other.id} of payment ${other.payment_id}. Reverse that one first: tollgate payment reverse-chargeback ${other.id}`,
  )
}

function refuseUnfit(
  record: AssignableRow,
  ids: readonly string[],
  payments: readonly AssignablePayment[],
): void {
  const found = new Set(payments.map(({ id }) => id))
  const missing = ids.find((id) => !found.has(id))
  if (missing !== undefined) throw refused(`${missing} is no payment of the record's merchant`)
  const isDispute = record.record_type !== 'SETTLED' && record.record_type !== 'FEE'
  if (isDispute && ids.length > 1) throw refused('a chargeback is about one payment')
  const fitting = typesOf(record)
  const unfit = payments.find(({ payment_type: type }) => !fitting.includes(type))
  if (unfit !== undefined) {
    throw refused(
      `${unfit.id} is of type ${unfit.payment_type}, and the record is about ${fitting.join(', ')}`,
    )
  }
}

const charges = ['DB', 'CP', 'RB', 'RC']

function typesOf({ record_type: recordType, transaction_type: type }: AssignableRow): string[] {
  if (recordType === 'FEE') return [...charges, 'PA', 'CD', 'RF', 'RV']
  if (recordType !== 'SETTLED') return [...charges, 'PA', 'RF']
  return type === 'REFUND' ? ['RF'] : type === 'CREDIT' ? ['CD'] : charges
}

/** A record settles at most the amount of each payment. */
function partOf(record: AssignableRow, payment: AssignablePayment, payments: number): bigint {
  const isSettled = record.record_type === 'SETTLED' && record.status === 'SUCCESS'
  if (!isSettled || !record.is_right_way) return 0n
  const isWhole = payments > 1 || payment.currency !== record.currency
  return isWhole || payment.minor < record.amount_minor ? payment.minor : record.amount_minor
}

/** The lowest entity above all payments, and their account if they have one in common. */
async function ownerOf(engine: Engine, payments: readonly AssignablePayment[]) {
  const accounts = new Set(payments.map(({ account_id: id }) => id))
  const channels = [...new Set(payments.map(({ channel_id: id }) => id))]
  return {
    entityId: await commonEntity(engine, channels),
    accountId: accounts.size === 1 ? [...accounts][0]! : null,
  }
}

/** How the record differs from its payments: the same as of a match. */
function discrepanciesOf(
  record: AssignableRow,
  payments: readonly AssignablePayment[],
): readonly string[] {
  if (record.record_type === 'FEE') return []
  const isSettled = record.record_type === 'SETTLED'
  const isForeign = payments.some(({ currency }) => currency !== record.currency)
  const sum = payments.reduce((total, { minor }) => total + minor, 0n)
  const isOff = sum < record.amount_minor || (isSettled && sum > record.amount_minor)
  const isUnpaid = ({ state, is_reversed: isReversed }: AssignablePayment) =>
    state === 'declined' || state === 'expired' || isReversed
  const isContrary = !record.is_right_way || payments.some(isUnpaid)
  return [
    ...(!isForeign && isOff ? ['AMOUNT'] : []),
    ...(isForeign ? ['CURRENCY'] : []),
    ...(isSettled && record.status === 'SUCCESS' && isContrary ? ['STATE'] : []),
  ]
}

function hasEffect(record: AssignableRow, payments: readonly AssignablePayment[]): boolean {
  if (record.record_type === 'FEE') return false
  if (record.record_type !== 'SETTLED' || record.status === 'FAILED') return true
  if (!record.is_right_way) return false
  return payments.some(({ state, final_by: finalBy }) => state !== 'approved' || finalBy !== null)
}

const refused = (message: string) =>
  new GatewayError('200.300.404', { parameterErrors: [{ name: 'paymentIds', message }] })
