/** Rules about webhooks: several of them about one operation, and the references by which it is known. */
import assert from 'node:assert/strict'
import type { Inbound } from '@tollgate/plugin-kit'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import { type Item, webhook } from '../../../../connectors/adyen/sandbox/messages.ts'
import { operationOn } from '../../../../plugins/kit/testing/operation.ts'
import { has } from '../scene.ts'
import { asked, eur, events, item, told, unsigned } from './items.ts'
import { mistake, type Rule } from './rule.ts'

export const eventRoundRules: readonly Rule[] = [
  {
    rule: 'a failure is found by Adyen’s reference of the operation, whatever its own name for it',
    async run({ adyen, paid, follow, tell }) {
      const { operation, outcome } = await follow('capture', await paid('authorize'))
      const capture = outcome.refs.modification!
      const failing = { eventCode: 'CAPTURE_FAILED', merchantReference: 'order-7' }
      const refund = { eventCode: 'REFUND', success: false, merchantReference: 'order-7' }
      assert.deepEqual(
        await tell(adyen.message(item({ ...refund, originalReference: capture }))),
        [],
      )
      for (const where of [{ pspReference: capture }, { originalReference: capture }]) {
        const [claim] = await tell(adyen.message(item({ ...failing, ...where })))
        assert.equal(claim?.key, operation.key, JSON.stringify(where))
        assert.equal(claim?.outcome.is, 'declined')
      }
    },
    mistakes: [
      mistake('events', 'fits(await modificationOf(records, pspReference))', 'undefined'),
      mistake('events', '? fits(await modificationOf(records, originalReference))', '? undefined'),
      mistake('index', 'await rememberModification(records, taken, operation)', ''),
    ],
  },
  {
    rule: 'a failed modification names its payment by no reference, which may be another one than before; a failed sale does',
    async run({ adyen, paid, tell, stage }) {
      const refsOf = async (more: Partial<Item>) => {
        const [{ outcome } = {}] = (await tell(adyen.message(item(more)))).slice(-1)
        assert.ok(outcome !== undefined && 'refs' in outcome, JSON.stringify(more))
        return outcome.refs
      }
      const payment = 'PAYMENTPAYMENT01'
      for (const [eventCode, success, mark] of events.filter(
        ([, , mark, is]) => is === 'declined' && mark !== '',
      )) {
        const [pspReference, key] = [newReference(), '7'.repeat(32)]
        const of = { eventCode, pspReference, merchantReference: mark + key }
        await stage.call(({ records }) => asked(records, key))
        assert.deepEqual(await refsOf({ ...of, success }), { modification: pspReference })
      }
      const capture = { pspReference: newReference(), merchantReference: `cp.${'6'.repeat(32)}` }
      const done = { payment, modification: capture.pspReference }
      assert.deepEqual(await refsOf(capture), done, 'a success')
      const { key: merchantReference } = (await paid('debit')).operation
      assert.deepEqual(await refsOf({ eventCode: 'CAPTURE_FAILED', merchantReference }), {
        payment,
      })
    },
    mistakes: [
      mistake('events', "{ refs: is === 'sale' ? refs : own, code", '{ refs, code'),
      mistake('events', "{ refs: is === 'sale' ? refs : own, code", '{ refs: own, code'),
      mistake('events', "{ refs: is === 'sale' ? refs : own, code", '{ code'),
      mistake('events', "{ ...(payment === '' ? {} : { payment }), ...own }", '{ ...own }'),
    ],
  },
  {
    rule: 'a success after a failure is news of its own, which comes with the failure; repeats and strangers change nothing',
    async run({ adyen, paid, follow, tell }) {
      const { operation } = await follow('capture', await paid('authorize'))
      const modification = adyen.ledger.modifications.at(-1)!
      const reference = `cp.${operation.key}`
      const idsOf = async (message: Inbound) => (await tell(message)).map(({ eventId }) => eventId)
      const done = adyen.messageAbout(reference)
      const first = await idsOf(done)
      assert.equal(first.length, 1)
      assert.deepEqual(await idsOf(done), first, 'a repeat')
      adyen.ledger.fail(modification)
      const failed = adyen.messageAbout(reference)
      assert.deepEqual(await idsOf(unsigned(failed)), [])
      assert.deepEqual(await idsOf(done), first, 'an unproven failure is none')
      const [before, ...failure] = await tell(failed)
      assert.deepEqual([before?.eventId, told(failure)], [first[0], ['declined']], 'in this order')
      assert.deepEqual(await tell(failed), [before, ...failure], 'a repeated failure')
      assert.notEqual(failure[0]?.eventId, first[0])
      assert.deepEqual(await tell(done), [], 'a success that was told before the failure')
      adyen.ledger.recapture(modification)
      const recaptured = adyen.messageAbout(reference)
      const again = await tell(recaptured)
      assert.deepEqual(told(again), ['declined', 'accepted'])
      assert.deepEqual(again[0], failure[0], 'the engine has heard it')
      const news = again[1]!.eventId
      assert.ok(!first.includes(news))
      assert.deepEqual(await tell(adyen.messageAbout(reference)), again)
      assert.deepEqual(await tell(failed), again, 'the failure again')
      adyen.ledger.fail(modification)
      const [second, ...more] = await tell(adyen.messageAbout(reference))
      assert.deepEqual([second?.eventId, more], [failure[0]?.eventId, []], 'operators see it')
      assert.notDeepEqual(second, failure[0])
      for (const repeat of [done, recaptured])
        assert.deepEqual(await tell(repeat), [], 'told before')
      adyen.ledger.recapture(modification)
      const third = (await idsOf(adyen.messageAbout(reference)))[1]
      assert.ok(third !== undefined && third !== news && !first.includes(third))
    },
    mistakes: [
      mistake('modifications', 'round: known.round + 1, hasFailed: false', 'hasFailed: false'),
      mistake(
        'modifications',
        'round: known.round + 1, hasFailed: false',
        'round: known.round + 1',
      ),
      mistake('modifications', 'if (isRepeat(known, news)) return known', ''),
      mistake('modifications', '[done, doneAgain].some', '[done].some'),
      mistake('modifications', '[done, doneAgain].some', '[doneAgain].some'),
      mistake('modifications', "news.date !== '' &&", "news.date === '' &&"),
      mistake('modifications', 'if (hasFailed) return []', ''),
      mistake('modifications', "[...before, { is: 'failed', news }]", "[{ is: 'failed', news }]"),
      mistake('modifications', 'round > 0 && failed !== undefined ? [{', 'false ? [{'),
      mistake('modifications', 'isNew ? { ...known, hasFailed: true } : known', 'known'),
      mistake('modifications', 'minor, currency, date, ]', 'minor, currency ]'),
      mistake(
        'modifications',
        'const after = done === undefined ? [] : [{',
        'const after = true ? [] : [{',
      ),
      mistake(
        'events',
        'const { again, by = news } = telling',
        'const { again } = telling; const by = { ...news, eventCode: again ?? news.eventCode }',
      ),
      mistake('events', 'again === undefined ? {} : {', 'true ? {} : {'),
      mistake('claims', "round === 0 ? ''", "round !== -1 ? ''"),
      mistake(
        'claims',
        'success }: Identity, round = 0): string =>',
        'success }: Identity, round = 0): string => true ? pspReference + success + round :',
      ),
      mistake('events', 'if (!isProven(message, account.hmacKeys)) return []', ''),
    ],
  },
  {
    rule: 'a success without a date after a failure is news, because nobody knows whether it is a repeat',
    async run({ adyen, tell }) {
      const capture = { pspReference: newReference(), merchantReference: `cp.${'9'.repeat(32)}` }
      const of = (more: Partial<Item>) =>
        tell(adyen.message(item({ ...capture, eventDate: 'unknown', ...more })))
      await of({})
      await of({ eventCode: 'CAPTURE_FAILED' })
      assert.deepEqual(told(await of({})), ['declined', 'accepted'])
    },
    mistakes: [mistake('modifications', "news.date !== '' &&", '')],
  },
  {
    rule: 'a failure between two successes that comes after them, also after a lost answer, leaves the operation done in a new round',
    async run({ adyen, paid, tell, stage }) {
      const lost = {
        reaches: true,
        damage: { do: 'replace', status: 500, type: 'text/plain', body: '' },
      } as const
      const authorised = await paid('authorize')
      stage.front.meet(lost, 'any')
      const operation = operationOn(stage.connector, 'capture', authorised)
      has((await stage.perform(operation)).outcome, { is: 'unknown' }, 'lost')
      const modification = adyen.ledger.modifications.at(-1)!
      const about = () => adyen.messageAbout(`cp.${operation.key}`)
      const first = await tell(about())
      adyen.ledger.fail(modification)
      const failure = about()
      adyen.ledger.recapture(modification)
      assert.deepEqual(await tell(about()), first, 'it looks like a repeat')
      const both = await tell(failure)
      assert.deepEqual(told(both), ['declined', 'accepted'])
      assert.notEqual(both[1]?.eventId, first[0]?.eventId)
      assert.deepEqual(await tell(failure), both)
    },
    mistakes: [
      mistake('modifications', '{ ...known, isDoneAgain: true }', 'known'),
      mistake('modifications', 'round: isBetween ? 1 : 0', 'round: 0'),
      mistake(
        'modifications',
        'knownIn(value) ?? { ...subject, round: 0, hasFailed: false }',
        "knownIn(value); if (known === undefined) return [{ is: isFailure ? 'failed' : 'done', news, round: 0 }]",
      ),
    ],
  },
  {
    rule: 'a capture that Adyen makes of a sale fails the sale, and that of an authorisation does not',
    async run({ adyen, paid, tell }) {
      const of = async (key: string, more: Partial<Item>) =>
        tell(adyen.message(item({ merchantReference: key, ...more })))
      const { operation: sale } = await paid('debit')
      const { operation: authorised } = await paid('authorize')
      const failing = { eventCode: 'CAPTURE_FAILED' }
      assert.deepEqual(await of(sale.key, {}), [], 'a sale is done by its authorisation')
      assert.deepEqual(told(await of(sale.key, failing)), ['declined'])
      assert.deepEqual(told(await of(sale.key, { success: false })), ['declined'])
      assert.deepEqual(await of(sale.key, { eventCode: 'REFUND_FAILED' }), [], 'made elsewhere')
      assert.deepEqual(await of(authorised.key, failing), [], 'by hand')
      const pspReference = newReference()
      const news = { pspReference, eventCode: 'CAPTURE_FAILED' }
      await of(sale.key, news)
      assert.deepEqual(
        told(await of(sale.key, { pspReference })),
        ['declined', 'approved'],
        'made again',
      )
    },
    mistakes: [
      mistake('index', "kind === 'debit' ? ({ isSale: true } as const) :", ''),
      mistake('index', '({ isOwn: true } as const)', '({ isSale: true } as const)'),
      mistake('events', "if (subject.is === 'sale' && telling.round === 0) return []", ''),
      mistake('events', "is === 'increment' || is === 'sale' ||", "is === 'increment' ||"),
    ],
  },
  {
    rule: 'a second authorisation of one name has the event of the first one, and a refused try beside it none',
    async run({ adyen, tell }) {
      const of = async (success: boolean, pspReference: string) =>
        tell(
          adyen.message(
            item({
              eventCode: 'AUTHORISATION',
              success,
              pspReference,
              merchantReference: 'e'.repeat(32),
            }),
          ),
        )
      assert.deepEqual(told(await of(false, 'REFUSEDTRY000001')), ['declined'])
      const [first] = await of(true, 'FIRSTPAYMENT0001')
      const [second] = await of(true, 'SECONDPAYMENT001')
      assert.equal(second?.eventId, first?.eventId)
      assert.notDeepEqual(second?.outcome, first?.outcome)
      assert.deepEqual(await of(false, 'REFUSEDTRY000002'), [])
      assert.deepEqual(told(await of(false, 'FIRSTPAYMENT0001')), ['declined'])
    },
    mistakes: [
      mistake(
        'events',
        'const [first = psp] = authorised',
        'const first = authorised.length === 0 ? undefined : psp',
      ),
      mistake(
        'events',
        'if (first !== psp && !success) {',
        'if (authorised.length > 0 && !success) {',
      ),
      mistake('events', 'pspReference: first })', 'pspReference: psp })'),
    ],
  },
  {
    rule: 'a reversal has the amount of its operation, whatever the webhook says, and whoever hears it',
    async run({ adyen, account, paid, follow, tell, stage }) {
      const other = { records: { get: async () => undefined, swap: async () => true } }
      for (const [kind, value] of [
        ['authorize', 0],
        ['authorize', 9200],
        ['authorize', 10_000],
        ['debit', 0],
      ] as const) {
        const { operation } = await follow('reverse', await paid(kind))
        const { reference, pspReference } = adyen.ledger.modifications.at(-1)!
        const eventCode = kind === 'authorize' ? 'CANCELLATION' : 'CANCEL_OR_REFUND'
        const about = { eventCode, merchantReference: reference, pspReference, amount: eur(value) }
        for (const success of [true, false]) {
          const message = webhook([item({ ...about, success })], account)
          const elsewhere = await stage.call((context) =>
            stage.connector.inbound!.parse(message, { ...context, ...other }),
          )
          for (const claims of [elsewhere.returned, await tell(message)]) {
            assert.equal(claims?.at(-1)?.key, operation.key)
            assert.deepEqual(claims?.at(-1)?.amount, operation.amount, `${kind} ${value}`)
          }
        }
        const later = { eventCode: 'REFUND_FAILED', originalReference: pspReference }
        const named = item({ ...later, merchantReference: 'order-7', amount: eur(0) })
        const [claim] = await tell(adyen.message(named))
        assert.deepEqual(claim?.amount, operation.amount, 'by the reference of Adyen')
      }
    },
    mistakes: [
      mistake('references', "const whole = kind === 'reverse' ?", 'const whole = false ?'),
      mistake('references', '...(isWhole ? { whole: { minor: number, currency } } : {})', ''),
      mistake('modifications', '{ whole: { minor: String(minor), currency } }', '{}'),
      mistake(
        'events',
        'if (whole !== undefined) return { ...whole, minor: BigInt(whole.minor) }',
        '',
      ),
    ],
  },
  {
    rule: 'a chargeback, its second round and its reversal have references by which reports know them',
    async run({ adyen, paid, tell }) {
      const { operation } = await paid('debit')
      const dispute = newReference()
      const of = async (code: 'CHARGEBACK' | 'SECOND_CHARGEBACK' | 'CHARGEBACK_REVERSED') => {
        const [claim] = await tell(adyen.dispute(operation.key, eur(5000), code, dispute))
        assert.deepEqual(claim?.amount, { minor: 5000n, currency: 'EUR' })
        return claim.reference
      }
      assert.equal(await of('CHARGEBACK'), dispute)
      assert.equal(await of('CHARGEBACK_REVERSED'), dispute)
      assert.equal(await of('SECOND_CHARGEBACK'), `${dispute}.2`)
      await tell(adyen.messageAbout(operation.key))
      const { pspReference: originalReference } = adyen.ledger.byReference(operation.key)!
      for (const merchantReference of ['order 7', `cp.${'f'.repeat(32)}`]) {
        const about = item({ eventCode: 'CHARGEBACK', originalReference, merchantReference })
        const [claim] = await tell(adyen.message(about))
        assert.equal(claim?.key, operation.key, merchantReference)
      }
      const second = newReference()
      const twice = { eventCode: 'AUTHORISATION', merchantReference: operation.key }
      await tell(adyen.message(item({ ...twice, originalReference: '', pspReference: second })))
      const about = { eventCode: 'CHARGEBACK', merchantReference: 'order 7' }
      const [claim] = await tell(adyen.message(item({ ...about, originalReference: second })))
      assert.equal(claim?.key, operation.key, 'of the second payment of its name')
      const foreign = item({ eventCode: 'CHARGEBACK', merchantReference: 'order 8' })
      assert.deepEqual(await tell(adyen.message(foreign)), [])
    },
    mistakes: [
      mistake('dispute', 'isSecond ?', 'false ?'),
      mistake('events', "disputeReference(pspReference, eventCode === 'SECOND_CHARGEBACK')", 'key'),
      mistake(
        'events',
        'return [{ eventId: eventId(item), key, outcome, amount, reference }]',
        'return [{ eventId: eventId(item), key, outcome, amount }]',
      ),
      mistake('events', 'if (success) await rememberKey(records, psp, key)', ''),
      mistake(
        'events',
        'if (success) await rememberKey',
        'if (success && first === psp) await rememberKey',
      ),
      mistake(
        'events',
        '(await keyBy(records, originalReference)) ?? named?.key',
        'named?.key ?? (await keyBy(records, originalReference))',
      ),
    ],
  },
]
