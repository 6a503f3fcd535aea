/** The checker of the fault tests finds one falsification for each of its rules. */
import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import type { LedgerEntry } from '../rig/installation/acquirer.ts'
import { rules, violations } from '../rig/installation/check-all.ts'
import type { Answer, Wish } from '../rig/installation/client.ts'
import { type Evidence, gather, type PaymentRow } from '../rig/installation/evidence.ts'
import { layGround } from '../rig/installation/ground.ts'

/** What is left of an honest shop. */
async function honestBooks(): Promise<Evidence> {
  const ground = await layGround()
  try {
    const { client } = ground
    const host = await ground.bystander('honest')
    const authorised = await client.approved('PA', 10_000, [host])
    const captured = await client.insist(client.followUp('CP', authorised, 6_000), [host])
    await client.insist(client.followUp('RF', captured.id, 1_000), [host])
    await client.insist(client.followUp('RV', authorised, 4_000), [host])
    await client.insist(client.first('PA.CP', 5_000), [host])
    const declined = { 'customParameters[SIM_DECLINE]': '800.100.152' }
    await client.insist(client.first('DB', 3_000, declined), [host])
    await client.insist(client.followUp('CP', authorised, 9_000), [host])
    await ground.check()
    return await gather(client.history, ground.acquirer, ground.sql)
  } finally {
    await ground.close()
  }
}

type Change<Row> = (row: Row) => Partial<Row>

const isType = (type: string) => (row: PaymentRow) => row.type === type
const isApprovedEntry = (kind: string) => (entry: LedgerEntry) =>
  entry.kind === kind && entry.state === 'approved'
const elsewhere = '0'.repeat(32)

describe('the checker of the fault tests', () => {
  let truth: Evidence
  before(async () => {
    truth = await honestBooks()
  })

  /** The evidence with one value of one row changed. */
  function lie<Name extends 'payments' | 'ledger' | 'attempts' | 'balances'>(
    name: Name,
    fits: (row: Evidence[Name][number]) => boolean,
    change: Change<Evidence[Name][number]>,
  ): Evidence {
    const rows = truth[name] as readonly Evidence[Name][number][]
    const at = rows.findIndex(fits)
    assert.notEqual(at, -1)
    return { ...truth, [name]: rows.with(at, { ...rows[at]!, ...change(rows[at]!) }) }
  }

  function withoutPayment(fits: (row: PaymentRow) => boolean): Evidence {
    return { ...truth, payments: truth.payments.filter((row) => !fits(row)) }
  }

  /** One more answer to a wish, later than the others. */
  const answeredWith = (type: string, change: Partial<Answer>): Evidence => {
    const tell = (wish: Wish): Wish => {
      const last = wish.tries.at(-1)!
      const more = {
        ...last,
        startedMs: last.endedMs,
        answer: { ...last.answer!, ...change },
      }
      return wish.type === type ? { ...wish, tries: [...wish.tries, more] } : wish
    }
    return { ...truth, history: truth.history.map(tell) }
  }

  const lies: Readonly<Record<keyof typeof rules, () => Evidence>> = {
    'money moves at most once for a key': () =>
      lie('ledger', isApprovedEntry('capture'), ({ movements }) => ({
        movements: [...movements, ...movements],
      })),
    'money that moved has its payment': () => withoutPayment(isType('RF')),
    'the acquirer never had to refuse what our own sums forbid': () =>
      lie(
        'ledger',
        ({ state }) => state === 'declined',
        () => ({ code: 'over-capture' }),
      ),
    'ledger and payments agree': () =>
      lie('ledger', isApprovedEntry('refund'), () => ({ movements: [] })),
    'a key makes one payment': () => ({
      ...truth,
      payments: [...truth.payments, { ...truth.payments.find(isType('CP'))!, id: elsewhere }],
    }),
    'whoever was told approved or pending finds the payment': () =>
      answeredWith('RF', { id: elsewhere, code: '000.200.001' }),
    'answers agree with the final state, or said pending': () =>
      answeredWith('RF', { code: '800.100.152' }),
    'all answers to a key are about one payment': () =>
      answeredWith('RF', { id: elsewhere, code: '700.400.200' }),
    'captures, reversals and refunds stay within what they refer to': () =>
      lie('payments', isType('RF'), () => ({ approvedMinor: 6_001n })),
    'balances say what their payments add up to': () => ({
      ...truth,
      books: ['a balance is wrong'],
    }),
    'nothing is reserved when all is quiet': () =>
      lie(
        'balances',
        () => true,
        () => ({ reserved: 1n }),
      ),
    'what stays undecided is on the operators’ list': () => {
      const undecided = lie(
        'payments',
        ({ state }) => state === 'declined',
        () => ({ state: 'unknown' as const }),
      )
      const { id } = undecided.payments.find(({ state }) => state === 'unknown')!
      return {
        ...undecided,
        attempts: truth.attempts.map((row) =>
          row.paymentId === id ? { ...row, state: 'unknown', enquiries: 1 } : row,
        ),
      }
    },
    'every move has its event': () => ({ ...truth, events: truth.events.slice(1) }),
  }

  test('true books break no rule', () => {
    assert.deepEqual(violations(truth), [])
  })

  for (const name of Object.keys(rules)) {
    test(`a falsified book breaks its rule: ${name}`, () => {
      assert.notDeepEqual(rules[name]!(lies[name]!()), [])
    })
  }
})
