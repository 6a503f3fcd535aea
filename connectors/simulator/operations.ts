import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import type { Answer } from './answer.ts'
import type { Call, Fault } from './faults.ts'
import type { Request } from './ledger.ts'
import { type BankVisit, bankUrlOf } from './pages/bank.ts'
import { sendDamaged, sendJson } from './respond.ts'
import type { Acquirer } from './server.ts'
import {
  type Around,
  answerToWire,
  keyHeader,
  millisecondsOf,
  only,
  optional,
  requestFromWire,
  textOf,
  type WireAnswer,
  WireError,
} from './wire.ts'

/** POST /operations: moves the ledger, then answers, in the order of the plan and rules. */
export async function answerOperation(
  acquirer: Acquirer,
  merchantId: string,
  headers: IncomingHttpHeaders,
  body: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): Promise<void> {
  const key = keyOf(headers)
  const { request, ...around } = requestFromWire(key, body)
  const { kind, signs } = request
  const { number } = signs
  const call: Call = { on: 'operation', merchantId, key, kind, ...(number && { number }) }
  const fault = acquirer.plan.take(call)
  if (fault?.apply === 'never') {
    await pause(fault, acquirer)
    return sendDamaged(response, {}, fault.do === 'delay' ? { do: 'drop' } : fault, acquirer.signal)
  }
  if (fault?.apply === 'late') await pause(fault, acquirer)
  if (fault?.do === 'hide') {
    acquirer.hidden.set(`${merchantId} ${key}`, acquirer.time.now() + (fault.ms ?? 0))
  }
  const answered = await book(acquirer, merchantId, request, around)
  if (answered === undefined) return sendDamaged(response, {}, { do: 'drop' }, acquirer.signal)
  const { answer, delivery } = answered
  const entry = acquirer.books.entry(merchantId, key)
  const tell = async () => {
    if (entry !== undefined) await acquirer.messenger.tell(entry, around.notifyUrl)
  }
  if (delivery === 'eventFirst') await tell()
  if (around.delayMs !== undefined) await pause({ ms: around.delayMs }, acquirer)
  if (fault?.do === 'delay' && fault.apply !== 'late') await pause(fault, acquirer)
  if (delivery === 'lost') return sendDamaged(response, {}, { do: 'drop' }, acquirer.signal)
  if (delivery === 'twice') response.once('finish', () => void tell())
  return sendDamaged(response, altered(answer, fault), fault, acquirer.signal)
}

/** Moves the ledger; undefined when the operation must never arrive. */
async function book(
  acquirer: Acquirer,
  merchantId: string,
  request: Request,
  { at, ...shown }: Around,
): Promise<{ answer: WireAnswer; delivery: string } | undefined> {
  const { answer, delivery } = acquirer.books.decide(merchantId, request, at ?? acquirer.time.now())
  await acquirer.books.safe()
  if (delivery === 'never') return undefined
  const { brand } = request.signs
  const about = { ...shown, ...only('brand', brand) }
  return { answer: wireOf(acquirer, merchantId, answer, about), delivery }
}

/** GET /operations: the state of a key. */
export async function answerEnquiry(
  acquirer: Acquirer,
  merchantId: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const key = textOf(query.get('key') ?? undefined, 'key')
  const at = optional(query.get('at') ?? undefined, 'at', (text, name) =>
    millisecondsOf(Number(text), name),
  )
  const fault = acquirer.plan.take({ on: 'enquiry', merchantId, key })
  if (fault?.do === 'delay') await pause(fault, acquirer)
  const hiddenUntil = acquirer.hidden.get(`${merchantId} ${key}`) ?? 0
  if (fault?.do === 'notFound' || acquirer.time.now() < hiddenUntil) {
    return sendJson(response, 200, { status: 'notFound', key, code: '25' })
  }
  const answer = acquirer.books.enquire(merchantId, key, at ?? acquirer.time.now())
  await acquirer.books.safe()
  const shown = pageParameters.map((name) => only(name, query.get(name) ?? undefined))
  const wire = wireOf(acquirer, merchantId, answer, Object.assign({}, ...shown))
  return sendDamaged(response, altered(wire, fault), fault, acquirer.signal)
}

/** POST /reversals: undoes the operation of a key and closes the key for good. */
export async function answerReversal(
  acquirer: Acquirer,
  merchantId: string,
  headers: IncomingHttpHeaders,
  body: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): Promise<void> {
  const key = keyOf(headers)
  const at = optional(body.at, 'at', millisecondsOf) ?? acquirer.time.now()
  const fault = acquirer.plan.take({ on: 'reversal', merchantId, key })
  if (fault?.do === 'delay' || fault?.apply === 'late') await pause(fault, acquirer)
  if (fault?.apply === 'never') return sendDamaged(response, {}, fault, acquirer.signal)
  const answer = acquirer.books.reverseByKey(merchantId, key, at)
  await acquirer.books.safe()
  return sendDamaged(response, answer, fault, acquirer.signal)
}

/** Parameters of an enquiry for the bank's page. */
const pageParameters = ['returnUrl', 'brand', 'shop', 'language'] as const

function wireOf(
  { url, secret }: Acquirer,
  merchantId: string,
  answer: Answer,
  shown: Pick<BankVisit, (typeof pageParameters)[number]>,
): WireAnswer {
  if (answer.wait !== 'shopper') return answerToWire(answer)
  const { returnUrl, brand, shop, language } = shown
  const visit = {
    merchantId,
    key: answer.key,
    ...only('returnUrl', returnUrl),
    ...only('brand', brand),
    ...only('shop', shop),
    ...only('language', language),
  }
  return answerToWire(answer, bankUrlOf(url, visit, secret))
}

function altered(answer: WireAnswer, fault: Fault | undefined): WireAnswer {
  if (fault?.do === 'alterAmount' && fault.amount !== undefined) {
    return { ...answer, amount: fault.amount }
  }
  return fault?.do === 'unknownCode' ? { ...answer, status: 'declined', code: 'Q7' } : answer
}

/** The client may have left: the ledger moves in any case. */
function pause({ ms = 0 }: Pick<Fault, 'ms'>, { time, signal }: Acquirer): Promise<void> {
  return time.wait(ms, signal)
}

export function keyOf(headers: IncomingHttpHeaders): string {
  const key = headers[keyHeader]
  if (typeof key === 'string' && /^[0-9A-Za-z-]{1,64}$/.test(key)) return key
  throw new WireError(`the header ${keyHeader} must hold 1 to 64 letters, digits or hyphens`)
}
