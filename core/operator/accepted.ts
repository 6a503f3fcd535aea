/** People's decisions about accepted payments whose acquirer contradicts itself: no later word may end them. */
import { openConflictOf } from '../attention/store.ts'
import { auditById } from '../audit/store.ts'
import type { Engine } from '../engine.ts'
import { newId } from '../ids.ts'
import { held, move } from '../payment/late-word-move.ts'
import type { Payment } from '../payment/types.ts'
import { busy, type Decision, decidedElsewhere, namesOf, refused } from './late-success.ts'
import { undecidable } from './undecided.ts'

/** Whether the payment counts as done and may still fail. */
export const isAccepted = ({ state, finalBy }: Payment): boolean =>
  state === 'approved' && finalBy !== null

/**
 * `approved` makes the payment final, `declined` gives its amounts back. The entry stays for the operator.
 *
 * @throws GatewayError 400 700.400.570 without an open `conflict`, or after a concurrent decision.
 */
export async function settleAccepted(
  engine: Engine,
  { id, attemptKey }: Payment,
  as: 'approved' | 'declined',
  decision: Decision,
): Promise<void> {
  const { by, remarks, references } = decision
  const [conflict] = await engine.lanes.single(openConflictOf(id))
  if (conflict === undefined) {
    throw refused('the payment is approved already, and the acquirer has not contradicted that')
  }
  const now = await held(engine, attemptKey)
  if (now === undefined || !isAccepted(now.payment)) throw decidedElsewhere()
  const { leaseUntil } = now.attempt
  if (leaseUntil !== null && leaseUntil.getTime() > engine.clock.realMs()) throw refused(busy)
  const audit = {
    id: newId(),
    actor: by,
    action: 'payment.settled',
    detail: { ...remarks, ...namesOf(decision), as },
  }
  const change = { source: 'operator', finalBy: null, audit, look: null } as const
  const moved =
    as === 'approved'
      ? await move(engine, now, {
          ...change,
          ...(references !== undefined && { references: { refs: references, isByOperator: true } }),
        })
      : await move(engine, now, {
          ...change,
          to: 'gone',
          state: 'declined',
          attempt: 'declined',
          resultCode: undecidable,
          own: 'closed',
          beyond: {
            id: newId(),
            kind: 'late-failure',
            reference: '',
            detail: { source: 'operator' },
          },
          goesOn: true,
        })
  if (moved) return
  // A decision whose answer was lost was run again, and found itself made.
  if ((await engine.lanes.single(auditById(audit.id))).length === 0) throw decidedElsewhere()
}
