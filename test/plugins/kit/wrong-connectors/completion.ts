/** Mistakes when the shopper comes back. */
import { approved, declined, type Outcome, pending } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { but, contextOver, enquiring, type Wrong } from './changed-connector.ts'

const away = 'a payment whose shopper is away stays open'
const reviewed =
  'a return to a payment that the acquirer reviews, or does not know yet, is no decline'

/** Changes what comes of a return. */
const ending = (change: (outcome: Outcome) => Outcome) =>
  but({
    complete: async (operation, back, context) =>
      change(await right.complete!(operation, back, context)),
  })

const isAway = (outcome: { readonly is: string; readonly next?: unknown }) =>
  outcome.is === 'pending' && Object.hasOwn(Object(outcome.next), 'redirect')

const inPart = 'a return to an approval of another amount, or of a part, names that amount'

export const completionMistakes: readonly Wrong[] = [
  {
    what: 'ignores that another amount was approved while the shopper was away',
    connector: ending((outcome) => (outcome.is === 'approved' ? approved(outcome.refs) : outcome)),
    noticed: [inPart],
  },
  {
    what: 'takes a partial approval for the whole when the shopper is back',
    connector: but({
      complete(operation, back, context) {
        const wrapped = contextOver(context, operation, (send) => async (method, url, options) => {
          const answer = await send(method, url, options)
          const json = () => {
            const body = answer.json() as { readonly code?: string }
            const { minor, currency } = operation.amount
            const amount = { value: String(minor), currency }
            return body.code === '10' ? { ...body, code: '00', amount } : body
          }
          return { ...answer, json }
        })
        return right.complete!(operation, back, wrapped)
      },
    }),
    noticed: [inPart],
  },
  {
    what: 'declines a payment whose shopper came back too early',
    connector: ending((outcome) => (isAway(outcome) ? declined('800.100.100') : outcome)),
    noticed: [away],
  },
  {
    what: 'declines a payment whose shopper is away, when it asks',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return isAway(found) ? declined('800.100.100') : found
    }),
    noticed: [away],
  },
  {
    what: 'does not find a payment whose shopper is away',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return isAway(found) ? { is: 'notFound' } : found
    }),
    noticed: [away],
  },
  {
    what: 'declines a payment that is under review when the shopper is back',
    connector: ending((outcome) =>
      outcome.is === 'pending' && !isAway(outcome) ? declined('800.100.100') : outcome,
    ),
    noticed: [reviewed],
  },
  {
    what: 'declines what the acquirer does not know when the shopper is back',
    connector: ending((outcome) => (outcome.is === 'unknown' ? declined('800.100.100') : outcome)),
    noticed: [reviewed],
  },
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
