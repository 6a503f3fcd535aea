/** Mistakes in captures, refunds, reversals and increases. */
import { approved, type Money, type Outcome } from '@tollgate/plugin-kit'
import { around, saying, sending, type Wrong } from './changed-connector.ts'

const missing =
  'an operation on a payment without references says what is missing, unless it is done'
const codeOf = (outcome: Outcome) => ('code' in outcome ? outcome.code : undefined)
const least = (one: Money, other: Money): Money => (one.minor < other.minor ? one : other)

export const followUpMistakes: readonly Wrong[] = [
  {
    what: 'says that the bank is away where a reference is missing',
    connector: around(
      (handler) => async (operation, context) => {
        if (operation.original?.refs.id === undefined) throw new Error('a reference is needed')
        return handler(operation, context)
      },
      ['refund'],
    ),
    noticed: [missing],
  },
  {
    what: 'captures the whole authorisation, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['capture'],
    ),
    noticed: [
      'an authorisation is captured in full and in part',
      'a capture above the authorisation is refused',
      'an authorisation is incremented and captured as a sum',
    ],
  },
  {
    what: 'quietly captures less than was asked for',
    connector: sending(
      (operation) => ({
        ...operation,
        amount: least(operation.amount, operation.original!.amount),
      }),
      ['capture'],
    ),
    noticed: [
      'a capture above the authorisation is refused',
      'an authorisation is incremented and captured as a sum',
    ],
  },
  {
    what: 'takes a capture of too much for done',
    connector: saying(
      (outcome, operation) =>
        codeOf(outcome) === 'capture-too-high' ? approved(operation.original!.refs) : outcome,
      ['capture'],
    ),
    noticed: ['a capture above the authorisation is refused'],
  },
  {
    what: 'refunds everything, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['refund'],
    ),
    noticed: [
      'a payment is refunded in full and in part',
      'a refund above the payment is refused',
      'captures and refunds keep their minor units in every currency',
    ],
  },
  {
    what: 'refunds a capture by the key in place of its reference',
    connector: sending(
      ({ original, ...operation }) => ({
        ...operation,
        original:
          original!.kind === 'capture' ? { ...original!, refs: { id: original!.key } } : original!,
      }),
      ['refund'],
    ),
    noticed: ['a capture is refunded in full, by its own references'],
  },
  {
    what: 'takes a refund of too much for done',
    connector: saying(
      (outcome, operation) =>
        codeOf(outcome) === 'refund-too-high' ? approved(operation.original!.refs) : outcome,
      ['refund'],
    ),
    noticed: ['a refund above the payment is refused'],
  },
  {
    what: 'reverses everything, whatever was asked for',
    connector: sending(
      (operation) => ({ ...operation, amount: operation.original!.amount }),
      ['reverse'],
    ),
    noticed: ['an authorisation is reversed in full and in part'],
  },
  {
    what: 'sends the new sum where the increase is wanted',
    connector: sending(
      ({ amount, original, ...operation }) => ({
        ...operation,
        original: original!,
        amount: { ...amount, minor: amount.minor + original!.amount.minor },
      }),
      ['increment'],
    ),
    noticed: [
      'an authorisation is incremented and captured as a sum',
      "every request that moves money carries the engine's key",
      'one key has one effect, however often it is sent',
      'an enquiry finds an approved operation',
    ],
  },
]
