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

/** A registration is answered with what it holds of the account and of its owner. */
const registrationAnswer = [
  'registration response', 'payment response', 'virtualAccount', 'bankAccount', 'tokenAccount', 'customer', 'billing',
  'standingInstruction', 'customParameters',
] as const

/** Fields of an instrument that cannot be sent beside a registration, which has them. */
const storedNumbers = [
  'card.number', 'card.numberType', 'bankAccount.number', 'bankAccount.iban', 'tokenAccount.number', 'tokenAccount.type',
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
    operation: 'registrations.create',
    method: 'POST',
    path: '/v1/registrations',
    title: 'Store an account for later payments',
    accepts: [
      'registration', 'card', 'virtualAccount', 'bankAccount', 'tokenAccount', 'customer', 'billing', 'recurringMigration',
      'standingInstruction', 'customParameters', 'asynchronous', 'testClock', 'compatibility',
    ],
    refused: ['registrations[n].id', 'transactionDueDate', 'tokenAccount.cryptogram', 'tokenAccount.dtvc'],
    answers: [...registrationAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'registrations.pay',
    method: 'POST',
    path: '/v1/registrations/{id}/payments',
    title: 'Pay with a registration',
    accepts: [
      'basic', 'forex', 'card', 'bankAccount', 'tokenAccount', 'customer', 'shipping.customer', 'billing', 'merchant.billing',
      'shipping', 'merchant.shipping', 'corporate', 'sender', 'recipient', 'merchant', 'cart.items', 'cart.payments',
      'marketPlace', 'airline', 'tokenization', 'standingInstruction', 'threeDSecure', 'customParameters', 'asynchronous',
      'risk', 'testClock', 'compatibility',
    ],
    required: ['amount', 'currency', 'paymentType'],
    // Account and brand come from the registration; a security code, a holder and a brand may be repeated.
    refused: [
      ...checkoutOnly, ...storedNumbers, 'card.expiryMonth', 'card.expiryYear', 'tokenAccount.expiryMonth',
      'tokenAccount.expiryYear', 'bankAccount.bankName', 'bankAccount.bankCode', 'bankAccount.bic', 'bankAccount.country',
      'createRegistration', 'referenceUuid',
    ],
    answers: [...paymentAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'registrations.update',
    method: 'POST',
    path: '/v1/registrations/{id}',
    title: 'Change a registration',
    accepts: [
      'registration', 'card', 'bankAccount', 'tokenAccount', 'customer', 'billing', 'standingInstruction', 'customParameters',
      'compatibility',
    ],
    // Another number is another account: it is stored anew.
    refused: ['registrations[n].id', 'transactionDueDate', ...storedNumbers, 'card.cvv', 'tokenAccount.cryptogram', 'tokenAccount.dtvc'],
    answers: [...registrationAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'registrations.get',
    method: 'GET',
    path: '/v1/registrations/{id}',
    title: 'Read a registration',
    accepts: ['entity', 'compatibility'],
    answers: [...registrationAnswer],
    login: 'token',
    throttle: 'read',
  },
  {
    operation: 'registrations.extend',
    method: 'POST',
    path: '/v1/registrations/{id}/extendlife',
    title: 'Keep a registration for longer',
    accepts: ['registration', 'compatibility'],
    refused: ['registrations[n].id', 'paymentBrand'],
    answers: [...registrationAnswer],
    login: 'token',
    throttle: 'write',
  },
  {
    operation: 'registrations.remove',
    method: 'DELETE',
    path: '/v1/registrations/{id}',
    title: 'Remove a registration',
    accepts: ['entity', 'compatibility'],
    answers: [...registrationAnswer],
    login: 'token',
    throttle: 'write',
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
