/** Operators close every entry of their list: open payments are decided by the acquirer's books. */
import { GatewayError } from '../../../core/index.ts'
import { until } from '../../rig/gateway.ts'
import { stands } from './books.ts'
import type { Listed, Rest } from './rest.ts'

const words = { by: 'operator', reason: "the acquirer's own tools show it" }

/** @returns the entries that could not be closed. */
export async function endList(rest: Rest): Promise<string | undefined> {
  // An engine's own open reversal is decided before the reversed payment.
  const openFirst = rest.listed.toSorted(
    (one, other) => Number(other.kind === 'undecided') - Number(one.kind === 'undecided'),
  )
  for (const listed of openFirst) {
    const found = await end(rest, listed)
    if (found !== undefined) return found
  }
  return undefined
}

async function end(rest: Rest, { id, kind, payment, detail }: Listed): Promise<string | undefined> {
  const { operator } = rest.merchant.world.run.gateway
  const entry = rest.entries.find(({ paymentId }) => paymentId === payment)
  const attempts = [
    () => operator.resolve(id, words),
    () => operator.enquire(payment, words),
    () =>
      operator.settle(
        payment,
        entry !== undefined && stands(entry) ? 'approved' : 'declined',
        words,
      ),
    // Money of another amount or currency is not kept: it was returned by hand.
    () => operator.settle(payment, 'declined', words),
    () => operator.resolve(id, words),
  ]
  const refusals: string[] = []
  for (const attempt of attempts) {
    try {
      await patiently(rest, payment, attempt)
      if (!(await isOpen(rest, id))) return
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      refusals.push(error.message)
      if (!(await isOpen(rest, id))) return
    }
  }
  return `${kind} of payment ${payment} stays on the list: ${refusals.join('; ')} ${detail}`
}

/** A decision during other work on the payment is repeated after it. */
async function patiently(rest: Rest, payment: string, attempt: () => Promise<unknown>) {
  try {
    await attempt()
  } catch (error) {
    if (!(error instanceof GatewayError) || !/works on this payment now/.test(error.message))
      throw error
    await until(async () => {
      const [row] = await rest.merchant.world.run.sql<{ free: boolean }>(
        `select not exists (
           select from tollgate.attempt where payment_id = $1 and lease_until > now()) as free`,
        [payment],
      )
      return row?.free === true ? true : undefined
    }, 60_000)
    await attempt()
  }
}

async function isOpen(rest: Rest, id: string): Promise<boolean> {
  const [row] = await rest.merchant.world.run.sql<{ open: boolean }>(
    'select resolved_at is null as open from tollgate.attention where id = $1',
    [id],
  )
  return row?.open === true
}
