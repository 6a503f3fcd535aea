/** Mistakes with reversals that are only requested. */
import { approved, declined } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { claiming, enquiring, resolving, type Wrong } from './changed-connector.ts'

export const requestedReversals = [
  'a reversal that the acquirer only took is requested, and is told as reversed',
  'a requested reversal that fails is told as not reversed',
]

export const reversalMistakes: readonly Wrong[] = [
  {
    what: 'takes a reversal that the acquirer only took for done',
    connector: resolving({
      reverseByKey: async (operation, context) => {
        const said = await right.resolve.reverseByKey!(operation, context)
        return said.is === 'requested' ? { is: 'reversed' } : said
      },
    }),
    noticed: requestedReversals,
  },
  {
    what: 'finds a success while it is taken back',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'requested' ? approved(found.refs ?? {}) : found
    }),
    noticed: requestedReversals,
  },
  {
    what: 'claims a reversal that failed as done',
    connector: claiming((claim) =>
      claim.outcome.is === 'notReversed' ? { ...claim, outcome: { is: 'reversed' } } : claim,
    ),
    noticed: ['a requested reversal that fails is told as not reversed'],
  },
  {
    what: 'claims the end of a reversal as a decline',
    connector: claiming((claim) =>
      claim.outcome.is === 'reversed' ? { ...claim, outcome: declined('900.100.301') } : claim,
    ),
    noticed: ['a reversal that the acquirer only took is requested, and is told as reversed'],
  },
]
