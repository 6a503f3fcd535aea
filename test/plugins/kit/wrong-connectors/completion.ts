/** Mistakes when the shopper comes back. */
import { approved, pending } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { but, type Wrong } from './changed-connector.ts'

export const completionMistakes: readonly Wrong[] = [
  {
    what: 'trusts the query string',
    connector: but({
      complete: async (operation, back, context) =>
        back.query.status === 'approved'
          ? approved(back.refs)
          : right.complete!(operation, back, context),
    }),
    noticed: ["a return of the shopper's browser proves nothing"],
  },
  {
    what: 'does not ask again when the shopper is back',
    connector: but({ complete: async () => pending('event') }),
    noticed: [
      'a payment is completed after the shopper paid',
      'a return that the browser posts tells the same',
    ],
  },
  {
    what: 'understands only links as returns',
    connector: but({
      complete: async (operation, back, context) =>
        back.method === 'GET' ? right.complete!(operation, back, context) : pending('event'),
    }),
    noticed: ['a return that the browser posts tells the same'],
  },
  {
    what: 'believes every form that is posted',
    connector: but({
      complete: async (operation, back, context) =>
        back.method === 'POST'
          ? approved({ id: 'from the form' })
          : right.complete!(operation, back, context),
    }),
    noticed: ["a return of the shopper's browser proves nothing"],
  },
]
