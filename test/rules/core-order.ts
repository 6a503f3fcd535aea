/**
 * The order of the parts of `core/`, folders and files beside them: each may import only parts that come
 * after it. CONTRIBUTING.md draws it.
 */
export const coreOrder: readonly { readonly layer: string; readonly parts: readonly string[] }[] = [
  {
    layer: 'The package: how an engine starts, and its doors',
    parts: [
      'index.ts',
      'start.ts',
      'gateway.ts',
      'gateway-parts.ts',
      'gateway-options.ts',
      'operations.ts',
    ],
  },
  {
    layer: 'Upkeep of a database, beside the engines that use it',
    parts: ['key-rotation/', 'database-roles.ts', 'migrate.ts', 'database-grants.ts'],
  },
  { layer: 'Work behind requests', parts: ['jobs/'] },
  {
    layer: 'Operators: what they decide, who they are',
    parts: ['operator-access/', 'operator/'],
  },
  {
    layer: 'Telling and finding what happened',
    parts: ['event-feed/', 'webhook/', 'step/', 'query/', 'widget/'],
  },
  {
    layer: 'Moving money',
    parts: [
      'test-clock/',
      'schedule/',
      'checkout/',
      'registration/',
      'acquirer-events/',
      'shopper-return/',
      'payment/',
      'three-d-secure/',
    ],
  },
  { layer: 'What every part above shares', parts: ['call.ts', 'engine.ts'] },
  {
    layer: 'What the engine holds',
    parts: [
      'routing/',
      'card-testing/',
      'business-time/',
      'process/',
      'transcript/',
      'widget-files/',
    ],
  },
  { layer: 'Who may act for whom', parts: ['entity/', 'four-eyes/', 'caller/'] },
  { layer: 'Records and secrets', parts: ['audit-chain/', 'attention/', 'vault/', 'audit/'] },
  {
    layer: 'Means',
    parts: ['request/', 'connector/', 'queue/', 'timer/', 'event/', 'page/'],
  },
  {
    layer: 'Ground',
    parts: [
      'crypto/',
      'db/',
      'net/',
      'redaction/',
      'cron/',
      'ids.ts',
      'money.ts',
      'errors.ts',
      'fault-point.ts',
      'heap.ts',
      'clock.ts',
    ],
  },
]
