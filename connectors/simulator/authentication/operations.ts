/** The issuer's part of the HTTP simulator. */
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { keyOf } from '../operations.ts'
import { pageUrlsOf } from '../pages/challenge.ts'
import { sendDamaged, sendJson } from '../respond.ts'
import type { Acquirer } from '../server.ts'
import { millisecondsOf, textOf } from '../wire.ts'
import { answerOf } from './answer.ts'
import { type Case, openCase, whenOver } from './case.ts'
import { answerToWire, questionFromWire } from './wire.ts'

/** POST /authentications: begins one, or answers again for a known key. */
export async function answerAuthentication(
  acquirer: Acquirer,
  merchantId: string,
  headers: IncomingHttpHeaders,
  body: Readonly<Record<string, unknown>>,
  response: ServerResponse,
): Promise<void> {
  const { books, plan, time, signal } = acquirer
  const key = keyOf(headers)
  const { question, at } = questionFromWire(key, body)
  const fault = plan.take({ on: 'authentication', merchantId, key })
  if (fault?.apply === 'never') return sendDamaged(response, {}, fault, signal)
  const known = books.case(merchantId, key)
  const found =
    known === undefined
      ? openCase(question, { business: at, machine: time.now() })
      : whenOver(known, at)
  books.keepCase(merchantId, found)
  await books.safe()
  if (fault?.do === 'delay') await time.wait(fault.ms ?? 0, signal)
  return sendDamaged(response, wireOf(acquirer, merchantId, found), fault, signal)
}

/** GET /authentications: the state of a key. */
export async function answerAuthenticationEnquiry(
  acquirer: Acquirer,
  merchantId: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<void> {
  const { books, plan, time, signal } = acquirer
  const key = textOf(query.get('key') ?? undefined, 'key')
  const at = query.has('at') ? millisecondsOf(Number(query.get('at')), 'at') : time.now()
  const fault = plan.take({ on: 'authenticationEnquiry', merchantId, key })
  if (fault?.do === 'delay') await time.wait(fault.ms ?? 0, signal)
  const known = books.case(merchantId, key)
  if (known === undefined || fault?.do === 'notFound') {
    return sendJson(response, 200, { status: 'notFound', key })
  }
  const found = whenOver(known, at)
  books.keepCase(merchantId, found)
  await books.safe()
  return sendDamaged(response, wireOf(acquirer, merchantId, found), fault, signal)
}

function wireOf({ url, secret }: Acquirer, merchantId: string, found: Case) {
  const pages = pageUrlsOf(url, { merchantId, key: found.key }, secret)
  return answerToWire(answerOf(found, secret, pages))
}
