import { isChargeback, isResultCode } from '@tollgate/schemas'
import { faultFromWire } from './faults.ts'
import type { Request } from './ledger.ts'
import type { Acquirer } from './server.ts'
import { answerToWire, moneyFromWire, objectOf, textOf, WireError } from './wire.ts'

/**
 * POST /control: a test's orders to the acquirer. One or more of
 *
 * - `plan`: faults for the next requests; `clear: true`: drop the remaining ones
 * - `events`: address for events, null for none
 * - `finish: { merchantId, key, code }`: end a pending operation (`00` approves) and send its event
 * - `chargeback`, `chargebackReversal: { merchantId, key, original, amount, reason }`: and its
 *   event
 * - `tell: { merchantId, key }`: send the event of an operation once more
 *
 * Answers with `left`, the unused faults, and for the others `answer` and `told`, whether the
 * receiver accepted the event.
 */
export async function carryOutControl(
  acquirer: Acquirer,
  body: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  for (const name of Object.keys(body)) {
    if (!controls.includes(name)) throw new WireError(`there is no control named ${name}`)
  }
  const planned = Array.isArray(body.plan) ? body.plan : []
  if (body.plan !== undefined && planned !== body.plan) throw new WireError('plan must be a list')
  const faults = planned.map((fault, index) => faultFromWire(fault, `plan[${index}]`))
  if (body.clear === true) acquirer.plan.clear()
  acquirer.plan.add(faults)
  if (body.events === null) acquirer.messenger.listen(undefined)
  else if (body.events !== undefined) acquirer.messenger.listen(textOf(body.events, 'events'))
  const outcome = await move(acquirer, body)
  return { left: acquirer.plan.left, ...outcome }
}

const controls = ['plan', 'clear', 'events', 'finish', 'chargeback', 'chargebackReversal', 'tell']

async function move(
  { books, messenger, time }: Acquirer,
  body: Readonly<Record<string, unknown>>,
): Promise<Record<string, unknown>> {
  const named = ['finish', 'chargeback', 'chargebackReversal', 'tell'] as const
  const what = named.find((name) => body[name] !== undefined)
  if (what === undefined) return {}
  const order = objectOf(body[what], what)
  const merchantId = textOf(order.merchantId, `${what}.merchantId`)
  const key = textOf(order.key, `${what}.key`)
  if (what === 'finish') {
    books.finish(merchantId, key, textOf(order.code, 'finish.code'), time.now())
  } else if (what !== 'tell') {
    books.decide(merchantId, disputeOf(what, key, order), time.now())
  }
  await books.safe()
  const answer = books.enquire(merchantId, key, time.now())
  const entry = books.entry(merchantId, key)
  const tells = entry !== undefined && (what === 'tell' || answer.status !== 'notFound')
  return { answer: answerToWire(answer), told: tells && (await messenger.tell(entry)) }
}

function disputeOf(
  kind: 'chargeback' | 'chargebackReversal',
  key: string,
  order: Readonly<Record<string, unknown>>,
): Request {
  const reason = textOf(order.reason, `${kind}.reason`)
  if (!isResultCode(reason) || !isChargeback(reason)) {
    throw new WireError(`${kind}.reason must be a chargeback code of the result table`)
  }
  return {
    kind,
    key,
    reason,
    paymentId: '',
    original: textOf(order.original, `${kind}.original`),
    amount: moneyFromWire(order.amount, `${kind}.amount`),
    instrument: '',
    signs: {},
  }
}
