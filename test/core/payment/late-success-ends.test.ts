/** How a late success ends: only by a proof, and never with the money given back twice or kept after it failed. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Found, unknown } from '@tollgate/plugin-kit'
import { approvedAs, type Script } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { chargeback } from '../../rig/disputes.ts'
import { until } from '../../rig/gateway.ts'
import {
  accept,
  approval,
  charged,
  eur,
  failure,
  type LateRun,
  lose,
  refuse,
  startLate,
  withoutAnyReversal,
  withoutEnquiries,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const acceptance = { is: 'accepted', refs: { reference: 'by-event' }, finalBy: 'event' }

describe('ends of late successes', { concurrency: true }, () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      { keyed: withoutKeyReversal, none: withoutAnyReversal, mute: withoutEnquiries },
      { supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } } },
    )
  })
  after(() => closeChecked(run))

  const isFree = (id: string) =>
    until(async () => {
      const rows = await run.sql(
        'select from tollgate.attempt where payment_id = $1 and lease_until is null',
        [id],
      )
      return rows.length > 0 ? true : undefined
    })
  const attemptOf = async (id: string) => {
    const [row] = await run.sql<{ state: string }>(
      'select state from tollgate.attempt where payment_id = $1',
      [id],
    )
    return row!.state
  }
  const undoOf = (id: string) =>
    until(async () => {
      const [row] = await run.sql<{ id: string }>(
        "select id from tollgate.payment where referenced_id = $1 and effect = 'undo' and state <> 'processing'",
        [id],
      )
      return row?.id
    })
  const stands = (id: string) =>
    until(async () => ((await run.audited(id)).includes('late-success-stands') ? true : undefined))
  const contents = async (id: string) =>
    (await run.listed(id)).flatMap((entry) => (entry.open ? [entry.reference] : []))

  const backElsewhere = {
    'a chargeback': [approval, chargeback],
    'a reversal': [approval, { is: 'reversed', refs: { by: 'acquirer' } }],
    'a failure': [acceptance, failure],
  } as const
  for (const [name, [first, second]] of Object.entries(backElsewhere)) {
    test(`a reversal that was lost on the way is not sent again after ${name} of the late success`, async () => {
      const reference = `gone-by-${name.replaceAll(' ', '-')}`
      const sent: string[] = []
      const { id } = await run.debit(
        reference,
        {
          debit: refuse,
          enquire: (operation) =>
            operation.kind === 'debit' ? approvedAs(operation) : { is: 'notFound' },
          reverse: (operation, context) => {
            sent.push(operation.key)
            return sent.length === 1 ? lose(operation, context) : approvedAs(operation)
          },
        },
        run.at('keyed'),
      )
      await run.tell(id, { outcome: first })
      const undo = await undoOf(id)
      await run.tell(id, { outcome: second })
      await isFree(undo)
      await run.age(undo)
      await run.dueNow(undo)
      await until(async () => ((await run.kinds(undo)).length > 0 ? true : undefined))
      assert.equal(sent.length, 1)
      assert.deepEqual(await run.kinds(undo), ['undecided'])
      await isFree(undo)
      await run.operator.settle(undo, 'declined', by)
    })
  }

  const notDenied: Readonly<Record<string, Found>> = {
    'is under way': { is: 'pending', next: 'event' },
    'is being reversed': { is: 'requested', refs: {} },
    'is not visible yet': { is: 'notFound' },
  }
  for (const [name, found] of Object.entries(notDenied)) {
    test(`"nothing to undo" ends no late success that ${name}`, async () => {
      const reference = `nothing ${name}`
      const script = { debit: refuse, reverseByKey: () => ({ is: 'nothing' }) as const }
      const { id } = await run.debit(reference, { ...script, enquire: () => found })
      await run.tell(id, { outcome: approval })
      await until(async () => (run.acquirer.of(reference).includes('enquire') ? true : undefined))
      await isFree(id)
      assert.equal(await attemptOf(id), 'late')
      run.acquirer.tell(reference, { ...script, reverseByKey: () => ({ is: 'reversed' }) })
      await run.dueNow(id)
      await until(async () => ((await attemptOf(id)) === 'declined' ? true : undefined))
    })
  }

  test('"nothing to undo" ends no late success at an acquirer that answers no enquiries', async () => {
    const script = { debit: refuse, reverseByKey: () => ({ is: 'nothing' }) as const }
    const { id } = await run.debit('nothing mute', script, run.at('mute'))
    await run.tell(id, { outcome: approval })
    await until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))
    await isFree(id)
    assert.equal(await attemptOf(id), 'late')
    assert.deepEqual(await run.kinds(id), ['conflict'])
    run.acquirer.tell('nothing mute', { ...script, reverseByKey: () => ({ is: 'reversed' }) })
    await run.dueNow(id)
    await until(async () => ((await attemptOf(id)) === 'declined' ? true : undefined))
    assert.deepEqual(await run.kinds(id), ['(conflict)'])
  })

  test('a decline that follows "nothing to undo" of such an acquirer is listed', async () => {
    const script = { debit: refuse, reverseByKey: () => ({ is: 'nothing' }) as const }
    const { id } = await run.debit('nothing mute decline', script, run.at('mute'))
    await run.tell(id, { outcome: approval })
    await until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))
    await isFree(id)
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    const said = (await run.listed(id)).map(({ detail }) => detail.outcome)
    assert.deepEqual(said.toSorted(), ['approved', 'declined'])
  })

  test('an operator decides about a late success of which such an acquirer knows nothing', async () => {
    const script = { debit: refuse, reverseByKey: () => ({ is: 'nothing' }) as const }
    for (const as of ['approved', 'declined'] as const) {
      const { id } = await run.debit(`nothing mute ${as}`, script, run.at('mute'))
      await run.tell(id, { outcome: approval })
      await until(async () =>
        (await run.audited(id)).includes('reverse-by-key') ? true : undefined,
      )
      await isFree(id)
      await run.operator.settle(id, as, by)
      assert.equal(await run.stateOf(id), as)
    }
  })

  test('"nothing to undo" after a reversal that failed leaves the money to operators', async () => {
    const { id } = await run.debit('nothing-failed', {
      debit: refuse,
      reverseByKey: () => ({ is: 'nothing' }),
      enquire: () => ({ is: 'notReversed', why: 'the scheme refused' }),
    })
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.deepEqual(await run.kinds(id), ['conflict'])
    await isFree(id)
    await run.operator.settle(id, 'approved', by)
  })

  test('a late success of a part ends with the failure of that part', async () => {
    const mute: Script = { debit: refuse, enquire: () => unknown('ask later') }
    const { id } = await run.debit('part-fails', {
      ...mute,
      reverseByKey: () => ({ is: 'unknown', why: 'down' }),
    })
    await run.tell(id, { outcome: acceptance, minor: '5000' })
    await until(async () => ((await run.audited(id)).includes('reverse-by-key') ? true : undefined))
    await isFree(id)
    assert.equal(await run.tell(id, { outcome: failure, minor: '4000' }), 'conflict')
    assert.deepEqual(await contents(id), ['', 'declined 4000 EUR'])
    assert.equal(await run.tell(id, { outcome: failure, minor: '5000' }), 'settled')
    assert.equal(await attemptOf(id), 'declined')
  })

  test('a part of an open payment that failed is not taken back after the decline', async () => {
    const mute: Script = { debit: lose, enquire: () => unknown('ask later') }
    const { id } = await run.debit('open-part', mute, run.at('keyed'))
    await run.tell(id, { outcome: acceptance, minor: '5000' })
    await until(async () => ((await contents(id)).length > 0 ? true : undefined))
    await run.tell(id, { outcome: failure, minor: '5000' })
    await isFree(id)
    await run.tell(id, { outcome: failure })
    assert.equal(await attemptOf(id), 'declined')
    assert.ok(!run.acquirer.of('open-part').includes('reverse'))
  })

  test('the decline of a late success that nobody takes back is listed', async () => {
    const mute: Script = { debit: refuse, enquire: () => unknown('ask later') }
    const { id } = await run.debit('nobody-takes-it', mute, run.at('none'))
    await run.tell(id, { outcome: approval })
    await stands(id)
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    await isFree(id)
    await run.operator.settle(id, 'approved', by)
    assert.deepEqual(await contents(id), ['declined'])
  })

  test('so is that of a success that was only accepted, and whose reversal failed', async () => {
    const { id } = await run.debit('accepted-stands', {
      debit: refuse,
      reverseByKey: () => ({ is: 'nothing' }),
      enquire: () => ({ is: 'notReversed', why: 'the scheme refused' }),
    })
    await run.tell(id, { outcome: acceptance })
    await stands(id)
    await isFree(id)
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    assert.equal(await attemptOf(id), 'late')
    assert.deepEqual(await contents(id), ['', 'declined'])
    await run.operator.settle(id, 'declined', by)
  })

  for (const answer of ['reversed', 'requested'] as const) {
    test(`so is that of an open payment whose reversal, ${answer} first, failed`, async () => {
      const { id } = await run.debit(`open-stands-${answer}`, {
        debit: lose,
        enquire: () => ({ is: 'notFound' }),
        reverseByKey: () => ({ is: answer, refs: {} }),
      })
      await run.age(id)
      await run.dueNow(id)
      await until(async () =>
        run.acquirer.of(`open-stands-${answer}`).includes('reverseByKey') ? true : undefined,
      )
      await isFree(id)
      await run.tell(id, { outcome: { is: 'notReversed', why: 'it was captured' } })
      await stands(id)
      await isFree(id)
      assert.equal(await attemptOf(id), 'late')
      assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
      assert.equal(await attemptOf(id), 'late')
      assert.deepEqual(await contents(id), ['', 'declined'])
      await run.operator.settle(id, 'declined', by)
    })
  }

  test('a success that was only accepted ends with its decline where no reversal was sent', async () => {
    const { id } = await run.debit('accepted-unsent', {
      debit: refuse,
      reverseByKey: () => ({ is: 'nothing' }),
      enquire: () => ({ is: 'approved', refs: {} }),
      reverse: refuse,
    })
    await run.tell(id, { outcome: acceptance })
    await stands(id)
    await isFree(id)
    assert.notEqual(await run.tell(id, { outcome: failure }), 'conflict')
    assert.equal(await attemptOf(id), 'declined')
  })

  test('the decline of a late reversal, which nobody undoes, is listed', async () => {
    const { id: sale } = await run.debit('void-sale')
    const script: Script = { reverse: refuse, enquire: () => unknown('ask later') }
    const { id } = await run.follow(sale, 'RV', 'void-late', {}, script)
    await run.tell(id, { outcome: approval })
    assert.equal(await run.tell(id, { outcome: failure }), 'conflict')
    assert.deepEqual(await contents(id), ['', 'declined'])
  })

  test('a kept refund that was only accepted gives its amount back when it fails', async () => {
    const { id: sale } = await run.debit('kept-sale', {}, run.at('none'))
    const script: Script = { refund: refuse, enquire: () => unknown('ask later') }
    const { id } = await run.follow(sale, 'RF', 'kept-refund', eur('92.00'), script)
    await run.tell(id, { outcome: acceptance })
    await stands(id)
    await isFree(id)
    await run.operator.settle(id, 'approved', by)
    assert.equal((await balanceOf(run, sale)).refunded, 9200n)
    assert.equal(await run.tell(id, { outcome: failure }), 'settled')
    assert.equal((await balanceOf(run, sale)).refunded, 0n)
    assert.equal((await run.gateway.payments.refund(sale, eur('92.00'))).result.code, charged)
  })

  test('an approval is told with its amount after a later one of another amount', async () => {
    const mute: Script = { debit: accept, enquire: () => unknown('ask later') }
    const { id } = await run.debit('told-twice', mute, run.at('none'))
    await run.tell(id, { outcome: failure })
    await run.tell(id, { outcome: approval, minor: '5000' })
    await stands(id)
    await isFree(id)
    await run.operator.settle(id, 'approved', by)
    const told = await until(async () => {
      const { events } = await run.gateway.events.list({ limit: '500', types: 'PAYMENT' } as never)
      const own = (events as unknown as { payload: { id: string; amount: string } }[]).flatMap(
        ({ payload }) => (payload.id === id ? [payload.amount] : []),
      )
      return own.length === 3 ? own : undefined
    })
    assert.deepEqual([told[0], told[2]], ['92.00', '50.00'])
  })

  test('a reauthorisation that fails after its capture does not open the old authorisation', async () => {
    const { id } = await run.debit('reauthorised', {}, { paymentType: 'PA' })
    const standingInstruction = {
      industryPractice: 'REAUTHORIZATION',
      mode: 'REPEATED',
      source: 'MIT',
      type: 'UNSCHEDULED',
    }
    const fields = { ...eur('92.00'), standingInstruction }
    const again = await run.follow(id, 'PA', 'reauthorised-2', fields, { authorize: accept })
    await run.follow(again.id, 'CP', 'reauthorised-3', eur('92.00'))
    await run.tell(again.id, { outcome: failure })
    assert.deepEqual(await run.kinds(again.id), ['late-failure'])
    await assert.rejects(run.follow(id, 'CP', 'reauthorised-4', eur('92.00')))
  })

  test('a reversal that fails after the money was said to be back is listed with the payment', async () => {
    const { id } = await run.debit('said-back', { debit: refuse, reverse: accept }, run.at('keyed'))
    await run.tell(id, { outcome: approval })
    const undo = await undoOf(id)
    await isFree(id)
    await run.operator.settle(id, 'declined', by)
    assert.equal(await run.tell(undo, { outcome: failure }), 'settled')
    assert.deepEqual(await run.kinds(id), ['(conflict)', 'conflict'])
  })
})
