/** Payments, and executions of schedules, by any number that people have: as inspections find them. */
import { find } from '../checkout/find.ts'
import type { Engine } from '../engine.ts'
import { isCheckoutId } from '../ids.ts'
import { findNamed, findReferenced, plainId, searchedDays } from '../step/find.ts'
import { refused } from './late-success.ts'

/**
 * The id of what a number names. A decision needs one: several payments of an order, or of a checkout, are refused.
 *
 * @throws GatewayError 404; 400 700.400.570 with the ids of several payments.
 */
export async function idNamed(engine: Engine, reference: string): Promise<string> {
  const named = await findNamed(engine, reference)
  const found = named ?? (await findReferenced(engine, reference, searchedDays))
  if ('candidates' in found) {
    const payments = found.candidates.map(({ id, text }) => `${id} (${text})`).join(', ')
    throw refused(`several payments have ${reference}. Give the id of one: ${payments}`)
  }
  if (isCheckoutId(reference)) {
    const { earlier, paymentId } = await find(engine, reference)
    const tries = [...earlier, paymentId].flatMap((id) => (id === null ? [] : [plainId(id)]))
    if (tries.length > 1)
      throw refused(`several payments have ${reference}. Give the id of one: ${tries.join(', ')}`)
  }
  const plain = plainId(reference)
  if (found.kind !== 'payment') return plain
  const { id, chainId } = found.payment
  // The capture of a two-step payment that does not exist yet is found as its authorisation.
  return chainId === plain ? plain : id
}
