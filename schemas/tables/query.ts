import { AN, C, type Condition, dateTime, excerpt, type Format, flag, group, integer, none, O, oneOf, reference, request, response } from '../table.ts'
import { id32 } from './formats.ts'
import { queryPaymentMethods, queryPaymentTypes } from './payment-types.ts'

const listOf = (codes: readonly string[]): Format => ({ kind: 'list', of: oneOf(...codes), max: codes.length })

/** Looking for payments. */
export const query = group('', 'Query parameters', [
  // name                       format                  need direction class meaning
  ['merchantTransactionId',     AN(255),                O,   request, none, 'Reference of the merchant. Goes without a time frame.', reference],
  ['limit',                     integer(100, 500),      O,   request, none, 'How many payments one answer holds at most.', { default: '100' }],
  ['date.from',                 dateTime,               O,   request, none, 'Begin of the time frame, UTC.'],
  ['date.to',                   dateTime,               O,   request, none, 'End of the time frame, UTC.'],
  ['paymentTypes',              listOf(queryPaymentTypes),   O,   request, none, 'Payment types to find, comma-separated.'],
  ['paymentMethods',            listOf(queryPaymentMethods), O,   request, none, 'Payment methods to find, comma-separated.'],
  ['includeLinkedTransactions', flag,                   O,   request, none, 'Also gives the payments linked to those found.'],
  ['shortId',                   AN(14),                 O,   request, none, 'Short number of one payment.', reference],
  ['cursor',                    AN(255),                O,   request, none, 'Continues where nextCursor of the answer before points.', { because: 'Given beyond the documented parameters: pages shift while payments come in.', reference: true }],
  ['pageNo',                    integer(1, 100),        O,   request, none, 'Which page to give; deeper ones by cursor.', { because: 'Clients of this API family page by number.' }],
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
  {
    rule: 'not-together',
    of: ['merchantTransactionId', 'date.from'],
    message: 'merchantTransactionId goes without a time frame: leave out date.from',
  },
  {
    rule: 'not-together',
    of: ['merchantTransactionId', 'date.to'],
    message: 'merchantTransactionId goes without a time frame: leave out date.to',
  },
  {
    rule: 'not-together',
    of: ['cursor', 'pageNo'],
    message: 'cursor goes on where a page ended: leave out pageNo',
  },
], 'query')

/** What reading one transaction by its id takes of them. */
export const linkedQuery = excerpt(query, ['includeLinkedTransactions'], 'linked query', 'Linked transactions')

/** What a search, unlike reading one payment by its id, cannot do without. */
export const searchMandatory: readonly Condition[] = [
  {
    rule: 'at-least-one',
    of: ['merchantTransactionId', 'date.from', 'date.to', 'shortId'],
    message: 'say what to look for: merchantTransactionId, date.from and date.to, or shortId',
  },
]

/** Answer of a search. The elements of the list are payment answers. */
export const queryResponse = group('', 'Query answer', [
  // name            format           need direction class meaning
  ['payments[n].id', id32,            C,   response, none, 'Payments found, newest first (version 1).', { maxIndex: 499 }],
  ['records[n].id',  id32,            C,   response, none, 'Payments found, newest first (version 3).', { maxIndex: 499 }],
  ['pages',          integer(0, 100), C,   response, none, 'How many pages there are, at most 100 (version 3, without cursor).'],
  ['nextCursor',     AN(255),         C,   response, none, 'Where the next page begins; absent on the last.'],
], [], 'query response')
