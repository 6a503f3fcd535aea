/** One kind of trouble in each profile, to find soon what the mixed profile finds eventually. */
import { mixed, type Profile } from './sequences.ts'

const plainly = { crashes: 0, deliveries: [[1, 'now']] } as const

export const profiles: Readonly<Record<string, Profile>> = {
  /** The answer of a refund or capture is lost, and its repeat is refused a connection. */
  'double-refund': {
    ...mixed,
    ...plainly,
    abilities: [[1, 'keyed']],
    first: [
      [1, 'DB'],
      [1, 'PA'],
    ],
    fates: [
      [3, {}],
      [2, { answer: 'lost', hidden: 1, repeat: 'unreachable' }],
      [1, { becomes: 'coming', answer: 'lost', repeat: 'unreachable' }],
    ],
    commands: [
      [4, 'follow'],
      [1, 'night'],
    ],
  },
  /** An accepted capture is reversed and then fails. */
  'over-capture': {
    ...mixed,
    ...plainly,
    first: [[1, 'PA']],
    firstFates: [[1, {}]],
    fates: [
      [2, {}],
      [3, { becomes: 'accepted' }],
    ],
    followUps: [
      [3, 'CP'],
      [2, 'RV'],
    ],
    shares: [[1, 'half']],
    turns: [[1, 'fails']],
    commands: [
      [5, 'follow'],
      [1, 'turn'],
    ],
    length: { min: 6, max: 9 },
  },
  /** Shoppers in checkouts: presses, authentications, returns, and late words about earlier tries. */
  shoppers: {
    ...mixed,
    begins: 'check out',
    followUps: [
      [2, 'CP'],
      [1, 'RV'],
      [2, 'RF'],
    ],
    fates: [
      [20, {}],
      [6, { becomes: 'declined' }],
      [4, { becomes: 'pending' }],
      [2, { becomes: 'accepted' }],
      [2, { answer: 'lost' }],
      [1, { becomes: 'declined', answer: 'lost' }],
      [1, { becomes: 'coming', answer: 'lost' }],
      [1, { answer: 'lost', hidden: 1, repeat: 'unreachable' }],
      [1, { becomes: 'nothing', answer: 'unreachable' }],
      [1, { becomes: 'pending', undo: 'too late' }],
      [1, { becomes: 'pending', undo: 'no answer' }],
      [1, { amount: 'less' }],
    ],
    turns: [
      [3, 'completes'],
      [2, 'abandons'],
      [1, 'confirms'],
      [2, 'fails'],
      [5, 'does it after all'],
      [1, 'repeats itself'],
    ],
    commands: [
      [1, 'check out'],
      [16, 'press'],
      [6, 'come back'],
      [5, 'turn'],
      [1, 'close checkout'],
      [1, 'follow'],
      [1, 'deliver'],
      [1, 'arrive'],
      [1, 'decide'],
      [2, 'night'],
    ],
    crashes: 15,
    length: { min: 3, max: 11 },
  },
  /** Both steps of a two-step payment fail in every way. */
  'two-steps': {
    ...mixed,
    first: [[1, 'PA.CP']],
    commands: [
      [1, 'night'],
      [1, 'turn'],
      [1, 'repeat'],
      [1, 'enquire'],
    ],
  },
  /** Processes die between the commits of a chargeback. */
  'interrupted-chargebacks': {
    ...mixed,
    ...plainly,
    first: [[1, 'DB']],
    firstFates: [[1, {}]],
    followUps: [[1, 'RF']],
    commands: [
      [2, 'charge back'],
      [1, 'night'],
      [1, 'follow'],
    ],
    reversals: [[1, 'no']],
    crashes: 60,
  },
  /** Several chargebacks of one sale, each of a part. */
  'partial-chargebacks': {
    ...mixed,
    ...plainly,
    first: [[1, 'DB']],
    firstFates: [[1, {}]],
    followUps: [[1, 'RF']],
    commands: [
      [4, 'charge back'],
      [1, 'reverse chargeback'],
      [1, 'follow'],
    ],
    reversals: [[1, 'no']],
  },
  /** The reversal of a chargeback is reported before it. */
  'reversals-first': {
    ...mixed,
    ...plainly,
    first: [[1, 'DB']],
    firstFates: [[1, {}]],
    followUps: [[1, 'RF']],
    commands: [
      [2, 'charge back'],
      [1, 'follow'],
    ],
    reversals: [[1, 'first']],
    length: { min: 2, max: 4 },
  },
  /** Chargebacks of payments in every state. */
  chargebacks: {
    ...mixed,
    first: [
      [2, 'DB'],
      [1, 'PA'],
    ],
    followUps: [
      [3, 'RF'],
      [1, 'CP'],
      [1, 'RV'],
    ],
    deliveries: [
      [4, 'now'],
      [2, 'later'],
      [1, 'twice'],
    ],
    fates: [
      [6, {}],
      [2, { becomes: 'accepted' }],
      [2, { answer: 'lost' }],
      [1, { becomes: 'pending' }],
    ],
    commands: [
      [4, 'charge back'],
      [1, 'reverse chargeback'],
      [1, 'deliver'],
      [2, 'follow'],
      [1, 'night'],
    ],
    crashes: 30,
  },
  /** A message without proof uses the id of a coming one. */
  forgeries: {
    ...mixed,
    crashes: 0,
    deliveries: [
      [1, 'now'],
      [2, 'after a forgery of its id'],
      [1, 'unproven'],
    ],
    commands: [
      [3, 'charge back'],
      [2, 'turn'],
      [2, 'follow'],
    ],
  },
  /** A declined operation succeeds late, for another amount. */
  'late-successes': {
    ...mixed,
    ...plainly,
    fates: [
      [2, {}],
      [2, { becomes: 'declined' }],
      [1, { becomes: 'nothing', answer: 'unreachable' }],
      [1, { becomes: 'accepted' }],
    ],
    turns: [
      [3, 'does it after all'],
      [1, 'fails'],
    ],
    commands: [
      [3, 'follow'],
      [3, 'turn'],
    ],
  },
  /** Reversals by key that are only requested, and end later. */
  'requested-reversals': {
    ...mixed,
    abilities: [
      [2, 'keyed'],
      [2, 'plain'],
      [1, 'undoing'],
    ],
    fates: [
      [2, {}],
      [3, { becomes: 'declined', undo: 'later' }],
      [2, { becomes: 'pending', undo: 'later' }],
      [2, { answer: 'lost', undo: 'later', hidden: 1 }],
      [1, { answer: 'lost', undo: 'later', amount: 'less' }],
      [1, { becomes: 'accepted', undo: 'later' }],
    ],
    turns: [
      [3, 'does it after all'],
      [4, 'takes it back'],
      [3, 'cannot take it back'],
      [1, 'completes'],
      [1, 'abandons'],
    ],
    commands: [
      [2, 'follow'],
      [5, 'turn'],
      [1, 'decide'],
      [1, 'enquire'],
      [1, 'deliver'],
      [3, 'night'],
    ],
    length: { min: 4, max: 10 },
  },
  /** An answer arrives after an operator's decision. */
  'late-answers': {
    ...mixed,
    ...plainly,
    fates: [
      [1, {}],
      [4, { becomes: 'coming', answer: 'late', amount: 'less' }],
    ],
    commands: [
      [2, 'follow'],
      [3, 'decide'],
      [2, 'arrive'],
      [1, 'enquire'],
      [1, 'night'],
    ],
  },
  /** A declined refund succeeds late. */
  'late-refunds': {
    ...mixed,
    ...plainly,
    first: [[1, 'DB']],
    firstFates: [[1, {}]],
    fates: [[1, { becomes: 'declined' }]],
    followUps: [[1, 'RF']],
    turns: [[1, 'does it after all']],
    amounts: [[1, 'same']],
    commands: [
      [1, 'follow'],
      [1, 'turn'],
    ],
  },
  /** An accepted debit fails after it was refunded. */
  'failed-debits': {
    ...mixed,
    ...plainly,
    first: [[1, 'DB']],
    firstFates: [[1, { becomes: 'accepted' }]],
    fates: [[1, {}]],
    followUps: [[1, 'RF']],
    turns: [[1, 'fails']],
    commands: [
      [1, 'follow'],
      [1, 'turn'],
    ],
  },
  /** Accepted operations are confirmed, fail, and are returned. */
  accepted: {
    ...mixed,
    ...plainly,
    fates: [
      [1, {}],
      [4, { becomes: 'accepted' }],
    ],
    turns: [
      [2, 'confirms'],
      [3, 'fails'],
      [1, 'returns'],
      [1, 'does it after all'],
    ],
    commands: [
      [3, 'follow'],
      [4, 'turn'],
    ],
  },
}
