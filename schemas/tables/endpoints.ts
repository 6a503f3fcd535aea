import type { Endpoint } from '../table.ts'

/** Fields of accepted groups that only the creation of a checkout takes. */
const checkoutOnly = ['overridePaymentType[name]', 'integrity', 'registrations[n].id'] as const

/**
 * A payment is answered with its own fields and with the request's structures that are echoed. What
 * is shown of the basic fields and of a card has rows of its own in `payment response`.
 */
const paymentAnswer = [
  'payment response', 'forex', 'applePay', 'googlePay', 'samsungPay', 'virtualAccount', 'bankAccount', 'tokenAccount',
  'customer', 'shipping.customer', 'billing', 'merchant.billing', 'shipping', 'merchant.shipping', 'corporate', 'sender',
  'recipient', 'merchant', 'cart.items', 'cart.payments', 'marketPlace', 'airline', 'standingInstruction',
  'threeDSecure', 'customParameters', 'asynchronous', 'giftCard',
] as const

/**
 * The REST surface, one row per operation. Routing, validation, throttling, OpenAPI and the reference
 * page all come from these rows.
 */
export const endpoints: readonly Endpoint[] = [
  {
    operation: 'payments.create',
    method: 'POST',
    path: '/v1/payments',
    title: 'Create a payment',
    accepts: [
      'basic', 'forex', 'card', 'applePay', 'googlePay', 'samsungPay', 'virtualAccount', 'bankAccount', 'tokenAccount',
      'customer', 'shipping.customer', 'billing', 'merchant.billing', 'shipping', 'merchant.shipping', 'corporate',
      'sender', 'recipient', 'merchant', 'cart.items', 'cart.payments', 'marketPlace', 'airline', 'tokenization',
      'recurringMigration', 'standingInstruction', 'threeDSecure', 'customParameters', 'asynchronous', 'risk',
      'giftCard', 'testClock', 'compatibility',
    ],
    required: ['amount', 'currency', 'paymentType'],
    refused: [...checkoutOnly],
    answers: [...paymentAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'payments.followUp',
    method: 'POST',
    path: '/v1/payments/{id}',
    title: 'Capture, refund, reverse or otherwise follow up a payment',
    accepts: [
      'basic', 'customer', 'billing', 'merchant', 'cart.items', 'cart.payments', 'marketPlace', 'airline', 'standingInstruction',
      'customParameters', 'asynchronous', 'chargeback', 'compatibility',
    ],
    required: ['paymentType'],
    // Instrument and capture count are those of the payment in the path; a brand may repeat its own.
    refused: [...checkoutOnly, 'numberOfCaptures', 'referenceUuid'],
    answers: [...paymentAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'payments.get',
    method: 'GET',
    path: '/v1/payments/{id}',
    title: 'Read a payment',
    accepts: ['entity', 'compatibility'],
    answers: [...paymentAnswer],
    login: 'token',
    throttle: 'read',
  },
  {
    operation: 'resultCodes.list',
    method: 'GET',
    path: '/v1/resultcodes',
    title: 'List the result codes',
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'read',
  },
  {
    operation: 'connectors.event',
    method: 'POST',
    path: '/connectors/{connector}/{account}/events',
    title: 'Take a message of an acquirer',
    // The body is the acquirer's own; its connector reads it and proves where it comes from.
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'write',
  },
  {
    operation: 'health.live',
    method: 'GET',
    path: '/healthz',
    title: 'Whether the process runs',
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'none',
  },
  {
    operation: 'health.ready',
    method: 'GET',
    path: '/readyz',
    title: 'Whether the process can take payments',
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'none',
  },
  {
    operation: 'openapi.get',
    method: 'GET',
    path: '/openapi.json',
    title: 'The OpenAPI document of this surface',
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'read',
  },
  {
    operation: 'reference.get',
    method: 'GET',
    path: '/reference',
    title: 'The reference page',
    accepts: [],
    answers: [],
    login: 'none',
    throttle: 'read',
  },
]
