/** Rules about several payments under one name, of which a reversal by key has to take back each. */
import assert from 'node:assert/strict'
import type { Inbound } from '@tollgate/plugin-kit'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import { authorisationItem, undoItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import { undoName } from '../../../../connectors/adyen/undo-record.ts'
import { answered, frozen } from '../../../../plugins/kit/testing/operation.ts'
import { has } from '../scene.ts'
import { beside, ended, pathsOf, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'

export const severalPaymentsRules: readonly Rule[] = [
  {
    rule: 'a second payment of one name is taken back by a reversal of its own, whenever and by whom it is told',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const [by, when] of [
        ['a webhook', 'after the end'],
        ['a webhook', 'before the end'],
        ['the engine', 'after the end'],
        ['the engine', 'before the end'],
      ] as const) {
        const what = `${by}, ${when}`
        const { operation } = await scene.paid('debit')
        const { key } = operation
        const one = adyen.ledger.byReference(key)!
        const refusal = { success: false, pspReference: 'T'.repeat(16), merchantReference: key }
        const other = { ...one, pspReference: newReference() }
        await undo(scene, operation)
        await ended(scene, key)
        await undo(scene, operation)
        adyen.ledger.endUndo(key, 'done')
        const done = adyen.messageAbout(key)
        const second = adyen.ledger.undoOf(key)!
        const nameless = adyen.message({ ...undoItem(second, one), originalReference: '' })
        const authorised = async () => {
          adyen.ledger.add(other)
          if (by === 'a webhook') await tell(adyen.message(authorisationItem(other)))
        }
        const refs = { payment: other.pspReference }
        const told = by === 'the engine' ? frozen({ ...operation, refs }) : operation
        const isNow = (payment: { pspReference: string }, round: number) => {
          assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${payment.pspReference}/`), what)
          has(scene.sent(), { reference: `undo${round}.${key}` }, what)
        }
        if (when === 'before the end') {
          await authorised()
          const cancel = { ...refusal, eventCode: 'TECHNICAL_CANCEL', amount: one.amount }
          await tell(adyen.message({ ...cancel, originalReference: 'R'.repeat(16) }))
          has(await undo(scene, told), { is: 'requested' }, what)
          isNow(one, 2)
          assert.deepEqual(await tell(done), [], `${what}: the other one stands`)
          const warning = stage.said.findLast(({ where }) => where === 'log.warn')?.what
          const text = 'a webhook tells of a reversal, and a payment of its name stands'
          assert.deepEqual(warning, [{ event: 'CANCEL_OR_REFUND' }, text], what)
        } else {
          assert.equal((await tell(done))[0]?.outcome.is, 'reversed')
          has(await undo(scene, operation), { is: 'reversed' }, what)
          await authorised()
        }
        has(await undo(scene, told), { is: 'requested' }, what)
        isNow(other, 3)
        for (const repeat of [done, nameless]) assert.deepEqual(await tell(repeat), [], what)
        has(await undo(scene, operation), { is: 'requested' }, what)
        isNow(other, 3)
        assert.deepEqual(await ended(scene, key, 'failed'), ['notReversed'], what)
        has(await undo(scene, told), { is: 'requested' }, what)
        assert.deepEqual(await ended(scene, key, 'done'), ['reversed'], what)
        for (const { pspReference } of [one, other]) {
          const asked = frozen({ ...operation, refs: { payment: pspReference } })
          has(await undo(scene, asked), { is: 'reversed' }, what)
        }
        const returned = { ...undoItem(second, one), eventCode: 'REFUND_FAILED', success: true }
        assert.equal((await tell(adyen.message(returned)))[0]?.outcome.is, 'notReversed')
        has(await undo(scene, operation), { is: 'requested' }, what)
        isNow(one, 5)
      }
    },
    mistakes: [
      mistake('undo', "told === undefined ? known : withPayment(known, 'reported', told)", 'known'),
      mistake(
        'undo',
        "if ('is' in plan || heard.tries.includes(plan)) return heard",
        "if ('is' in plan || heard.tries.includes(plan)) return known",
      ),
      mistake(
        'undo-told',
        'if (done === undefined || (done.isNoted !== true && !judgement.isOver)) return []',
        'if (done === undefined) return []',
      ),
      mistake('undo-told', 'log.warn(', 'log.info('),
      mistake(
        'undo-judgement',
        'valid.every(({ payment }) => payment !== psp)',
        'valid.length === 0',
      ),
    ],
  },
  {
    rule: 'of payments that stand under one name, one that Adyen refuses to take back does not keep the others from their turn',
    async run(scene) {
      const { adyen, stage } = scene
      const refuse = (status: number, errorType: string) => {
        const body = JSON.stringify({ status, errorCode: '000', errorType, message: 'No' })
        const damage = { do: 'replace', status, type: 'application/json', body } as const
        stage.front.meet({ reaches: false, damage }, 'any')
      }
      const { operation } = await scene.paid('debit')
      const { key } = operation
      const one = adyen.ledger.byReference(key)!
      const other = adyen.ledger.add({ ...one, pspReference: newReference() })
      const third = adyen.ledger.add({ ...one, pspReference: newReference() })
      await undo(scene, operation)
      for (const payment of [one, other, third])
        await scene.tell(adyen.message(authorisationItem(payment)))
      assert.deepEqual(await ended(scene, key, 'failed'), [], 'by our own reference')
      const now = async (payment: typeof one, what: string) => {
        has(await undo(scene, operation), { is: 'requested' }, what)
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${payment.pspReference}/`), what)
      }
      const refused = async () =>
        assert.deepEqual(await ended(scene, key, 'failed'), ['notReversed'])
      refuse(401, 'security')
      has(await undo(scene, operation), { is: 'unknown' }, 'a login')
      await now(one, 'no payment was refused')
      await refused()
      refuse(422, 'validation')
      has(await undo(scene, operation), { is: 'unknown' }, 'a request')
      await now(third, 'the first two were refused')
      await refused()
      await now(one, 'all were refused, this one first')
      await refused()
      await now(other, 'now that one')
      const done = async (payment: typeof one) =>
        scene.tell(adyen.message(undoItem(adyen.ledger.endUndo(key, 'done'), payment)))
      assert.deepEqual(await done(other), [], 'others stand')
      await now(third, 'its turn')
      const { reference } = adyen.ledger.undoOf(key)!
      assert.deepEqual(await done(third), [], 'one stands')
      await now(one, 'the last one')
      await refused()
      // The money of the third one comes back to the merchant.
      const returned = {
        ...undoItem(adyen.ledger.undoOf(key)!, third),
        merchantReference: reference,
      }
      const message = adyen.message({ ...returned, eventCode: 'REFUND_FAILED', success: true })
      assert.equal((await scene.tell(message))[0]?.outcome.is, 'notReversed')
      await now(third, 'nobody refused it since')
    },
    mistakes: [
      mistake(
        'undo-judgement',
        '.slice(nameless) .toSorted((one, other) => turnOf(one) - turnOf(other))',
        '.slice(nameless)',
      ),
      mistake(
        'undo-judgement',
        '.slice(nameless) .toSorted((one, other) => turnOf(one) - turnOf(other))',
        '.slice(nameless).toSorted((one, other) => turnOf(other) - turnOf(one))',
      ),
      mistake(
        'undo-judgement',
        "(answer === 'refused' || failed.includes(round))",
        'failed.includes(round)',
      ),
      mistake(
        'undo-judgement',
        "(answer === 'refused' || failed.includes(round))",
        "answer === 'refused'",
      ),
      mistake('undo-judgement', 'of === psp && (answer', '(answer'),
      mistake('undo', "refused.isOfAccess ? 'login' : 'refused'", "'refused'"),
    ],
  },
  {
    rule: 'a payment that is told after a success without its name is the one that was taken back, and the next one stands',
    async run(scene) {
      const { adyen, tell } = scene
      for (const eventCode of ['TECHNICAL_CANCEL', 'CANCELLATION'] as const)
        for (const by of ['a webhook', 'the engine'] as const) {
          const what = `${eventCode}, ${by}`
          const { operation } = await scene.paid('authorize')
          const { key } = operation
          const one = adyen.ledger.byReference(key)!
          await undo(scene, operation)
          adyen.ledger.endUndo(key, 'done')
          const end = { ...undoItem(adyen.ledger.undoOf(key)!, one), originalReference: '' }
          const success = adyen.message({ ...end, eventCode })
          for (const _ of ['first', 'again'])
            assert.equal((await tell(success))[0]?.outcome.is, 'reversed', what)
          const sent = adyen.ledger.undos.length
          const told = async (payment: typeof one) => {
            if (by === 'a webhook') await tell(adyen.message(authorisationItem(payment)))
            const refs = by === 'the engine' ? { refs: { payment: payment.pspReference } } : {}
            return undo(scene, frozen({ ...operation, ...refs }))
          }
          has(await undo(scene, operation), { is: 'reversed' }, what)
          has(await told(one), { is: 'reversed' }, `${what}: it was taken back`)
          await tell(success)
          assert.equal(adyen.ledger.undos.length, sent, what)
          const other = adyen.ledger.add({ ...one, pspReference: newReference(), isUndone: false })
          has(await told(other), { is: 'requested' }, `${what}: another one stands`)
          assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${other.pspReference}/`), what)
          assert.deepEqual(await ended(scene, key, 'done'), ['reversed'], what)
          // The money of the first one comes back to the merchant.
          const returned = { ...end, eventCode: 'REFUND_FAILED', merchantReference: `undo1.${key}` }
          const [claim] = await tell(adyen.message(returned))
          assert.equal(claim?.outcome.is, 'notReversed', what)
          if (eventCode === 'CANCELLATION') continue
          has(await undo(scene, operation), { is: 'requested' }, what)
          assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${one.pspReference}/`), what)
        }
    },
    mistakes: [
      mistake('undo-judgement', '.slice(nameless)', ''),
      mistake(
        'undo-judgement',
        'untaken = known.filter((psp) => valid.every(({ payment }) => payment !== psp))',
        'untaken = known.slice(0, 1)',
      ),
    ],
  },
  {
    rule: 'a success without a name took back the payment that was told before there was a record, and a later one stands',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const when of [
        'before the reversal',
        'beside its start',
        'beside its start, and the end is repeated',
      ] as const) {
        const { operation } = await scene.paid('authorize')
        const { key } = operation
        const one = adyen.ledger.byReference(key)!
        const words = async (...messages: Inbound[]) => {
          const claims = []
          for (const message of messages) claims.push(...(await tell(message)))
          return claims.map(({ outcome }) => outcome.is)
        }
        if (when === 'before the reversal') {
          await tell(adyen.message(authorisationItem(one)))
          has(await undo(scene, operation), { is: 'requested' }, when)
          assert.equal(pathsOf(scene), 'reversals', 'its name is known')
        } else {
          await beside(
            scene,
            undoName(key),
            'before',
            () => tell(adyen.message(authorisationItem(one))),
            (context) => stage.connector.resolve!.reverseByKey!(operation, context),
          )
        }
        adyen.ledger.endUndo(key, 'done')
        const end = undoItem(adyen.ledger.undoOf(key)!, one)
        const done = adyen.message({ ...end, originalReference: '' })
        assert.deepEqual(await words(done), ['reversed'], when)
        if (when.endsWith('repeated')) assert.deepEqual(await words(done), ['reversed'], when)
        has(await undo(scene, operation), { is: 'reversed' }, when)
        const other = adyen.ledger.add({ ...one, pspReference: newReference(), isUndone: false })
        await tell(adyen.message(authorisationItem(other)))
        has(await undo(scene, operation), { is: 'requested' }, `${when}: another one stands`)
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${other.pspReference}/`), when)
        assert.deepEqual(await ended(scene, key, 'done'), ['reversed'], when)
        has(await undo(scene, operation), { is: 'reversed' }, when)
      }
    },
    mistakes: [
      mistake(
        'undo-record',
        'if (await records.swap(undoName(key), value, next as unknown as Json)) return next',
        'await records.swap(undoName(key), value, next as unknown as Json); return next',
      ),
    ],
  },
  {
    rule: 'a failed end of a payment that was told before there was a record is told, and one that was refused since is none',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const isRefused of [false, true]) {
        const { operation } = await scene.paid('debit')
        const { key } = operation
        const one = adyen.ledger.byReference(key)!
        const told = authorisationItem(one)
        await tell(adyen.message(told))
        if (isRefused) await tell(adyen.message({ ...told, success: false }))
        has(await undo(scene, operation), { is: 'requested' }, 'asked')
        assert.equal(pathsOf(scene), isRefused ? 'cancels' : 'reversals')
        const words = await ended(scene, key, 'failed')
        assert.deepEqual(words, isRefused ? [] : ['notReversed'])
      }
      const operation = scene.first('debit', 'REFUSED 5')
      await stage.perform(operation)
      await tell(adyen.messageAbout(operation.key))
      has(await undo(scene, operation), { is: 'requested' }, 'refused before it was asked for')
      assert.equal(pathsOf(scene), 'cancels', 'a refused payment has no name')
    },
    mistakes: [
      mistake('undo-judgement', 'authorised.filter((psp) => !refused.includes(psp))', 'authorised'),
      mistake(
        'undo-judgement',
        'words.refused.length > 0 && last !== undefined',
        'words.refused.length > 0',
      ),
    ],
  },
  {
    rule: 'a payment that was told beside the start of a reversal of another one has its turn',
    async run(scene) {
      const { adyen, stage, tell } = scene
      const { operation } = await scene.paid('debit')
      const { key } = operation
      const one = adyen.ledger.byReference(key)!
      const asked = frozen({ ...operation, refs: { payment: one.pspReference } })
      const other = adyen.ledger.add({ ...one, pspReference: newReference() })
      await beside(
        scene,
        undoName(key),
        'after',
        () => tell(adyen.message(authorisationItem(other))),
        (context) => stage.connector.resolve!.reverseByKey!(asked, context),
      )
      has(scene.sent(), { reference: `undo1.${key}` }, 'the first one')
      const end = undoItem({ ...adyen.ledger.undoOf(key)!, state: 'done' }, one)
      assert.deepEqual(await tell(adyen.message(end)), [], 'the other one stands')
      has(await undo(scene, asked), { is: 'requested' }, 'the other one')
      assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${other.pspReference}/`))
    },
    mistakes: [mistake('events', "success ? 'authorised' : 'refused'", "'refused'")],
  },
  {
    rule: 'a cancellation elsewhere that names no payment took back the only one that was told before there was a record',
    async run(scene) {
      const { adyen, tell } = scene
      const { operation } = await scene.paid('authorize')
      const { key } = operation
      const one = adyen.ledger.byReference(key)!
      await undo(scene, operation)
      await tell(adyen.message(authorisationItem(one)))
      adyen.ledger.endUndo(key, 'done')
      const item = { ...undoItem(adyen.ledger.undoOf(key)!, one), originalReference: '' }
      const cancelled = adyen.message({ ...item, eventCode: 'CANCELLATION' })
      for (const what of ['first', 'again'])
        assert.deepEqual((await tell(cancelled))[0]?.outcome.is, 'reversed', what)
      has(await undo(scene, operation), { is: 'reversed' }, 'afterwards')
    },
    mistakes: [mistake('undo-judgement', '.slice(nameless)', '')],
  },
  {
    rule: 'a second payment that is listed beside the first one is taken back, and a refused try changes nothing',
    async run(scene) {
      const { adyen, tell } = scene
      for (const how of ['named', 'nameless']) {
        const { operation } = await scene.paid('authorize')
        const { key } = operation
        const one = adyen.ledger.byReference(key)!
        const other = { ...one, pspReference: newReference() }
        await undo(scene, operation)
        await tell(adyen.message(authorisationItem(one)))
        adyen.ledger.endUndo(key, 'done')
        if (how === 'named') {
          adyen.ledger.add(other)
          await tell(adyen.message(authorisationItem(other)))
        }
        const originalReference = how === 'named' ? one.pspReference : ''
        const item = undoItem(adyen.ledger.undoOf(key)!, one)
        const words = await tell(adyen.message({ ...item, originalReference }))
        assert.equal(words.length, how === 'named' ? 0 : 1, how)
        has(await undo(scene, operation), { is: how === 'named' ? 'requested' : 'reversed' }, how)
        if (how === 'named')
          assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${other.pspReference}/reversals`))
      }
      const asked = answered(await scene.paid('debit'))
      await undo(scene, asked)
      const { amount } = adyen.ledger.byReference(asked.key)!
      const refused = { eventCode: 'AUTHORISATION', success: false, amount }
      const merchantReference = asked.key
      await tell(adyen.message({ ...refused, merchantReference, pspReference: newReference() }))
      assert.deepEqual(await ended(scene, asked.key, 'failed'), ['notReversed'])
    },
    mistakes: [
      mistake('undo-judgement', '.slice(nameless)', '.slice(nameless + 1)'),
      mistake('undo-judgement', '.slice(nameless)', ''),
    ],
  },
]
