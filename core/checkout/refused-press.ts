/** The answer to a press of the pay button that became no payment. */
import type { Request } from '../call.ts'
import { TooManyFailures } from '../card-testing/card-testing.ts'
import type { Engine } from '../engine.ts'
import type { GatewayError } from '../errors.ts'
import { TooManyNumbers } from '../payment/distinct-number.ts'
import { encryptedWallet } from '../request/account.ts'
import { RepeatedNumber } from '../request/own-number.ts'
import { faultsIn } from './faults.ts'
import { held, stateOf } from './find.ts'
import { replyOfRefusal, type Submitted } from './reply.ts'
import { countRefusal } from './store.ts'

/** Refusals that look like a decline, so that nobody learns from them, and count as a try. */
const isCounted = (error: GatewayError): boolean =>
  error instanceof TooManyFailures ||
  error instanceof TooManyNumbers ||
  error instanceof RepeatedNumber

/**
 * A refusal is about the shopper's entry, about too many tries, or about the gateway itself. One of a press with a
 * token is a try in any case, because the work on a token costs much.
 *
 * @param submitted undefined where the submission could not be read. @throws the last kind.
 */
export async function refused(
  engine: Engine,
  id: string,
  error: GatewayError,
  submitted: Request | undefined,
): Promise<Submitted> {
  const count = () =>
    engine.lanes.single(countRefusal(id, digestOf(engine, id, submitted?.names ?? [])))
  if (isCounted(error)) {
    await count()
    return replyOfRefusal(engine, await held(engine, id))
  }
  if (error.status !== 400) throw error
  const { errors, isOurs } = faultsIn(error, submitted?.names)
  if (isOurs) {
    const fields = error.parameterErrors.map(({ name }) => name).join(' ')
    engine.log.warn(
      { checkout: id.slice(0, 8), code: error.code, fields },
      'a checkout cannot be paid as it was made',
    )
  }
  if (submitted !== undefined && encryptedWallet(submitted.fields) !== undefined) {
    await count()
    const now = await held(engine, id)
    if ((await stateOf(engine, now)) === 'closed') return replyOfRefusal(engine, now)
  }
  return { state: 'invalid', errors }
}

/** A nonce with another entry is another press: else one nonce could try many numbers. */
export function digestOf({ vault }: Engine, id: string, names: Request['names']): Buffer {
  const content = names
    .filter(([name]) => name !== 'card.cvv')
    .map(([name, value]) => `${name}=${value}`)
  return vault.requestFingerprint([`press of ${id}`, ...content.sort()].join('\n'))
}
