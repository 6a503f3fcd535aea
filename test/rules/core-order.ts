/**
 * The order of the parts of `core/`, folders and files beside them: each may import only parts that come
 * after it. CONTRIBUTING.md draws it.
 */
export const coreOrder: readonly { readonly layer: string; readonly parts: readonly string[] }[] = [
  {
    layer: 'The package: start and API',
    parts: [
      'index.ts',
      'pods/',
      'start.ts',
      'start-engine.ts',
      'start-database.ts',
      'start-resources.ts',
      'start-wait.ts',
      'check-options.ts',
      'gateway.ts',
      'gateway-parts.ts',
      'gateway-options.ts',
      'operations.ts',
      'gateway-guard.ts',
    ],
  },
  {
    layer: 'Administration of a database',
    parts: ['key-rotation/', 'database-roles.ts', 'migrate.ts', 'database-grants.ts'],
  },
  { layer: 'Background jobs', parts: ['jobs/'] },
  {
    layer: 'Operators: decisions, logins and acquirer accounts',
    parts: ['operator-access/', 'operator/', 'merchant-account/'],
  },
  {
    layer: 'Events, webhooks, step log, searches',
    parts: [
      'observation/',
      'event-feed/',
      'served-files/',
      'report-delivery/',
      'webhook/',
      'step/',
      'query/',
      'widget/',
      'pod-lookup/',
    ],
  },
  {
    layer: 'Moving money',
    parts: [
      'test-clock/',
      'settlement/',
      'report/',
      'schedule/',
      'checkout/',
      'registration/',
      'acquirer-events/',
      'shopper-return/',
      'payment/',
      'three-d-secure/',
    ],
  },
  { layer: 'Shared by all parts above', parts: ['call.ts', 'engine.ts'] },
  {
    layer: 'Held by the engine',
    parts: [
      'wallet/',
      'routing/',
      'card-testing/',
      'business-time/',
      'process/',
      'transcript/',
      'widget-files/',
    ],
  },
  { layer: 'Entities and rights', parts: ['entity/', 'four-eyes/', 'caller/'] },
  { layer: 'Records and secrets', parts: ['audit-chain/', 'attention/', 'vault/', 'audit/'] },
  {
    layer: 'Building blocks',
    parts: ['page/', 'request/', 'connector/', 'queue/', 'timer/', 'event/'],
  },
  {
    layer: 'Foundations',
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
      'call-trace.ts',
      'error-words.ts',
      'telemetry.ts',
      'clock.ts',
    ],
  },
]
