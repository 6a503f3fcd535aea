/** Reversals of chargebacks that people record because the acquirer's messages lack them. */
import { auditById } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { newId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { approvedCode } from '../payment/decide.ts'
import { nameByHand } from '../payment/dispute-case.ts'
import { factRow, tell } from '../payment/dispute-fact.ts'
import { chargebacksByRecord, chargebacksOf } from '../payment/store-dispute-read.ts'
import { recordReversal } from '../payment/store-dispute-reversal.ts'
import { paymentById, toPayment } from '../payment/store-read.ts'
import { type Decision, refused } from './late-success.ts'

/**
 * Records the reversal of a chargeback's open amount. Its name contains the amount given back
 * before, so two operators who decide the same record one reversal.
 *
 * @param id Of the chargeback.
 * @returns the recorded reversal, in words.
 * @throws GatewayError 404; 400 700.400.570 for other payments, and for a chargeback without an
 * open amount.
 */
export async function reverseByHand(
  engine: Engine,
  id: string,
  { by, remarks }: Decision,
): Promise<string> {
  const { lanes } = engine
  const [charged] = await lanes.single(chargebacksByRecord([id]))
  if (charged === undefined) throw await noChargeback(engine, id)
  const [payment] = await lanes.single(paymentById(charged.payment_id, null))
  if (payment === undefined) throw new GatewayError('700.400.580', { status: 404 })
  const minor = charged.minor - charged.given_back
  if (minor <= 0n) throw refused('the whole chargeback was reversed already')
  const { currency, balance_id: balanceId, reference } = charged
  const target = toPayment(payment)
  const row = await factRow(engine, target, {
    kind: 'reversal',
    account: target.accountId ?? 'internal',
    reference: nameByHand(reference, charged.given_back),
    isNamed: true,
    source: null,
    minor,
    currency,
    balanceId,
    reverses: reference,
    referencedId: id,
    resultCode: approvedCode[target.mode],
    refs: {},
    details: {},
    request: { paymentType: 'CR' },
  })
  const byHand = {
    id: newId(),
    actor: by,
    action: 'chargeback.reversed',
    entityId: target.channelId,
    resource: target.id,
    detail: { ...remarks, chargeback: id, reversal: row.record.id, minor: String(minor), currency },
  }
  const reversing = {
    ...{ isStrict: true, isWhole: false, isAny: false },
    givenBackBefore: charged.given_back,
    byHand,
  }
  const [recorded] = await lanes.inOrder(balanceId ?? target.id, () =>
    lanes.single(recordReversal(row, reversing)),
  )
  // A decision whose answer was lost was run again, and found itself made.
  const isMade = recorded !== undefined || (await lanes.single(auditById(byHand.id))).length > 0
  if (!isMade) throw refused('another reversal of this chargeback was recorded at the same moment')
  if (recorded !== undefined) tell(engine, row, recorded)
  return `${formatAmount(minor, currency)} ${currency} of chargeback ${id} are reversed, recorded as ${row.record.id}`
}

/**
 * Why a record cannot be reversed, and which can: people know payments rather than their
 * chargebacks.
 */
async function noChargeback({ lanes }: Engine, id: string): Promise<GatewayError> {
  const [row] = await lanes.single(paymentById(id, null))
  if (row === undefined) return new GatewayError('700.400.580', { status: 404 })
  const standing = (await lanes.single(chargebacksOf([id])))
    .filter(({ minor, given_back }) => minor > given_back)
    .map(({ record_id }) => record_id)
  const which =
    standing.length === 0
      ? 'this payment has no open chargeback'
      : `open chargebacks of this payment: ${standing.join(', ')}`
  return refused(`${id} is not a chargeback. Give the id of one; ${which}`)
}
