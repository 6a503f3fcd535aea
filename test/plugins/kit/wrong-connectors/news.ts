/** Mistakes with signatures that are nearly right, and with further messages. */
import { approved, declined, hmac } from '@tollgate/plugin-kit'
import { signatureHeader } from '../../../../connectors/acquirer-json/events.ts'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { claiming, receiving, type Wrong } from './changed-connector.ts'

const signature = 'a signature is compared to its last character'
const decline = 'an event about a declined payment claims the decline'
const failure = 'an operation that fails after it counted as done is told by its event'

/** Compares some digits of a signature. */
const comparing = (digits: number) =>
  receiving({
    verify: ({ body, headers }, { account }) => {
      const rightOne = hmac(body, String(account.eventSecret)).slice(0, digits)
      return headers[signatureHeader]?.slice(0, digits) === rightOne
    },
  })

export const newsMistakes: readonly Wrong[] = [
  { what: 'compares eight digits of a signature', connector: comparing(8), noticed: [signature] },
  {
    what: 'leaves out the last digit of a signature',
    connector: comparing(63),
    noticed: [signature],
  },
  {
    what: 'takes the event about a decline for one about an approval',
    connector: claiming((claim) =>
      claim.outcome.is === 'declined'
        ? { ...claim, outcome: approved(claim.outcome.refs ?? {}) }
        : claim,
    ),
    noticed: [decline, failure],
  },
  {
    what: 'leaves out what fails later',
    connector: receiving({
      async parse(message, context) {
        const claims = await right.inbound!.parse(message, context)
        return claims.filter(({ outcome }) => outcome.is !== 'declined')
      },
    }),
    noticed: [decline, failure],
  },
  {
    what: 'takes the reversal of a chargeback for a second one',
    connector: claiming((claim) =>
      claim.outcome.is === 'chargebackReversal'
        ? { ...claim, outcome: { ...claim.outcome, is: 'chargeback' } }
        : claim,
    ),
    noticed: ['the reversal of a chargeback is no chargeback'],
  },
  {
    what: 'throws at messages of a type that it does not know',
    connector: receiving({
      async parse(message, context) {
        const { notice } = Object(JSON.parse(message.body.toString('utf8') || 'null'))
        if (notice !== undefined) throw new Error('the message is not an event of the bank')
        return right.inbound!.parse(message, context)
      },
    }),
    noticed: ['a message of an unlisted type claims nothing'],
  },
  {
    what: 'declines by messages of a type that it does not know',
    connector: receiving({
      async parse(message, context) {
        const { id, notice } = Object(JSON.parse(message.body.toString('utf8') || 'null')) as {
          readonly id?: string
          readonly notice?: { readonly reference: string }
        }
        if (id === undefined || notice === undefined) return right.inbound!.parse(message, context)
        const amount = { minor: 9200n, currency: 'EUR' }
        return [{ eventId: id, key: notice.reference, outcome: declined('800.100.100'), amount }]
      },
    }),
    noticed: ['a message of an unlisted type claims nothing'],
  },
]
