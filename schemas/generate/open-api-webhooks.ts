/** What the gateway sends to the servers of merchants, for the OpenAPI document. */
import type { Endpoint } from '../table.ts'
import { endpoints } from '../tables/endpoints.ts'
import { headersOf } from '../tables/headers.ts'
import { component } from './open-api-responses.ts'

type Json = { [key: string]: unknown }

const events = endpoints.find(({ operation }) => operation === 'events.get') as Endpoint
const actions = { type: 'string', enum: ['CREATED', 'UPDATED', 'DELETED'] }

/** One notification for each type, with the payload of its resource. */
export function notificationSchemas(): Json {
  const kinds = Object.keys(events.contains?.payload ?? {})
  const named = kinds.map((kind) => {
    const noun = kind.replace(/Payload$/, '')
    const type = { const: noun.toUpperCase(), description: 'Type of the resource.' }
    const isPayment = noun === 'Payment'
    const action = { ...actions, description: 'Change of the resource.' }
    return [
      `${noun}Notification`,
      {
        title: `${noun}Notification`,
        type: 'object',
        properties: {
          type,
          ...(isPayment ? {} : { action }),
          payload: component(`${kind}Answer`),
        },
        required: isPayment ? ['type', 'payload'] : ['type', 'action', 'payload'],
        additionalProperties: true,
      },
    ] as const
  })
  const test = {
    title: 'TestNotification',
    type: 'object',
    properties: {
      type: { const: 'test', description: 'Sent on request, to test an endpoint.' },
      payload: {
        type: 'object',
        description: 'Empty.',
        properties: {},
        additionalProperties: true,
      },
    },
    required: ['type', 'payload'],
    additionalProperties: true,
  }
  const all = [...named, ['TestNotification', test] as const]
  return {
    ...Object.fromEntries(all),
    Notification: {
      title: 'Notification',
      description: 'The body of a webhook, after its decryption.',
      anyOf: all.map(([name]) => component(name)),
    },
    EncryptedNotification: {
      title: 'EncryptedNotification',
      type: 'object',
      properties: {
        encryptedBody: {
          type: 'string',
          pattern: '^[0-9A-F]+$',
          description: 'The encrypted body as hexadecimal digits.',
        },
      },
      required: ['encryptedBody'],
      additionalProperties: true,
    },
  }
}

const answers = {
  '2XX': { description: 'The server has taken the notification.' },
  410: { description: 'The endpoint is gone: the gateway disables it.' },
  default: { description: 'The gateway sends the notification again, for up to 30 days.' },
}

/** The requests of the gateway to endpoints of merchants. */
export function webhooks(): Json {
  return {
    notification: {
      post: {
        operationId: 'notification',
        summary: 'A payment, a registration or a schedule changed',
        description:
          'Sent to each webhook endpoint, at least once, in order for each resource. The wrapper of the endpoint chooses the form of the body: TEXT and JSON are encrypted by AES-256-GCM, NONE is not.',
        tags: ['webhooks'],
        security: [],
        parameters: headersOf('notification').map(({ name, meaning, pattern, isAlways }) => ({
          name,
          in: 'header',
          description: meaning,
          required: isAlways === true,
          schema: { type: 'string', pattern },
        })),
        requestBody: {
          required: true,
          content: {
            'text/plain': {
              schema: {
                type: 'string',
                pattern: '^[0-9A-F]+$',
                description: 'TEXT: the encrypted body as hexadecimal digits.',
              },
            },
            'application/json': {
              schema: { anyOf: [component('Notification'), component('EncryptedNotification')] },
            },
          },
        },
        responses: answers,
      },
    },
    notificationUrl: {
      get: {
        operationId: 'notificationUrl',
        summary: 'A payment whose request named a notificationUrl changed',
        description: 'Without a signature: read the payment at the resource path.',
        deprecated: true,
        tags: ['webhooks'],
        security: [],
        parameters: [
          {
            name: 'id',
            in: 'query',
            description: 'Id of the payment; of its checkout where it was made there.',
            required: true,
            schema: { type: 'string' },
          },
          {
            name: 'resourcePath',
            in: 'query',
            description: 'Path to read.',
            required: true,
            schema: { type: 'string' },
          },
        ],
        responses: answers,
      },
    },
  }
}
