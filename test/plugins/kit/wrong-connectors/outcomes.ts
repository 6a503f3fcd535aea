/** Mistakes in the outcomes of first payments. */
import { approved, declined, type HttpAnswer, unknown } from '@tollgate/plugin-kit'
import { acquirerJson as right } from '../../../../connectors/acquirer-json/index.ts'
import { but, enquiring, overHttp, saying, sending, type Wrong } from './changed-connector.ts'

export const outcomeMistakes: readonly Wrong[] = [
  {
    what: 'does not know that a direct debit counts as done',
    connector: saying((outcome) => (outcome.is === 'accepted' ? unknown('submitted') : outcome)),
    noticed: ['an approval of the acquirer is approved'],
  },
  {
    what: 'declines everything for the same reason',
    connector: saying((outcome) => (outcome.is === 'declined' ? declined('800.100.100') : outcome)),
    noticed: ['a decline of the acquirer is declined with its reason'],
  },
  {
    what: 'declines with the code of a success',
    connector: saying((outcome) => (outcome.is === 'declined' ? declined('000.000.000') : outcome)),
    noticed: [
      'a decline of the acquirer is declined with its reason',
      'a capture above the authorisation is refused',
      'a refund above the payment is refused',
    ],
  },
  {
    what: 'approves what it does not know as a decline',
    connector: saying((outcome) =>
      outcome.is === 'declined' && outcome.reason === '800.100.100'
        ? approved(outcome.refs ?? {})
        : outcome,
    ),
    noticed: ['an unknown code is never an approval'],
  },
  {
    what: 'has no reason for a code that it does not know',
    connector: saying((outcome) =>
      outcome.is === 'declined' && outcome.reason === '800.100.100'
        ? { ...outcome, reason: undefined as never }
        : outcome,
    ),
    noticed: ['an unknown code is never an approval'],
  },
  {
    what: 'ignores that another amount was approved',
    connector: saying((outcome) => (outcome.is === 'approved' ? approved(outcome.refs) : outcome)),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'compares the amount and forgets the currency',
    connector: saying((outcome, { amount }) => {
      if (outcome.is !== 'approved' || outcome.amount?.minor !== amount.minor) return outcome
      return approved(outcome.refs)
    }),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'corrects another amount in an enquiry',
    connector: enquiring(async (operation, context) => {
      const found = await right.resolve.enquire!(operation, context)
      return found.is === 'approved' ? approved(found.refs) : found
    }),
    noticed: ['an approval for another amount or currency names it'],
  },
  {
    what: 'takes a payment under review for paid',
    connector: saying((outcome) =>
      outcome.is === 'pending' && typeof outcome.next === 'object' && 'poll' in outcome.next
        ? approved(outcome.refs ?? {})
        : outcome,
    ),
    noticed: ['a payment stays open as long as at the acquirer'],
  },
  {
    what: 'verifies by taking the money',
    connector: but({
      verify: (operation, context) => right.debit!({ ...operation, kind: 'debit' }, context),
    }),
    noticed: ['an instrument is verified without moving money'],
  },
  {
    what: 'approves by the status, whatever the code says',
    connector: overHttp(
      (send) => async (method, url, options) =>
        withCode(await send(method, url, options), 'Q7', '00'),
    ),
    noticed: ['an approval with an unlisted code leaves the outcome unknown'],
  },
  {
    what: 'declines codes that it does not know',
    connector: saying((outcome) =>
      outcome.is === 'unknown' && outcome.why.includes('unknown code')
        ? declined('800.100.100')
        : outcome,
    ),
    noticed: ['an approval with an unlisted code leaves the outcome unknown'],
  },
  {
    what: 'takes a malfunction for a decline',
    connector: saying((outcome) =>
      outcome.is === 'unknown' && outcome.why.includes('system of the bank')
        ? declined('900.100.500')
        : outcome,
    ),
    noticed: [
      'a malfunction of the acquirer leaves the outcome unknown, and an enquiry finds the payment',
    ],
  },
  {
    what: 'counts hundredths in every currency',
    connector: sending((operation) => {
      const { minor, currency } = operation.amount
      if (currency !== 'JPY') return operation
      return { ...operation, amount: { minor: minor * 100n, currency } }
    }),
    noticed: ['amounts keep their minor units in currencies without decimals and with three'],
  },
  {
    what: 'drops a third decimal',
    connector: sending((operation) => {
      const { minor, currency } = operation.amount
      if (currency !== 'KWD') return operation
      return { ...operation, amount: { minor: (minor / 10n) * 10n, currency } }
    }),
    noticed: ['amounts keep their minor units in currencies without decimals and with three'],
  },
  {
    what: 'writes the expiry of a card the other way round',
    connector: sending((operation) => {
      const { instrument } = operation
      if (instrument?.kind !== 'card') return operation
      const { expiryMonth, expiryYear } = instrument
      const swapped = { expiryMonth: expiryYear.slice(-2), expiryYear: `20${expiryMonth}` }
      return { ...operation, instrument: { ...instrument, ...swapped } }
    }),
    noticed: ['texts arrive as they were sent, whatever characters they have'],
  },
  {
    what: 'sends names without their accents',
    connector: sending((operation) => {
      const { instrument } = operation
      if (instrument?.kind !== 'card' || instrument.holder === undefined) return operation
      const holder = instrument.holder.normalize('NFD').replace(/\p{M}/gu, '')
      return { ...operation, instrument: { ...instrument, holder } }
    }),
    noticed: ['texts arrive as they were sent, whatever characters they have'],
  },
]

/** The bank's answer with one code in place of another. */
function withCode(answer: HttpAnswer, from: string, to: string): HttpAnswer {
  const json = () => {
    const body = answer.json() as Record<string, unknown>
    return body.code === from ? { ...body, code: to } : body
  }
  return { ...answer, json }
}
