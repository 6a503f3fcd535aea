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
