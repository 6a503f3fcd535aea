import { currency, date, group, none, O, oneOf, R, request } from '../table.ts'

/** Selection of settlement and reconciliation reports. */
export const reporting = group('', 'Reporting parameters', [
  // name       format                               need direction class meaning
  ['date.from', date,                                R,   request, none, 'First day.'],
  ['date.to',   date,                                R,   request, none, 'Last day.'],
  ['currency',  currency,                            R,   request, none, 'Settlement currency.', { because: 'Aggregations are sums, which need one currency.' }],
  ['sortValue', oneOf('SettlementTxDate'),           O,   request, none, 'Sort order of the lines of one settlement.'],
  ['sortOrder', oneOf('ASC', 'DESC', 'asc', 'desc'), O,   request, none, 'Ascending or descending.'],
], [
  {
    rule: 'requires',
    when: ['date.from'],
    need: ['date.to'],
    message: 'date.from needs date.to',
  },
  {
    rule: 'requires',
    when: ['date.to'],
    need: ['date.from'],
    message: 'date.to needs date.from',
  },
], 'reporting')
