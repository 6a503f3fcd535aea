/** A reauthorisation goes on with the money of another authorisation: chargebacks by the key of either hold the captures of both. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Context, type Operation, unknown } from '@tollgate/plugin-kit'
import { newId } from '../../../core/index.ts'
import { approvedAs, processed, type Script } from '../../rig/acquirer.ts'
import { until } from '../../rig/gateway.ts'
import { approval, eur, type LateRun, lose, refuse } from '../../rig/late-words.ts'
import type { Line } from '../../rig/proxy.ts'
import {
  busy,
  by,
  chargeback,
  named,
  startToldMeanwhile,
  waiting,
  waitsForOthers,
} from '../../rig/told-meanwhile.ts'

const done = '000.100.112'

describe('a chain of authorisations', () => {
  let run: LateRun
  let line: Line
  let close: () => Promise<void>
  before(async () => {
    ;({ run, line, close } = await startToldMeanwhile())
  })
  after(() => close())

  const authorise = async () => (await run.debit(`order-${newId()}`, {}, { paymentType: 'PA' })).id
  const again = async (id: string, practice: string, script: Script = {}) => {
    const wanted = { ...eur('92.00'), standingInstruction: { industryPractice: practice } }
    return (await run.follow(id, 'PA', `again-${newId()}`, wanted as never, script)).id
  }
  const replace = (id: string, script?: Script) => again(id, 'REAUTHORIZATION', script)
  const capture = async (id: string, amount: string, script: Script = {}) =>
    (await run.follow(id, 'CP', `capture-${newId()}`, eur(amount), script)).id
  const refund = async (id: string, amount: string) =>
    (await run.follow(id, 'RF', `refund-${newId()}`, eur(amount))).result.code
  const reverse = (id: string) => run.follow(id, 'RV', `reversal-${newId()}`)
  const resolveListed = async (id: string) => {
    const [entry] = (await run.listed(id)).filter(({ kind }) => kind === 'beyond-sums')
    await run.gateway.operator.resolve(entry!.id, by)
  }

  test('a chargeback by the key of a replaced authorisation counts for the only capture of the new one', async () => {
    const id = await authorise()
    const paid = await capture(await replace(id), '50.00')
    assert.equal(await run.tell(id, chargeback('5000')), 'recorded')
    await assert.rejects(refund(paid, '50.00'), waitsForOthers)
    assert.deepEqual(await run.listed(id), [], 'it is clear whose money it is')
  })

  test('the same along two replacements, and by the key of an increase of the first authorisation', async () => {
    const id = await authorise()
    const more = await again(id, 'INCREMENTAL_AUTH')
    const paid = await capture(await replace(await replace(more)), '50.00')
    assert.equal(await run.tell(more, chargeback('5000')), 'recorded')
    await assert.rejects(refund(paid, '50.00'), waitsForOthers)
  })

  test('a chargeback by the key of the new authorisation counts for the only capture of the replaced one', async () => {
    const id = await authorise()
    const paid = await capture(id, '50.00')
    assert.equal(await run.tell(await replace(id), chargeback('5000')), 'recorded')
    await assert.rejects(refund(paid, '50.00'), waitsForOthers)
  })

  test('captures before and after the replacement are both held, until an operator knows which one is meant', async () => {
    for (const which of ['old', 'new'] as const) {
      const id = await authorise()
      const before = await capture(id, '30.00')
      const fresh = await replace(id)
      const after = await capture(fresh, '50.00')
      const named = which === 'old' ? id : fresh
      assert.equal(await run.tell(named, chargeback('3000')), 'recorded')
      await assert.rejects(refund(before, '30.00'), waitsForOthers, which)
      await assert.rejects(refund(after, '50.00'), waitsForOthers, which)
      await assert.rejects(reverse(fresh), waitsForOthers, which)
      await assert.rejects(capture(fresh, '1.00'), waitsForOthers, which)
      await assert.rejects(replace(fresh), waitsForOthers, which)
      await resolveListed(named)
      assert.equal(await refund(before, '30.00'), done, which)
      assert.equal(await refund(after, '50.00'), done, which)
    }
  })

  test('a chargeback of a replaced authorisation without captures holds the new one', async () => {
    const id = await authorise()
    const fresh = await replace(id)
    assert.equal(await run.tell(id, chargeback('5000')), 'recorded')
    await assert.rejects(capture(fresh, '50.00'), waitsForOthers)
    await assert.rejects(reverse(fresh), waitsForOthers)
    await assert.rejects(again(fresh, 'INCREMENTAL_AUTH'), waitsForOthers)
    await resolveListed(id)
    await capture(await again(fresh, 'INCREMENTAL_AUTH'), '50.00')
  })

  test('a chargeback of a declined replacement holds the authorisation and its captures', async () => {
    const id = await authorise()
    const paid = await capture(id, '30.00')
    const fresh = await replace(id, { authorize: refuse })
    assert.equal(await run.tell(fresh, chargeback('3000')), 'recorded')
    await assert.rejects(refund(paid, '30.00'), waitsForOthers)
    await assert.rejects(reverse(id), waitsForOthers)
    await assert.rejects(capture(id, '1.00'), waitsForOthers)
  })

  test('one that waits for a capture of the new authorisation holds refunds of all captures', async () => {
    const id = await authorise()
    const before = await capture(id, '30.00')
    const fresh = await replace(id)
    const paid = await capture(fresh, '40.00')
    const open = await capture(fresh, '20.00', { capture: lose, enquire: busy })
    await run.dueLater(open)
    const eventId = await waiting(run, id, '4000')
    await assert.rejects(refund(before, '30.00'), waitsForOthers)
    await assert.rejects(refund(paid, '40.00'), waitsForOthers)
    await run.operator.enquire(open, by)
    await run.operator.settle(open, 'declined', by)
    assert.equal(await processed(run, eventId), 'recorded', 'the end of the capture hurries it')
  })

  test('one by the key of a replaced authorisation waits for the end of the replacement', async () => {
    const id = await authorise()
    const paid = await capture(id, '30.00')
    const fresh = await replace(id, { authorize: lose, enquire: busy })
    await run.dueLater(fresh)
    const eventId = await waiting(run, id, '3000')
    await assert.rejects(refund(paid, '30.00'), waitsForOthers)
    await run.tell(fresh, { outcome: approval })
    assert.equal(await processed(run, eventId), 'recorded')
    await assert.rejects(refund(paid, '30.00'), waitsForOthers)
  })

  test('a replacement between the read and the record of a chargeback is held, too, with its capture', async () => {
    const other = await run.debit(`order-${newId()}`)
    await run.tell(other.id, chargeback('100'))
    for (const isCaptured of [true, false]) {
      const id = await authorise()
      if (isCaptured) await capture(id, '30.00')
      const held = line.hold(named(run, /max\(place\).*where family/s))
      const eventId = await run.bring(id, chargeback('3000'))
      const letGo = await held
      const fresh = await replace(id)
      const second = isCaptured ? await capture(fresh, '50.00') : undefined
      letGo()
      assert.equal(await processed(run, eventId), 'recorded')
      await assert.rejects(capture(fresh, '1.00'), waitsForOthers)
      if (second !== undefined) await assert.rejects(refund(second, '50.00'), waitsForOthers)
    }
  })

  test('a late capture of the new authorisation is not taken back while the chargeback stands', async () => {
    const reversed: string[] = []
    const id = await authorise()
    const fresh = await replace(id)
    const script = {
      capture: refuse,
      enquire: approvedAs,
      reverseByKey: (operation: Operation, context: Context) => {
        reversed.push(operation.key)
        context.sending()
        return { is: 'reversed', refs: {} } as const
      },
    }
    const late = await capture(fresh, '50.00', script)
    assert.equal(await run.tell(id, chargeback('5000')), 'recorded')
    await run.tell(late, { outcome: approval, minor: '5000' })
    await until(async () => (await run.timers(late)).length === 0 || undefined)
    assert.deepEqual(reversed, [], 'the payer has the money')
    await assert.rejects(run.operator.settle(late, 'approved', by))
    await run.operator.settle(late, 'declined', by)
  })

  test('beside a late capture, a chargeback by the key of the authorisation can be of either capture', async () => {
    const reversed: string[] = []
    let isReady = false
    const id = await authorise()
    const script: Script = {
      capture: refuse,
      enquire: approvedAs,
      reverseByKey: (operation, context) => {
        if (!isReady) return unknown('busy')
        reversed.push(operation.key)
        context.sending()
        return { is: 'reversed', refs: {} }
      },
    }
    const late = await capture(id, '30.00', script)
    const paid = await capture(id, '30.00')
    await run.tell(late, { outcome: approval, minor: '3000' })
    await until(async () => (await run.audited(late)).includes('reverse-by-key') || undefined)
    await run.dueLater(late)
    assert.equal(await run.tell(id, chargeback('3000')), 'recorded')
    const [entry] = await run.listed(id)
    assert.match(String(entry?.detail.why), /several captures/)
    isReady = true
    await run.dueNow(late)
    await until(async () => reversed[0] || (await run.timers(late)).length === 0 || undefined)
    assert.deepEqual(reversed, [], 'the payer has the money')
    await assert.rejects(refund(paid, '30.00'), waitsForOthers)
    await run.operator.settle(late, 'declined', by)
  })

  test('a chargeback that is only listed holds a replacement of the replacement that was under way', async () => {
    const id = await authorise()
    const fresh = await replace(await replace(id), { authorize: lose, enquire: busy })
    await run.dueLater(fresh)
    const eventId = `event-${newId()}`
    await run.tell(id, { outcome: approval, eventId })
    await run.bring(id, { ...chargeback('5000'), eventId })
    await until(async () => (await run.listed(id)).length > 0 || undefined)
    await run.tell(fresh, { outcome: approval })
    await assert.rejects(capture(fresh, '50.00'), waitsForOthers)
  })

  test('a report by the key of a capture repeats what was told by the key of the replaced authorisation', async () => {
    const id = await authorise()
    const fresh = await replace(id)
    const told = chargeback('3000')
    assert.equal(await run.tell(id, told), 'recorded')
    await resolveListed(id)
    const paid = await capture(fresh, '30.00')
    assert.equal(await run.tell(paid, told), 'known')
  })
})
