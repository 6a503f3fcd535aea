/** Rules about failures of reversals by key under other names than ours. */
import assert from 'node:assert/strict'
import type { Claim } from '@tollgate/plugin-kit'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import type { Item } from '../../../../connectors/adyen/sandbox/messages.ts'
import { answered } from '../../../../plugins/kit/testing/operation.ts'
import { has, type Scene } from '../scene.ts'
import { ended, otherAccount, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'

const wordsIn = (claims: readonly Claim[]) => claims.map(({ outcome }) => outcome.is)

const lost = {
  reaches: true,
  damage: { do: 'replace', status: 500, type: 'text/plain', body: '' },
} as const

/** The ways in which a failure names a try, by Adyen's reference of it. */
const namings = (pspReference: string, key: string): readonly Partial<Item>[] => [
  { merchantReference: key },
  { merchantReference: 'order 7', eventCode: 'REFUNDED_REVERSED' },
  { merchantReference: '' },
  { merchantReference: key, pspReference: newReference(), originalReference: pspReference },
  { merchantReference: 'order 7', pspReference: newReference(), originalReference: pspReference },
]

/** A payment whose first try Adyen has, and its webhooks. */
async function triedOnce(scene: Scene, isAnswered: boolean) {
  const { adyen, stage } = scene
  const operation = answered(await scene.paid('debit'))
  const { key } = operation
  if (!isAnswered) stage.front.meet(lost, 'any')
  has(await undo(scene, operation), { is: isAnswered ? 'requested' : 'unknown' }, 'a try')
  const payment = adyen.ledger.byReference(key)!
  const { pspReference } = adyen.ledger.undoOf(key)!
  const failing = (more: Partial<Item>) =>
    adyen.message({
      eventCode: 'REFUND_FAILED',
      success: true,
      pspReference,
      originalReference: payment.pspReference,
      merchantReference: key,
      amount: payment.amount,
      ...more,
    })
  const success = () => {
    adyen.ledger.endUndo(key, 'done')
    return adyen.messageAbout(key)
  }
  return { operation, key, payment, pspReference, failing, success }
}

export const undoNameRules: readonly Rule[] = [
  {
    rule: 'the money of a try that comes back leaves the payment standing, however the failure names it and whatever comes first',
    async run(scene) {
      const { adyen, tell } = scene
      for (const isAnswered of [true, false])
        for (const isFirst of [true, false])
          for (const [no] of namings('', '').entries()) {
            const about = `${isAnswered ? 'answered' : 'lost'}, ${isFirst ? 'first' : 'later'}, ${no}`
            const tried = await triedOnce(scene, isAnswered)
            const { operation, key, payment, pspReference } = tried
            const failure = tried.failing(namings(pspReference, key)[no]!)
            const success = tried.success()
            const order = isFirst ? [failure, success] : [success, failure]
            const first = await tell(order[0]!)
            const second = await tell(order[1]!)
            // A failure is told once the try is known, by Adyen's answer or by the webhook of its success.
            const isKnown = isAnswered || !isFirst
            const [failed, other] = isFirst && isAnswered ? [first, second] : [second, first]
            assert.deepEqual(wordsIn(failed), ['notReversed'], about)
            const claim = failed[0]!
            if (isFirst) assert.deepEqual(other, isKnown ? failed : [], about)
            else assert.deepEqual(wordsIn(other), ['reversed'], about)
            assert.deepEqual([claim.key, claim.amount], [key, operation.amount], about)
            assert.deepEqual(await tell(failure), [claim], `${about}, a repeat`)
            for (const repeat of await tell(success)) assert.deepEqual(repeat, claim, about)
            has(await undo(scene, operation), { is: 'requested' }, `${about}, it stands`)
            has(scene.sent(), { reference: `undo2.${key}` }, about)
            payment.isUndone = false
            assert.deepEqual(await ended(scene, key, 'done'), ['reversed'], about)
            assert.deepEqual(await tell(failure), [], `${about}, of the first try`)
            has(await undo(scene, operation), { is: 'reversed' }, about)
            assert.equal(adyen.ledger.undos.filter(({ of }) => of === key).length, 2)
          }
    },
    mistakes: [
      mistake('undo', 'await bind(records, key, round, reversal)', ''),
      mistake(
        'undo',
        'await noteCancellation(records, psp, { key, round })',
        "await noteCancellation(records, psp, { key: '7', round })",
      ),
      mistake(
        'undo-told',
        "is === 'done' ? await noteCancellation(records, psp, name) : {}",
        '{} as { returned?: Told }',
      ),
      mistake('undo-told', 'returned === undefined ? next : withTold(next, returned)', 'next'),
      mistake('undo-told', '[item.pspReference, item.originalReference]', '[item.pspReference]'),
      mistake(
        'undo-told',
        '[item.pspReference, item.originalReference]',
        '[item.originalReference]',
      ),
      mistake(
        'events',
        'await hearFailure(item, laterFailures.includes(eventCode), inner)',
        'await hearFailure(item, false, inner)',
      ),
    ],
  },
  {
    rule: 'a try that fails under another name than ours ends, and leaves its payment standing',
    async run(scene) {
      const { tell } = scene
      for (const name of ['payment', 'order 7', '']) {
        const { operation, key, failing } = await triedOnce(scene, true)
        const merchantReference = name === 'payment' ? key : name
        const failed = failing({ eventCode: 'CANCEL_OR_REFUND', success: false, merchantReference })
        assert.deepEqual(wordsIn(await tell(failed)), ['notReversed'], name)
        has(await undo(scene, operation), { is: 'requested' }, name)
        has(scene.sent(), { reference: `undo2.${key}` }, name)
        await tell(failed)
        await undo(scene, operation)
        has(scene.sent(), { reference: `undo2.${key}` }, `${name}, the try under way`)
      }
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'round ?? roundBy.get(psp) ?? roundBy.get(original)',
        'round ?? roundBy.get(original)',
      ),
      mistake(
        'undo-told',
        ': await cancellationOf(records, psp)',
        ': ({} as { key?: string; round?: number })',
      ),
      mistake(
        'events',
        'fitting.reverse.includes(eventCode)) {',
        'laterFailures.includes(eventCode)) {',
      ),
    ],
  },
  {
    rule: 'a success under the name of the payment is told by its own account, and a failure of a try by the account that asked',
    async run(scene) {
      const other = otherAccount(scene)
      const { failing } = await triedOnce(scene, true)
      const success = failing({ eventCode: 'CANCEL_OR_REFUND' })
      const [[noted], [own]] = [await other(success), await scene.tell(success)]
      assert.deepEqual([noted?.outcome.is, own?.outcome.is], ['unknown', 'reversed'])
      assert.notEqual(noted?.eventId, own?.eventId)
      const tried = await triedOnce(scene, true)
      const done = tried.success()
      assert.deepEqual(await other(done), [], 'not asked for there')
      const failure = tried.failing({ merchantReference: 'order 7' })
      for (const message of [failure, done]) assert.deepEqual(await other(message), [])
      assert.deepEqual(wordsIn(await scene.tell(failure)), ['notReversed'])
    },
    mistakes: [
      mistake('undo-told', 'if (!isAsked && round !== undefined) {', 'if (round === undefined) {'),
      mistake(
        'undo-told',
        'if (!isOwn) return [{ ...success, eventId: ofOtherAccount(success.eventId) }]',
        'if (!isOwn) return [success]',
      ),
    ],
  },
  {
    rule: 'a reversal is asked for although its reference cannot be kept, and its payment told as standing by our own name',
    async run(scene) {
      const { stage, adyen } = scene
      const operation = answered(await scene.paid('debit'))
      const { key } = operation
      const { returned } = await stage.call((context) => {
        const { records } = context
        const swap: typeof records.swap = async (name, before, value) => {
          if (name.startsWith('undo-try:')) throw new Error('no database')
          return records.swap(name, before, value)
        }
        const without = { ...context, records: { ...records, swap } }
        return stage.connector.resolve!.reverseByKey!(operation, without)
      })
      has(returned, { is: 'requested' }, 'Adyen took it')
      assert.equal(adyen.ledger.undos.filter(({ of }) => of === key).length, 1)
      assert.deepEqual(await ended(scene, key, 'failed'), ['notReversed'])
    },
    mistakes: [
      mistake(
        'undo',
        '} catch { // The webhook of its success',
        '} catch (error) { throw error; // The webhook of its success',
      ),
    ],
  },
]
