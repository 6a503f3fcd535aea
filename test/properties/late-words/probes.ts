/**
 * The possible follow-ups at rest: the exact rest of every sale, and nothing while it is charged
 * back. The requests are real and change the books.
 */
import { GatewayError } from '../../../core/index.ts'
import { ofAuthorisation, ofSale } from './books.ts'
import { amountFields } from './request.ts'
import type { Rest, Row } from './rest.ts'

/** The refusal while a payment is charged back. */
const waits = '700.300.600'

export type Probed = { readonly rule: string; readonly found: string }

export async function probe(rest: Rest): Promise<Probed | undefined> {
  for (const row of rest.rows) {
    const isKnown = !rest.rows.some((one) => one.parent === row.id && rest.isDecidedUntold(one))
    if (row.state !== 'approved' || !isKnown) continue
    const found =
      row.effect === 'sale' || row.effect === 'capture'
        ? row.type === 'CD'
          ? undefined
          : await probeSale(rest, row)
        : row.effect === 'authorisation'
          ? await probeAuthorisation(rest, row)
          : undefined
    if (found !== undefined) return found
  }
  return undefined
}

async function probeSale(rest: Rest, row: Row): Promise<Probed | undefined> {
  const entry = rest.entryOf(row)
  if (entry === undefined) return
  const { came, went } = ofSale(rest.merchant.world.books, entry)
  const disputes = rest.disputes.filter(({ key }) => key === row.key)
  const delivered = new Set(rest.merchant.delivered.map(({ eventId }) => eventId))
  const isReversed = ({ reversal }: (typeof disputes)[number]) =>
    reversal !== undefined && delivered.has(reversal.eventId)
  const standing = disputes.filter((dispute) => !isReversed(dispute))
  if (standing.length > 0) {
    for (const [type, minor] of [
      ['RF', 1n],
      ['RV', row.approved ?? row.minor],
    ] as const) {
      if ((await tried(rest, row, type, minor)) !== undefined) continue
      return {
        rule: '5 a charged-back payment takes no refund',
        found: `${type} of ${row.type} ${row.id} was done, with ${standing.length} chargebacks`,
      }
    }
    return
  }
  if (entry.state === 'returned') {
    const code = await tried(rest, row, 'RF', 1n)
    if (code !== undefined) return
    return {
      rule: '4 a returned payment takes no refund until an operator decides',
      found: `${row.type} ${row.id} was returned, and refunded`,
    }
  }
  const left = came > went ? came - went : 0n
  if ((await tried(rest, row, 'RF', left + 1n)) === undefined) {
    return {
      rule: '2 refunds do not exceed the rest',
      found: `${left} is left of ${row.type} ${row.id}, ${left + 1n} was refunded`,
    }
  }
  const isTouched = rest.entries.some(
    ({ original, kind }) => original === row.key && kind === 'reverse',
  )
  const isEnded = rest.rows.some(
    (refund) => refund.isFinal && refund.parent === row.id && mayStand(refund.state),
  )
  if (left === 0n || isTouched || isEnded) return
  const code = await tried(rest, row, 'RF', 1n)
  if (code === undefined) return
  // A returned authorisation takes its captures with it.
  const keys = new Set([
    row.key,
    ...rest.rows.flatMap((one) => (one.id === row.parent ? [one.key] : [])),
  ])
  // Listed payments may wait for operators, but not for past chargebacks.
  const mayWait =
    code !== waits ||
    rest.words.some(({ key, is }) => keys.has(key) && is === 'declined') ||
    rest.listed.some(({ kind, detail }) => kind === 'undecided' && /another amount/.test(detail))
  if (rest.listed.length > 0 && mayWait) return
  // A chargeback that came again after its reversal counts until an operator has looked at it.
  const isAgain = rest.listed.some(({ detail }) =>
    detail.includes('a chargeback that was reversed came again'),
  )
  if (isAgain) return
  return {
    rule: '2 the rest of a sale can be refunded',
    found: `${left} is left of ${row.type} ${row.id}, and a refund of 1 is refused with ${code}`,
  }
}

const mayStand = (state: string) => state !== 'declined' && state !== 'expired'

async function probeAuthorisation(rest: Rest, row: Row): Promise<Probed | undefined> {
  const entry = rest.entryOf(row)
  if (entry === undefined) return
  const { allowed, used } = ofAuthorisation(rest.merchant.world.books, entry)
  const left = allowed > used ? allowed - used : 0n
  if ((await tried(rest, row, 'CP', left + 1n)) !== undefined) return
  if (rest.listed.some(({ detail }) => /"minor":/.test(detail))) return
  return {
    rule: '2 captures do not exceed the rest',
    found: `${left} is left of ${row.type} ${row.id}, ${left + 1n} was captured`,
  }
}

/** @returns undefined after a success, else the code of the refusal. */
async function tried(
  rest: Rest,
  row: Row,
  type: string,
  minor: bigint,
): Promise<string | undefined> {
  const { world, name } = rest.merchant
  try {
    const { result } = await world.engines[1].payments.followUp(row.id, {
      paymentType: type,
      ...amountFields(minor),
      merchantTransactionId: `${name}.probe`,
    } as never)
    return /^000\.(000|100)\./.test(result.code) ? undefined : result.code
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
}
