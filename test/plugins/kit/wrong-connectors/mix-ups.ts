/** Mistakes with answers about other keys. */
import type { Context, Operation } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import {
  but,
  contextOver,
  enquiring,
  overHttp,
  resolving,
  type Wrap,
  type Wrong,
} from './changed-connector.ts'

const payment = 'the answer to another payment is not accepted'
const enquiry = 'an enquiry believes no answer about another key'
const reversal = 'a reversal by key believes no answer about another key'
const back = 'a return of the shopper believes no answer about another key'

/** Every answer names the key of the operation. */
const blind: Wrap =
  (send, { key }) =>
  async (method, url, options) => {
    const answer = await send(method, url, options)
    return { ...answer, json: () => ({ ...(answer.json() as object), reference: key }) }
  }

const blindly = (operation: Operation, context: Context): Context =>
  contextOver(context, operation, blind)

export const mixUpMistakes: readonly Wrong[] = [
  {
    what: 'does not look which payment an answer is about',
    connector: overHttp(blind),
    noticed: [payment],
  },
  {
    what: 'does not look which refund an answer is about',
    connector: overHttp(blind, ['refund']),
    noticed: [payment],
  },
  {
    what: 'does not look which payment was found',
    connector: enquiring((operation, context) =>
      right.resolve.enquire!(operation, blindly(operation, context)),
    ),
    noticed: [enquiry],
  },
  {
    what: 'does not look which payment was reversed',
    connector: resolving({
      reverseByKey: (operation, context) =>
        right.resolve.reverseByKey!(operation, blindly(operation, context)),
    }),
    noticed: [reversal],
  },
  {
    what: 'does not look which shopper paid',
    connector: but({
      complete: (operation, brought, context) =>
        right.complete!(operation, brought, blindly(operation, context)),
    }),
    noticed: [back],
  },
]
