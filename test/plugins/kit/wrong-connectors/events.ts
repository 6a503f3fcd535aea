/** Mistakes with events of the acquirer. */
import { randomBytes } from 'node:crypto'
import { approved } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { claiming, receiving, type Wrong } from './changed-connector.ts'

export const eventMistakes: readonly Wrong[] = [
  {
    what: 'accepts every event',
    connector: receiving({ verify: () => true }),
    noticed: [
      'a forged event is not proven',
      'an event for another account is not proven',
      'garbage is never an event',
    ],
  },
  {
    what: 'accepts an event without a signature',
    connector: receiving({
      verify: (message, context) =>
        !message.headers['x-bank-signature'] || right.inbound!.verify(message, context),
    }),
    noticed: ['a forged event is not proven', 'garbage is never an event'],
  },
  {
    what: 'gives an event another id each time',
    connector: claiming((claim) => ({ ...claim, eventId: randomBytes(8).toString('hex') })),
    noticed: ['a repeated or old event makes the same claim'],
  },
  {
    what: 'gives all events about a payment one id',
    connector: claiming((claim) => ({ ...claim, eventId: claim.key })),
    noticed: ['several events about one payment have ids of their own, in any order'],
  },
  {
    what: "names the payment by the acquirer's id",
    connector: claiming((claim) => ({
      ...claim,
      key: 'refs' in claim.outcome ? (claim.outcome.refs?.id ?? '') : '',
    })),
    noticed: ['an event of the acquirer makes one claim'],
  },
  {
    what: 'makes a claim of garbage',
    connector: receiving({
      async parse(message, context) {
        try {
          return await right.inbound!.parse(message, context)
        } catch {
          return [
            { eventId: '', key: '', outcome: approved({}), amount: { minor: 0n, currency: 'EUR' } },
          ]
        }
      },
    }),
    noticed: ['garbage is never an event'],
  },
  {
    what: 'replies with the status of a failure',
    connector: receiving({ reply: () => ({ status: 400, body: 'stored' }) }),
    noticed: ['a stored message gets a reply that can be sent'],
  },
  {
    what: 'charges the whole payment back, whatever is disputed',
    connector: claiming((claim) =>
      claim.outcome.is === 'chargeback'
        ? { ...claim, amount: { ...claim.amount, minor: 9200n } }
        : claim,
    ),
    noticed: ['a chargeback names its own amount and reference'],
  },
  {
    what: 'names all chargebacks of a payment alike',
    connector: claiming((claim) =>
      claim.outcome.is === 'chargeback' ? { ...claim, reference: claim.key } : claim,
    ),
    noticed: ['a chargeback names its own amount and reference'],
  },
]
