/** Rules about what ends a try, and what proves that there was no payment. */
import assert from 'node:assert/strict'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import { authorisationItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import { answered } from '../../../../plugins/kit/testing/operation.ts'
import { has } from '../scene.ts'
import { ended, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'
import {
  another,
  byHand,
  done,
  failed,
  isAskedBy,
  lost,
  nameless,
  paid,
  returned,
  triedTwice,
  triesOf,
  wordsOn,
} from './undo-words.ts'

export const undoEndRules: readonly Rule[] = [
  {
    rule: 'the success of a try that names no payment took back the one that the try named',
    async run(scene) {
      const operation = answered(await scene.paid('debit'))
      const one = scene.adyen.ledger.byReference(operation.key)!
      const [first] = await triedTwice(scene, operation)
      const other = another(scene, one)
      await wordsOn(scene, authorisationItem(other))
      await wordsOn(scene, nameless(done(first, one)))
      has(await undo(scene, operation), { is: 'requested' }, 'the other one')
      assert.ok(isAskedBy(scene, other))
      assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
      const { operation: alone, one: only } = await paid(scene, 'debit')
      const tries = await triedTwice(scene, alone)
      assert.deepEqual(await wordsOn(scene, nameless(done(tries[0], only))), ['reversed'])
      assert.deepEqual(await wordsOn(scene, failed(tries[1], only)), [], 'it is back')
    },
    mistakes: [
      mistake(
        'undo-judgement',
        '[...successes, of, returned?.original]',
        '[...successes, returned?.original]',
      ),
    ],
  },
  {
    rule: 'a try whose answer was lost ends by what was told under another name, once its answer comes',
    async run(scene) {
      for (const end of ['a failure', 'its money came back'] as const) {
        const { operation, one } = await paid(scene, 'debit')
        scene.stage.front.meet(lost, 'any')
        has(await undo(scene, operation), { is: 'unknown' }, end)
        const [first] = triesOf(scene, operation)
        const item =
          end === 'a failure'
            ? { ...failed(first!, one), merchantReference: operation.key }
            : { ...returned(done(first!, one)), merchantReference: 'order 7' }
        assert.deepEqual(await wordsOn(scene, item), [], 'nobody knows what it is about')
        has(await undo(scene, operation), { is: 'requested' }, 'its answer')
        has(await undo(scene, operation), { is: 'requested' }, 'the next try')
        has(scene.sent(), { reference: `undo2.${operation.key}` }, end)
        assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
      }
    },
    mistakes: [
      mistake('undo', 'withAnswer(words, round, { psp })', 'words'),
      mistake('undo', 'withTold(words, returned)', 'words'),
    ],
  },
  {
    rule: 'Adyen’s reference of a try is no payment, although a failure names it as its original',
    async run(scene) {
      for (const isFirst of [false, true]) {
        const { operation } = await scene.paid('authorize')
        const one = scene.adyen.ledger.byReference(operation.key)!
        // Without an answer, only the name of its success tells that it is the try.
        if (!isFirst) scene.stage.front.meet(lost, 'any')
        await undo(scene, operation)
        await wordsOn(scene, authorisationItem(one))
        const success = done(triesOf(scene, operation)[0]!, one)
        const { pspReference: originalReference } = success
        const back = { ...returned(success), pspReference: newReference(), originalReference }
        if (!isFirst) assert.deepEqual(await wordsOn(scene, success), ['reversed'])
        assert.deepEqual(await wordsOn(scene, back), ['notReversed'])
        has(await undo(scene, operation), { is: 'requested' }, 'it stands')
        assert.ok(isAskedBy(scene, one))
        const [, second] = triesOf(scene, operation)
        assert.deepEqual(await wordsOn(scene, done(second!, one)), ['reversed'])
        has(await undo(scene, operation), { is: 'reversed' }, 'nothing else was there')
      }
    },
    mistakes: [
      mistake('undo-judgement', "name !== '' && !references.has(name)", "name !== ''"),
      mistake(
        'undo-judgement',
        'round ?? roundBy.get(psp) ?? roundBy.get(original)',
        'round ?? roundBy.get(psp)',
      ),
    ],
  },
  {
    rule: 'a payment that was taken back and returned is never nothing, although nobody named it',
    async run(scene) {
      const { operation } = await scene.paid('authorize')
      await undo(scene, operation)
      const [first] = triesOf(scene, operation)
      assert.deepEqual(await wordsOn(scene, nameless(done(first!))), ['reversed'])
      assert.deepEqual(await wordsOn(scene, nameless(returned(done(first!)))), ['notReversed'])
      has(await undo(scene, operation), { is: 'requested' }, 'it stands')
      const second = triesOf(scene, operation)[1]!
      assert.deepEqual(await wordsOn(scene, nameless(failed(second))), [])
      has(await undo(scene, operation), { is: 'requested' }, 'it still stands')
      assert.deepEqual(await ended(scene, operation.key, 'done'), ['reversed'])
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'words.reported.length + real.length > 0',
        'words.reported.length > 0',
      ),
      mistake('undo-judgement', '(known.length + valid.length === 0 && real.length > 0)', 'false'),
    ],
  },
  {
    rule: 'a payment that Adyen could not cancel is there, although a try of another reference was refused',
    async run(scene) {
      for (const isFirst of [false, true]) {
        const { operation } = await scene.paid('debit')
        const one = scene.adyen.ledger.byReference(operation.key)!
        await undo(scene, operation)
        const refused = { ...authorisationItem(one), success: false, pspReference: newReference() }
        const end = failed(triesOf(scene, operation)[0]!, one)
        for (const item of isFirst ? [refused, end] : [end, refused]) await wordsOn(scene, item)
        has(await undo(scene, operation), { is: 'requested' }, 'it is asked for')
        assert.ok(isAskedBy(scene, one))
        await wordsOn(scene, { ...authorisationItem(one), success: false })
        has(await undo(scene, operation), { is: 'nothing' }, 'it was refused, too')
      }
    },
    mistakes: [
      mistake('undo-judgement', 'suspects.length === 0 && (hasFailed', '(hasFailed'),
      mistake('undo-judgement', '(!refused.includes(psp) || authorised.includes(psp))', 'true'),
    ],
  },
  {
    rule: 'a failed technical cancellation ends no try but its own',
    async run(scene) {
      const { operation } = await scene.paid('debit')
      const [first] = await triedTwice(scene, operation)
      await wordsOn(scene, nameless(failed(first)))
      has(await undo(scene, operation), { is: 'requested' }, 'the second try is under way')
      await wordsOn(scene, { ...nameless(failed(first)), pspReference: newReference() })
      has(await undo(scene, operation), { is: 'requested' }, 'a cancellation of somebody else')
      has(scene.sent(), { reference: `undo2.${operation.key}` }, 'the same try')
      // The answer was lost: the only end that nobody else has is that of this try.
      const { operation: other } = await scene.paid('authorize')
      scene.stage.front.meet(lost, 'any')
      await undo(scene, other)
      await wordsOn(scene, nameless(failed(triesOf(scene, other)[0]!)))
      has(await undo(scene, other), { is: 'nothing' }, 'Adyen knows none')
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'rounds.set(psp, lost.round)',
        'rounds.set(psp, tries.at(-1)!.round)',
      ),
      mistake('undo-judgement', 'of === undefined && !bound.has(round)', 'of === undefined'),
      mistake('undo-judgement', 'if (lost !== undefined) rounds', 'if (false) rounds'),
    ],
  },
  {
    rule: 'a payment that Adyen could not cancel is asked for by its own reference, although another one of its name is back',
    async run(scene) {
      for (const isNamed of [true, false]) {
        const { operation } = await scene.paid('debit')
        const one = scene.adyen.ledger.byReference(operation.key)!
        await undo(scene, operation)
        const end = failed(triesOf(scene, operation)[0]!, one)
        await wordsOn(scene, end)
        has(await undo(scene, operation), { is: 'requested' }, 'by its own reference')
        const other = another(scene, one)
        if (isNamed) await wordsOn(scene, authorisationItem(other))
        const hand = { ...byHand(done(triesOf(scene, operation)[1]!, other)) }
        const taken = isNamed ? hand : nameless(hand)
        assert.deepEqual(await wordsOn(scene, taken), [isNamed ? 'unknown' : 'reversed'])
        if (!isNamed) continue
        has(await undo(scene, operation), { is: 'requested' }, 'the first one may stand')
        has(scene.sent(), { reference: `undo2.${operation.key}` }, 'the try under way')
        assert.deepEqual(await ended(scene, operation.key, 'failed'), [], 'nothing is certain')
        has(await undo(scene, operation), { is: 'reversed' }, 'neither way knows it')
      }
    },
    mistakes: [
      mistake('undo-judgement', '!stands && doubtful.length === 0', '!stands'),
      mistake('undo-judgement', '.slice(surplus)', ''),
      mistake('undo-judgement', 'turnOf(psp) === 0 && isNamedByTry', 'isNamedByTry'),
      mistake('undo-told', '[...standing, ...doubtful]', 'standing'),
    ],
  },
]
