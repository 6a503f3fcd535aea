/** No money goes back beside a chargeback that a message told and that is not recorded yet. */
import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { approved, type Reversed, unknown } from '@tollgate/plugin-kit'
import { newId, onFaultPoint } from '../../../core/index.ts'
import { approvedAs, processed } from '../../rig/acquirer.ts'
import { balanceOf, closeChecked } from '../../rig/books.ts'
import { until } from '../../rig/gateway.ts'
import {
  charged,
  eur,
  type LateRun,
  lose,
  refuse,
  startLate,
  withoutKeyReversal,
} from '../../rig/late-words.ts'

const by = { by: 'alice', reason: 'seen in their portal' }
const told = { outcome: { is: 'chargeback', reason: '000.100.220', refs: {} } }
const refused = { code: '700.300.600' }
const silent = () => unknown('busy')

/** A message is tried again long after the test, unless the engine hurries it. */
const later = (run: LateRun, eventId: string) =>
  until(async () => {
    const [row] = await run.sql(
      `update tollgate.inbound_event set next_at = now() + interval '1 hour'
        where event_id = $1 and waits > 0 returning event_id`,
      [eventId],
    )
    return row
  })

const recordedOf = (run: LateRun, id: string) =>
  run.sql('select minor from tollgate.chargeback where payment_id = $1', [id])

describe('a chargeback that waits for a capture', () => {
  let run: LateRun
  before(async () => {
    run = await startLate(
      { 'by-operation': withoutKeyReversal },
      {
        connectorTimeoutMs: 500,
        supports: { key: { by: 'key', ttlMs: 24 * 3_600_000 } },
      },
    )
  })
  after(() => closeChecked(run))

  const authorise = () =>
    run.debit(`order-${newId()}`, {}, { paymentType: 'PA', ...run.at('by-operation') })
  const increase = (id: string) =>
    run.follow(id, 'PA', `increase-${newId()}`, {
      ...eur('10.00'),
      standingInstruction: { industryPractice: 'INCREMENTAL_AUTH' },
    })
  const capture = (id: string) => run.follow(id, 'CP', `capture-${newId()}`, eur('50.00'))
  const openCapture = async (id: string) => {
    const script = { capture: lose, enquire: silent }
    const open = await run.follow(id, 'CP', `open-${newId()}`, eur('20.00'), script)
    await run.dueLater(open.id)
    return open
  }
  const failed = async (open: { readonly id: string }) => {
    await run.operator.enquire(open.id, by)
    await run.operator.settle(open.id, 'declined', by)
  }

  test('keeps a refund without an answer from being sent again', async () => {
    const { id } = await authorise()
    const paid = await capture(id)
    const open = await openCapture(id)
    const sent: string[] = []
    const refund = await run.follow(paid.id, 'RF', `refund-${newId()}`, eur('50.00'), {
      enquire: () => ({ is: 'notFound' }),
      refund: (operation, context) => {
        sent.push(operation.key)
        context.sending()
        return sent.length === 1 ? unknown('the line went dead') : approvedAs(operation)
      },
    })
    await run.dueLater(refund.id)
    const eventId = await run.bring(id, { ...told, reference: 'again-1', minor: '5000' })
    await later(run, eventId)
    await run.age(refund.id)
    await until(async () => {
      await run.dueNow(refund.id)
      return (await run.kinds(refund.id)).includes('undecided') || sent.length > 1 || undefined
    })
    assert.equal(sent.length, 1)
    assert.equal(await run.stateOf(refund.id), 'unknown', 'the first request may have arrived')
    await failed(open)
    assert.equal(await processed(run, eventId), 'recorded')
    await run.operator.settle(refund.id, 'declined', by)
    const { refunding, refunded } = await balanceOf(run, paid.id)
    assert.deepEqual([refunding, refunded], [0n, 0n])
  })

  type Members = { readonly root: string; readonly more: string }
  const cases: Readonly<Record<string, { named: keyof Members; captured: keyof Members }>> = {
    'by the key of an increase stops the refund of a capture of the authorisation': {
      named: 'more',
      captured: 'root',
    },
    'by the key of the authorisation stops the refund of a capture of an increase': {
      named: 'root',
      captured: 'more',
    },
    'by the key of an increase stops the refund of a capture of that increase': {
      named: 'more',
      captured: 'more',
    },
  }
  for (const [name, { named, captured }] of Object.entries(cases)) {
    test(`${name}, and is recorded soon after the other capture`, async () => {
      const { id: root } = await authorise()
      const members = { root, more: (await increase(root)).id }
      const paid = await capture(members[captured])
      const open = await openCapture(root)
      const word = { ...told, reference: `member-${paid.id}`, minor: '5000' }
      const eventId = await run.bring(members[named], word)
      await later(run, eventId)
      await assert.rejects(run.gateway.payments.refund(paid.id, eur('50.00')), refused)
      await failed(open)
      assert.equal(await processed(run, eventId), 'recorded')
      assert.equal((await recordedOf(run, paid.id)).length, 1)
      await assert.rejects(run.gateway.payments.refund(paid.id, eur('50.00')), refused)
    })
  }

  test('by the key of an increase of an increase stops the refund of a capture', async () => {
    const { id: root } = await authorise()
    const more = await increase((await increase(root)).id)
    const paid = await capture(root)
    const open = await openCapture(root)
    const word = { ...told, reference: `member-${paid.id}`, minor: '5000' }
    const eventId = await run.bring(more.id, word)
    await later(run, eventId)
    await assert.rejects(run.gateway.payments.refund(paid.id, eur('50.00')), refused)
    await failed(open)
    assert.equal(await processed(run, eventId), 'recorded')
  })

  for (const no of [0, 1, 2]) {
    test(`of the capture of an increase of an increase is that of the capture, told by the key of member ${no}`, async () => {
      const { id: root } = await authorise()
      const { id: first } = await increase(root)
      const { id: second } = await increase(first)
      const paid = await capture(second)
      const word = { ...told, reference: `deep-${paid.id}`, minor: '5000' }
      assert.equal(await run.tell([root, first, second][no]!, word), 'recorded')
      assert.equal((await recordedOf(run, paid.id)).length, 1)
      await assert.rejects(run.gateway.payments.refund(paid.id, eur('50.00')), refused)
    })
  }

  test('as money that is back of an increase of an increase, keeps an open capture from being refunded', async () => {
    const { id: root } = await authorise()
    const { id: more } = await increase((await increase(root)).id)
    const open = await openCapture(root)
    const outcome = { is: 'declined', reason: '800.100.203', refs: {} }
    assert.equal(await run.tell(more, { outcome, minor: '1000' }), 'conflict')
    await run.operator.enquire(open.id, by)
    await run.operator.settle(open.id, 'approved', by)
    await assert.rejects(run.gateway.payments.refund(open.id, eur('1.00')), refused)
  })
})

describe('a chargeback that was set aside', () => {
  let run: LateRun
  before(async () => {
    run = await startLate()
  })
  after(() => closeChecked(run))
  afterEach(() => onFaultPoint(undefined))

  /** The outcome of the message once it is closed; each pause between its tries ends at once. */
  /** Hurries the event each time that it was put off, and not while it is worked on. */
  const closed = (eventId: string) => {
    let hurried = 0
    return until(async () => {
      const [row] = await run.sql<{ outcome: string | null; times: number }>(
        'select outcome, tries + waits as times from tollgate.inbound_event where event_id = $1',
        [eventId],
      )
      if (row !== undefined && row.outcome === null && row.times > hurried) {
        hurried = row.times
        await run.sql('update tollgate.inbound_event set next_at = now() where event_id = $1', [
          eventId,
        ])
      }
      return row?.outcome ?? undefined
    })
  }
  const broken = () =>
    onFaultPoint((point) => {
      if (point === 'before-fact') throw new Error('a defect')
    })
  const setAside = async (id: string) => {
    broken()
    const eventId = await run.bring(id, { ...told, reference: `aside-${id}`, eventId: `e-${id}` })
    assert.equal(await closed(eventId), 'quarantined')
    onFaultPoint(undefined)
    return eventId
  }
  const entryOf = async (id: string) =>
    (await run.listed(id)).find(({ kind, open }) => kind === 'event' && open)!
  const debit = (script = {}) => run.debit(`order-${newId()}`, script)
  const refund = (id: string) => run.gateway.payments.refund(id, eur('92.00'))

  test('stops refunds until an operator takes its entry off the list', async () => {
    const { id } = await debit()
    await setAside(id)
    await assert.rejects(refund(id), refused)
    await run.gateway.operator.resolve((await entryOf(id)).id, by)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('stops refunds again when it fails again after a retry', async () => {
    const { id } = await debit()
    const eventId = await setAside(id)
    broken()
    await run.gateway.operator.retry((await entryOf(id)).id, by)
    assert.equal(await closed(eventId), 'quarantined')
    onFaultPoint(undefined)
    await assert.rejects(refund(id), refused)
    await run.gateway.operator.resolve((await entryOf(id)).id, by)
    assert.equal((await refund(id)).result.code, charged)
  })

  test('stops refunds until its retry is recorded, and they are refused after that', async () => {
    const { id } = await debit()
    const eventId = await setAside(id)
    await run.gateway.operator.retry((await entryOf(id)).id, by)
    assert.equal(await closed(eventId), 'recorded')
    assert.equal(await entryOf(id), undefined)
    await assert.rejects(refund(id), refused)
  })

  /** A late success that waits for its reversal, and the reversals once the acquirer can be reached. */
  const lateSuccess = async () => {
    let isUp = false
    const undone: string[] = []
    const { id } = await debit({
      debit: refuse,
      enquire: () => approved({ reference: 'late' }),
      reverseByKey: ({ key }: { readonly key: string }): Reversed => {
        if (!isUp) return { is: 'unknown', why: 'down' }
        undone.push(key)
        return { is: 'reversed' }
      },
    })
    await run.tell(id, { outcome: approved({ reference: 'late' }) })
    await run.dueLater(id)
    const isLeft = async () => {
      isUp = true
      await until(async () => {
        await run.dueNow(id)
        const stands = (await run.audited(id)).includes('late-success-stands')
        return stands || undone.length > 0 || undefined
      })
      assert.deepEqual(undone, [])
    }
    return { id, isLeft }
  }

  test('leaves a late success to operators', async () => {
    const { id, isLeft } = await lateSuccess()
    const eventId = await setAside(id)
    await isLeft()
    await run.gateway.operator.retry((await entryOf(id)).id, by)
    assert.equal(await closed(eventId), 'recorded')
  })

  test('leaves a late success to operators, when it is only listed because its event id was known', async () => {
    const { id, isLeft } = await lateSuccess()
    const eventId = `known-${id}`
    const { id: other } = await debit()
    await run.tell(other, { ...told, reference: 'known-1', eventId })
    await run.bring(id, { ...told, reference: 'known-2', eventId })
    const entry = await entryOf(id)
    await isLeft()
    await run.gateway.operator.retry(entry.id, by)
    await until(async () => (await recordedOf(run, id)).length === 1 || undefined)
  })

  test('lets a refund without an answer be undone by its key', async () => {
    const { id } = await debit()
    const lost = await run.follow(id, 'RF', `refund-${newId()}`, eur('92.00'), {
      refund: lose,
      enquire: () => ({ is: 'notFound' }),
      reverseByKey: () => ({ is: 'nothing' }),
    })
    await run.dueLater(lost.id)
    const eventId = await setAside(id)
    await run.age(lost.id)
    await until(async () => {
      await run.dueNow(lost.id)
      return (await run.stateOf(lost.id)) === 'declined' || undefined
    })
    assert.equal((await balanceOf(run, id)).refunding, 0n)
    await assert.rejects(refund(id), refused)
    await run.gateway.operator.retry((await entryOf(id)).id, by)
    assert.equal(await closed(eventId), 'recorded')
  })
})
