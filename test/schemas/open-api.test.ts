/** What the OpenAPI document and the reference page say beside the fields: statuses, headers, webhooks, test data. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { rules } from '../../connectors/simulator/rules.ts'
import { testData } from '../../schemas/generated/test-data.ts'
import { endpoints, openApiDocument, reference } from '../../schemas/index.ts'
import { headers } from '../../schemas/tables/headers.ts'
import { simulatorData } from '../docs/simulator-rows.ts'

type Reference = { $ref: string }
type Operation = {
  operationId: string
  parameters?: { name: string; in: string; description?: string; required?: boolean }[]
  responses: Record<string, Reference & { content?: Record<string, { schema: object }> }>
}

describe('the OpenAPI document', () => {
  // biome-ignore lint/suspicious/noExplicitAny: the document is JSON of any shape.
  let document: any
  before(async () => {
    document = JSON.parse(JSON.stringify(await openApiDocument()))
  })

  const operations = () =>
    endpoints.map((endpoint) => ({
      endpoint,
      operation: document.paths[endpoint.path][endpoint.method.toLowerCase()] as Operation,
    }))

  test('the document is valid by the schema of OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(structuredClone(document))
    assert.ok(valid, JSON.stringify(errors))
  })

  test('every JSON answer names its fields', () => {
    for (const { endpoint, operation } of operations()) {
      const { schema } = operation.responses[200]?.content?.['application/json'] ?? {}
      if (endpoint.media !== undefined || endpoint.operation === 'openapi.get') continue
      assert.notDeepEqual(schema, { type: 'object' }, endpoint.operation)
      assert.ok(schema, endpoint.operation)
    }
  })

  test('every answer has a result, and every parameter a description', () => {
    for (const { endpoint, operation } of operations()) {
      for (const { name, description = '' } of operation.parameters ?? []) {
        assert.match(description, /^[A-Z].* .*\.$/, `${endpoint.operation} ${name}`)
      }
      const { schema } = operation.responses[200]?.content?.['application/json'] ?? {}
      const name = (schema as Partial<Reference>)?.$ref?.split('/').at(-1) ?? ''
      if (!endpoint.answers.some((table) => table === 'answer' || table === 'payment response'))
        continue
      if (endpoint.orAnswersLike !== undefined) continue
      assert.ok(document.components.schemas[name].required.includes('result'), name)
    }
    assert.ok(document.components.schemas.Error.required.includes('result'))
  })

  test('a declined payment is an answer with status 400', () => {
    const { schema } =
      document.paths['/v1/payments'].post.responses[400].content['application/json']
    const kinds = schema.anyOf.map(({ $ref }: Reference) => $ref.split('/').at(-1))
    assert.deepEqual(kinds, ['Error', 'PaymentsCreateAnswer'])
  })

  test('an Idempotency-Key is a parameter exactly where repeats are recognised', () => {
    for (const { endpoint, operation } of operations()) {
      const names = (operation.parameters ?? []).map(({ name }) => name)
      assert.equal(
        names.includes('Idempotency-Key'),
        endpoint.idempotent === true,
        endpoint.operation,
      )
    }
  })

  test('every answer has X-Request-Id, and those of busy servers have Retry-After', () => {
    const { responses } = document.components
    for (const [name, { headers: own }] of Object.entries<{ headers?: object }>(responses)) {
      if (name !== 'Fault') assert.ok('X-Request-Id' in (own ?? {}), name)
    }
    for (const name of ['TooMany', 'Unavailable']) {
      assert.ok('Retry-After' in responses[name].headers, name)
    }
    for (const { endpoint, operation } of operations()) {
      if (endpoint.throttle === 'none') continue
      assert.equal(operation.responses[429]?.$ref, '#/components/responses/TooMany')
    }
  })

  test('webhooks have a payload for each type, and the headers of every notification', () => {
    const { post } = document.webhooks.notification
    const named = post.parameters.map(({ name }: { name: string }) => name)
    const wanted = headers.filter(({ of }) => of === 'notification').map(({ name }) => name)
    assert.deepEqual(named, wanted)
    const kinds = document.components.schemas.Notification.anyOf.map(({ $ref }: Reference) =>
      $ref.split('/').at(-1),
    )
    assert.deepEqual(kinds, [
      'PaymentNotification',
      'RegistrationNotification',
      'ScheduleNotification',
      'TestNotification',
    ])
  })

  test('every example of a header fits its pattern', () => {
    const ajv = new Ajv2020()
    for (const { name, pattern, example } of headers) {
      // A bearer token is shortened for reading.
      assert.ok(ajv.validate({ type: 'string', pattern }, example), name)
    }
  })

  test('every reference in the document has its target', () => {
    for (const [, path = ''] of JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const target = path.split('/').reduce((at, key) => at?.[key], document)
      assert.ok(target, path)
    }
  })
})

describe('the test data', () => {
  test('the rows are those of the simulator', () => {
    assert.deepEqual(testData, simulatorData())
  })

  test('every rule of the simulator is in a row of its kind', () => {
    const all = JSON.stringify(testData)
    for (const [sign, is] of rules) {
      if (is === 'otherwise' || sign === 'check' || sign === 'parameter') continue
      for (const value of is) assert.ok(all.includes(value), `${sign} ${value}`)
    }
    for (const name of ['SIM_DELAY_MS', 'SIM_DECLINE', 'SIM_TIMEOUT', '3DS2_flow']) {
      assert.ok(all.includes(name), name)
    }
  })

  test('the reference page shows every row, and every header', async () => {
    const { html } = await reference()
    for (const { values } of Object.values(testData).flat()) {
      for (const [, code = ''] of values.matchAll(/`([^`]+)`/g)) {
        assert.ok(html.includes(`<code>${code}</code>`), code)
      }
    }
    for (const { of, name } of headers) assert.ok(html.includes(`id="header.${of}.${name}"`), name)
  })
})
