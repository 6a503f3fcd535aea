/** What the template reads of an answer in JSON. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { read } from '../../../plugins/create-connector/template/src/wire.ts'

const fieldsOf = (text: string) => read(Buffer.from(text))

test('answers have nested objects, lists, integers and booleans, all read as texts', () => {
  const answer = {
    id: 4711,
    live: false,
    text: null,
    amount: { value: 9200, currency: 'EUR' },
    errors: [{ code: '05' }],
  }
  assert.deepEqual(fieldsOf(JSON.stringify(answer)), {
    id: '4711',
    live: 'false',
    'amount.value': '9200',
    'amount.currency': 'EUR',
    'errors.0.code': '05',
  })
  assert.deepEqual(fieldsOf('\ufeff{"id":"7"}'), { id: '7' })
})

test('an answer that is not whole, or whose numbers lost digits, is none', () => {
  const deep = '['.repeat(200_000) + ']'.repeat(200_000)
  for (const text of [
    '',
    'null',
    '"text"',
    '92',
    '{"id":"7"',
    '{"amount":92.5}',
    '{"id":90071992547409931}',
    '{"amount.value":"1","amount":{"value":"2"}}',
    deep,
  ]) {
    assert.equal(fieldsOf(text), undefined, text.slice(0, 60))
  }
})

test('names of fields are no parts of an object', () => {
  const fields = fieldsOf('{"__proto__":{"code":"00"}}')
  assert.equal(fields?.code, undefined)
  assert.equal(fields?.['__proto__.code'], '00')
})
