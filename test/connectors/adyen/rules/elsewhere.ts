/** Rules about cancellations under the payment's own name, as the Customer Area makes them. */
import assert from 'node:assert/strict'
import type { Claim, Inbound } from '@tollgate/plugin-kit'
import { notePayment } from '../../../../connectors/adyen/payments.ts'
import { newReference, type Payment } from '../../../../connectors/adyen/sandbox/ledger.ts'
import {
  authorisationItem,
  type Item,
  undoItem,
} from '../../../../connectors/adyen/sandbox/messages.ts'
import { judge } from '../../../../connectors/adyen/undo-judgement.ts'
import { undoName } from '../../../../connectors/adyen/undo-record.ts'
import type { Words } from '../../../../connectors/adyen/undo-words.ts'
import { answered } from '../../../../plugins/kit/testing/operation.ts'
import { has, type Scene } from '../scene.ts'
import { beside, ended, otherAccount, pathsOf, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'

const wordsIn = (claims: readonly Claim[]) => claims.map(({ outcome }) => outcome.is)

/** A cancellation of a payment in the Customer Area, and the failure of its refund. */
function cancellationOf({ adyen }: Scene, payment: Payment, more: Partial<Item> = {}) {
  const cancellation = {
    eventCode: 'CANCEL_OR_REFUND',
    success: true,
    pspReference: newReference(),
    originalReference: payment.pspReference,
    merchantReference: payment.reference,
    amount: payment.amount,
    ...more,
  }
  const failing = (item: Partial<Item> = {}): Inbound =>
    adyen.message({ ...cancellation, eventCode: 'REFUND_FAILED', ...item })
  const { pspReference } = cancellation
  return { pspReference, success: adyen.message(cancellation), failing }
}

/** The ways in which a failure names the cancellation. */
const namings = (pspReference: string): readonly Partial<Item>[] => [
  { eventCode: 'REFUND_FAILED' },
  { eventCode: 'REFUNDED_REVERSED', merchantReference: 'order 7' },
  { pspReference: newReference(), originalReference: pspReference },
  {
    pspReference: newReference(),
    originalReference: pspReference,
    merchantReference: 'order 7',
  },
  { merchantReference: '' },
  { merchantReference: `cp.${'7'.repeat(32)}` },
]

export const elsewhereRules: readonly Rule[] = [
  {
    rule: 'the money of a cancellation elsewhere that comes back leaves its payment standing, however the failure names it',
    async run(scene) {
      const { adyen, tell } = scene
      for (const [no] of namings('').entries()) {
        const operation = answered(await scene.paid('debit'))
        const { key } = operation
        const payment = adyen.ledger.byReference(key)!
        has(await undo(scene, operation), { is: 'requested' }, 'a try of ours')
        const { pspReference, success, failing } = cancellationOf(scene, payment)
        const failure = failing(namings(pspReference)[no])
        const [reversed, ...none] = await tell(success)
        assert.deepEqual([reversed?.outcome.is, none], ['reversed', []])
        has(await undo(scene, operation), { is: 'reversed' }, 'by the other way')
        const told = await tell(failure)
        assert.deepEqual(wordsIn(told), ['reversed', 'notReversed'], `${no}`)
        assert.deepEqual(told[0], reversed, 'the engine has heard it')
        assert.notEqual(told[1]?.eventId, reversed?.eventId)
        assert.deepEqual([told[1]?.key, told[1]?.amount], [key, operation.amount])
        for (const again of [failure, failing({ eventCode: 'REFUNDED_REVERSED' })])
          assert.deepEqual(await tell(again), told, 'a repeat')
        assert.deepEqual(await tell(success), told, 'a repeat of the success')
        has(await undo(scene, operation), { is: 'requested' }, 'it stands')
        has(scene.sent(), { reference: `undo2.${key}` }, 'another name')
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${payment.pspReference}/`))
        await tell(failure)
        has(await undo(scene, operation), { is: 'requested' }, 'the same try')
        has(scene.sent(), { reference: `undo2.${key}` }, 'the same try')
        assert.deepEqual(await ended(scene, key, 'done'), ['reversed'])
        for (const repeat of [failure, success])
          assert.deepEqual(await tell(repeat), [reversed], 'the try took it back since')
        has(await undo(scene, operation), { is: 'reversed' }, 'for good')
      }
    },
    mistakes: [
      mistake('events', "if (subject === undefined && told === 'failed' &&", 'if (false &&'),
      mistake('events', 'if (ofReversal !== undefined) return ofReversal', ''),
      mistake('undo-told', '[item.pspReference, item.originalReference]', '[item.pspReference]'),
      mistake(
        'undo-told',
        '[item.pspReference, item.originalReference]',
        '[item.originalReference]',
      ),
      mistake(
        'events',
        'await hearFailure(item, laterFailures.includes(eventCode), inner)',
        "await hearFailure(item, eventCode === 'REFUND_FAILED', inner)",
      ),
      mistake('undo-told', '[success, ...back]', '[success]'),
      mistake('undo-told', '[success, ...back]', 'back'),
      mistake('undo-told', 'withTry(told, { ...underWay, isPassed: true })', 'told'),
    ],
  },
  {
    rule: 'a failure that comes before the success of a cancellation elsewhere is told with it, after it, however it names it',
    async run(scene) {
      const { adyen, tell } = scene
      for (const [no] of namings('').entries()) {
        const { operation } = await scene.paid('debit')
        const payment = adyen.ledger.byReference(operation.key)!
        has(await undo(scene, operation), { is: 'requested' }, 'a try of ours')
        const { pspReference, success, failing } = cancellationOf(scene, payment)
        const failure = failing(namings(pspReference)[no])
        for (const what of ['first', 'again']) assert.deepEqual(await tell(failure), [], what)
        const told = await tell(success)
        assert.deepEqual(wordsIn(told), ['reversed', 'notReversed'])
        for (const repeat of [success, failure]) assert.deepEqual(await tell(repeat), told)
        has(await undo(scene, operation), { is: 'requested' }, 'the same try')
        assert.equal(adyen.ledger.undos.filter(({ of }) => of === operation.key).length, 1)
        assert.deepEqual(await ended(scene, operation.key, 'failed'), [])
        has(await undo(scene, operation), { is: 'requested' }, 'it stands')
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${payment.pspReference}/`))
        assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
        for (const repeat of [success, failure])
          assert.deepEqual(await tell(repeat), told.slice(0, 1), 'the try took it back since')
        has(await undo(scene, operation), { is: 'reversed' }, 'for good')
      }
    },
    mistakes: [
      mistake(
        'undo-told',
        'taking === undefined || taking.returned !== undefined',
        'taking === undefined',
      ),
      mistake('undo-told', 'returned === undefined ? next : withTold(next, returned)', 'next'),
      mistake('undo-told', '[success, ...back]', '[success]'),
      mistake(
        'events',
        "if (subject === undefined && told === 'failed' &&",
        "if (named?.is === 'payment' && told === 'failed' &&",
      ),
    ],
  },
  {
    rule: 'a failure that comes while the success of its cancellation is read leaves the payment standing',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const [at, when] of [
        ['undo-try:', 'before'],
        ['undo-try:', 'after'],
        ['undo:', 'before'],
        ['undo:', 'after'],
      ] as const) {
        const operation = answered(await scene.paid('debit'))
        await undo(scene, operation)
        const payment = adyen.ledger.byReference(operation.key)!
        const { success, failing } = cancellationOf(scene, payment)
        let failed: readonly Claim[] = []
        const told = await beside(
          scene,
          at,
          when,
          async () => {
            failed = await tell(failing())
          },
          async (context) => stage.connector.inbound!.parse(success, context),
        )
        const isKnown = at === 'undo:' && when === 'after'
        assert.deepEqual(wordsIn(failed), isKnown ? ['reversed', 'notReversed'] : [], at)
        assert.deepEqual(wordsIn(told), isKnown ? ['reversed'] : ['reversed', 'notReversed'], at)
        has(await undo(scene, operation), { is: 'requested' }, 'it stands')
      }
    },
    mistakes: [
      mistake(
        'undo-record',
        'if (await records.swap(cancellationName(psp), value, next as unknown as Json)) return next',
        'await records.swap(cancellationName(psp), value, next as unknown as Json); return next',
      ),
    ],
  },
  {
    rule: 'the failure of a cancellation elsewhere is about its own payment alone, and a refund by hand is none',
    async run(scene) {
      const { adyen, tell } = scene
      const { operation } = await scene.paid('debit')
      const { key } = operation
      const one = adyen.ledger.byReference(key)!
      const other = { ...one, pspReference: newReference() }
      await undo(scene, operation)
      adyen.ledger.add(other)
      for (const payment of [one, other]) await tell(adyen.message(authorisationItem(payment)))
      const { success, failing } = cancellationOf(scene, one)
      const noted = await tell(success)
      assert.deepEqual(wordsIn(noted), ['unknown'], 'the other one stands')
      has(await undo(scene, operation), { is: 'requested' }, 'the other one')
      assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${other.pspReference}/`))
      assert.deepEqual(await ended(scene, key, 'done'), ['reversed'])
      assert.deepEqual(await tell(success), noted, 'a repeat, although none stands')
      const refund = cancellationOf(scene, one, { eventCode: 'REFUND' })
      assert.deepEqual(await tell(refund.success), [])
      for (const failure of [
        refund.failing(),
        refund.failing({ pspReference: newReference() }),
        failing({ pspReference: newReference() }),
        failing({ eventCode: 'REFUND', success: false }),
        failing({ success: false }),
      ])
        assert.deepEqual(await tell(failure), [], 'of something else')
      has(await undo(scene, operation), { is: 'reversed' }, 'all of them')
      for (const message of [failing(), success]) {
        const [first, ...failed] = await tell(message)
        assert.deepEqual([first, wordsIn(failed)], [noted[0], ['notReversed']])
      }
      has(await undo(scene, operation), { is: 'requested' }, 'it stands')
      assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${one.pspReference}/`))
      const end = undoItem(adyen.ledger.endUndo(key, 'done'), one)
      assert.deepEqual(
        wordsIn(await tell(adyen.message(end))),
        ['reversed'],
        'the other one does not',
      )
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'valid.every(({ payment }) => payment !== psp)',
        'valid.length === 0',
      ),
      mistake('undo-told', 'const isNoted = isByHand(taking) && !isOver', 'const isNoted = false'),
      mistake(
        'events',
        "told === 'failed' && fitting.reverse.includes(eventCode)",
        "told === 'failed'",
      ),
      mistake('undo-told', 'if (isNoted) return unknown', 'if (false) return unknown'),
    ],
  },
  {
    rule: 'an account tells of no cancellation elsewhere that a payment of another account was taken back, nor that its money came back',
    async run(scene) {
      const { adyen, tell } = scene
      for (const kind of ['debit', 'authorize'] as const) {
        const { operation } = await scene.paid(kind)
        const payment = adyen.ledger.byReference(operation.key)!
        const { success, failing } = cancellationOf(scene, payment)
        const heard = otherAccount(scene)
        await heard(adyen.message(authorisationItem(payment)))
        const noted = await heard(success)
        assert.deepEqual(wordsIn(noted), ['unknown'], 'another one of its name may stand')
        for (const repeat of [failing(), success, failing()])
          assert.deepEqual(await heard(repeat), noted, 'nothing else')
        assert.deepEqual(wordsIn(await tell(success)), ['reversed'], 'its own payment')
        const own = await tell(failing())
        assert.deepEqual(wordsIn(own), ['reversed', 'notReversed'])
        const ids = [...own, ...noted].map(({ eventId }) => eventId)
        assert.equal(new Set(ids).size, 3, 'events of their own')
      }
    },
    mistakes: [
      mistake('undo-told', 'isAsked || (await isOwnPayment(records, key))', 'true'),
      mistake('undo-told', 'isAsked || (await isOwnPayment(records, key))', 'isAsked'),
      mistake('index', '({ isOwn: true } as const)', '({} as const)'),
      mistake(
        'undo-told',
        'if (!isOwn) return [{ ...success, eventId: ofOtherAccount(success.eventId) }]',
        'if (!isOwn) return [success, ...back]',
      ),
    ],
  },
  {
    rule: 'the failure of a cancellation elsewhere that named no payment leaves the one standing that it was taken for',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const isKnown of [false, true]) {
        const { operation } = await scene.paid('debit')
        const { key } = operation
        const payment = adyen.ledger.byReference(key)!
        await undo(scene, operation)
        const nameless = { eventCode: 'CANCELLATION', originalReference: '' }
        const { success, failing } = cancellationOf(scene, payment, nameless)
        assert.deepEqual(wordsIn(await tell(success)), ['reversed'])
        if (isKnown) await tell(adyen.message(authorisationItem(payment)))
        has(await undo(scene, operation), { is: 'reversed' }, 'it was that one')
        assert.deepEqual(wordsIn(await tell(failing())), ['reversed', 'notReversed'])
        has(await undo(scene, operation), { is: 'requested' }, 'it stands')
        assert.equal(pathsOf(scene), isKnown ? 'reversals' : 'cancels')
        const { returned } = await stage.call(({ records }) => records.get(undoName(key)))
        const { standing, stands } = judge(returned as unknown as Words)
        assert.deepEqual([standing, stands], [isKnown ? [payment.pspReference] : [], true])
      }
      // A payment that nobody asked to reverse.
      const { operation } = await scene.paid('debit')
      const { success, failing } = cancellationOf(scene, adyen.ledger.byReference(operation.key)!)
      assert.deepEqual(wordsIn(await tell(success)), ['reversed'])
      assert.deepEqual(wordsIn(await tell(failing())), ['reversed', 'notReversed'])
      // An amount that the currency does not have is listed, as it came.
      const merchantReference = 'e'.repeat(32)
      await stage.call(({ records }) => notePayment(records, merchantReference, { isOwn: true }))
      const odd = { amount: { value: 12_345, currency: 'ISK' }, merchantReference }
      const strange = cancellationOf(scene, adyen.ledger.byReference(operation.key)!, odd)
      const [reversed] = await tell(strange.success)
      const both = await tell(strange.failing())
      assert.deepEqual(both[0], reversed)
      assert.deepEqual(wordsIn(both), ['reversed', 'notReversed'])
    },
    mistakes: [
      mistake('undo-judgement', '(known.length + valid.length === 0 && real.length > 0)', 'false'),
    ],
  },
]
