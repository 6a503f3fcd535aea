/** Rules about webhooks. */
import assert from 'node:assert/strict'
import type { Claim, Inbound } from '@tollgate/plugin-kit'
import { newReference } from '../../../../connectors/adyen/sandbox/ledger.ts'
import { type Item, reportItem, webhook } from '../../../../connectors/adyen/sandbox/messages.ts'
import type { Scene } from '../scene.ts'
import { mistake, type Rule } from './rule.ts'

const eur = (value: number) => ({ value, currency: 'EUR' })
const told = (claims: readonly Claim[]) => claims.map(({ outcome }) => outcome.is)

const item = (more: Partial<Item>): Item => ({
  eventCode: 'CAPTURE',
  success: true,
  pspReference: newReference(),
  originalReference: 'PAYMENTPAYMENT01',
  merchantReference: `cp.${'a'.repeat(32)}`,
  amount: eur(9200),
  ...more,
})

/** Code, success, our reference, and the outcome that is claimed. */
// biome-ignore format: a table reads best with one row on one line.
const events: readonly (readonly [code: string, success: boolean, mark: string, is: string | undefined])[] = [
  ['AUTHORISATION',            true,  '',     'approved'],
  ['AUTHORISATION',            false, '',     'declined'],
  ['CAPTURE',                  true,  'cp.',  'accepted'],
  ['CAPTURE',                  false, 'cp.',  'declined'],
  ['CAPTURE_FAILED',           true,  'cp.',  'declined'],
  ['CAPTURE_FAILED',           false, 'cp.',  undefined],
  ['REFUND',                   true,  'rf.',  'accepted'],
  ['REFUND',                   false, 'rf.',  'declined'],
  ['REFUND_FAILED',            true,  'rf.',  'declined'],
  ['REFUND_FAILED',            false, 'rf.',  undefined],
  ['REFUNDED_REVERSED',        true,  'rf.',  'declined'],
  ['REFUNDED_REVERSED',        false, 'rf.',  undefined],
  ['CANCELLATION',             true,  'rv.',  'approved'],
  ['CANCELLATION',             false, 'rv.',  'declined'],
  ['CANCEL_OR_REFUND',         true,  'rv.',  'accepted'],
  ['CANCEL_OR_REFUND',         false, 'rv.',  'declined'],
  ['REFUND_FAILED',            true,  'rv.',  'declined'],
  ['AUTHORISATION_ADJUSTMENT', true,  'ia.',  'approved'],
  ['AUTHORISATION_ADJUSTMENT', false, 'ia.',  'declined'],
  // Nobody here asked for these, or by the payment's own name.
  ['TECHNICAL_CANCEL',         true,  '',     'reversed'],
  ['TECHNICAL_CANCEL',         false, '',     undefined],
  ['CANCELLATION',             true,  '',     'reversed'],
  ['CANCELLATION',             false, '',     undefined],
  ['CANCEL_OR_REFUND',         true,  '',     'reversed'],
  ['CANCEL_OR_REFUND',         false, '',     undefined],
  ['CANCEL_OR_REFUND',         true,  'undo1.', 'reversed'],
  // Made elsewhere.
  ['CAPTURE',                  true,  '',     undefined],
  ['REFUND',                   true,  '',     undefined],
  ['REFUND_FAILED',            true,  '',     undefined],
  ['CHARGEBACK',               true,  '',     'chargeback'],
  ['CHARGEBACK',               false, '',     undefined],
  ['SECOND_CHARGEBACK',        true,  '',     'chargeback'],
  ['CHARGEBACK_REVERSED',      true,  '',     'chargebackReversal'],
  ['CHARGEBACK',               true,  'cp.',  undefined],
  ['NOTIFICATION_OF_CHARGEBACK', true, '',    undefined],
  ['REQUEST_FOR_INFORMATION',  true,  '',     undefined],
  ['PREARBITRATION_LOST',      true,  '',     undefined],
  ['EXPIRE',                   true,  '',     undefined],
  ['POSTPONED_REFUND',         true,  'rf.',  undefined],
  ['REPORT_AVAILABLE',         true,  '',     undefined],
  ['A_NEW_ONE',                true,  '',     undefined],
]

/** Every row of the table of events, the other way round. */
const turned = [
  mistake(
    'events',
    "undefined), REFUND: (success) => (success ? 'done' : 'failed')",
    "undefined), REFUND: (success) => (success ? 'failed' : 'done')",
  ),
  ...[
    'CAPTURE',
    'CANCELLATION',
    'CANCEL_OR_REFUND',
    'TECHNICAL_CANCEL',
    'AUTHORISATION_ADJUSTMENT',
  ].map((code) =>
    mistake(
      'events',
      `${code}: (success) => (success ? 'done' : 'failed')`,
      `${code}: (success) => (success ? 'failed' : 'done')`,
    ),
  ),
  ...['CAPTURE_FAILED', 'REFUND_FAILED', 'REFUNDED_REVERSED'].flatMap((code) => [
    mistake(
      'events',
      `${code}: (success) => (success ? 'failed' : undefined)`,
      `${code}: () => undefined`,
    ),
    mistake(
      'events',
      `${code}: (success) => (success ? 'failed' : undefined)`,
      `${code}: () => 'failed'`,
    ),
    mistake(
      'events',
      `${code}: (success) => (success ? 'failed' : undefined)`,
      `${code}: (success) => (success ? 'done' : undefined)`,
    ),
  ]),
]

const verified = async ({ stage }: Scene, message: Inbound, hmacKeys?: string) => {
  const { inbound } = stage.connector
  const account = hmacKeys === undefined ? stage.account : { ...stage.account, hmacKeys }
  const { returned } = await stage.call((context) => inbound!.verify(message, context), { account })
  return returned
}

/** A message that nobody signed. */
const unsigned = (message: Inbound): Inbound => ({
  ...message,
  body: Buffer.from(message.body.toString().replaceAll('hmacSignature', 'hmacSignatura')),
})

export const eventRules: readonly Rule[] = [
  {
    rule: 'each event claims what it tells about the operation that it names, and others claim nothing',
    async run({ adyen, tell }) {
      for (const [eventCode, success, mark, is] of events) {
        const key = 'b'.repeat(32)
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
      mistake('events', "is === 'increment' || eventCode === 'CANCELLATION'", "is === 'increment'"),
      mistake(
        'events',
        "is === 'increment' || eventCode === 'CANCELLATION'",
        "eventCode === 'CANCELLATION'",
      ),
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
      mistake('events', 'if (!success) return [] switch', 'switch'),
      mistake('events', "case 'SECOND_CHARGEBACK':", ''),
      mistake('events', "case 'CHARGEBACK_REVERSED':", ''),
      mistake(
        'events',
        "eventCode === 'CHARGEBACK_REVERSED' ? 'chargebackReversal' : 'chargeback'",
        "'chargeback'",
      ),
      mistake(
        'events',
        "if (named?.is !== 'payment' || amount === undefined || amount.minor === 0n) return [] const { eventCode",
        'if (named === undefined || amount === undefined) return []; const { eventCode',
      ),
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
    },
    mistakes: [
      mistake(
        'events',
        "if (named?.is !== 'payment' || amount === undefined || amount.minor === 0n) return [] const { key",
        "if (named?.is !== 'payment' || amount === undefined) return []; const { key",
      ),
      mistake('events', 'if (item.merchantAccountCode !== account.merchantAccount) continue', ''),
    ],
  },
  {
    rule: 'a failure is found by Adyen’s reference of the operation, whatever its own name for it',
    async run({ adyen, paid, follow, tell }) {
      const { operation, outcome } = await follow('capture', await paid('authorize'))
      const capture = outcome.refs.modification!
      const failing = { eventCode: 'CAPTURE_FAILED', merchantReference: 'order-7' }
      for (const where of [{ pspReference: capture }, { originalReference: capture }]) {
        const [claim] = await tell(adyen.message(item({ ...failing, ...where })))
        assert.equal(claim?.key, operation.key, JSON.stringify(where))
        assert.equal(claim?.outcome.is, 'declined')
      }
    },
    mistakes: [
      mistake('events', '(await modificationOf(records, pspReference)) ??', ''),
      mistake('events', '?? (await modificationOf(records, originalReference))', ''),
      mistake('index', 'await rememberModification(records, taken, operation)', ''),
    ],
  },
  {
    rule: 'a success after a failure is news of its own, a repeat of any of them is not, and a stranger changes nothing',
    async run({ adyen, paid, follow, tell }) {
      const { operation } = await follow('capture', await paid('authorize'))
      const modification = adyen.ledger.modifications.at(-1)!
      const reference = `cp.${operation.key}`
      const idOf = async (message: Inbound) =>
        (await tell(message)).map(({ eventId }) => eventId).join()
      const done = adyen.messageAbout(reference)
      const first = await idOf(done)
      assert.equal(await idOf(done), first, 'a repeat')
      adyen.ledger.fail(modification)
      const failed = adyen.messageAbout(reference)
      await idOf(unsigned(failed))
      assert.equal(await idOf(done), first, 'an unproven failure is none')
      const failure = await idOf(failed)
      assert.equal(await idOf(failed), failure, 'a repeated failure')
      adyen.ledger.recapture(modification)
      const again = await idOf(adyen.messageAbout(reference))
      assert.equal(new Set([first, failure, again]).size, 3)
      assert.equal(await idOf(adyen.messageAbout(reference)), again)
    },
    mistakes: [
      mistake('modifications', 'known.round + (isAgain ? 1 : 0)', 'known.round'),
      mistake('modifications', 'known.round + (isAgain ? 1 : 0)', 'known.round + 1'),
      mistake('modifications', 'isNews && isProven', 'isNews'),
      mistake('modifications', 'hasFailed: isFailure }', 'hasFailed: false }'),
      mistake('events', "round === 0 ? ''", "round !== -1 ? ''"),
      mistake(
        'events',
        'success }: Item, round = 0): string =>',
        'success }: Item, round = 0): string => true ? pspReference + success + round :',
      ),
    ],
  },
  {
    rule: 'a reversal has the amount of its operation, whatever the webhook says',
    async run({ adyen, paid, follow, tell }) {
      const { operation } = await follow('reverse', await paid('authorize'))
      const about = item({
        eventCode: 'CANCELLATION',
        merchantReference: `rv.${operation.key}`,
        amount: eur(0),
      })
      const [claim] = await tell(adyen.message(about))
      assert.deepEqual(claim?.amount, operation.amount)
    },
    mistakes: [
      mistake(
        'index',
        "if (operation.kind === 'reverse') await rememberWhole(records, operation)",
        '',
      ),
      mistake('events', "if (is === 'reverse') return (await wholeOf(records, key)) ?? said", ''),
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
    },
    mistakes: [
      mistake('dispute', 'isSecond ?', 'false ?'),
      mistake(
        'events',
        "disputeReference(pspReference, eventCode === 'SECOND_CHARGEBACK')",
        'named.key',
      ),
      mistake(
        'events',
        'return [{ eventId: eventId(item), key: named.key, outcome, amount, reference }]',
        'return [{ eventId: eventId(item), key: named.key, outcome, amount }]',
      ),
    ],
  },
  {
    rule: 'a message is proven by any of the keys, whole, and by no shifted fields',
    async run(scene) {
      const { adyen, account } = scene
      const old = 'ab'.repeat(32)
      const message = adyen.message(
        item({}),
        item({ eventCode: 'REFUND', merchantReference: 'order: 7\\8' }),
      )
      assert.equal(await verified(scene, message), true, 'two items')
      assert.equal(
        await verified(scene, message, `${old},${account.hmacKey}`),
        true,
        'the second key',
      )
      assert.equal(
        await verified(scene, message, `${account.hmacKey} ${old}`),
        true,
        'the first key',
      )
      assert.equal(await verified(scene, message, old), false, 'another key')
      const half = JSON.parse(message.body.toString())
      half.notificationItems[1].NotificationRequestItem.additionalData = {}
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from(JSON.stringify(half)) }),
        false,
        'one item unsigned',
      )
      // The same signed text with a border between two fields moved.
      const [one] = JSON.parse(
        adyen.message(item({ merchantReference: 'x:y' })).body.toString(),
      ).notificationItems
      const { NotificationRequestItem: fields } = one
      const shifted = {
        ...fields,
        merchantAccountCode: `${fields.merchantAccountCode}:x`,
        merchantReference: 'y',
      }
      const forged = { live: 'false', notificationItems: [{ NotificationRequestItem: shifted }] }
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from(JSON.stringify(forged)) }),
        false,
        'shifted',
      )
      assert.equal(
        await verified(scene, { ...message, body: Buffer.from('{"notificationItems":[]}') }),
        false,
        'nothing',
      )
    },
    mistakes: [
      mistake('signature', 'return items.every(', 'return items.some('),
      mistake(
        'signature',
        'const keys = keysOf(hmacKeys)',
        'const keys = keysOf(hmacKeys).slice(0, 1)',
      ),
      mistake(
        'signature',
        'const keys = keysOf(hmacKeys)',
        'const keys = keysOf(hmacKeys).slice(-1)',
      ),
      mistake(
        'signature',
        'isName(merchantAccountCode) &&',
        "typeof merchantAccountCode === 'string' &&",
      ),
      mistake('signature', '|| notificationItems.length === 0', ''),
      mistake('signature', "Buffer.from(key, 'hex')", 'Buffer.from(key)'),
      mistake('signature', "encoding: 'base64'", "encoding: 'hex'"),
      ...[
        'item.pspReference',
        'item.originalReference',
        'item.merchantAccountCode',
        'item.merchantReference',
        'String(item.value)',
        'item.currency',
        'item.eventCode',
        'String(item.success)',
      ].map((field) => mistake('signature', `${field},`, `'',`)),
    ],
  },
  {
    rule: 'a proven announcement of a settlement report is kept once, and nothing else is',
    async run({ adyen, tell, stage }) {
      const count = async () =>
        (await stage.call(({ records }) => records.get('reports'))).returned ?? 0
      const announced = (name: string) => adyen.message(reportItem(name, 'https://evil.example/'))
      const name = 'settlement_detail_report_batch_12.csv'
      await tell(unsigned(announced(name)))
      assert.equal(await count(), 0, 'unproven')
      for (const other of [
        'payments_accounting_report_2026_03_31.csv',
        'settlement_detail_report_../../x.csv',
        'x settlement_detail_report_1.csv',
      ]) {
        await tell(announced(other))
      }
      assert.equal(await count(), 0, 'other files')
      await tell(announced(name))
      await tell(announced(name))
      assert.equal(await count(), 1, 'once')
      await tell(announced('settlement_detail_report_batch_13.csv'))
      assert.equal(await count(), 2)
    },
    mistakes: [
      mistake(
        'events',
        'if (proven && isSettlementReport(item.pspReference)) {',
        'if (isSettlementReport(item.pspReference)) {',
      ),
      mistake('events', 'if (proven && isSettlementReport(item.pspReference)) {', 'if (proven) {'),
      mistake('reports', 'if ((await records.get(seenName(name))) !== undefined) return', ''),
      mistake(
        'reports',
        "reportName.test(name) && !name.includes('..')",
        "name.includes('settlement_detail_report')",
      ),
    ],
  },
]
