/** Chargebacks that merchants post in a test, and their reversals. */
import { paymentTypes } from '@tollgate/schemas'
import type { Request } from '../call.ts'
import type { Engine } from '../engine.ts'
import { GatewayError } from '../errors.ts'
import { faultPoint } from '../fault-point.ts'
import { newId } from '../ids.ts'
import { formatAmount } from '../money.ts'
import { textOf } from '../request/values.ts'
import { approvedCode } from './decide.ts'
import { chargebackReason, type Fact, factRow, tell } from './dispute-fact.ts'
import { amountOf } from './follow-up-rules.ts'
import { findReplay, type Idempotency } from './idempotency.ts'
import { disputable } from './next-actions.ts'
import { type FactRow, postChargeback, type Recorded } from './store-dispute.ts'
import { chargebacksByRecord } from './store-dispute-read.ts'
import { recordReversal } from './store-dispute-reversal.ts'
import { balanceById, paymentById, toBalance, toPayment } from './store-read.ts'
import { refuseFollowedNumber } from './stored-number.ts'
import { withoutSecrets } from './stored-request.ts'
import type { Payment } from './types.ts'

/**
 * A merchant's test chargeback or its reversal, within the remaining amount.
 *
 * @throws GatewayError 700.400.402 on live, 600.200.700 at an acquirer, 700.300.500 beyond the
 * remaining amount, 700.400.410 when nothing remains to reverse.
 */
export async function postDispute(
  engine: Engine,
  target: Payment,
  code: 'CB' | 'CR',
  { fields }: Request,
  idempotency: Idempotency | null,
): Promise<{ readonly payment: Payment; readonly replayed?: true }> {
  const earlier = await findReplay(engine, idempotency)
  if (earlier !== undefined) return { payment: earlier, replayed: true }
  if (target.mode !== 'INTERNAL') {
    throw new GatewayError(engine.environment === 'live' ? '700.400.402' : '600.200.700')
  }
  await refuseFollowedNumber(engine, target, fields)
  const type = paymentTypes.find((one) => one.code === code)!
  const asked = amountOf(fields, target, type)
  const row =
    code === 'CB'
      ? await postedChargeback(engine, target, fields, asked, idempotency)
      : await postedReversal(engine, target, fields, asked, idempotency)
  const statement =
    code === 'CB'
      ? postChargeback(row)
      : recordReversal(row, { isStrict: true, isWhole: false, isAny: false })
  await faultPoint('before-fact', row.record.id)
  const recorded = await engine.lanes
    .inOrder(row.record.parentId ?? row.paymentId, () => engine.lanes.single(statement))
    .catch(async (error: unknown) => {
      // The row of this request after a lost answer, or a twin with the same key.
      const [own] = await engine.lanes.single(paymentById(row.record.id, null))
      if (own !== undefined) return [{ seq: 1 } as Recorded]
      const twin = await findReplay(engine, idempotency)
      if (twin !== undefined) return 'twin' as const
      throw error
    })
  await faultPoint('after-fact', row.record.id)
  if (recorded === 'twin')
    return { payment: (await findReplay(engine, idempotency))!, replayed: true }
  const [own] = await engine.lanes.single(paymentById(row.record.id, null))
  if (own === undefined) {
    const twin = await findReplay(engine, idempotency)
    if (twin !== undefined) return { payment: twin, replayed: true }
    throw new GatewayError(code === 'CB' ? '700.300.500' : '700.400.410')
  }
  const [done] = recorded
  if (done !== undefined) tell(engine, row, done)
  return { payment: toPayment(own) }
}

async function postedChargeback(
  engine: Engine,
  target: Payment,
  fields: Request['fields'],
  asked: bigint | null,
  idempotency: Idempotency | null,
): Promise<FactRow> {
  const [found] = await engine.lanes.single(balanceById(target.rootId))
  const left = found === undefined ? 0n : disputable(toBalance(found))
  if (left <= 0n) throw new GatewayError('700.300.500')
  return posted(engine, target, fields, idempotency, {
    kind: 'chargeback',
    minor: asked ?? left,
    balanceId: target.rootId,
    reverses: null,
    referencedId: target.id,
    ...chargebackReason(textOf(fields, 'chargebackResultCode')),
  })
}

async function postedReversal(
  engine: Engine,
  chargeback: Payment,
  fields: Request['fields'],
  asked: bigint | null,
  idempotency: Idempotency | null,
): Promise<FactRow> {
  const [charged] = await engine.lanes.single(chargebacksByRecord([chargeback.id]))
  if (charged === undefined || charged.reversed >= charged.counted) {
    throw new GatewayError('700.400.410')
  }
  const [row] = await engine.lanes.single(paymentById(charged.payment_id, null))
  if (row === undefined) throw new GatewayError('700.400.410')
  return posted(engine, toPayment(row), fields, idempotency, {
    kind: 'reversal',
    minor: asked ?? charged.counted - charged.reversed,
    balanceId: charged.balance_id,
    reverses: charged.reference,
    referencedId: chargeback.id,
    resultCode: approvedCode[chargeback.mode],
    details: {},
  })
}

async function posted(
  engine: Engine,
  target: Payment,
  fields: Request['fields'],
  idempotency: Idempotency | null,
  fact: Pick<
    Fact,
    'kind' | 'minor' | 'balanceId' | 'reverses' | 'referencedId' | 'resultCode' | 'details'
  >,
): Promise<FactRow> {
  return factRow(engine, target, {
    ...fact,
    account: target.accountId ?? 'internal',
    reference: newId(),
    isNamed: true,
    source: null,
    currency: target.amount.currency,
    refs: {},
    request: withoutSecrets(
      {
        ...fields,
        amount: formatAmount(fact.minor, target.amount.currency),
        currency: target.amount.currency,
      },
      {},
    ),
    merchantTransactionId: textOf(fields, 'merchantTransactionId'),
    entityId: textOf(fields, 'entityId'),
    idempotency,
  })
}
