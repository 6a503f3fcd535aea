/** Payments, the settlement lines about them, and the books afterwards. */
import { accept, lose, refuse } from '../../rig/late-words.ts'
import type { Cells } from '../../rig/settlement.ts'
import { type Books, chargeback, type EffectRun, line, reversal } from './effect-run.ts'

const approved = ['payment.approved']

export type Case = {
  readonly name: string
  /** Makes the payment. @returns its id. */
  readonly make: (run: EffectRun) => Promise<string>
  readonly lines: (id: string) => readonly Cells[]
  readonly books: Books
}
/** A case holds for every order of its lines and every division into files. */
export const cases: readonly Case[] = [
  {
    name: 'a settled payment changes nothing',
    make: (run) => run.pay(),
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['none'],
    },
  },
  {
    name: 'an accepted payment is final once it is settled',
    make: (run) => run.pay({ debit: accept }),
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'an accepted payment is final once its parts are settled',
    make: (run) => run.pay({ debit: accept }),
    lines: (id) => [
      line(id, { amount: '50.00' }),
      line(id, { amount: '12.00' }),
      line(id, { amount: '30.00' }),
    ],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['done AMOUNT', 'done AMOUNT', 'done AMOUNT'],
    },
  },
  {
    name: 'an accepted payment that is settled in part can still fail',
    make: (run) => run.pay({ debit: accept }),
    lines: (id) => [line(id, { amount: '50.00' })],
    books: {
      state: 'approved',
      isFinal: false,
      events: approved,
      listed: [],
      disputes: [],
      effects: ['done AMOUNT'],
    },
  },
  {
    name: 'an accepted payment that is not paid out is declined',
    make: (run) => run.pay({ debit: accept }),
    lines: (id) => [line(id, { status: 'FAILED' })],
    books: {
      state: 'declined',
      isFinal: true,
      events: ['payment.approved', 'payment.declined'],
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'a final payment that is not paid out is a return for operators',
    make: (run) => run.pay(),
    lines: (id) => [line(id, { status: 'FAILED' })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: ['return'],
      disputes: [],
      effects: ['done STATE'],
    },
  },
  {
    name: 'an open payment that is settled is approved',
    make: (run) => run.pay({ debit: lose, enquire: () => ({ is: 'notFound', why: 'not yet' }) }),
    lines: (id) => [line(id)],
    books: {
      state: 'approved',
      isFinal: true,
      events: ['payment.unknown', 'payment.approved'],
      listed: [],
      disputes: [],
      effects: ['done'],
    },
  },
  {
    name: 'money of a declined payment is for operators, and nothing is taken back',
    make: (run) => run.pay({ debit: refuse }),
    lines: (id) => [line(id)],
    books: {
      state: 'declined',
      isFinal: true,
      events: ['payment.declined'],
      listed: ['conflict'],
      disputes: [],
      effects: ['done STATE'],
    },
  },
  {
    name: 'a chargeback is recorded',
    make: (run) => run.pay(),
    lines: (id) => [line(id), chargeback(id, { reference: `CB-${id}` })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 9200 9200'],
      effects: ['done', 'none'],
    },
  },
  {
    name: 'two chargebacks of a part stand side by side',
    make: (run) => run.pay(),
    lines: (id) => [
      chargeback(id, { amount: '30.00', reference: `CB1-${id}` }),
      chargeback(id, { amount: '20.00', reference: `CB2-${id}` }),
      line(id),
    ],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 2000 2000', 'chargeback 3000 3000'],
      effects: ['done', 'done', 'none'],
    },
  },
  {
    name: 'a chargeback and its reversal are both recorded',
    make: (run) => run.pay(),
    lines: (id) => [
      line(id),
      chargeback(id, { reference: `CB-${id}` }),
      reversal(id, { reference: `CB-${id}` }),
    ],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: [],
      disputes: ['chargeback 9200 9200', 'reversal 9200 9200'],
      effects: ['done', 'done', 'none'],
    },
  },
  {
    name: 'a chargeback above the payment is recorded and listed',
    make: (run) => run.pay(),
    lines: (id) => [chargeback(id, { amount: '100.00', reference: `CB-${id}` })],
    books: {
      state: 'approved',
      isFinal: true,
      events: approved,
      listed: ['beyond-sums'],
      disputes: ['chargeback 10000 10000'],
      effects: ['done AMOUNT'],
    },
  },
  {
    name: 'a chargeback of a declined payment is recorded beside its money',
    make: (run) => run.pay({ debit: refuse }),
    lines: (id) => [
      line(id),
      chargeback(id, { reference: `CB-${id}` }),
      reversal(id, { reference: `CB-${id}`, amount: '40.00' }),
    ],
    books: {
      state: 'declined',
      isFinal: true,
      events: ['payment.declined'],
      listed: ['beyond-sums', 'beyond-sums', 'conflict'],
      disputes: ['chargeback 9200 0', 'reversal 4000 0'],
      effects: ['done STATE', 'done STATE', 'done STATE'],
    },
  },
]
