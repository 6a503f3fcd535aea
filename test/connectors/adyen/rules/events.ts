/** Rules about webhooks: what each event claims. */
import assert from 'node:assert/strict'
import { webhook } from '../../../../connectors/adyen/sandbox/messages.ts'
import { asked, eur, events, item, rv, told } from './items.ts'
import { mistake, type Rule } from './rule.ts'

/** Every row of the table of events, the other way round. */
const turned = [
  ...[
    'CAPTURE',
    'REFUND',
    'CANCELLATION',
    'CANCEL_OR_REFUND',
    'TECHNICAL_CANCEL',
    'AUTHORISATION_ADJUSTMENT',
  ].map((code) =>
    mistake(
      'events',
      `['${code}', (success) => (success ? 'done' : 'failed')]`,
      `['${code}', (success) => (success ? 'failed' : 'done')]`,
    ),
  ),
  ...['CAPTURE_FAILED', 'REFUND_FAILED', 'REFUNDED_REVERSED'].flatMap((code) =>
    ['() => undefined', "() => 'failed'", "(success) => (success ? 'done' : undefined)"].map(
      (put) =>
        mistake(
          'events',
          `['${code}', (success) => (success ? 'failed' : undefined)]`,
          `['${code}', ${put}]`,
        ),
    ),
  ),
]

export const eventRules: readonly Rule[] = [
  {
    rule: 'each event claims what it tells about the operation that it names, and others claim nothing',
    async run({ adyen, stage, tell }) {
      for (const [no, [eventCode, success, mark, is]] of events.entries()) {
        const key = String(no).padStart(32, 'b')
        await stage.call(({ records }) => asked(records, key))
        const claims = await tell(
          adyen.message(item({ eventCode, success, merchantReference: mark + key })),
        )
        const what = `${eventCode} ${success} of ${mark || 'a payment'}`
        assert.deepEqual(told(claims), is === undefined ? [] : [is], what)
        for (const claim of claims) assert.equal(claim.key, key, what)
      }
    },
    mistakes: [
      ...turned,
      mistake('events', "is === 'sale' || eventCode === 'CANCELLATION'", "is === 'sale'"),
      mistake('events', "const isFinal = is === 'increment' ||", 'const isFinal ='),
      mistake('events', 'fitting[subject.is].includes(eventCode)', 'true'),
      mistake('undo-told', 'if (returned !== undefined) return back', 'if (returned) return []'),
      mistake(
        'events',
        "return isFinal ? approved(refs) : accepted(refs, 'event')",
        'return approved(refs)',
      ),
      mistake(
        'events',
        "success ? approved(refs) : declined('100.397.102', { refs })",
        'approved(refs)',
      ),
      mistake('events', 'if (!success) return []', ''),
      mistake('events', "'CHARGEBACK', 'SECOND_CHARGEBACK',", "'CHARGEBACK',"),
      mistake('events', "'SECOND_CHARGEBACK', 'CHARGEBACK_REVERSED']", "'SECOND_CHARGEBACK']"),
      mistake(
        'events',
        "eventCode === 'CHARGEBACK_REVERSED' ? 'chargebackReversal' : 'chargeback'",
        "'chargeback'",
      ),
      mistake('events', '?? named?.key)', ')'),
      mistake(
        'events',
        "'CANCELLATION', 'CANCEL_OR_REFUND', 'TECHNICAL_CANCEL', ])",
        "'CANCEL_OR_REFUND', 'TECHNICAL_CANCEL', ])",
      ),
      mistake(
        'events',
        "'CANCELLATION', 'CANCEL_OR_REFUND', 'TECHNICAL_CANCEL', ])",
        "'CANCELLATION', 'TECHNICAL_CANCEL', ])",
      ),
      mistake(
        'events',
        "'CANCELLATION', 'CANCEL_OR_REFUND', 'TECHNICAL_CANCEL', ])",
        "'CANCELLATION', 'CANCEL_OR_REFUND', ])",
      ),
    ],
  },
  {
    rule: 'of an increase, a cancellation and a reversal without a record here, failures to give back are told',
    async run({ adyen, tell }) {
      const ofAccounts = events.filter(
        ([code, , mark]) => [rv, 'ia.', 'undo1.'].includes(mark) || code === 'TECHNICAL_CANCEL',
      )
      assert.ok(ofAccounts.length > 8)
      for (const [eventCode, success, mark, word] of ofAccounts) {
        const isFailure = word === 'notReversed' || (mark === rv && word === 'declined')
        const merchantReference = mark.replace('9200EUR', '') + 'a'.repeat(32)
        const claims = await tell(adyen.message(item({ eventCode, success, merchantReference })))
        // The account that asked for a reversal knows what came after its failure.
        const is = word === 'notReversed' ? 'unknown' : word
        assert.deepEqual(told(claims), isFailure ? [is] : [], `${eventCode} ${success} of ${mark}`)
      }
    },
    mistakes: [
      mistake('events', "return told === 'failed' ? said : elsewhere", 'return said'),
      mistake('events', "return told === 'failed' ? said : elsewhere", 'return elsewhere'),
      mistake(
        'events',
        'if (minor === undefined) return elsewhere',
        'if (minor === undefined) return said',
      ),
      mistake('undo-told', 'if (!isAsked && round !== undefined) {', 'if (false) {'),
      mistake('undo-told', 'if (!isAskedFor(words)) return []', ''),
      mistake('undo-told', "is === 'returned' ? [returnElsewhere(item, key)] : []", '[]'),
    ],
  },
  {
    rule: 'a payment for nothing and an item of another account claim nothing',
    async run({ adyen, account, tell }) {
      const free = item({
        eventCode: 'AUTHORISATION',
        merchantReference: 'c'.repeat(32),
        amount: eur(0),
      })
      assert.deepEqual(await tell(adyen.message(free)), [])
      const other = webhook([item({})], { ...account, merchantAccount: 'OtherMerchant' })
      assert.deepEqual(await tell(other), [])
      const spelled = webhook([item({})], { ...account, merchantAccount: 'TESTMERCHANT' })
      assert.deepEqual(told(await tell(spelled)), ['accepted'])
    },
    mistakes: [
      mistake('events', "named?.is !== 'payment' || item.value === 0", "named?.is !== 'payment'"),
      mistake(
        'events',
        'if (!isSameName(merchantAccountCode, account.merchantAccount)) {',
        'if (false) {',
      ),
      mistake('references', '.trim().toLowerCase() === other.trim().toLowerCase()', ' === other'),
    ],
  },
  {
    rule: 'an amount that the currency does not have is claimed as it is, for operators',
    async run({ adyen, tell }) {
      const amount = { value: 12_345, currency: 'ISK' }
      for (const [eventCode, mark] of [
        ['CHARGEBACK', ''],
        ['AUTHORISATION', ''],
        ['CAPTURE_FAILED', 'cp.'],
        ['CANCELLATION', ''],
      ] as const) {
        const merchantReference = mark + 'd'.repeat(32)
        const [claim] = await tell(adyen.message(item({ eventCode, merchantReference, amount })))
        assert.deepEqual(claim?.amount, amount, eventCode)
      }
    },
    mistakes: [
      mistake('undo-told', 'return moneyOf(told) ?? unreadable(told)', 'return moneyOf(told)!'),
      mistake(
        'events',
        'if (amount === undefined) { const outcome',
        'if (amount === undefined) { if (true) return []; const outcome',
      ),
    ],
  },
]
