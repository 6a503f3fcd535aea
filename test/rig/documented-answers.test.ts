/** The check of answers must itself refuse every answer that the document does not have. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { type AnswerCheck, answerCheck } from './documented-answers.ts'

describe('the check of answers against the OpenAPI document', () => {
  let check: AnswerCheck
  before(async () => {
    check = await answerCheck()
  })

  const id = '8a82944a4cc25ebf014cc2c782423202'
  const envelope = {
    id,
    result: { code: '000.100.110', description: 'Request successfully processed' },
    buildNumber: '0.1.0',
    timestamp: '2026-03-14 09:26:53+0000',
    ndc: '0199d5e26f6d7a1c',
  }
  const payment = { ...envelope, paymentType: 'DB', amount: '92.00', currency: 'EUR' }
  const usual = { 'content-type': 'application/json;charset=UTF-8', 'x-request-id': '0199d5e2' }

  const received = (
    { path = '/v1/payments', method = 'POST' },
    status: number,
    body: unknown,
    headers: Readonly<Record<string, string>> = usual,
  ) =>
    check.answer(
      { method, path },
      {
        status,
        header: (name) => headers[name.toLowerCase()] ?? null,
        text: typeof body === 'string' ? body : JSON.stringify(body),
      },
    )

  test('an approved, a declined and a refused payment pass', () => {
    received({}, 200, payment)
    received({}, 400, { ...payment, result: { ...envelope.result, code: '800.100.152' } })
    const parameterErrors = [{ name: 'amount', message: 'must be a number' }]
    received({}, 400, { ...envelope, result: { ...envelope.result, parameterErrors } })
  })

  test('a field that the document lacks is refused, at any depth', () => {
    assert.throws(() => received({}, 200, { ...payment, colour: 'red' }), /colour/)
    assert.throws(() => received({}, 200, { ...payment, card: { colour: 'red' } }), /colour/)
    assert.throws(() => received({}, 400, { ...payment, colour: 'red' }), /colour/)
    const schedules = [{ ...envelope, colour: 'red' }]
    const list = { path: '/scheduling/v1/schedules', method: 'GET' }
    assert.throws(() => received(list, 200, { ...envelope, schedules }), /colour/)
  })

  test('a value of another type is refused', () => {
    assert.throws(() => received({}, 200, { ...payment, amount: 92 }), /amount must be string/)
    assert.throws(() => received({}, 200, { ...payment, retrySafe: 'true' }), /must be boolean/)
  })

  test('a missing field that every answer has is refused', () => {
    const { ndc: _, ...without } = payment
    assert.throws(() => received({}, 200, without), /ndc/)
  })

  test('an undeclared status, media type or missing header is refused', () => {
    assert.throws(() => received({}, 402, envelope), /402; the document has only 200, 400/)
    const html = { ...usual, 'content-type': 'text/html' }
    assert.throws(() => received({}, 200, payment, html), /as text\/html/)
    const { 'x-request-id': _, ...bare } = usual
    assert.throws(() => received({}, 200, payment, bare), /without X-Request-Id/)
    const odd = { ...usual, 'retry-after': 'soon' }
    assert.throws(() => received({}, 429, envelope, odd), /Retry-After/)
  })

  test('an answer of an unknown path is refused unless it says so', () => {
    const nowhere = { path: '/v1/nothing', method: 'GET' }
    received(nowhere, 404, envelope)
    assert.throws(() => received(nowhere, 200, envelope), /no such operation/)
  })

  test('paths are found below a prefix, with double slashes, and before those with parameters', () => {
    received({ path: '/gateway//v1/payments/' }, 200, payment)
    const preview = { path: '/scheduling/v1/schedules/preview' }
    received(preview, 200, { ...envelope, timeZone: 'UTC', nextExecutions: [] })
    assert.throws(() =>
      received({ path: '/gateway/v1/payments' }, 200, { ...payment, colour: 'red' }),
    )
  })

  test('a HEAD request has no body', () => {
    const head = { path: '/v1/resultcodes', method: 'HEAD' }
    received(head, 200, '')
    assert.throws(() => received(head, 200, payment), /with a body/)
  })

  test('a notification needs its headers, and the payload of its type', () => {
    const headers: Readonly<Record<string, string>> = {
      'webhook-id': id,
      'webhook-timestamp': '1773480413',
      'webhook-sequence': '1',
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    }
    const told = { type: 'PAYMENT', payload: { ...payment, presentationAmount: '92.00' } }
    check.notification((name) => headers[name], told)
    const without = (missing: string) => (name: string) =>
      name === missing ? undefined : headers[name]
    for (const name of Object.keys(headers)) {
      assert.throws(() => check.notification(without(name), told), new RegExp(name))
    }
    const wrong = { ...told, payload: { ...told.payload, colour: 'red' } }
    assert.throws(() => check.notification((name) => headers[name], wrong), /colour/)
    const other = { ...told, type: 'REGISTRATION', action: 'CREATED' }
    assert.throws(() => check.notification((name) => headers[name], other), /presentationAmount/)
  })
})
