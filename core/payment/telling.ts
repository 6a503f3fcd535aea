/** Tells listeners of this process about the commits and calls of payments. */
import { resultGroup } from '@tollgate/schemas'
import type { Engine } from '../engine.ts'
import { connectorCalls, firstCommits, settlingCommits } from '../telemetry.ts'
import type { AttemptContext } from './attempt-context.ts'
import type { Decision } from './decide.ts'
import type { Payment, Source } from './types.ts'

type Named = Pick<Engine, 'name'>

const aboutOf = ({ name }: Named, { id, paymentType, connector }: Payment) => ({
  engine: name,
  paymentId: id,
  paymentType,
  connector,
})

/** The first commit of a payment. */
export const tellFirstCommit = <T>(engine: Named, payment: Payment, write: () => Promise<T>) =>
  firstCommits.run(write, { about: () => aboutOf(engine, payment) })

/** One call of the payment's connector. `outcomeOf` reads its outcome from the result. */
export const tellConnectorCall = <T>(
  { name }: Named,
  { payment, target }: AttemptContext,
  operation: string,
  call: () => Promise<T>,
  outcomeOf: (result: T) => string | undefined,
) =>
  connectorCalls.run(call, {
    about: () => ({
      engine: name,
      paymentId: payment.id,
      connector: target.loaded.connector.name,
      operation,
    }),
    ended: (result) => {
      const outcome = outcomeOf(result)
      return outcome === undefined ? {} : { outcome }
    },
  })

/** The commit that moves a payment to an outcome. */
export const tellSettlingCommit = <T>(
  engine: Named,
  payment: Payment,
  { state, resultCode }: Decision,
  source: Source,
  write: () => Promise<T | undefined>,
) =>
  settlingCommits.run(write, {
    about: () => ({ ...aboutOf(engine, payment), source }),
    ended: (written) => ({
      moved: written !== undefined,
      state,
      code: resultCode,
      group: resultGroup(resultCode),
    }),
  })
