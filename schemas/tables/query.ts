import { AN, C, type Condition, dateTime, excerpt, type Format, flag, group, integer, none, O, oneOf, reference, request, response } from '../table.ts'
import { anyReference, id32 } from './formats.ts'
import { queryPaymentMethods, queryPaymentTypes } from './payment-types.ts'

const listOf = (codes: readonly string[]): Format => ({ kind: 'list', of: oneOf(...codes), max: codes.length })

/** Search for payments. */
export const query = group('', 'Query parameters', [
  // name                       format                  need direction class meaning
  ['merchantTransactionId',     anyReference,           O,   request, none, 'Reference of the merchant. Excludes a time frame.', reference],
  ['limit',                     integer(100, 500),      O,   request, none, 'Maximum number of payments in one answer.', { default: '100' }],
  ['date.from',                 dateTime,               O,   request, none, 'Start of the time frame, UTC.'],
  ['date.to',                   dateTime,               O,   request, none, 'End of the time frame, UTC.'],
  ['paymentTypes',              listOf(queryPaymentTypes),   O,   request, none, 'Payment types to find, comma-separated.'],
  ['paymentMethods',            listOf(queryPaymentMethods), O,   request, none, 'Payment methods to find, comma-separated.'],
  ['includeLinkedTransactions', flag,                   O,   request, none, 'Includes the payments linked to those found.'],
  ['shortId',                   AN(14),                 O,   request, none, 'Short number of one payment.', reference],
  ['cursor',                    AN(255),                O,   request, none, 'Continues at nextCursor of the previous answer.', { because: 'An addition to the documented parameters, because pages shift while payments arrive.', reference: true }],
  ['pageNo',                    integer(1, 100),        O,   request, none, 'Number of the page; later pages by cursor.', { because: 'Clients of this API family page by number.' }],
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
    message: 'merchantTransactionId excludes a time frame: omit date.from',
  },
  {
    rule: 'not-together',
    of: ['merchantTransactionId', 'date.to'],
    message: 'merchantTransactionId excludes a time frame: omit date.to',
  },
  {
    rule: 'not-together',
    of: ['cursor', 'pageNo'],
    message: 'a cursor excludes a page number: omit pageNo',
  },
], 'query')

/** The parameters of a read of one transaction by its id. */
export const linkedQuery = excerpt(query, ['includeLinkedTransactions'], 'linked query', 'Linked transactions')

/** The criteria that a search needs, unlike a read by id. */
export const searchMandatory: readonly Condition[] = [
  {
    rule: 'at-least-one',
    of: ['merchantTransactionId', 'date.from', 'date.to', 'shortId'],
    message: 'a search needs merchantTransactionId, date.from and date.to, or shortId',
  },
]

/** Answer of a search. The elements of the list are payment answers. */
export const queryResponse = group('', 'Query answer', [
  // name            format           need direction class meaning
  ['payments[n].id', id32,            C,   response, none, 'Payments found, newest first (version 1).', { maxIndex: 499 }],
  ['records[n].id',  id32,            C,   response, none, 'Payments found, newest first (version 3).', { maxIndex: 499 }],
  ['pages',          integer(0, 100), C,   response, none, 'Number of pages, at most 100 (version 3, without cursor).'],
  ['nextCursor',     AN(255),         C,   response, none, 'Cursor of the next page; absent on the last.'],
], [], 'query response')
