import type { Endpoint } from '../table.ts'

const ofMerchants = { method: 'GET', login: 'token', right: 'read', throttle: 'read' } as const

/** Settlements by payout, their records, and the CSV files of them. */
export const reportEndpoints: readonly Endpoint[] = [
  {
    ...ofMerchants,
    operation: 'reports.aggregations',
    path: '/reports/v1/reconciliations/aggregations',
    title: 'List payouts with their sums',
    accepts: ['entity', 'report days', 'report list', 'compatibility'],
    required: ['date.from', 'date.to', 'currency'],
    answers: ['answer', 'aggregation list response'],
  },
  {
    ...ofMerchants,
    operation: 'reports.aggregation',
    path: '/reports/v1/reconciliations/aggregations/{id}',
    title: 'Read a payout with all its records',
    accepts: ['entity', 'report order', 'compatibility'],
    answers: ['answer', 'aggregation response', 'record list response'],
  },
  {
    ...ofMerchants,
    operation: 'reports.records',
    path: '/reports/v2/reconciliations/aggregations/{id}',
    title: 'Read the records of a payout page by page',
    accepts: ['entity', 'report page', 'compatibility'],
    answers: ['answer', 'record list response'],
  },
  {
    ...ofMerchants,
    operation: 'reports.files',
    path: '/reports/v1/reconciliations/files',
    title: 'List report files',
    accepts: ['entity', 'page', 'compatibility'],
    answers: ['answer', 'report file response'],
  },
  {
    ...ofMerchants,
    operation: 'reports.file',
    path: '/reports/v1/reconciliations/files/{id}',
    title: 'Read a report file: CSV with 36 columns',
    accepts: ['entity', 'compatibility'],
    answers: [],
    media: 'text/csv',
  },
]
