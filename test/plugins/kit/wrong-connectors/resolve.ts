/** Mistakes in enquiries and in reversals by key. */
import { declined } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { byStatus, contextOver, enquiring, resolving, type Wrong } from './changed-connector.ts'
import { requestedReversals } from './reversals.ts'

const missing = (statuses: readonly number[]) =>
  enquiring(
    byStatus(right.resolve.enquire!, (status) =>
      statuses.includes(status) ? { is: 'notFound' } : undefined,
    ),
  )

export const resolveMistakes: readonly Wrong[] = [
  {
    what: 'moves money with its enquiry, as far as the engine can see',
    connector: enquiring((operation, context) =>
      right.resolve.enquire!(
        operation,
        contextOver(
          context,
          operation,
          (send) => (method, url, options) => send(method, url, { ...options, moves: true }),
        ),
      ),
    ),
    noticed: ['an enquiry finds an approved operation'],
  },
  {
    what: 'forgets the reason in an enquiry',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'declined' ? declined('800.100.100') : found
    }),
    noticed: ['an enquiry finds a declined operation'],
  },
  {
    what: 'calls declined what the acquirer does not know yet',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'notFound' ? declined('900.100.400') : found
    }),
    noticed: [
      'an enquiry about an unused key returns notFound',
      'an enquiry about a delayed request returns notFound, and finds it after its arrival',
    ],
  },
  {
    what: 'finds nothing when its enquiry goes wrong',
    connector: enquiring(async (operation, context) => {
      try {
        const found = await right.resolve.enquire!(operation, context)
        return found.is === 'unknown' ? { is: 'notFound' } : found
      } catch {
        return { is: 'notFound' }
      }
    }),
    noticed: ['a broken answer to an enquiry proves nothing'],
  },
  {
    what: 'finds nothing wherever the status is 404',
    connector: missing([404]),
    noticed: ['a broken answer to an enquiry proves nothing'],
  },
  {
    what: 'finds nothing while it is refused, or asks too often',
    connector: missing([403, 429, 503]),
    noticed: ['a broken answer to an enquiry proves nothing'],
  },
  {
    what: 'takes 404 and 503 for a reversal of nothing',
    connector: resolving({
      reverseByKey: byStatus(right.resolve.reverseByKey!, (status) =>
        status === 404 || status === 503 ? { is: 'nothing' } : undefined,
      ),
    }),
    noticed: ['a broken answer to a reversal by key proves nothing'],
  },
  {
    what: 'says reversed of what it never asked to be reversed',
    connector: resolving({ reverseByKey: async () => ({ is: 'reversed' }) }),
    noticed: [
      'a request that moves money is tagged before it is sent',
      'a reversal by key undoes an operation for good',
      'a reversal by key closes an unused key',
      'a reversal by key closes a key with a delayed request',
      'a broken answer to a reversal by key proves nothing',
      ...requestedReversals,
    ],
  },
  {
    what: 'promises to reverse captures and refunds by key, and cannot',
    connector: resolving({
      reverseByKey: async (operation, context) =>
        operation.original === undefined
          ? right.resolve.reverseByKey!(operation, context)
          : { is: 'refused', why: 'the acquirer cancels payments only' },
    }),
    noticed: ['a reversal by key undoes every kind that reversibleByKey names'],
  },
  {
    what: 'reverses only what it finds, and leaves the key open',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        const found = await right.resolve.enquire!(operation, context)
        if (found.is === 'notFound') return { is: 'nothing' }
        return right.resolve.reverseByKey!(operation, context)
      },
    }),
    noticed: [
      'a reversal by key closes an unused key',
      'a reversal by key closes a key with a delayed request',
    ],
  },
  {
    what: 'takes a reversal that went wrong for needless',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        try {
          const reversed = await right.resolve.reverseByKey!(operation, context)
          return reversed.is === 'unknown' ? { is: 'nothing' } : reversed
        } catch {
          return { is: 'nothing' }
        }
      },
    }),
    noticed: ['a broken answer to a reversal by key proves nothing'],
  },
]
