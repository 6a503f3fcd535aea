/** Rules about reversals by key. */
import assert from 'node:assert/strict'
import { authorisationItem, undoItem } from '../../../../connectors/adyen/sandbox/messages.ts'
import { card, cards } from '../../../../connectors/adyen/sandbox/sandbox.ts'
import { answered, firstOperation, frozen } from '../../../../plugins/kit/testing/operation.ts'
import { has } from '../scene.ts'
import { ended, pathsOf, undo } from './reversing.ts'
import { mistake, type Rule } from './rule.ts'

export const undoRules: readonly Rule[] = [
  {
    rule: 'a payment without an answer is cancelled by its reference, once, and told as reversed',
    async run(scene) {
      const { operation } = await scene.paid('authorize')
      has(await undo(scene, operation), { is: 'requested' }, 'first')
      has(
        scene.sent(),
        { paymentReference: operation.key, reference: `undo1.${operation.key}` },
        'first',
      )
      has(await undo(scene, operation), { is: 'requested' }, 'again')
      assert.equal(scene.adyen.ledger.undos.length, 1, 'Adyen took one')
      assert.deepEqual(await ended(scene, operation.key), ['reversed'])
      has(await undo(scene, operation), { is: 'reversed' }, 'afterwards')
      assert.equal(scene.adyen.ledger.undos.length, 1)
    },
    mistakes: [
      mistake('undo', 'if (underWay !== undefined) return underWay', ''),
      mistake('undo', "if (isOver) return { is: 'reversed' }", ''),
      mistake(
        'undo',
        'paymentReference: key, reference }, reference)',
        'paymentReference: key, reference }, key)',
      ),
    ],
  },
  {
    rule: 'a captured payment that cannot be cancelled is reversed by Adyen’s reference, which its webhook names',
    async run(scene) {
      const { operation } = await scene.paid('debit')
      has(await undo(scene, operation), { is: 'requested' }, 'by our reference')
      assert.equal(pathsOf(scene), 'cancels')
      assert.deepEqual(
        await ended(scene, operation.key),
        [],
        'it may stand, or be none: nothing is claimed',
      )
      has(await undo(scene, operation), { is: 'requested' }, "by Adyen's")
      assert.equal(pathsOf(scene), 'reversals')
      has(scene.sent(), { reference: `undo2.${operation.key}` }, 'another name')
      assert.deepEqual(await ended(scene, operation.key), ['reversed'])
      assert.equal((await scene.stage.bookings()).length, 0)
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'const next = standing[0] ?? doubtful[0] ?? suspects[0]',
        'const next = standing[0]',
      ),
      mistake('undo', '(words.tries.at(-1)?.round ?? 0) + 1', '1'),
      mistake(
        'undo',
        'return next === undefined ? { round } : { round, of: next }',
        'return { round }',
      ),
      mistake('undo-judgement', '(end?.told ?? []).length > 0', 'false'),
      mistake(
        'undo-told',
        'if (failure === undefined || !isRefused || !judgement.stands) return []',
        'if (failure === undefined) return []',
      ),
    ],
  },
  {
    rule: 'nothing is undone where Adyen knows no payment, or told that it was refused; and never without that proof',
    async run(scene) {
      const { adyen, tell, first } = scene
      const unknownKey = first('authorize')
      has(await undo(scene, unknownKey), { is: 'requested' }, 'an unused key')
      assert.deepEqual(await ended(scene, unknownKey.key), [])
      has(await undo(scene, unknownKey), { is: 'nothing' }, 'Adyen knows none')
      const refused = first('authorize', 'REFUSED 5')
      await scene.stage.perform(refused)
      const message = adyen.messageAbout(refused.key)
      has(await undo(scene, refused), { is: 'requested' }, 'before the webhook')
      assert.deepEqual(
        (await tell(message)).map(({ outcome }) => outcome.is),
        ['declined'],
      )
      has(await undo(scene, refused), { is: 'nothing' }, 'it was refused')
      const { operation } = await scene.paid('debit')
      await undo(scene, operation)
      await ended(scene, operation.key)
      await undo(scene, operation)
      assert.deepEqual(
        await ended(scene, operation.key, 'failed'),
        [],
        'not known to be authorised',
      )
      has(await undo(scene, operation), { is: 'requested' }, 'a known payment is never nothing')
    },
    mistakes: [
      mistake('undo-judgement', 'suspects.length === 0 && (hasFailed', '(hasFailed'),
      mistake(
        'undo-judgement',
        '(hasFailed || (words.refused.length > 0 && last !== undefined))',
        '(words.refused.length > 0 && last !== undefined)',
      ),
      mistake(
        'undo-judgement',
        '(hasFailed || (words.refused.length > 0 && last !== undefined))',
        'hasFailed',
      ),
      mistake('events', "success ? 'authorised' : 'refused'", "'authorised'"),
    ],
  },
  {
    rule: 'a reversal that fails for an authorised payment leaves it standing, and is asked for again by another name',
    async run(scene) {
      const operation = answered(await scene.paid('debit'))
      has(await undo(scene, operation), { is: 'requested' }, 'with the reference of its answer')
      assert.equal(pathsOf(scene), 'reversals')
      assert.deepEqual(await ended(scene, operation.key, 'failed'), ['notReversed'])
      has(await undo(scene, operation), { is: 'requested' }, 'a redrive')
      assert.equal(scene.adyen.ledger.undos.length, 2)
      assert.deepEqual(await ended(scene, operation.key), ['reversed'])
    },
    mistakes: [
      mistake('undo', 'const told = refs?.payment', 'const told = undefined as string | undefined'),
      mistake('undo-told', 'last?.of !== undefined', 'last?.of === undefined'),
      mistake(
        'undo-told',
        'if (failure === undefined || !isRefused || !judgement.stands) return []',
        'return []',
      ),
    ],
  },
  {
    rule: 'a webhook that tells of the payment while it is reversed names it for the next try',
    async run(scene) {
      const { adyen, tell } = scene
      const { operation } = await scene.paid('debit')
      const message = adyen.messageAbout(operation.key)
      await undo(scene, operation)
      await tell(message)
      adyen.ledger.endUndo(operation.key, 'failed')
      // Adyen may not name the payment that it could not cancel.
      const failure = JSON.parse(adyen.messageAbout(operation.key).body.toString())
      const { pspReference } = failure.notificationItems[0].NotificationRequestItem
      await tell(
        adyen.message({
          eventCode: 'TECHNICAL_CANCEL',
          success: false,
          pspReference,
          merchantReference: operation.key,
          amount: { value: 9200, currency: 'EUR' },
        }),
      )
      has(await undo(scene, operation), { is: 'requested' }, 'next')
      assert.equal(pathsOf(scene), 'reversals')
      assert.deepEqual(await ended(scene, operation.key, 'failed'), ['notReversed'])
      const { operation: late } = await scene.paid('debit')
      const authorised = adyen.messageAbout(late.key)
      await undo(scene, late)
      await ended(scene, late.key)
      await undo(scene, late)
      await tell(authorised)
      assert.deepEqual(await ended(scene, late.key, 'failed'), ['notReversed'])
    },
    mistakes: [
      mistake(
        'undo-judgement',
        '[...new Set([...told, ...reported, ...named])]',
        '[...new Set([...reported, ...named])]',
      ),
    ],
  },
  {
    rule: 'an unproven webhook changes nothing about a reversal',
    async run(scene) {
      const { adyen, tell, first } = scene
      const operation = first('authorize')
      await undo(scene, operation)
      adyen.ledger.endUndo(operation.key, 'failed')
      const { body, ...rest } = adyen.messageAbout(operation.key)
      const unsigned = body.toString().replaceAll('hmacSignature', 'hmacSignatura')
      await tell({ ...rest, body: Buffer.from(unsigned) })
      has(await undo(scene, operation), { is: 'requested' }, 'still under way')
      const refusal = { eventCode: 'AUTHORISATION', success: false, pspReference: 'X'.repeat(16) }
      const forged = adyen.message({
        ...refusal,
        merchantReference: operation.key,
        amount: { value: 9200, currency: 'EUR' },
      })
      await tell({
        ...forged,
        body: Buffer.from(forged.body.toString().replaceAll('hmacSignature', 'hmacSignatura')),
      })
      has(await undo(scene, operation), { is: 'requested' }, 'not refused')
    },
    mistakes: [mistake('events', 'if (!isProven(message, account.hmacKeys)) return []', '')],
  },
  {
    rule: 'an end of an earlier try, told again, does not end the try that is under way',
    async run(scene) {
      const { adyen, tell } = scene
      const { operation } = await scene.paid('debit')
      await undo(scene, operation)
      adyen.ledger.endUndo(operation.key, 'by itself')
      const first = adyen.messageAbout(operation.key)
      await tell(first)
      await undo(scene, operation)
      await tell(first)
      has(await undo(scene, operation), { is: 'requested' }, 'still the second')
      assert.equal(adyen.ledger.undos.length, 2)
      adyen.ledger.endUndo(operation.key, 'failed')
      const second = adyen.messageAbout(operation.key)
      await tell(second)
      await undo(scene, operation)
      await tell(second)
      await undo(scene, operation)
      assert.equal(adyen.ledger.undos.length, 3)
    },
    mistakes: [
      mistake(
        'undo-judgement',
        'takings.find(({ round }) => round !== undefined && round === last?.round)',
        'takings.find(({ told }) => told.length > 0)',
      ),
    ],
  },
  {
    rule: 'a payment whose shopper was sent away, and that neither way can take back, was none unless Adyen told otherwise',
    async run(scene) {
      const { adyen, stage, tell } = scene
      const away = { instrument: card(cards.redirect), request: {} }
      for (const known of [
        'nothing',
        'by a webhook',
        'by a webhook before',
        'by webhooks that contradict each other',
        'by an answer',
        'not away',
      ]) {
        const operation =
          known === 'not away'
            ? scene.first('debit')
            : firstOperation(stage.connector, 'debit', away)
        await stage.perform(operation)
        const payment = adyen.ledger.byReference(operation.key)!
        const told = async () => {
          adyen.ledger.authorise(payment)
          await tell(adyen.message(authorisationItem(payment)))
        }
        if (known === 'by a webhook before' || known.startsWith('by webhooks')) await told()
        if (known.startsWith('by webhooks'))
          await tell(adyen.message({ ...authorisationItem(payment), success: false }))
        const refs = { payment: payment.pspReference }
        const asked = known === 'by an answer' ? frozen({ ...operation, refs }) : operation
        has(await undo(scene, asked), { is: 'requested' }, known)
        await ended(scene, operation.key, 'failed')
        has(await undo(scene, asked), { is: 'requested' }, known)
        assert.equal(pathsOf(scene), 'reversals', known)
        await ended(scene, operation.key, 'failed')
        if (known === 'by a webhook') await told()
        const is = known === 'nothing' ? 'nothing' : 'requested'
        has(await undo(scene, asked), { is }, known)
      }
    },
    mistakes: [
      mistake('index', 'await notePayment(context.records, key, { isAway: true })', ''),
      mistake('undo', 'isNothing || (isVain && isAway)', 'isNothing'),
      mistake('undo', 'isNothing || (isVain && isAway)', 'isNothing || isVain'),
      mistake('undo-judgement', 'isVain: !isAuthorised && hasFailed', 'isVain: hasFailed'),
      mistake('undo-judgement', 'hasFailed && last?.of !== undefined', 'hasFailed'),
    ],
  },
  {
    rule: 'a reference that the engine was told proves more than a record of a refused or abandoned payment',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const known of ['abandoned', 'refused', 'unknown', 'authorised'] as const) {
        const away = { instrument: card(cards.redirect), request: {} }
        const operation = firstOperation(stage.connector, 'debit', away)
        await stage.perform(operation)
        const payment = adyen.ledger.byReference(operation.key)!
        const asked =
          known === 'unknown' ? frozen({ ...operation, key: 'f'.repeat(32) }) : operation
        has(await undo(scene, asked), { is: 'requested' }, known)
        const { pspReference } = payment
        if (known === 'refused') {
          const refused = {
            success: false,
            merchantReference: operation.key,
            amount: payment.amount,
          }
          const of = 'R'.repeat(16)
          const { pspReference: asked } = adyen.ledger.undoOf(operation.key)!
          const cancel = { eventCode: 'TECHNICAL_CANCEL', pspReference: asked }
          await tell(adyen.message({ ...refused, eventCode: 'AUTHORISATION', pspReference: of }))
          await tell(adyen.message({ ...refused, ...cancel, originalReference: of }))
          adyen.ledger.endUndo(operation.key, 'failed')
        } else await ended(scene, asked.key, 'failed')
        if (known === 'abandoned') {
          has(await undo(scene, asked), { is: 'requested' }, known)
          await ended(scene, asked.key, 'failed')
        }
        if (known === 'authorised') {
          adyen.ledger.authorise(payment)
          await tell(adyen.message(authorisationItem(payment)))
        } else has(await undo(scene, asked), { is: 'nothing' }, known)
        const other = known === 'authorised' ? 'X'.repeat(16) : pspReference
        const told = frozen({ ...asked, refs: { payment: other } })
        has(await undo(scene, told), { is: 'requested' }, `${known}, and told`)
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${pspReference}/reversals`), known)
        const [fails] = await ended(scene, operation.key, 'failed')
        if (known !== 'unknown') assert.equal(fails, 'notReversed', known)
        // The sandbox does not know the other one, whose turn it is.
        if (known === 'authorised') has(await undo(scene, told), { is: 'unknown' }, 'the other one')
        has(await undo(scene, told), { is: 'requested' }, `${known}, once more`)
      }
    },
    mistakes: [
      mistake('undo', "told === undefined ? known : withPayment(known, 'reported', told)", 'known'),
      mistake(
        'undo-judgement',
        '[...told, ...reported, ...named]',
        '[...reported, ...told, ...named]',
      ),
      mistake(
        'undo-judgement',
        'words.authorised.length + words.reported.length + real.length',
        'words.authorised.length + real.length',
      ),
    ],
  },
  {
    rule: 'a reversal whose money comes back to the merchant later leaves the payment standing, whatever comes first',
    async run(scene) {
      const { adyen, tell } = scene
      for (const order of ['told', 'other way round', 'by a modification']) {
        const { operation } = await scene.paid('debit')
        await undo(scene, operation)
        await ended(scene, operation.key)
        await undo(scene, operation)
        adyen.ledger.endUndo(operation.key, 'done')
        const done = adyen.messageAbout(operation.key)
        const { pspReference, reference: merchantReference } = adyen.ledger.undoOf(operation.key)!
        const payment = adyen.ledger.byReference(operation.key)!
        const originalReference =
          order === 'by a modification' ? pspReference : payment.pspReference
        const failed = adyen.message({
          eventCode: order === 'told' ? 'REFUNDED_REVERSED' : 'REFUND_FAILED',
          success: true,
          ...{ pspReference, originalReference, merchantReference },
          amount: { value: 9200, currency: 'EUR' },
        })
        const words = async (...messages: (typeof done)[]) => {
          const claims = []
          for (const message of messages) claims.push(...(await tell(message)))
          // The engine hears an event once.
          const once = new Map(claims.map(({ eventId, outcome }) => [eventId, outcome.is]))
          return [...once.values()]
        }
        if (order !== 'other way round') assert.deepEqual(await words(done), ['reversed'], order)
        assert.deepEqual(await words(failed, done), ['notReversed'], order)
        has(await undo(scene, operation), { is: 'requested' }, order)
        has(scene.sent(), { reference: `undo3.${operation.key}` }, order)
        assert.ok(adyen.exchanges.at(-1)!.path.includes(`/${payment.pspReference}/reversals`))
        payment.isUndone = false
        await words(failed, done)
        has(await undo(scene, operation), { is: 'requested' }, `${order}, the same try`)
        has(scene.sent(), { reference: `undo3.${operation.key}` }, `${order}, the same try`)
        assert.deepEqual(await ended(scene, operation.key, 'failed'), ['notReversed'], order)
        has(await undo(scene, operation), { is: 'requested' }, order)
        assert.deepEqual(await ended(scene, operation.key), ['reversed'], order)
        has(await undo(scene, operation), { is: 'reversed' }, order)
        assert.deepEqual(await words(failed), [], `${order}, and once more`)
      }
    },
    mistakes: [
      mistake('undo-told', 'if (returned !== undefined) return back', ''),
      mistake(
        'undo-judgement',
        'const valid = real.filter(({ returned }) => returned === undefined)',
        'const valid = real',
      ),
      mistake('events', "isLate ? 'returned' : told", 'told'),
      mistake('undo-told', 'returned !== undefined && judgement.stands', 'returned !== undefined'),
    ],
  },
  {
    rule: 'a try that Adyen refuses because an earlier one gave the money back takes nothing back',
    async run(scene) {
      const { adyen, stage, tell } = scene
      for (const order of ['success first', 'failure first']) {
        const operation = answered(await scene.paid('debit'))
        await undo(scene, operation)
        // The first request was taken, and a repeat meets a wrong login: the next try has another name.
        const [type, status] = ['application/json', 401]
        const error = { status, errorCode: '000', errorType: 'security', message: 'No' }
        const damage = { do: 'replace', status, type, body: JSON.stringify(error) } as const
        stage.front.meet({ reaches: false, damage }, 'any')
        has(await undo(scene, operation), { is: 'unknown' }, order)
        has(await undo(scene, operation), { is: 'requested' }, order)
        const payment = adyen.ledger.byReference(operation.key)!
        const [first, second] = adyen.ledger.undos.filter(({ of }) => of === operation.key)
        assert.equal(second?.reference, `undo2.${operation.key}`)
        const works = adyen.message(undoItem({ ...first!, state: 'done' }, payment))
        const fails = adyen.message(undoItem({ ...second!, state: 'failed' }, payment))
        const words = []
        for (const message of order === 'success first' ? [works, fails] : [fails, works])
          words.push(...(await tell(message)).map(({ outcome }) => outcome.is))
        const expected = order === 'success first' ? ['reversed'] : ['notReversed', 'reversed']
        assert.deepEqual(words, expected, order)
        has(await undo(scene, operation), { is: 'reversed' }, order)
      }
    },
    mistakes: [
      mistake(
        'undo-told',
        'if (failure === undefined || !isRefused || !judgement.stands) return []',
        'if (failure === undefined || !isRefused) return []',
      ),
    ],
  },
  {
    rule: 'a refused request for a reversal proves nothing, and the next one has another name',
    async run(scene) {
      const { operation } = await scene.paid('authorize')
      const account = { ...scene.settings, merchantAccount: 'OtherMerchant' }
      const { outcome } = await scene.stage.reverseByKey(operation, { account })
      assert.equal(outcome.is, 'unknown')
      has(await undo(scene, operation), { is: 'requested' }, 'after the set-up was mended')
      has(scene.sent(), { reference: `undo2.${operation.key}` }, 'another name')
    },
    mistakes: [
      mistake(
        'undo',
        "withAnswer(words, round, { answer: refused.isOfAccess ? 'login' : 'refused' })",
        'words',
      ),
      mistake(
        'undo',
        'return unknownFor(`Adyen refused',
        "return { is: 'nothing' }; unknownFor(`Adyen refused",
      ),
    ],
  },
  {
    rule: 'the reversal of a check sends nothing, and the end of a reversal has the amount of the operation',
    async run(scene) {
      const check = scene.first('verify')
      const { outcome, attempts } = await scene.stage.reverseByKey(check)
      assert.deepEqual([outcome.is, attempts.length], ['nothing', 0])
      const { operation } = await scene.paid('authorize')
      await undo(scene, frozen(operation))
      scene.adyen.ledger.endUndo(operation.key, 'by itself')
      const message = scene.adyen.message({
        eventCode: 'TECHNICAL_CANCEL',
        success: true,
        pspReference: 'T'.repeat(16),
        merchantReference: operation.key,
        amount: { value: 0, currency: 'EUR' },
      })
      const [claim] = await scene.tell(message)
      assert.deepEqual(claim?.amount, operation.amount)
    },
    mistakes: [
      mistake('undo', "if (operation.kind === 'verify') return { is: 'nothing' }", ''),
      mistake('undo-told', 'amount === undefined || isAsTold', 'true'),
    ],
  },
]
