/** Rules about words of Adyen that come late, twice, or in another order than things happened. */
import assert from 'node:assert/strict'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import { authorisationItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import { frozen } from '../../../../plugins/kit/testing/operation.ts'
import { has } from '../scene.ts'
import { ended, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'
import {
  another,
  byHand,
  done,
  failed,
  isAskedBy,
  judged,
  lost,
  nameless,
  orders,
  paid,
  refusal,
  returned,
  takenBack,
  triedTwice,
  triesOf,
  wordsOn,
} from './undo-words.ts'

export const undoOrderRules: readonly Rule[] = [
  {
    rule: 'a success without a name takes back one payment, however often it is told',
    async run(scene) {
      for (const isTold of [false, true]) {
        const { operation } = await scene.paid('authorize')
        const one = scene.adyen.ledger.byReference(operation.key)!
        await undo(scene, operation)
        const other = another(scene, one)
        for (const payment of isTold ? [one, other] : [one])
          await wordsOn(scene, authorisationItem(payment))
        const end = nameless(done(triesOf(scene, operation)[0]!, one))
        assert.deepEqual(await wordsOn(scene, end), isTold ? [] : ['reversed'])
        await wordsOn(scene, authorisationItem(other))
        assert.deepEqual(await wordsOn(scene, end), [], 'a repeat')
        has(await undo(scene, operation), { is: 'requested' }, 'the other one stands')
        assert.ok(isAskedBy(scene, other))
      }
    },
    mistakes: [mistake('undo-judgement', '.slice(nameless)', '.slice(nameless + 1)')],
  },
  {
    rule: 'of payments that stand, the one that Adyen refuses to take back is the one that a success without a name took',
    async run(scene) {
      const { operation, one } = await paid(scene, 'debit')
      const other = another(scene, one)
      await wordsOn(scene, authorisationItem(other))
      const { pspReference, reference: merchantReference, amount } = one
      const item = { eventCode: 'CANCELLATION', success: true, merchantReference, amount }
      const taken = { ...item, pspReference: newReference() }
      assert.deepEqual(await wordsOn(scene, taken), ['unknown'], 'one of two')
      has(await undo(scene, operation), { is: 'requested' }, 'a guess')
      assert.ok(isAskedBy(scene, other))
      const end = failed(triesOf(scene, operation)[0]!, other)
      assert.deepEqual(await wordsOn(scene, end), ['notReversed'])
      has(await undo(scene, operation), { is: 'requested' }, 'the guess was wrong')
      assert.ok(isAskedBy(scene, one), pspReference)
    },
    mistakes: [
      mistake('undo-judgement', '.toSorted((one, other) => turnOf(other) - turnOf(one))', ''),
    ],
  },
  {
    rule: 'the money of a try that came back stands, whatever of it and of a later try is told first',
    async run(scene) {
      for (const order of orders([0, 1, 2])) {
        const { operation, one } = await paid(scene, 'debit')
        const [first, second] = await triedTwice(scene, operation)
        const success = done(first, one)
        const items = [success, returned(success), failed(second, one)]
        const told: string[][] = []
        for (const at of order) told[at] = await wordsOn(scene, items[at]!)
        const isBackFirst = order.indexOf(1) < order.indexOf(0)
        assert.ok(!told[isBackFirst ? 0 : 1]!.includes('reversed'), order.join())
        assert.deepEqual(told[1], ['notReversed'], order.join())
        has(await undo(scene, operation), { is: 'requested' }, `${order}: it stands`)
        assert.equal(triesOf(scene, operation).length, order.includes(2) ? 3 : 2)
      }
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'const valid = real.filter(({ returned }) => returned === undefined)',
        'const valid = real',
      ),
    ],
  },
  {
    rule: 'a try is the same under the name of the payment and under ours',
    async run(scene) {
      for (const isFirst of [true, false]) {
        const { operation, one } = await paid(scene, 'debit')
        await undo(scene, operation)
        const success = done(triesOf(scene, operation)[0]!, one)
        const named = { ...success, merchantReference: operation.key }
        const other = another(scene, one)
        if (!isFirst) await wordsOn(scene, authorisationItem(other))
        for (const item of isFirst ? [returned(success), named] : [named, returned(success)])
          assert.ok(!(await wordsOn(scene, item)).includes('reversed'))
        if (isFirst) {
          has(await undo(scene, operation), { is: 'requested' }, 'its money came back')
          continue
        }
        // Each of the two has its turn, and the end of one leaves the other one standing.
        has(await undo(scene, operation), { is: 'requested' }, 'both stand')
        const now = isAskedBy(scene, one) ? one : other
        const second = triesOf(scene, operation)[1]!
        assert.deepEqual(await wordsOn(scene, done(second, now)), [])
        const { standing } = await judged(scene, operation)
        assert.deepEqual(standing, [(now === one ? other : one).pspReference])
      }
    },
    mistakes: [
      mistake('undo-judgement', 'round ?? roundBy.get(psp) ?? roundBy.get(original)', 'round'),
    ],
  },
  {
    rule: 'each of two payments is taken back that were told before the reversal was asked for',
    async run(scene) {
      const { operation, one } = await paid(scene, 'debit')
      const other = another(scene, one)
      await wordsOn(scene, authorisationItem(other))
      has(await undo(scene, operation), { is: 'requested' }, 'the first one')
      assert.deepEqual(await wordsOn(scene, done(triesOf(scene, operation)[0]!, one)), [])
      has(await undo(scene, operation), { is: 'requested' }, 'the second one')
      assert.ok(isAskedBy(scene, other))
      assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
    },
    mistakes: [
      mistake('undo-words', '[list]: [...words[list], psp]', '[list]: [words[list][0] ?? psp]'),
    ],
  },
  {
    rule: 'a payment stays back while anything that took it back was not returned, whichever is told last',
    async run(scene) {
      for (const which of ['the cancellation by hand', 'the try'] as const) {
        const { operation, success } = await takenBack(scene)
        const hand = byHand(success)
        assert.deepEqual(await wordsOn(scene, hand), ['reversed'])
        const back = returned(which === 'the try' ? success : hand)
        assert.ok(!(await wordsOn(scene, back)).includes('notReversed'), which)
        has(await undo(scene, operation), { is: 'reversed' }, which)
        const last = returned(which === 'the try' ? hand : success)
        assert.ok((await wordsOn(scene, last)).includes('notReversed'), which)
        has(await undo(scene, operation), { is: 'requested' }, `${which}, and the other one`)
      }
      const { operation, one } = await paid(scene, 'debit')
      await undo(scene, operation)
      const end = failed(triesOf(scene, operation)[0]!, one)
      assert.deepEqual(await wordsOn(scene, end), ['notReversed'])
      const hands = [byHand({ ...end, success: true }), byHand({ ...end, success: true })] as const
      for (const hand of hands) assert.deepEqual(await wordsOn(scene, hand), ['reversed'])
      assert.deepEqual(await wordsOn(scene, returned(hands[0])), ['reversed'], 'the second did')
      has(await undo(scene, operation), { is: 'reversed' }, 'by the second one')
    },
    mistakes: [
      mistake('undo-told', 'returned !== undefined && judgement.stands', 'returned !== undefined'),
      mistake(
        'undo-judgement',
        'const valid = real.filter(({ returned }) => returned === undefined)',
        'const valid = real.every(({ returned }) => returned === undefined) ? real : []',
      ),
    ],
  },
  {
    rule: 'money that comes back says nothing about another payment, which an earlier try took back',
    async run(scene) {
      const { operation, one } = await paid(scene, 'debit')
      scene.stage.front.meet(lost, 'any')
      await undo(scene, operation)
      const other = another(scene, one)
      await wordsOn(scene, authorisationItem(other))
      scene.stage.front.meet(refusal(422, 'validation'), 'any')
      await undo(scene, operation)
      has(await undo(scene, operation), { is: 'requested' }, 'the other one')
      assert.ok(isAskedBy(scene, other))
      const [first, second] = triesOf(scene, operation)
      const success = done(second!, other)
      for (const item of [success, returned(success), done(first!, one)]) await wordsOn(scene, item)
      has(await undo(scene, operation), { is: 'requested' }, 'it came back')
      assert.ok(isAskedBy(scene, other))
      assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
    },
    mistakes: [
      mistake(
        'undo-judgement',
        "about.find(({ is }) => is === 'returned')",
        "told.find(({ is }) => is === 'returned')",
      ),
    ],
  },
  {
    rule: 'a cancellation by hand counts, although it was told before the payment and before its reversal was asked for',
    async run(scene) {
      const { operation } = await scene.paid('debit')
      const one = scene.adyen.ledger.byReference(operation.key)!
      const { pspReference: originalReference, reference: merchantReference } = one
      const names = { pspReference: newReference(), originalReference, merchantReference }
      const amount = { value: 0, currency: 'EUR' }
      const hand = { eventCode: 'CANCEL_OR_REFUND', success: true, ...names, amount }
      const heard = await scene.tell(scene.adyen.message(hand))
      assert.deepEqual(
        heard.map(({ outcome }) => outcome.is),
        ['reversed'],
      )
      assert.deepEqual(await wordsOn(scene, authorisationItem(one)), ['approved'])
      const told = frozen({ ...operation, refs: { payment: one.pspReference } })
      has(await undo(scene, told), { is: 'reversed' }, 'it is back')
      assert.deepEqual(triesOf(scene, operation), [], 'nobody asks')
      assert.deepEqual(await wordsOn(scene, hand), ['reversed'], 'a repeat')
      const other = another(scene, one)
      await wordsOn(scene, authorisationItem(other))
      assert.deepEqual(await wordsOn(scene, hand), [], 'a repeat, and another one stands')
      has(await undo(scene, told), { is: 'requested' }, 'the other one')
      assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
      assert.deepEqual(await scene.tell(scene.adyen.message(hand)), heard, 'none stands')
    },
    mistakes: [
      mistake('undo-told', 'isNew ? afterSuccess(all, word) : all', 'isNew ? before : all'),
      mistake('undo-told', 'isOld ? [] : [success', '[success'),
      mistake('undo-told', 'isByHand(taking) && told.isAsked !== true', 'false'),
      mistake('undo-told', "is === 'done' && isNew ?", "is === 'done' ?"),
    ],
  },
]
