/**
 * Events about another amount or currency than requested, by the state of the payment at their
 * arrival.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { approved, pending } from '@tollgate/plugin-kit'
import { approvedAs, enquire, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  failure,
  type LateRun,
  lose,
  noMoney,
  notCharged,
  refuse,
  refusedFor,
  startLate,
  type Word,
} from '../../rig/late-words.ts'

const kwd = { amount: '9.25', currency: 'KWD' }

/** Each about a payment of 92.00 EUR, the last about one of 9.25 KWD. */
const others: Readonly<Record<string, Pick<Word, 'minor' | 'currency'>>> = {
  less: { minor: '5000', currency: 'EUR' },
  more: { minor: '9201', currency: 'EUR' },
  'another currency': { minor: '9200', currency: 'USD' },
  'a third decimal': { minor: '9255', currency: 'KWD' },
}

describe('approvals for another amount', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))

  const captured = async (id: string) => (await balanceOf(run, id)).captured
  const isOffTheList = (id: string) =>
    until(async () => ((await run.kinds(id))[0] === '(conflict)' ? true : undefined))

  test('an accepted refund that an operator settles as declined gives its amount back', async () => {
    const { id: sale } = await run.debit('sale-of-failed-refund')
    const sixty = { amount: '60.00', currency: 'EUR' }
    const { id } = await run.follow(sale, 'RF', 'refund-that-fails', sixty, { refund: accept })
    assert.equal(await run.tell(id, { outcome: failure, minor: '5000' }), 'conflict')
    assert.equal((await balanceOf(run, sale)).refunded, 6000n)
    await run.operator.settle(id, 'declined', { by: 'alice', reason: 'it came back' })
    assert.equal((await balanceOf(run, sale)).refunded, 0n)
    const [own] = await run.sql<{ closed_by: string | null }>(
      'select closed_by from tollgate.payment_balance where payment_id = $1',
      [id],
    )
    assert.notEqual(own!.closed_by, null)
  })

  for (const [name, amount] of Object.entries(others)) {
    const word: Word = { outcome: approval, ...amount }
    const reference = (standing: string) => `${standing}-${amount.minor}-${amount.currency}`
    const pay = (standing: string, script: Script) =>
      run.debit(reference(standing), script, amount.currency === 'KWD' ? kwd : {})
    const asked = amount.currency === 'KWD' ? 9250n : 9200n
    const said = (detail: { readonly [field: string]: unknown }) => [detail.minor, detail.currency]

    test(`${name}, on an approved payment: listed, and no money is reversed`, async () => {
      const { id } = await pay('approved', {})
      assert.equal(await run.tell(id, word), 'conflict')
      assert.equal(await run.tell(id, word), 'conflict')
      const [entry, ...more] = await run.listed(id)
      assert.deepEqual([entry?.kind, entry?.open, more], ['conflict', true, []])
      assert.deepEqual(said(entry!.detail), [amount.minor, amount.currency])
      assert.deepEqual([await run.code(id), await captured(id)], [charged, asked])
      assert.deepEqual(run.acquirer.of(reference('approved')), ['debit'])
    })

    test(`${name}, on an accepted payment: listed, and the payment stays open for confirmation`, async () => {
      const { id } = await pay('accepted', { debit: accept })
      assert.equal(await run.tell(id, word), 'conflict')
      assert.deepEqual(await run.kinds(id), ['conflict'])
      assert.equal(await captured(id), asked)
      const currency = amount.currency === 'KWD' ? 'KWD' : 'EUR'
      const fails = { outcome: failure, minor: String(asked), currency }
      assert.equal(await run.tell(id, fails), 'settled', 'it may still fail')
      assert.equal(await run.code(id), failure.reason)
    })

    test(`${name}, as the failure of an accepted payment: listed, and an operator decides`, async () => {
      const alice = { by: 'alice', reason: 'the statement shows it' }
      const { settle, resolve } = run.gateway.operator
      for (const [standing, as, ends] of [
        ['fails', 'declined', '900.100.300'],
        ['stays', 'approved', charged],
      ] as const) {
        const { id } = await pay(standing, { debit: accept })
        await assert.rejects(settle(id, as, alice), refusedFor(/has not contradicted/))
        assert.equal(await run.tell(id, { outcome: failure, ...amount }), 'conflict')
        assert.equal(await run.code(id), charged)
        await settle(id, as, alice)
        assert.equal(await run.code(id), ends)
        await assert.rejects(settle(id, as, alice), refusedFor(/a decision is final/))
        assert.deepEqual(await run.audited(id), ['payment.settled'])
        const [entry] = await run.listed(id)
        await resolve(entry!.id, alice)
        assert.deepEqual(await run.kinds(id), ['(conflict)'])
        const refund = run.follow(id, 'RF', `${reference(standing)}-refund`, {
          amount: '1.00',
          currency: amount.currency === 'KWD' ? 'KWD' : 'EUR',
        })
        if (as === 'approved') await refund
        else await assert.rejects(refund)
      }
    })

    test(`${name}, on a declined payment: recorded and reversed`, async () => {
      const { id } = await pay('declined', {
        debit: refuse,
        reverseByKey: () => ({ is: 'reversed' }),
      })
      assert.equal(await run.tell(id, word), 'settled')
      await isOffTheList(id)
      const [entry] = await run.listed(id)
      assert.deepEqual(said(entry!.detail), [amount.minor, amount.currency])
      assert.equal(await run.code(id), noMoney)
      assert.deepEqual(run.acquirer.of(reference('declined')), ['debit', 'reverseByKey'])
      assert.deepEqual(await run.audited(id), ['late-success-reversed'])
    })

    test(`${name}, on an expired payment: reversed, and the payment stays expired`, async () => {
      const { id } = await pay('expired', {
        debit: (_, context) => {
          context.sending()
          return pending('event', { refs: { reference: 'open' } })
        },
        reverseByKey: () => ({ is: 'reversed' }),
      })
      await run.dueNow(id)
      await run.event(id, 'payment.expired')
      assert.equal(await run.tell(id, word), 'settled')
      await isOffTheList(id)
      assert.equal(await run.stateOf(id), 'expired')
    })

    test(`${name}, on an undecided payment: the acquirer's answer decides, the difference is listed`, async () => {
      const { id } = await pay('undecided', { debit: lose, enquire: approvedAs })
      assert.equal(await run.tell(id, word), 'conflict')
      assert.deepEqual([await run.code(id), await captured(id)], [charged, asked])
      assert.deepEqual(await run.kinds(id), ['conflict'])
    })

    test(`${name}, on an undecided payment, confirmed by the acquirer: reversed by key`, async () => {
      const { id } = await pay('undone', {
        debit: lose,
        enquire: () =>
          approved(
            { reference: 'found' },
            { amount: { minor: BigInt(amount.minor!), currency: amount.currency! } },
          ),
        reverseByKey: () => ({ is: 'reversed' }),
      })
      await run.tell(id, word)
      await until(async () => {
        const kinds = (await run.kinds(id)).toSorted()
        return kinds.join(' ') === '(conflict) (undecided)' || undefined
      })
      assert.equal(await run.code(id), notCharged)
      const [debit, ...rest] = run.acquirer.of(reference('undone'))
      assert.deepEqual([debit, rest.includes('reverseByKey')], ['debit', true])
    })

    test(`${name}, on an undecided payment, unknown to the acquirer: the payment stays open`, async () => {
      const { id } = await pay('unknown', {
        debit: lose,
        enquire: () => ({ is: 'unknown', why: 'ask later' }),
      })
      assert.equal(await run.tell(id, word), 'enquired')
      assert.equal(await run.stateOf(id), 'unknown')
      run.acquirer.tell(reference('unknown'), { enquire: approvedAs })
      await run.age(id)
      await enquire(run, id)
      assert.equal(await run.code(id), charged)
    })

    test(`${name}, found by an operator's question: listed with the amount, nothing reversed`, async () => {
      const { id } = await pay('question', {
        debit: lose,
        enquire: () =>
          approved(
            { reference: 'found' },
            { amount: { minor: BigInt(amount.minor!), currency: amount.currency! } },
          ),
      })
      // The engine's own look would reverse it.
      await run.dueLater(id)
      await run.operator.enquire(id, { by: 'alice', reason: 'the shopper asks' })
      const other = (await run.listed(id)).find((entry) =>
        entry.reference.startsWith('other-amount'),
      )
      assert.deepEqual(other && said(other.detail), [amount.minor, amount.currency])
      assert.deepEqual(
        [await run.stateOf(id), run.acquirer.of(reference('question')).includes('reverseByKey')],
        ['unknown', false],
      )
    })
  }
})
